"""Convert messages to records: topic names, keys, headers, and the rule that places a key in a partition.

    ProducerRecord   a record to send         Receipt   its acknowledgement: partition, offset, time
    Record           a record that is read

A record of `turns` or `queries`:

    key      the graph id, UTF-8
    value    the message, JSON
    headers  correlation-id   any bytes; comes back on the answer
             reply-to         the topic to answer on; the worker keeps an allow-list
             reply-partition  decimal; the one partition that the client reads
             deadline         decimal, ms since the epoch, after which no answer is needed
             subject          the sender's subject: rights of a graph are checked for it (emgas/messages/rights.py)
             rights           what a gateway lets that subject do, as read,write: no more, whatever the graph grants
             ce_*             CloudEvents 1.0, binary mode: written, never required

No header is required.  The partition is the Java client's default, murmur2(key) & 0x7fffffff % partitions; librdkafka
clients (kcat, confluent-kafka) need the setting `partitioner=murmur2_random`.  The worker rejects a key in
the wrong partition, because another worker owns its graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

COMPRESSION: Final = "zstd"  # of batches in Kafka: what one batch holds is alike
CORRELATION_ID: Final = "correlation-id"
REPLY_TO: Final = "reply-to"
REPLY_PARTITION: Final = "reply-partition"
DEADLINE: Final = "deadline"
SUBJECT: Final = "subject"
RIGHTS: Final = "rights"

Headers = tuple[tuple[str, bytes], ...]


class Record(NamedTuple):
    """One record as stored in its partition; `timestamp` is the log's, ms since the epoch.  A null value reads b"".

    by_broker  the timestamp is known to be the broker's own, not the sender's
    """

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes
    headers: Headers = ()
    by_broker: bool = False


class ProducerRecord(NamedTuple):
    """One record to append: its key places it unless `partition` does; without `timestamp` (ms), it is of now."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    timestamp: int | None = None


class Receipt(NamedTuple):
    """An acknowledgement: the position of a record, and the timestamp (ms) that the log gave it."""

    partition: int
    offset: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class TopicNames:
    """The six topics under one prefix; that of the keys of encrypted graphs, where it is used; and a mark.

    `branch` exists while a branch is not complete (streams/transport/kafka/unfinished.py).
    """

    prefix: str = "emgas"

    @property
    def turns(self) -> str:
        return f"{self.prefix}.turns"

    @property
    def events(self) -> str:
        return f"{self.prefix}.events"

    @property
    def queries(self) -> str:
        return f"{self.prefix}.queries"

    @property
    def replies(self) -> str:
        return f"{self.prefix}.replies"

    @property
    def changes(self) -> str:
        return f"{self.prefix}.changes"

    @property
    def keys(self) -> str:
        return f"{self.prefix}.keys"

    @property
    def branch(self) -> str:
        return f"{self.prefix}.branch"

    @property
    def dead_letters(self) -> str:
        return f"{self.prefix}.dead-letters"


@dataclass(frozen=True, slots=True)
class ReplyAddress:
    """The destination of an answer, and the question that it belongs to."""

    topic: str
    partition: int
    correlation_id: bytes

    def headers(self, deadline_ms: int) -> Headers:
        """Return the headers that ask for an answer at this address until `deadline_ms`."""
        return (
            (CORRELATION_ID, self.correlation_id),
            (REPLY_TO, self.topic.encode()),
            (REPLY_PARTITION, str(self.partition).encode()),
            (DEADLINE, str(deadline_ms).encode()),
        )


def cloud_event(kind: str, identity: str, subject: str) -> Headers:
    """Write CloudEvents 1.0 binary-mode headers for a message of `kind` ("turn", "query", "reply", "dead-letter")."""
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", identity.encode()),
        ("ce_source", b"emgas"),
        ("ce_type", f"io.emgas.{kind}.v1".encode()),
        ("ce_subject", subject.encode()),
        ("content-type", b"application/json"),
    )


def as_mapping(headers: Iterable[tuple[str, bytes]] | Mapping[str, bytes] | None) -> dict[str, bytes]:
    """Map headers by name; of a repeated header the last one counts."""
    return dict(headers or ())


def murmur2(key: bytes) -> int:
    """Hash `key` by Kafka's murmur2, unsigned 32 bit (the Java client's `Utils.murmur2`)."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = (0x9747B28C ^ len(key)) & mask
    whole = len(key) & ~3
    for i in range(0, whole, 4):
        k = int.from_bytes(key[i : i + 4], "little") * m & mask
        h = (h * m ^ (k ^ k >> 24) * m) & mask
    if whole < len(key):
        h = (h ^ int.from_bytes(key[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return h ^ h >> 15


@lru_cache(maxsize=4096)  # graphs that are talked to come again and again
def partition_of(graph_id: str | bytes, partitions: int) -> int:
    """Return the partition of the graph `graph_id` (or of its key), one of `partitions`."""
    key = graph_id.encode() if isinstance(graph_id, str) else graph_id
    return (murmur2(key) & 0x7FFFFFFF) % partitions
