"""Seal an event of a graph with a key of the graph, and open it again.

    TurnRecorded {epoch … graph src | id session speaker text …}
         │ sealed under the secret of the event's ordinal `n`           the envelope: what the log's rules need,
         ▼                                                              unencrypted, and bound to the sealed part
    Sealed       {epoch … graph src key n | body}

The log and the rows of a store hold the sealed form: the chain is a hash over it, so a program without keys can still
decide which events count.  A fold opens it.  An erased event has no secret any more: it stays a `Sealed`, without
effect.

streams/transport/keys/ stores and supplies the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import orjson
from msgspec.structs import replace

from state.errors import KeysError, UnreadableEventError
from state.events.events import AnyEvent, EventT, GraphEvent, Sealed, decode, encode, unreadable
from state.sealing.cipher import decrypt, encrypt
from state.sealing.graph_key import GraphKey

_NO_KEYS: Mapping[str, GraphKey] = {}
LOCKED: Final = b"\x00locked\x00"  # what bytes that were sealed under a working secret begin with
_ID_DIGITS: Final = 16
_SEALED: Final = b'"kind":"Sealed"'


class ChangedError(KeysError, UnreadableEventError):
    """A sealed event and its key do not fit.  Operator action: see the message.  It concerns this graph alone."""


class Keyring(Protocol):
    """The available keys of graphs, including destroyed ones."""

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        """Return the keys of a graph by their ids; none for a graph that was never encrypted."""

    def check(self) -> None:
        """Raise KeyStoreError if what keeps the keys is not there: then it is no single key that is missing."""


class NoKeys:
    """The keyring of a memory in which nothing is encrypted."""

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        return _NO_KEYS

    def check(self) -> None:
        pass


class HeldKeys:
    """A keyring in memory.  Of several keys of one id, it holds what all of them open: see `GraphKey.meet`."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, GraphKey]] = {}

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        return self._keys.get(graph_id, _NO_KEYS)

    def check(self) -> None:
        pass

    def hold(self, key: GraphKey) -> GraphKey:
        """Take a key up; return what is held of its id now."""
        keys = self._keys.setdefault(key.graph, {})
        existing = keys.get(key.id)
        keys[key.id] = key if existing is None else existing.meet(key)
        return keys[key.id]

    def every(self) -> list[GraphKey]:
        """List all keys."""
        return [key for keys in self._keys.values() for key in keys.values()]


NO_KEYS: Final = NoKeys()


def living(keys: Keyring, graph_id: str, ordinal: int | None = None) -> GraphKey | None:
    """Find the key by which a graph, or the event of an ordinal, is sealed; None for a graph that is not encrypted.

    There may be several where two workers gave birth to the graph at once, or where the log lost what was erased: each
    of them opens what it sealed.
    """
    living_keys = [
        key
        for key in keys.of(graph_id).values()
        if not key.is_destroyed and (ordinal is None or key.secret_of(ordinal) is not None)
    ]
    return min(living_keys, key=lambda key: key.id, default=None)


def sealed(event: GraphEvent, key: GraphKey, ordinal: int) -> Sealed:
    """Seal a stamped event, the one of this ordinal of its graph.  Raises ValueError as `encode`."""
    secret = key.secret_of(ordinal)
    if secret is None:
        raise ValueError(f"the key of event {ordinal} of graph {event.graph} was destroyed: nothing is sealed by it")
    envelope = Sealed(
        epoch=event.epoch,
        claim=event.claim,
        seq=event.seq,
        chain=event.chain,
        graph=event.graph,
        src=getattr(event, "src", None),
        key=key.id,
        n=ordinal,
        body=b"",
    )
    return replace(envelope, body=encrypt(secret, encode(event), _bound(envelope)))


def _bound(event: Sealed) -> bytes:
    """Write the envelope: all but what is sealed, and the version, which is another one once a newer EMGAS reads it."""
    return orjson.dumps([getattr(event, name) for name in event.__struct_fields__ if name not in ("v", "body")])


def missing(keys: Keyring, graph_id: str, what: str = "nothing of it can be sealed") -> KeysError:
    """Return the error that a key of an encrypted graph is missing.  Raises KeyStoreError if all keys are missing."""
    keys.check()
    return KeysError(
        f"a key of graph {graph_id} is missing ({what}): set EMGAS_GRAPH_KEYS and EMGAS_KEK_FILE to what they were, or "
        f"restore the key from where it is kept. If it is lost: `emgas change erase {graph_id}`"
    )


def opened(event: AnyEvent, keys: Keyring) -> AnyEvent:
    """Open a sealed event; any other, and one whose key was destroyed, is given as it is.

    Raises KeysError, KeyStoreError, UnreadableEventError.
    """
    if not isinstance(event, Sealed):
        return event
    key = keys.of(event.graph).get(event.key)
    if key is None:
        raise missing(keys, event.graph, f"event {event.n} needs key {event.key}")
    secret = key.secret_of(event.n)
    if secret is None:
        return event
    text = decrypt(secret, event.body, _bound(event))
    if text is None:
        raise ChangedError(
            f"event {event.n} of graph {event.graph} does not open with its key: the key or the event was changed. "
            "Restore the key from where it is kept; if it is as it was, restore the log."
        )
    inner = decode(text)
    if not isinstance(inner, GraphEvent) or _place(inner) != _place(event):
        raise UnreadableEventError(f"event {event.n} of graph {event.graph} holds another event than its envelope says")
    return inner


def _place(event: GraphEvent) -> tuple[str, int, int]:
    return event.graph, event.epoch, event.seq


def read(value: bytes, keys: Keyring) -> AnyEvent:
    """Decode and open a record value.  Raises KeysError, UnreadableEventError."""
    return opened(decode(value), keys)


def read_as(kind: type[EventT], value: bytes, keys: Keyring) -> EventT:
    """Read a record value that can only hold one kind of event, but for what was erased.

    Raises KeysError, UnreadableEventError.
    """
    event = read(value, keys)
    if not isinstance(event, kind):
        raise unreadable(TypeError(f"{type(event).__name__} where only a {kind.__name__} can stand"))
    return event


def is_sealed(value: bytes) -> bool:
    """Return whether a record value holds a sealed event."""
    try:
        return _SEALED in value and isinstance(decode(value), Sealed)  # the metadata of a turn may look alike
    except UnreadableEventError:
        return False


def is_locked(value: bytes) -> bool:
    """Return whether bytes are what `lock` made."""
    return value.startswith(LOCKED)


def lock(value: bytes, graph_id: str, keys: Keyring) -> bytes:
    """Seal bytes that were derived from a graph under its working secret; as they are, if it is not encrypted."""
    key = living(keys, graph_id)
    if key is None:
        return value
    return LOCKED + key.id.encode() + encrypt(key.working, value, _bound_to(graph_id))


def unlock(value: bytes, graph_id: str, keys: Keyring) -> bytes:
    """Open what `lock` sealed.  Raises ValueError for what was sealed before something of the graph was erased."""
    if not value.startswith(LOCKED):
        return value
    start = len(LOCKED) + _ID_DIGITS
    key = keys.of(graph_id).get(value[len(LOCKED) : start].decode(errors="replace"))
    text = None if key is None or key.is_destroyed else decrypt(key.working, value[start:], _bound_to(graph_id))
    if text is None:
        raise ValueError(f"this was made before something of graph {graph_id} was erased: no key opens it any more")
    return text


def _bound_to(graph_id: str) -> bytes:
    return b"working " + graph_id.encode()
