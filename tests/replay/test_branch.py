"""What a branch is sent for a log's events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from emgas.messages.turns import Configure, Forget, Settings, Turn
from replay.branch import BranchSettings, Message, messages
from state.events.events import GraphEvent
from state.events.memory_settings import PRESETS
from tests.support.builders import (
    concepts_recalled,
    consolidation_closed,
    decay_closed,
    forgotten,
    graph_configured,
    ticked,
    turn_recorded,
)
from tests.support.clocks import DAY, NOON


async def sent(events: Iterable[GraphEvent], settings: BranchSettings | None = None, after: int = 0) -> list[Message]:
    async def stream() -> AsyncIterator[GraphEvent]:
        for event in events:
            yield event

    return [each.message async for each in messages(stream(), settings, after)]


async def test_a_turn_is_sent_as_it_was_with_the_time_that_it_was_folded_with() -> None:
    event = turn_recorded(id="t7", session="s", speaker="Bot", role="assistant", metadata={"n": 1.5}, at=NOON + DAY)
    (turn,) = await sent([event])
    assert turn == Turn(
        id="t7",
        graph="ada",
        speaker="Bot",
        text=event.text,
        session="s",
        role="assistant",
        at=NOON + DAY,
        metadata={"n": 1.5},
    )


async def test_settings_are_sent_as_what_differs_from_their_preset() -> None:
    (command,) = await sent([graph_configured(preset="forgetful", half_life=DAY, seq=9)])
    assert isinstance(command, Configure)
    assert (command.graph, command.preset, command.settings) == ("ada", "forgetful", Settings(half_life=DAY))


async def test_a_preset_that_this_version_does_not_know_is_sent_as_all_its_values() -> None:
    event = graph_configured(preset="elephant")
    fields = {**{name: getattr(event, name) for name in ("epoch", "claim", "seq", "chain", "graph", "settings")}}
    (command,) = await sent([type(event)(**fields, preset="of tomorrow")])
    assert isinstance(command, Configure)
    assert command.preset == "default"
    meant, default = PRESETS["elephant"].model_dump(), PRESETS["default"].model_dump()
    assert command.settings == Settings(**{name: value for name, value in meant.items() if value != default[name]})
    assert command.settings.prune_below == 0


async def test_a_request_to_forget_keeps_its_place_between_turns() -> None:
    first, command, second = await sent(
        [turn_recorded(id="t0"), forgotten(concepts="tea", turns="t0"), turn_recorded()]
    )
    assert isinstance(first, Turn)
    assert isinstance(second, Turn)
    assert isinstance(command, Forget)
    assert (command.graph, command.concepts, command.turns) == ("ada", ["tea"], ["t0"])


async def test_what_windows_ticks_and_questions_did_is_left_to_the_branch() -> None:
    assert await sent([concepts_recalled(), decay_closed(), consolidation_closed(), ticked()]) == []


async def test_settings_of_its_own_come_first_in_each_graph_and_instead_of_what_the_log_says() -> None:
    settings = BranchSettings("elephant", Settings(half_life=DAY))
    log = [graph_configured(), turn_recorded(), turn_recorded(graph="bob"), graph_configured(preset="mofox")]
    told = [(type(message).__name__, message.graph) for message in await sent(log, settings)]
    assert told == [("Configure", "ada"), ("Turn", "ada"), ("Configure", "bob"), ("Turn", "bob")]
    (begun, *_) = await sent(log, settings)
    assert isinstance(begun, Configure)
    assert (begun.preset, begun.settings) == (settings.preset, settings.settings)


async def test_what_was_dealt_with_before_is_left_out_and_no_graph_begins_twice() -> None:
    log = [turn_recorded(seq=1), forgotten(seq=2), turn_recorded(id="t1", seq=3), turn_recorded(graph="bob", seq=4)]
    settings = BranchSettings("elephant", Settings())
    told = [(type(message).__name__, message.graph) for message in await sent(log, settings, after=2)]
    assert told == [("Turn", "ada"), ("Configure", "bob"), ("Turn", "bob")]
