"""Use keys for a writer: create those of new graphs, seal appended events, destroy those of erased events.

    created   a key is stored before the first event of its graph is appended; a graph that starts without a key never
              gets one.  None is created while all keys are missing and some graph is encrypted: a new one would hide
              that
    sealed    every event of a graph that has a key, but for the one that says that all of it is erased
    destroyed once a SubjectErased is folded and flushed.  The store notes what is due in the same batch as the event
              (Partition.graphs_to_erase), so the partition's next owner finishes what was begun

Finally, unencrypted copies beside the log are removed: turns, questions and answers in the transport (`scrub`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from emgas.logs import logger
from emgas.wire import Record
from replay.accepted_events import any_sealed
from replay.log import LogReader
from state.errors import GraphUnavailableError, KeysError, KeyStoreError
from state.events.events import AnyEvent, DataEvent, GraphEvent, SubjectErased, encode, written
from state.log_position import Draft, placed
from state.partition import Partition
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import is_locked, living, lock, sealed
from streams.transport.failpoints import Step, passing
from streams.transport.keys.key_store import KeyStore, MemoryKeys, destroy, give_birth, refreshed

log = logger("ingest")
Scrub = Callable[[str, int], Awaitable[None]]  # of a graph, with the last offset of `turns` that is accounted for


async def nothing_to_scrub(graph_id: str, source: int) -> None:
    """Leave everything: what a broker keeps beside the log expires."""


def _is_whole(event: GraphEvent | DataEvent) -> bool:
    """Return whether an event erases all of a graph: it is not sealed, and needs no key."""
    return isinstance(event, SubjectErased) and event.whole


def _is_available(state: Partition, graph_id: str) -> bool:
    try:
        state.graph(graph_id)
    except GraphUnavailableError:
        return False
    return True


def _events_of(state: Partition, graph_id: str) -> int:
    graph = state.graph(graph_id)
    return graph.events if graph else 0


class Sealer:
    """Seals for all writers of a worker.

    is_on   whether new graphs get a key     scrub   removes a graph's unencrypted records from the transport
    events  the log, which shows whether any graph is encrypted
    """

    def __init__(
        self,
        keys: KeyStore | None = None,
        *,
        is_on: bool = False,
        scrub: Scrub = nothing_to_scrub,
        events: LogReader | None = None,
    ) -> None:
        self.keys = keys or MemoryKeys()
        self.is_on = is_on
        self._scrub = scrub
        self._events = events

    async def check(self, state: Partition) -> None:
        """Read what others have put.  Raise KeyStoreError where graphs of `state` need keys, and none can be had."""
        is_read = await refreshed(self.keys)
        if not is_read and state.is_any_encrypted():
            raise KeyStoreError("the keys of encrypted graphs cannot be read. The worker continues as soon as they can")
        if is_read and self.is_on:
            state.check_key_store()

    async def prepare(self, state: Partition, events: Sequence[DataEvent]) -> None:
        """Create a key for each graph that starts with these events, or that has no key for sealing here.

        Raises KeysError, KeyStoreError.
        """
        named = Counter(event.graph for event in events if isinstance(event, GraphEvent) and not _is_whole(event))
        await self._give_birth([name for name, count in named.items() if self._needs_key(state, name, count)])

    async def prepare_births(self, state: Partition, graph_ids: Iterable[str]) -> None:
        """Create the keys of those graphs that are unknown, before their turns are decided.  Raises as `prepare`."""
        available = (name for name in graph_ids if _is_available(state, name))
        await self._give_birth([name for name in available if self._is_born(state, name)])

    async def _give_birth(self, graph_ids: Sequence[str]) -> None:
        if graph_ids:
            await self._check_complete()
        for name in graph_ids:
            await give_birth(self.keys, name, os.urandom)

    async def _check_complete(self) -> None:
        """Raise KeyStoreError where there is no key at all, though graphs of any partition are encrypted."""
        try:
            self.keys.check()
        except KeyStoreError:
            if self._events is not None and await any_sealed(self._events):
                raise

    def _needs_key(self, state: Partition, graph_id: str, count: int) -> bool:
        """Return whether no key can seal what comes next: of a new graph, or where the log lost what was erased there.

        The next events get the ordinals of the lost ones, whose secrets stay destroyed.
        """
        if living(self.keys, graph_id) is None:
            return self._is_born(state, graph_id)
        start = _events_of(state, graph_id)
        return any(living(self.keys, graph_id, ordinal) is None for ordinal in range(start, start + count))

    def _is_born(self, state: Partition, graph_id: str) -> bool:
        """Return whether a graph gets its first key: nothing of it is unencrypted.

        It is unknown, or all of it was encrypted and is erased.
        """
        if not self.is_on or living(self.keys, graph_id) is not None:
            return False
        graph = state.graph(graph_id)
        return graph is None or (bool(self.keys.of(graph_id)) and graph.is_blank)

    def values(self, state: Partition) -> Callable[[DataEvent, Draft | None], tuple[bytes, AnyEvent | None]]:
        """Write record values of stamped events that follow each other behind `state`, each with its draft or None.

        Raises GraphLockedError if an encrypted graph has lost its key: it must not go on unencrypted.
        With each comes what `decode` makes of it; None for a sealed event, which is not decoded.  An event that has a
        draft must be the one that was decoded from it.
        """
        seen: Counter[str] = Counter()

        def value(event: DataEvent, drafted: Draft | None) -> tuple[bytes, AnyEvent | None]:
            if not isinstance(event, GraphEvent) or (key := self._key_of(state, event)) is None:
                return written(event) if drafted is None else (placed(drafted, event), event)
            ordinal = _events_of(state, event.graph) + seen[event.graph]
            seen[event.graph] += 1
            return encode(sealed(event, living(self.keys, event.graph, ordinal) or key, ordinal)), None

        return value

    def _key_of(self, state: Partition, event: GraphEvent) -> GraphKey | None:
        """Return the key that seals an event; None if it stays unencrypted.  Raises GraphLockedError, KeysError."""
        if _is_whole(event):
            return None
        key = living(self.keys, event.graph)
        if key is None:
            state.check_key(event.graph)
        return key

    def dead_letter(self, record: Record) -> Record:
        """Lock what a dead letter holds, if its graph is encrypted: key and headers stay as they are.

        If the key is damaged the letter stays unencrypted, as it is in `turns`, so that nothing of it is lost.
        """
        graph_id = (record.key or b"").decode(errors="replace")
        with suppress(KeysError):
            if not is_locked(record.value) and living(self.keys, graph_id) is not None:
                return record._replace(value=lock(record.value, graph_id, self.keys))
        return record

    async def finish_erasures(self, state: Partition) -> None:
        """Destroy what is due.  Raises TransportError; what was not done stays due."""
        for graph_id in state.graphs_to_erase():
            try:
                await self._finish(state, graph_id)
            except KeysError as error:  # of one graph: the others are not to wait for it
                log.critical("keys are not destroyed yet", graph=graph_id, error=str(error))

    async def _finish(self, state: Partition, graph_id: str) -> None:
        passing(Step.ERASE)
        await destroy(self.keys, graph_id, state.due_erasures(graph_id), os.urandom)
        passing(Step.ERASE)
        await self._scrub(graph_id, state.position.source)
        passing(Step.ERASE)
        state.keys_destroyed(graph_id)
        log.info("keys destroyed", graph=graph_id)
