"""Sealed events: what goes in comes out, only where it was put, and only with its key."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from state.errors import KeysError, UnreadableEventError
from state.events.events import GraphEvent, Sealed, SubjectErased, TurnRecorded, decode, encode
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import NO_KEYS, HeldKeys, lock, opened, read, sealed, unlock
from tests.support.builders import turn_recorded

KEY = GraphKey.born("ada", b"12345678", b"r" * 32, b"w" * 32)
EVENT = turn_recorded(graph="ada", text="The red kettle whistles. 水壶")


def keyring(*keys: GraphKey) -> HeldKeys:
    contents = HeldKeys()
    for key in keys:
        contents.hold(key)
    return contents


def test_a_sealed_event_opens_to_the_same_and_shows_nothing_but_its_place() -> None:
    value = encode(sealed(EVENT, KEY, 7))
    assert read(value, keyring(KEY)) == EVENT
    assert b"kettle" not in value
    assert EVENT.id.encode() not in value.replace(b"ada", b"")
    envelope = decode(value)
    assert isinstance(envelope, Sealed)
    assert (envelope.seq, envelope.src, envelope.n) == (EVENT.seq, EVENT.src, 7)


def test_sealing_is_a_function_of_its_arguments_and_no_two_texts_share_a_nonce() -> None:
    assert encode(sealed(EVENT, KEY, 7)) == encode(sealed(EVENT, KEY, 7))
    other = replace(EVENT, text="another")
    assert sealed(EVENT, KEY, 7).body[:12] != sealed(other, KEY, 7).body[:12]
    assert sealed(EVENT, KEY, 7).body[:12] != sealed(EVENT, KEY, 8).body[:12]


@pytest.mark.parametrize(
    "change",
    [{"seq": 99}, {"epoch": 99}, {"src": 99}, {"chain": "f" * 16}, {"claim": "other"}, {"n": 8}, {"body": b"x" * 60}],
    ids=lambda change: str(*change),
)
def test_a_sealed_event_whose_envelope_was_changed_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UnreadableEventError, match="does not open with its key"):
        opened(replace(sealed(EVENT, KEY, 7), **change), keyring(KEY))


def test_an_event_that_was_moved_to_another_graph_is_refused() -> None:
    twin = GraphKey("bob", KEY.id, KEY.nodes, KEY.working)
    with pytest.raises(UnreadableEventError):
        opened(replace(sealed(EVENT, KEY, 7), graph="bob"), keyring(twin))


def test_without_its_key_nothing_opens_and_the_error_says_what_to_set() -> None:
    with pytest.raises(KeysError, match="EMGAS_GRAPH_KEYS and EMGAS_KEK_FILE"):
        opened(sealed(EVENT, KEY, 7), NO_KEYS)


@pytest.mark.parametrize("left", [KEY.destroyed(), KEY.without([(7, 7)], b"n" * 32)], ids=["whole", "this one"])
def test_what_was_destroyed_stays_sealed(left: GraphKey) -> None:
    event = sealed(EVENT, KEY, 7)
    assert opened(event, keyring(left)) is event


def test_nothing_is_sealed_by_a_secret_that_was_destroyed() -> None:
    with pytest.raises(ValueError, match="was destroyed"):
        sealed(EVENT, KEY.without([(7, 7)], b"n" * 32), 7)


def test_what_is_locked_opens_until_something_is_erased() -> None:
    locked = lock(b"a snapshot with a kettle", "ada", keyring(KEY))
    assert b"kettle" not in locked
    assert unlock(locked, "ada", keyring(KEY)) == b"a snapshot with a kettle"
    assert lock(b"in clear", "bob", keyring(KEY)) == b"in clear"
    for left in (KEY.destroyed(), KEY.without([(3, 3)], b"n" * 32)):
        with pytest.raises(ValueError, match="was erased"):
            unlock(locked, "ada", keyring(left))


def test_an_event_of_an_encrypted_graph_may_hold_anything_that_one_in_clear_may() -> None:
    erased = SubjectErased(
        epoch=0, claim="", seq=1, chain="0" * 16, graph="ada", whole=False, keys=[KEY.id], turns=["t1"],
        events=[(0, 3)], instead=[(2, encode(EVENT))],
    )  # fmt: skip
    result = read(encode(sealed(erased, KEY, 4)), keyring(KEY))
    assert result == erased
    assert isinstance(result, GraphEvent)
    assert not isinstance(result, TurnRecorded)
