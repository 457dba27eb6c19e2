"""A store of graphs' keys: the seam, and its backend in memory.

    of(graph)     the available keys, with which a fold opens events; no I/O except at the first call for a graph
    put(key)      keep a key in the place of the one of its id, which is then destroyed; it is durable when this returns
    refresh()     see what other processes have put since; `refreshed` goes on without, where that fails

A key is put before anything that it seals is appended.  Destroying it is putting what is left of it (GraphKey.without,
GraphKey.destroyed), which the store must not be able to give back from then on.  One graph has one writer, the owner of
its partition; a worker that was fenced may still give birth to a key, under an id of its own, which harms no one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from emgas.errors import TransportError
from emgas.logs import logger
from state.errors import KeysError, KeyStoreError
from state.sealing.graph_key import ID_BYTES, SECRET_BYTES, GraphKey
from state.sealing.keyring import HeldKeys

if TYPE_CHECKING:
    from state.partition import DueErasure  # here: a client needs neither a graph nor numpy

log = logger("keys")
Random = Callable[[int], bytes]


class KeyStore(Protocol):
    """See the module's docstring.  Raises KeysError, KeyStoreError."""

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        """Return the keys of a graph by their ids, including destroyed ones."""

    def check(self) -> None:
        """Raise KeyStoreError if no key can be had at all: a volume is not mounted, a topic is empty."""

    async def put(self, key: GraphKey) -> None:
        """Keep a key in the place of the one of its id."""

    async def refresh(self) -> None:
        """See what others have put."""


class MemoryKeys(HeldKeys):
    """Keys that die with their process."""

    async def put(self, key: GraphKey) -> None:
        self.hold(key)

    async def refresh(self) -> None:
        """Do nothing: all keys are in memory."""


class UnnamedKeys(MemoryKeys):
    """No keys: the settings name no place of any."""

    def check(self) -> None:
        raise KeyStoreError(
            "graphs are encrypted, but nothing says where their keys are: set EMGAS_GRAPH_KEYS and EMGAS_KEK_FILE to "
            "what they were"
        )


async def refreshed(store: KeyStore) -> bool:
    """Refresh the keys; return whether that succeeded.  Only work that needs a newer key waits for the next try."""
    try:
        await store.refresh()
    except TransportError as error:
        log.warning("keys cannot be read", error=str(error))
        return False
    return True


async def give_birth(store: KeyStore, graph_id: str, random: Random = os.urandom) -> GraphKey:
    """Make a key for a graph, and keep it."""
    key = GraphKey.born(graph_id, random(ID_BYTES), random(SECRET_BYTES), random(SECRET_BYTES))
    await store.put(key)
    return key


async def destroy(store: KeyStore, graph_id: str, due: Sequence[DueErasure], random: Random = os.urandom) -> None:
    """Destroy what erasures of a graph name; what is destroyed already stays so, so this may be done again.

    Of a key that is missing or damaged its name is kept as destroyed, if all of the graph is erased.  Where all keys
    are missing, nothing is: else they would come back whole with the volume that is not mounted.
    """
    if any(erasure.keys for erasure in due):
        store.check()
    for erasure in due:
        for name in erasure.keys:
            left = _whole(store, graph_id, name) if erasure.whole else _in_part(store, graph_id, name, erasure, random)
            if left is not None:
                await store.put(left)


def _whole(store: KeyStore, graph_id: str, name: str) -> GraphKey | None:
    """Return what is left of a key that is to be destroyed whole; None if it is already."""
    with suppress(KeysError):
        key = store.of(graph_id).get(name)
        if key is not None and key.is_destroyed:
            return None
    return GraphKey(graph_id, name, {}, b"")


def _in_part(store: KeyStore, graph_id: str, name: str, erasure: DueErasure, random: Random) -> GraphKey | None:
    key = store.of(graph_id).get(name)
    if key is None or key.is_destroyed:
        return None
    left = key.without(erasure.events, random(SECRET_BYTES))
    return None if left is key else left
