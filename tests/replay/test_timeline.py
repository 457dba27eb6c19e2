"""The timeline: what is sampled when, what is a gap, and which concepts are shown."""

from __future__ import annotations

from typing import Any

import pytest

from replay.as_of.timeline import Line, Timeline, timeline
from state.errors import LogRewrittenError
from state.events.events import UNSTAMPED, GraphConfigured
from state.events.memory_settings import PRESETS, MemorySettings
from tests.support.builders import concept
from tests.support.clocks import DAY, NOON
from tests.support.logs import LogWriter, reader_of

WEEKLY = MemorySettings(half_life=7 * DAY)


def configured(log: LogWriter, settings: MemorySettings = WEEKLY, graph: str = "ada") -> None:
    log.keep(GraphConfigured(graph=graph, preset="default", settings=settings, **UNSTAMPED))


def turn(log: LogWriter, day: float, concepts: Any, **changes: Any) -> None:
    """Let `concepts` be mentioned on a day after NOON."""
    log.turn(concepts=concepts, at=NOON + int(day * DAY), live=True, **changes)


def forgotten(log: LogWriter, *concepts: str) -> None:
    log.forget(concepts=concepts)


async def traced(log: LogWriter, **options: Any) -> Timeline:
    result = await timeline(reader_of(log), 0, options.pop("graph", "ada"), **options)
    assert result is not None
    return result


def strengths(traced: Timeline) -> dict[str, list[float | None]]:
    return {line.id: [None if value is None else round(value, 6) for value in line.strengths] for line in traced.lines}


async def test_strength_halves_with_every_half_life() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, [concept("tea", weight=0.8)])
    turn(log, 21, "milk")
    result = await traced(log, points=4, named=["tea"])
    assert result.times == [NOON, NOON + 7 * DAY, NOON + 14 * DAY, NOON + 21 * DAY]
    assert strengths(result) == {"tea": [0.8, 0.4, 0.2, 0.1]}


async def test_a_concept_is_missing_before_it_was_mentioned_and_there_from_then_on() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, "tea")
    turn(log, 14, [concept("milk", weight=0.6)])
    assert strengths(await traced(log, points=3, named=["milk"])) == {"milk": [None, None, 0.6]}


async def test_what_a_window_forgot_is_missing_from_its_end_on_though_it_closed_later() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, "tea")
    log.decay(at=NOON + 20 * DAY, concepts="tea", turns="t0")
    turn(log, 40, "milk")
    (line,) = (await traced(log, points=5, named=["tea"])).lines
    assert [value is None for value in line.strengths] == [False, False, True, True, True]


async def test_what_was_forgotten_and_comes_back_leaves_a_gap() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, "tea milk")
    turn(log, 1, "milk")
    forgotten(log, "tea")
    turn(log, 3, [concept("tea", weight=0.3)])
    (line,) = (await traced(log, points=4, named=["tea"])).lines
    assert [value is None for value in line.strengths] == [False, True, True, False]


async def test_a_sample_shows_the_graph_with_the_settings_that_were_in_force_then() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, [concept("tea", weight=0.8)])
    turn(log, 14, "milk")
    configured(log, MemorySettings(half_life=DAY))
    assert strengths(await traced(log, points=3, named=["tea"]))["tea"][:2] == [0.8, 0.4]


async def test_a_late_turn_counts_from_when_it_came() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, "tea")
    turn(log, 2, "tea")
    turn(log, 1, "milk")
    turn(log, 4, "tea")
    result = await traced(log, points=5, named=["milk"])
    assert [value is None for value in result.lines[0].strengths] == [True, True, False, False, False]


async def test_without_names_the_strongest_words_are_shown_by_their_peak() -> None:
    log = LogWriter()
    configured(log)
    named = {"tea": 0.4, "@day:2023-05-08": 0.9, "milk": 0.2, "sugar": 0.5}
    turn(log, 0, [concept(name, weight=weight) for name, weight in named.items()])
    turn(log, 30, [concept("cup", weight=0.3)])
    forgotten(log, "tea")
    assert [line.id for line in (await traced(log, strongest=9)).lines] == ["sugar", "cup", "milk"]
    assert [line.id for line in (await traced(log, strongest=2)).lines] == ["sugar", "cup"]


