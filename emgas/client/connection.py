"""The interface between the client and its transport: Kafka (emgas/client/kafka.py), HTTP or an embedded worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from emgas.wire import ProducerRecord, Receipt, Record, TopicNames


class Connection(Protocol):
    """Carries records.  Every method raises TransportError when the transport is out of reach or refuses."""

    topics: TopicNames

    async def open(self) -> None:
        """Connect; choose the partition of `replies` that this client reads, from its end on.

        If this raises, nothing stays open.
        """

    async def close(self) -> None:
        """Send what is pending, and disconnect."""

    @property
    def reply_partition(self) -> int:
        """The partition of `replies` that this client reads."""

    async def partitions(self) -> int:
        """Count the partitions that all keyed topics have."""

    async def send(self, record: ProducerRecord) -> Receipt:
        """Append one record, to `record.partition` or where wire.py places its key; return once the log has it.

        Records of one partition are appended in the order of the calls, however many calls are waiting.
        """

    def answers(self) -> AsyncIterator[Record]:
        """Yield the records of the reply partition, without end."""


@runtime_checkable
class Announcing(Protocol):
    """A connection that owns its memory, and can publish its address to other programs on this machine."""

    @property
    def home(self) -> Path:
        """The directory of the memory."""

    def announce(self, url: str, key: str | None) -> None:
        """Publish, until this connection closes, that the memory is served at `url` for clients with `key`."""


@runtime_checkable
class MeasuredConnection(Protocol):
    """A connection that owns its memory, and can tell how busy the memory is."""

    async def metrics(self) -> bytes:
        """Return the worker's metrics as Prometheus text; empty where another process is the worker."""


@runtime_checkable
class Waiting(Protocol):
    """A connection that waits for another process when it opens."""

    timeout: float  # seconds, at most
