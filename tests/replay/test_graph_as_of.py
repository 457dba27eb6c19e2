"""A graph as it was: as of a time it is what it would be, had nothing been said later; at an offset, the log's fold."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from replay.as_of.graph_as_of import AsOf, counted, graph_at
from replay.as_of.history import History
from state.errors import LogRewrittenError
from state.events.events import (
    ConceptsRecalled,
    ConsolidationWindowClosed,
    Forgotten,
    GraphEvent,
    SessionEnded,
    TurnRecorded,
    WindowEvent,
    encode,
)
from state.graph.graph import Graph
from state.log_position import stamp
from tests.support.builders import (
    concepts_recalled,
    folded,
    forgotten,
    graph_configured,
    refolded,
    ticked,
    turn_embedded,
    turn_recorded,
)
from tests.support.clocks import DAY, NOON
from tests.support.lives import configurations, happenings, long_life, ticks
from tests.support.living import Happening, Life, live
from tests.support.logs import LogWriter, events_of, reader_of

WINDOWS = WindowEvent | SessionEnded  # what the time decides


CLAIMED = LogWriter().folded().position


def history_of(events: Iterable[GraphEvent]) -> History:
    return History.of_rows("ada", CLAIMED, None, [encode(stamp(event, CLAIMED)) for event in events])


def as_of(events: Sequence[GraphEvent], at: int) -> Graph | None:
    return AsOf(history_of(list(events)), at).finished()


def built(events: Sequence[GraphEvent], at: int) -> Graph | None:
    """Return the graph that is built from what `events` say up to `at`, and is then told the time."""
    life, spoke, parted = Life(), False, False
    for event in events:
        if not hasattr(event, "at"):  # what users ask for has no time of its own
            if not parted:
                life.fold(event)
        elif not isinstance(event, WINDOWS):
            parted = parted or event.at > at
            if event.at <= at:
                spoke = True
                life.close_due(event.at)
                life.fold(event)
    life.close_due(at)
    life.fold(ticked(at=at))
    return life.graph if spoke else None


def digest(graph: Graph | None) -> str:
    return "nothing" if graph is None else graph.digest()


def log_of(events: Iterable[GraphEvent]) -> LogWriter:
    log = LogWriter()
    for event in events:
        log.keep(event)
    return log


def moments(events: Sequence[GraphEvent], seeded: random.Random, count: int) -> list[int]:
    """Return times before, between and after the events, and such as fall on them."""
    times = [event.at for event in events if hasattr(event, "at")] or [NOON]
    near = [seeded.choice(times) + seeded.choice((-1, 0, 1, 5 * MINUTE, HOUR, DAY)) for _ in range(count // 2)]
    return [*near, *(seeded.randint(min(times) - DAY, max(times) + 90 * DAY) for _ in range(count - len(near)))]


@settings(max_examples=200)
@given(happenings(), configurations(), ticks(), configurations(), st.integers(0, 40), st.randoms(use_true_random=False))
def test_as_of_a_time_is_the_graph_built_from_what_was_said_by_then_and_told_the_time(
    happened: list[Happening], birth: Any, times: list[int], changed: Any, place: int, seeded: random.Random
) -> None:
    life = live(happened[:place], [birth], ticks=times)
    life.fold(changed)
    for event in happened[place:]:
        life.tell(event)
    for at in moments(life.events, seeded, 6):
        assert digest(as_of(life.events, at)) == digest(built(life.events, at))


@pytest.mark.parametrize("seed", range(6))
def test_fifty_moments_of_a_long_life_are_each_the_graph_built_up_to_then(seed: int) -> None:
    birth, happened = long_life(seed)
    life = live(happened, [birth])
    for at in moments(life.events, random.Random(seed), 50):
        assert digest(as_of(life.events, at)) == digest(built(life.events, at))


@pytest.mark.parametrize("seed", range(6, 9))
def test_as_of_the_clock_is_the_live_graph_told_its_own_clock(seed: int) -> None:
    birth, happened = long_life(seed)
    life = live(happened, [birth], ticks=[NOON + 30 * DAY])
    result = as_of(life.events, life.graph.clock)
    life.close_due(life.graph.clock)
    assert digest(result) == digest(life.graph)


@pytest.mark.parametrize("seed", range(9, 12))
def test_starting_from_a_packed_graph_changes_nothing(seed: int) -> None:
    birth, happened = long_life(seed)
    events = live(happened, [birth]).events
    history, seeded = history_of(events), random.Random(seed)
    for at in moments(events, seeded, 10):
        start = seeded.randint(0, counted(history, at).prefix)
        packed = refolded(events[:start], Graph("ada")).pack()
        assert digest(AsOf(history, at, (start, packed)).finished()) == digest(as_of(events, at))


def in_order() -> list[GraphEvent]:
    """Return a life without late turns: twelve turns, a silence that ends windows, and another."""
    turns = [turn_recorded(id=f"t{n}", at=NOON + n * MINUTE, concepts="tea milk") for n in range(12)]
    return live([*turns, turn_recorded(id="last", at=NOON + 400 * DAY)], [graph_configured()]).events


def test_what_came_in_order_is_the_first_part_of_the_log_and_no_window_is_decided_again() -> None:
    events = in_order()
    kinds = [type(event) for event in events]
    window = kinds.index(ConsolidationWindowClosed)
    closes = events[window].at + 5 * MINUTE  # type: ignore[union-attr]
    history = history_of(events)
    assert counted(history, closes - 1) == (window, ())
    assert counted(history, closes) == (window + 1, ())
    assert counted(history, NOON) == (2, ())
    assert counted(history, NOON - 1) == (0, ())
    assert counted(history, NOON + 400 * DAY) == (len(events), ())


def test_a_silent_graph_has_archived_by_then_what_the_log_has_not_archived_yet() -> None:
    events: list[GraphEvent] = [
        graph_configured(preset="forgetful"),
        turn_recorded(at=NOON, concepts="tea", live=False),
    ]
    before, after = as_of(events, NOON + 7 * DAY), as_of(events, NOON + 60 * DAY)
    assert before is not None
    assert after is not None
    assert [list(graph.concepts.numbers) for graph in (before, after)] == [["tea"], ["tea"]]
    assert [graph.concepts.archived.tolist() for graph in (before, after)] == [[0], [1]]
    assert (before.clock, after.clock) == (NOON + 7 * DAY, NOON + 60 * DAY)


def test_what_was_imported_late_counts_by_when_it_was_said() -> None:
    birth = graph_configured()
    now = turn_recorded(id="now", at=NOON + 900 * DAY, concepts="kettle")
    old = [turn_recorded(id=f"old{n}", at=NOON + n * DAY, concepts="tea", live=False) for n in range(3)]
    request = graph_configured(preset="elephant")
    result = as_of([birth, now, request, *old], NOON + DAY)
    assert result is not None
    assert result.passages.ids == ["old0", "old1"]
    assert result.preset == "default", "that request was made years later"


def test_a_window_that_was_closed_without_a_late_turn_is_closed_with_it() -> None:
    """The session of t0 … t11 is over when `next` comes, and t12 belongs to it, but is recorded later."""
    turns = [turn_recorded(id=f"t{n}", at=NOON + n * MINUTE, concepts=f"tea w{n}") for n in range(12)]
    late = turn_recorded(id="t12", at=NOON + 12 * MINUTE, concepts="tea sugar")
    life = live([*turns, turn_recorded(id="next", at=NOON + 5 * HOUR), late], [graph_configured()])
    assert [type(event) for event in life.windows] == [ConsolidationWindowClosed]
    result = as_of(life.events, NOON + 2 * HOUR)
    assert result is not None
    assert (result.fresh_turns, len(result.passages)) == (0, 13)
    assert digest(result) == digest(built(life.events, NOON + 2 * HOUR))


def test_texts_are_those_of_the_passages_in_whatever_order_they_were_recorded() -> None:
    events: list[GraphEvent] = [
        turn_recorded(id="t0", at=NOON, text="first"),
        turn_recorded(id="t9", at=NOON + 9 * DAY, text="beyond"),
        concepts_recalled(at=NOON + 1),
        turn_recorded(id="t1", at=NOON + 1, text="late"),
    ]
    past = AsOf(history_of(events), NOON + DAY)
    graph = past.finished()
    assert graph is not None
    texts = {name: past.text_of(graph, number).text for name, number in graph.passages.numbers.items()}
    assert texts == {"t0": "first", "t1": "late"}


def test_the_vector_of_a_late_turn_belongs_to_the_past_as_the_turn_does() -> None:
    beyond, late = {"id": "t9", "at": NOON + 9 * DAY}, {"id": "t1", "at": NOON + 1}
    first = turn_recorded(id="t0", at=NOON), turn_embedded(id="t0", at=NOON)
    both = turn_recorded(**late), turn_embedded(**late, vector=[0.0, 1.0])
    events: list[GraphEvent] = [*first, turn_recorded(**beyond), turn_embedded(**beyond), *both]
    past = as_of(events, NOON + DAY)
    assert past is not None
    assert [result.vector.tolist() for result in past.view().embeddings.values()] == [[[1, 0], [0, 1]]]
    assert digest(past) == digest(built([*first, *both], NOON + DAY))


async def test_at_an_offset_a_graph_is_the_fold_of_what_lies_before_it() -> None:
    birth, happened = long_life(5)
    events = live(happened, [birth]).events
    log = log_of(events)
    for offset in (0, 1, 2, 50, len(events) // 2, len(events) + 1, 10**6):
        before = [event for at, event in enumerate(events, 1) if at < offset]
        expected = refolded(before, Graph("ada")) if before else None
        assert digest(await graph_at(reader_of(log), 0, "ada", before=offset)) == digest(expected)


async def test_at_the_end_a_graph_is_the_live_one_and_as_of_its_clock_the_live_one_told_its_clock() -> None:
    birth, happened = long_life(3)
    life = live(happened, [birth])
    log = log_of(life.events)
    at_end = await graph_at(reader_of(log), 0, "ada")
    now = await graph_at(reader_of(log), 0, "ada", as_of=life.graph.clock)
    assert digest(at_end) == digest(life.graph) == digest(log.folded().graph("ada"))
    life.close_due(life.graph.clock)
    assert digest(now) == digest(life.graph)


async def test_as_of_a_time_and_at_an_offset_is_what_was_known_then_of_that_time() -> None:
    log = LogWriter()
    log.turn(id="t0", at=NOON)
    offset = log.next_offset
    log.turn(id="late", at=NOON - DAY)
    graph = await graph_at(reader_of(log), 0, "ada", before=offset, as_of=NOON)
    later = await graph_at(reader_of(log), 0, "ada", as_of=NOON)
    assert graph is not None
    assert later is not None
    assert (graph.passages.ids, later.passages.ids) == (["t0"], ["t0", "late"])


async def test_other_graphs_and_fenced_writers_have_no_part_in_it() -> None:
    log = LogWriter()
    log.turn(id="t0", at=NOON)
    log.turn(id="b0", at=NOON, graph="bob")
    zombie = LogWriter(claimed=False)
    zombie.epoch, zombie.claimed, zombie.seq, zombie.chain = log.epoch, log.claimed, log.seq, log.chain
    log.claim("another worker")
    zombie.turn(id="zombie", at=NOON, src=9)
    log.append(zombie.records[0][1])
    log.turn(id="t1", at=NOON + 1)
    result = await graph_at(reader_of(log), 0, "ada", as_of=NOON + 2)
    assert result is not None
    assert result.passages.ids == ["t0", "t1"]
    first, _, last = events_of(log, "ada")
    assert digest(result) == digest(folded(first, last, ticked(at=NOON + 2)))


@pytest.mark.parametrize("at", [NOON - 1, NOON])
async def test_before_anything_was_said_there_was_no_graph(at: int) -> None:
    log = LogWriter()
    log.configure()
    assert await graph_at(reader_of(log), 0, "ada", as_of=at) is None
    assert await graph_at(reader_of(log), 0, "bob") is None
    log.turn(at=NOON)
    assert (await graph_at(reader_of(log), 0, "ada", as_of=at) is None) == (at < NOON)


async def test_reading_goes_on_where_it_was_and_a_log_whose_head_is_gone_is_refused() -> None:
    log = LogWriter()
    log.turn(at=NOON)
    history = History("ada")
    await history.read_on(reader_of(log), 0)
    log.turn(at=NOON + 1)
    del log.records[:2]
    await history.read_on(reader_of(log), 0)
    assert (len(history), history.watermark, history.size) == (2, 2, sum(map(len, history.values)))
    with pytest.raises(LogRewrittenError, match="begins at offset 2"):
        await graph_at(reader_of(log), 0, "ada")
    assert [type(event) for event in history.events()] == [TurnRecorded, TurnRecorded]


def test_a_recall_and_a_tick_are_told_like_turns() -> None:
    events: list[GraphEvent] = [
        turn_recorded(at=NOON),
        concepts_recalled(at=NOON + DAY, concepts="tea"),
        ticked(at=NOON + 2 * DAY),
    ]
    assert isinstance(events[1], ConceptsRecalled)
    assert [counted(history_of(events), NOON + n * DAY).prefix for n in range(3)] == [1, 2, 3]


def hidden(events: Sequence[GraphEvent], at: int) -> Graph | None:
    return AsOf(history_of(list(events)), at, hides=True).finished()


@settings(max_examples=200)
@given(happenings(), configurations(), ticks(), st.randoms(use_true_random=False))
def test_what_was_forgotten_later_is_hidden_and_what_was_said_since_is_not(
    happened: list[Happening], birth: Any, times: list[int], seeded: random.Random
) -> None:
    events = live(happened, [birth], ticks=times).events
    recorded = {event.id: n for n, event in reversed([*enumerate(events)]) if isinstance(event, TurnRecorded)}
    for at in moments(events, seeded, 6):
        whole, seen = as_of(events, at), hidden(events, at)
        assert (whole is None) == (seen is None)
        if whole is None or seen is None:
            continue
        here, still = set(whole.passages.numbers), set(seen.passages.numbers)
        gone = {turn: n for n, event in enumerate(events) if isinstance(event, Forgotten) for turn in event.turns}
        assert still <= here
        assert not {turn for turn in still if gone.get(turn, -1) > recorded[turn]}
        latest = max((n for n, event in enumerate(events) if isinstance(event, Forgotten)), default=-1)
        assert {turn for turn in here if recorded[turn] > latest} <= still
        if not gone and not any(isinstance(event, Forgotten) for event in events):
            assert seen.digest() == whole.digest()


def forgets() -> list[GraphEvent]:
    """Return a life in which tea, and the turn t1, were forgotten on the third day, and tea came up again."""
    return [
        graph_configured(),
        turn_recorded(id="t0", at=NOON, concepts="milk tea"),
        turn_recorded(id="t1", at=NOON + DAY, concepts="milk honey"),
        turn_recorded(id="t2", at=NOON + 2 * DAY, concepts="milk sugar"),
        forgotten(concepts="tea", turns="t1"),
        turn_recorded(id="late", at=NOON + HOUR, concepts="milk tea"),
        turn_recorded(id="t3", at=NOON + 3 * DAY, concepts="milk"),
    ]


def test_a_late_turn_that_came_after_the_forgetting_is_seen_with_its_words() -> None:
    events = forgets()
    whole, seen = as_of(events, NOON + DAY), hidden(events, NOON + DAY)
    assert whole is not None
    assert seen is not None
    assert set(whole.passages.numbers) == {"t0", "t1", "late"}
    assert set(seen.passages.numbers) == {"t0", "late"}
    assert "honey" in whole.concepts.numbers, "that stood in t1 alone, and goes with it"
    assert set(seen.concepts.numbers) == {"milk", "tea"}
    without_late = hidden([event for event in events if getattr(event, "id", "") != "late"], NOON + DAY)
    assert without_late is not None
    assert set(without_late.concepts.numbers) == {"milk"}


def test_a_word_goes_with_the_last_turn_that_held_it_then_though_it_was_said_again_before_the_forgetting() -> None:
    events = [
        graph_configured(),
        turn_recorded(id="t0", at=NOON, concepts="milk tea"),
        turn_recorded(id="t1", at=NOON + DAY, concepts="milk honey"),
        turn_recorded(id="t2", at=NOON + 2 * DAY, concepts="milk tea"),
        forgotten(concepts="", turns="t0"),
    ]
    seen = hidden(events, NOON + DAY)
    assert seen is not None
    assert set(seen.concepts.numbers) == {"milk", "honey"}
    now = hidden(events, NOON + 2 * DAY)
    assert now is not None
    assert "tea" in now.concepts.numbers
