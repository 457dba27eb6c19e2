"""The seam between the client and whatever carries its records: Kafka (emgas/client/kafka.py) or an embedded worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from emgas.wire import Headers, TopicNames


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """Where a record came to lie in its topic, and the timestamp (ms) that the log gave it."""

    partition: int
    offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Incoming:
    """A record read back."""

    key: bytes | None
    value: bytes
    headers: Headers


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
        """Return the partition count that all keyed topics share."""

    async def send(
        self, topic: str, key: bytes | None, value: bytes, headers: Headers, partition: int | None = None
    ) -> Acknowledged:
        """Append one record, where wire.py places its key unless `partition` says; return once the log has it.

        Records of one partition come to lie in the order in which `send` was called, however many calls are waiting.
        """

    def answers(self) -> AsyncIterator[Incoming]:
        """Yield the records of the reply partition, for ever."""
