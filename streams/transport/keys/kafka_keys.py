"""Keys in a topic that all workers share: `PREFIX.keys`, one partition, compacted, every record wrapped by the KEK.

    key = GRAPH/ID      value = the key of that id, wrapped (wrapping.py); the newest record of a key holds

No EMGAS can read a replaced key any more, because only the newest record counts; its bytes stay in the broker's files
until they are compacted.  Kafka never compacts the segment that it writes to, and begins another one with the first
record that comes `segment.ms` after the first record of this one (topic_plan.py).  `write_on` appends such a record,
which is no key.  Until then, anyone with both the broker's disk and the KEK can read the replaced key.

A worker that was frozen may write an older value of a key after another worker has destroyed more of it.  So a process
keeps only what all values that it read can open together, and a worker writes this again if the newest opens more
(`mend`).

Opened, it reads the whole topic; `refresh` reads on.  It holds one record per graph, and as many more as graphs were
erased and created again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from emgas.logs import logger
from emgas.times import HOUR_MS
from emgas.wire import ProducerRecord, Record
from replay.log import LogReader
from state.errors import KeysError, KeyStoreError
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import HeldKeys
from streams.transport.keys.wrapping import Wrapping
from streams.transport.sender import Send

log = logger("keys")
PARTITION: Final = 0
WRITTEN_ON: Final = b"written on"  # key of the record that is no key: those have a "/"


class KafkaKeys:
    """A KeyStore (key_store.py) on `topic`, read by `reader`; what only reads has nothing to send with."""

    def __init__(
        self,
        topic: str,
        reader: LogReader,
        wrapping: Wrapping,
        send: Send | None = None,
        *,
        compacted_ms: int = HOUR_MS,
    ) -> None:
        self._topic = topic
        self._reader = reader
        self._wrapping = wrapping
        self._send = send
        self._timeout: float | None = None
        self._keys = HeldKeys()
        self._next = 0
        self._changing = asyncio.Lock()
        self._compacted_ms = compacted_ms
        self._places: set[bytes] = set()  # of the records that were read
        self._outdated: dict[bytes, GraphKey] = {}  # by place: what is held, where the newest record opens more
        self._replaced_at: int | None = None  # when the newest was written that stands in the place of another
        self._written_at = 0  # and when the newest of all

    def sent_by(self, send: Send, timeout: float) -> None:
        """Write with `send` from here on, which may take `timeout` seconds."""
        self._send, self._timeout = send, timeout

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        """Return the keys of a graph, as of the last refresh."""
        return self._keys.of(graph_id)

    def check(self) -> None:
        """Raise KeyStoreError if the topic holds no key."""
        if not self._keys.every():
            raise KeyStoreError(
                f"graphs are encrypted, but the topic of their keys is empty: {self._topic}. Restore it, and "
                "the worker continues"
            )

    async def put(self, key: GraphKey) -> None:
        """Append a key, and wait until it is acknowledged."""
        place = f"{key.graph}/{key.id}".encode()
        async with self._changing:
            existing = self.of(key.graph).get(key.id)
            left = key if existing is None else existing.meet(key)
            await self._append(place, self._wrapping.wrap(left.to_bytes(), place))
            self._keys.hold(left)

    async def _append(self, place: bytes, value: bytes) -> None:
        """Append a record.  Raises KeyStoreError where it is not acknowledged in time: it may be there, or come yet."""
        if self._send is None:
            raise KeysError("keys are written by the worker that owns the partition")
        try:
            async with asyncio.timeout(self._timeout):
                await (await self._send(ProducerRecord(self._topic, place, value, (), PARTITION)))
        except TimeoutError:
            raise self._unwritable(f"no acknowledgement within {self._timeout} s") from None
        except Exception as error:  # of whichever driver
            raise self._unwritable(str(error)) from error

    def _unwritable(self, why: str) -> KeyStoreError:
        return KeyStoreError(
            f"the topic of the keys cannot be written to: {self._topic} ({why}). Is its broker up? May this worker "
            "write to it? The worker continues as soon as it can"
        )

    async def refresh(self) -> None:
        """Read on to the end of the topic."""
        async with self._changing:  # what is read must not take the place of what is put meanwhile
            _, end = await self._reader.bounds(PARTITION)
            records = [each async for batch in self._reader.read(PARTITION, self._next, end) for each in batch]
            for record in records:  # without a pause: no reader may see an outdated record of a key
                self._try(record)
            self._next = max(self._next, end)

    def _try(self, record: Record) -> None:
        """See a record; pass one over that is damaged.  Raises KeyStoreError where none opens: then it is the KEK."""
        try:
            self._see(record)
        except (KeysError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, KeysError) and not self._keys.every():
                raise KeyStoreError(str(error)) from error
            log.error("a key is damaged: its graph alone is unavailable", place=str(record.key), why=str(error))  # noqa: TRY400 - the sentence says what to do, a trace would not

    def _see(self, record: Record) -> None:
        self._written_at = record.timestamp
        if record.key and record.value:
            self._compare(record.key, GraphKey.of_bytes(self._wrapping.unwrap(record.value, record.key)))
            if record.key in self._places:
                self._replaced_at = record.timestamp
            self._places.add(record.key)

    def _compare(self, place: bytes, key: GraphKey) -> None:
        contents = self._keys.hold(key)
        if contents.nodes.keys() == key.nodes.keys():
            self._outdated.pop(place, None)
        else:
            self._outdated[place] = contents

    async def mend(self) -> None:
        """Write those keys again whose newest record opens what was destroyed.

        Raises TransportError, KeysError.
        """
        await self.refresh()
        for place, key in list(self._outdated.items()):
            log.warning("a key is destroyed again: a worker that was frozen had brought it back", place=str(place))
            await self.put(key)

    async def write_on(self, now: int) -> None:
        """Append a record once the segment with replaced keys is old enough (`now`: ms), so that it is compacted.

        Written too early, by a clock that is ahead, it is written again the next time.  Raises TransportError, and as
        `put`.
        """
        await self.refresh()
        if self._send is None or self._replaced_at is None:
            return
        due = self._replaced_at + self._compacted_ms
        if self._written_at < due <= now:
            await self._append(WRITTEN_ON, b"")
