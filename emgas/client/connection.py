"""The seam between the client and whatever carries its records: Kafka (emgas/client/kafka.py) or an embedded worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
        """Send what is pending, and let go."""

    @property
    def reply_partition(self) -> int:
        """The partition of `replies` that this client reads."""

    async def partitions(self) -> int:
        """Count the partitions that all keyed topics have."""

    async def send(self, record: ProducerRecord) -> Receipt:
        """Append one record, where wire.py places its key unless its partition is named; return once the log has it.

        Records of one partition come to lie in the order in which `send` was called, however many calls are waiting.
        """

    def answers(self) -> AsyncIterator[Record]:
        """Yield the records of the reply partition, for ever."""


@runtime_checkable
class Announcing(Protocol):
    """A connection that owns its memory, and tells others on this machine where they may share it."""

    def announce(self, url: str, key: str | None) -> None:
        """Say, until this connection closes, that the memory is served at `url`, to whoever brings `key`."""


@runtime_checkable
class Waiting(Protocol):
    """A connection that waits for another process when it opens."""

    timeout: float  # seconds, at most
