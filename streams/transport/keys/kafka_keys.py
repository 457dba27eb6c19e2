"""Keys in a topic that all workers share: `PREFIX.keys`, one partition, compacted, every record wrapped by the KEK.

    key = GRAPH/ID      value = the key of that id, wrapped (wrapping.py); the newest record of a key holds

What is replaced is out of reach for every EMGAS at once, as only the newest record counts; its bytes stay in the
broker's files until they are compacted (topic_plan.py bounds that by COMPACTED_MS, once something else is written).
Until then somebody who has both the broker's disk and the KEK could read it: that is what docs/erasure.md says.

Opened, it reads the whole topic; `refresh` reads on.  It holds one record per graph, and as many more as graphs were
erased and born again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from emgas.wire import ProducerRecord
from replay.log import LogReader
from state.errors import KeysError
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import HeldKeys
from streams.transport.keys.wrapping import Wrapping
from streams.transport.sender import Send

PARTITION: Final = 0


class KafkaKeys:
    """A KeyStore (key_store.py) on `topic`, read by `reader`; what only reads has nothing to send with."""

    def __init__(self, topic: str, reader: LogReader, wrapping: Wrapping, send: Send | None = None) -> None:
        self._topic = topic
        self._reader = reader
        self._wrapping = wrapping
        self._send = send
        self._held = HeldKeys()
        self._next = 0

    def sent_by(self, send: Send) -> None:
        """Write with `send` from here on."""
        self._send = send

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        """Give the keys of a graph, as they were at the last refresh."""
        return self._held.of(graph_id)

    async def put(self, key: GraphKey) -> None:
        """Append a key, and wait until it is acknowledged."""
        if self._send is None:
            raise KeysError("keys are written by the worker that owns the partition")
        place = f"{key.graph}/{key.id}".encode()
        value = self._wrapping.wrap(key.to_bytes(), place)
        await (await self._send(ProducerRecord(self._topic, place, value, (), PARTITION)))
        self._held.hold(key)

    async def refresh(self) -> None:
        """Read on to the end of the topic."""
        _, end = await self._reader.bounds(PARTITION)
        async for batch in self._reader.read(PARTITION, self._next, end):
            for record in batch:
                if record.key and record.value:
                    self._held.hold(GraphKey.of_bytes(self._wrapping.unwrap(record.value, record.key)))
        self._next = max(self._next, end)