async def test_what_was_forgotten_is_shown_to_who_names_it_and_again_when_it_is_back() -> None:
    log = LogWriter()
    configured(log)
    turn(log, 0, ["tea", "milk"])
    forgotten(log, "tea")
    assert [line.id for line in (await traced(log)).lines] == ["milk"]
    assert [line.id for line in (await traced(log, named=["tea"])).lines] == ["tea"]
    turn(log, 1, "tea")
    assert {line.id for line in (await traced(log)).lines} == {"milk", "tea"}


async def test_concepts_are_named_by_id_by_what_was_written_and_marks_too() -> None:
    log = LogWriter()
    turn(log, 0, [concept("framework", "Frameworks"), concept("@day:2023-05-08"), concept("咖啡")])
    result = await traced(log, named=["FRAMEWORKS", "framework", "@day:2023-05-08", "咖啡", "tea"])
    assert [(line.id, line.label) for line in result.lines[:1]] == [("framework", "Frameworks")]
    assert [line.id for line in result.lines] == ["framework", "@day:2023-05-08", "咖啡"]
    assert result.unknown == ["tea"]


async def test_a_concept_that_lived_between_two_samples_has_an_empty_line() -> None:
    log = LogWriter()
    turn(log, 0, "milk")
    turn(log, 1, "tea")
    forgotten(log, "tea")
    turn(log, 10, "milk")
    result = await traced(log, points=2, named=["tea"])
    assert result.lines == [Line("tea", "tea", [None, None])]
    assert result.lines[0].peak == 0.0


async def test_other_graphs_and_fenced_writers_have_no_part_in_it() -> None:
    log = LogWriter()
    turn(log, 0, "tea")
    turn(log, 100, "tea", graph="bob")
    zombie = LogWriter(claimed=False)
    zombie.epoch, zombie.claimed, zombie.seq, zombie.chain = log.epoch, log.claimed, log.seq, log.chain
    log.claim("another worker")
    zombie.turn(id="late", concepts="milk", at=NOON + 200 * DAY, live=True, src=9)
    log.append(zombie.records[0][1])
    result = await traced(log)
    assert (result.times, [line.id for line in result.lines]) == ([NOON], ["tea"])


@pytest.mark.parametrize("graph", ["nobody", "configured"])
async def test_a_graph_in_which_nothing_happened_has_no_timeline(graph: str) -> None:
    log = LogWriter()
    turn(log, 0, "tea")
    configured(log, PRESETS["elephant"], graph="configured")
    assert await timeline(reader_of(log), 0, graph) is None


async def test_a_log_whose_head_is_gone_is_refused() -> None:
    log = LogWriter()
    turn(log, 0, "tea")
    del log.records[0]
    with pytest.raises(LogRewrittenError, match="begins at offset 1"):
        await traced(log)


async def test_samples_are_never_twice_at_one_time() -> None:
    log = LogWriter()
    turn(log, 0, "tea")
    log.turn(concepts="milk", at=NOON + 2, live=True)
    assert (await traced(log, points=60)).times == [NOON, NOON + 1, NOON + 2]


async def test_the_last_sample_of_a_timeline_is_what_the_fold_holds_now() -> None:
    log = LogWriter()
    configured(log)
    for day in range(30):
        turn(log, day, "tea milk" if day % 3 else "tea")
    state = log.folded().graph("ada")
    assert state is not None
    state.settle()
    existing = {
        name: state.concepts.strength_of(number, state.clock, state.settings)
        for name, number in state.concepts.numbers.items()
    }
    assert {line.id: line.strengths[-1] for line in (await traced(log, points=7)).lines} == existing
