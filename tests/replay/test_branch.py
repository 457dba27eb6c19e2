"""What a branch is sent for a log's events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from emgas import limits
from emgas.messages.forgetting import Forget
from emgas.messages.settings.memory_settings import Settings
from emgas.messages.topics import read_inbound
from emgas.messages.turns import Configure, Turn
from emgas.validation import encode as encoded
from replay.branch import BranchSettings, Message, messages
from state.events.events import (
    AccessGranted,
    AccessRevoked,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DecayWindowClosed,
    EdgesRated,
    EventErased,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    GraphEvent,
    MemoryArchived,
    MemoryConsolidated,
    MemoryReplayed,
    MemoryRestored,
    PassageRewritten,
    PassageSplit,
    Pinned,
    Retracted,
    Sealed,
    SessionEnded,
    SessionSummarised,
    SubjectErased,
    Superseded,
    Ticked,
    TopicNamed,
    TurnEmbedded,
    TurnNotRecorded,
    TurnRecorded,
    TurnsExpired,
    Unpinned,
    WorthJudged,
    decode_as,
    encode,
)
from state.events.extraction_types import Attached
from state.events.memory_settings import PRESETS
from state.events.registry import SPECS
from tests.support.builders import (
    access_granted,
    access_revoked,
    concepts_recalled,
    consolidation_closed,
    decay_closed,
    feedback_given,
    forgotten,
    graph_configured,
    pinned,
    session_ended,
    ticked,
    turn_recorded,
    unpinned,
)
from tests.support.clocks import DAY, NOON


async def sent(events: Iterable[GraphEvent], settings: BranchSettings | None = None, after: int = 0) -> list[Message]:
    return [each.message async for each in messages(_stream(events), settings, after)]


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


async def test_a_revocation_whose_grant_was_undone_is_not_sent() -> None:
    """A worker rejects it: nothing was granted. The same revocation after a grant is sent, and a second one is not."""
    assert await sent([access_revoked()]) == []
    messages_sent = await sent([access_granted(seq=1), access_revoked(seq=2), access_revoked(seq=3)], after=1)
    assert [message.id for message in messages_sent] == ["branch/revoke/2"]


async def test_what_windows_ticks_and_questions_did_is_left_to_the_branch() -> None:
    assert await sent([concepts_recalled(), decay_closed(), consolidation_closed(), ticked()]) == []


async def test_settings_of_its_own_come_first_in_each_graph_and_instead_of_what_the_log_says() -> None:
    settings = BranchSettings("elephant", Settings(half_life=DAY))
    log = [graph_configured(), turn_recorded(), turn_recorded(graph="bob"), graph_configured(preset="mofox")]
    kinds = [(type(message).__name__, message.graph) for message in await sent(log, settings)]
    assert kinds == [("Configure", "ada"), ("Turn", "ada"), ("Configure", "bob"), ("Turn", "bob")]
    (begun, *_) = await sent(log, settings)
    assert isinstance(begun, Configure)
    assert (begun.preset, begun.settings) == (settings.preset, settings.settings)


async def test_what_was_dealt_with_before_is_left_out_and_no_graph_begins_twice() -> None:
    log = [turn_recorded(seq=1), forgotten(seq=2), turn_recorded(id="t1", seq=3), turn_recorded(graph="bob", seq=4)]
    settings = BranchSettings("elephant", Settings())
    kinds = [(type(message).__name__, message.graph) for message in await sent(log, settings, after=2)]
    assert kinds == [("Turn", "ada"), ("Configure", "bob"), ("Turn", "bob")]


MANY = [f"name {number}" for number in range(2 * limits.TOP + 7)]
MINIMAL: dict[type[GraphEvent], Any] = {
    AccessGranted: access_granted,
    AccessRevoked: access_revoked,
    FeedbackGiven: feedback_given,
    Forgotten: forgotten,
    GraphConfigured: graph_configured,
    Pinned: pinned,
    SessionEnded: session_ended,
    TurnRecorded: turn_recorded,
    Unpinned: unpinned,
}
NOT_SENT = {
    ConceptsRecalled, ConsolidationWindowClosed, DecayWindowClosed, EdgesRated, EventErased, MemoryArchived,
    MemoryConsolidated, MemoryReplayed, MemoryRestored, PassageRewritten, PassageSplit, Retracted, Sealed,
    SessionSummarised, SubjectErased, Superseded, Ticked, TopicNamed, TurnEmbedded, TurnNotRecorded, TurnsExpired,
    WorthJudged,
}  # fmt: skip


def test_of_every_kind_of_event_it_is_known_whether_a_branch_is_sent_something_for_it() -> None:
    assert MINIMAL.keys() | NOT_SENT == set(SPECS)
    assert not MINIMAL.keys() & NOT_SENT


def named(message: Any) -> list[str]:
    return [*getattr(message, "concepts", ()), *getattr(message, "turns", ())]


@pytest.mark.parametrize("kind", sorted(MINIMAL, key=str))
@pytest.mark.parametrize("names", [[], MANY[:1], MANY[: limits.TOP], MANY[: limits.TOP + 1], MANY])
async def test_however_many_names_an_event_holds_the_branch_is_sent_all_of_them(
    kind: type[GraphEvent], names: list[str]
) -> None:
    """Every list of names that an event may hold, of which a message of the wire may hold fewer."""
    event = MINIMAL[kind](seq=7)
    lists = [name for name in ("concepts", "turns") if hasattr(event, name) and kind is not TurnRecorded]
    event = decode_as(GraphEvent, encode(replace(event, **{name: list(names) for name in lists})))
    numbered = [each async for each in messages(_stream([event]))]
    result = [each.message for each in numbered]
    for message in result:
        assert read_inbound(encoded(message)) == message, "the wire admits it"
    kept = [field for field in lists if field in type(result[0]).model_fields] if result else []
    assert not lists or bool(names) == bool(result)
    assert sorted(name for message in result for name in named(message)) == sorted(names * len(kept))
    assert len({message.id for message in result}) == len(result)
    assert [each.seq for each in numbered] == [6] * (len(result) - 1) + [7] * bool(result)


async def test_a_name_that_no_message_can_hold_is_left_to_the_turns_that_hold_it() -> None:
    (request,) = await sent([forgotten(concepts=["tea", "x" * (limits.NAME_CHARACTERS + 1)], turns="t0")])
    assert isinstance(request, Forget)
    assert (request.concepts, request.turns) == (["tea"], ["t0"])


async def test_a_turn_of_january_1970_is_not_taken_for_one_in_seconds_and_keeps_what_came_with_it() -> None:
    came = [Attached("file:///a.jpg", "image", caption="A red kettle.")]
    (turn,) = await sent([turn_recorded(at=2 * 10**9, attachments=came)])
    assert isinstance(turn, Turn)
    assert turn.at == 2 * 10**9
    assert [(each.uri, each.caption) for each in turn.attachments] == [("file:///a.jpg", "A red kettle.")]
    assert read_inbound(encoded(turn)) == turn


async def test_the_turn_that_begins_a_graph_is_not_dealt_with_when_only_its_settings_are() -> None:
    settings = BranchSettings("elephant", Settings())
    assert [each.seq async for each in messages(_stream([turn_recorded(seq=5)]), settings)] == [4, 5]


async def _stream(events: Iterable[GraphEvent]) -> AsyncIterator[GraphEvent]:
    for event in events:
        yield event
