"""The six topics at their creation: partitions, retention, record size.  One table for Kafka and the embedded log.

topic          partitions  kept                                          a record may be
turns          P           7 days: longer than the longest outage        TRANSPORT_BYTES + 1 MiB
events         P           without end, never compacted: it is the truth as turns
queries        P · R       an hour; R readers of each of P               as turns: an oversized one gets an answer
replies        R           an hour                                       as turns
changes        P           without end: few; the last one shows what was sent  as turns
dead-letters   P           30 days                                       a turn, untouched, and its error headers
keys           1           the newest of each key, compacted soon; only where keys are in a topic   as turns
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from emgas.limits import TRANSPORT_BYTES
from emgas.times import DAY_MS, HOUR_MS
from emgas.wire import COMPRESSION, TopicNames

MIB: Final = 1024 * 1024
FOR_EVER: Final = -1
RECORD_BYTES: Final = TRANSPORT_BYTES + MIB  # a value, and what key, headers and the batch header add to it
CLEANED_MS: Final = 60_000  # for a broker to look for what is to be compacted (every 15 s by default), and to do it
LARGEST_RECORD_BYTES: Final = RECORD_BYTES + MIB  # a dead letter: a whole record, and the error headers


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """The plan of a topic.  `max_record_bytes` bounds key, value and headers together, as in Kafka.

    local_ms after so long a segment is in remote storage alone; None: it stays with the brokers
    is_of_clients  programs that are not ours write to it
    unit     its count may be any multiple of so many, and may be raised; 0: it is fixed at birth
    gone_ms  how long a compacted topic keeps what says that a key is gone, for those who read it now and then
    """

    name: str
    partitions: int
    retention_ms: int
    max_record_bytes: int
    broker_time: bool = True
    compacted_ms: int | None = None  # after so long a segment is closed, and what was replaced goes; None: all is kept
    unit: int = 0
    gone_ms: int = 0
    local_ms: int | None = None
    is_of_clients: bool = False

    def may_have(self, partitions: int) -> bool:
        """Return whether a topic with so many partitions can be used as planned, or can grow."""
        return partitions % self.unit == 0 if self.unit else partitions == self.partitions


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """The state of a topic.  `bounds[p]` is (first offset kept, offset after the last); `topic_id` None: unknown."""

    name: str
    partitions: int
    replication: int
    bounds: tuple[tuple[int, int], ...]
    topic_id: str | None = None
    config: dict[str, str] = field(default_factory=dict)


def plan(
    topics: TopicNames,
    partitions: int,
    reply_partitions: int = 16,
    readers: int = 1,
    *,
    local_ms: int | None = None,
) -> tuple[TopicPlan, ...]:
    """Plan the six topics; `partitions` is shared by all keyed ones and can never change.

    `reply_partitions` only spreads clients, and each client reads one of them and drops what is not its own.
    `readers` may answer of one partition: `queries` has so many times as many.  `local_ms` is of the log.
    """
    return (
        TopicPlan(topics.turns, partitions, 7 * DAY_MS, RECORD_BYTES, is_of_clients=True),
        TopicPlan(topics.events, partitions, FOR_EVER, RECORD_BYTES, broker_time=False, local_ms=local_ms),
        TopicPlan(topics.queries, partitions * readers, HOUR_MS, RECORD_BYTES, unit=partitions, is_of_clients=True),
        TopicPlan(topics.replies, reply_partitions, HOUR_MS, RECORD_BYTES),
        TopicPlan(topics.changes, partitions, FOR_EVER, RECORD_BYTES),
        TopicPlan(topics.dead_letters, partitions, 30 * DAY_MS, LARGEST_RECORD_BYTES),
    )


def settings_of(plan: TopicPlan, replication: int, without: Collection[str] = ()) -> dict[str, str]:
    """Return the topic's settings in Kafka's words, except those that a broker does not know (`without`).

    A record's time is the broker's, except in `events`: retention goes by it, and a client that sends a conversation
    of 2023 with its own timestamps would have it expired before it is read.  In `events`, its writer tells the time.
    """
    settings = {
        **_cleaned(plan.compacted_ms, plan.gone_ms),
        "retention.ms": str(plan.retention_ms),
        "retention.bytes": "-1",
        "max.message.bytes": str(plan.max_record_bytes),
        "message.timestamp.type": "LogAppendTime" if plan.broker_time else "CreateTime",
        "min.insync.replicas": str((replication + 1) // 2),  # 1 of 1, 1 of 2, 2 of 3: one broker may always be away
        "unclean.leader.election.enable": "false",  # rather wait than lose what was acknowledged
        # of others' records as they sent them: to compress them, a broker would write them again, not to the byte
        "compression.type": "producer" if plan.is_of_clients else COMPRESSION,
        **_tiered(plan.local_ms),
    }
    return {name: value for name, value in settings.items() if name not in without}


def _tiered(local_ms: int | None) -> dict[str, str]:
    """Return what moves old segments into remote storage (KIP-405), and how long brokers keep them themselves."""
    return {} if local_ms is None else {"remote.storage.enable": "true", "local.retention.ms": str(local_ms)}


def _cleaned(compacted_ms: int | None, gone_ms: int) -> dict[str, str]:
    """Return what becomes of old records; the log is never compacted, as a fold needs every event."""
    if compacted_ms is None:
        return {"cleanup.policy": "delete"}
    return {
        "cleanup.policy": "compact",
        "max.compaction.lag.ms": str(compacted_ms),
        "segment.ms": str(compacted_ms),
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": str(gone_ms),
        "file.delete.delay.ms": "0",
    }


def keys_plan(topics: TopicNames, compacted_ms: int = HOUR_MS) -> TopicPlan:
    """Plan the topic of the keys of encrypted graphs (streams/transport/keys/kafka_keys.py)."""
    return TopicPlan(topics.keys, 1, FOR_EVER, RECORD_BYTES, compacted_ms=compacted_ms)


def replaced_within_ms(config: Mapping[str, str], tick_ms: int) -> int | None:
    """Compute for how long a broker keeps the bytes of a replaced record, while a worker ticks.

    `config` is that of the topic.  None: without limit, as nothing is compacted there, or the time is not set.
    A broker that knows no delay (Redpanda) deletes a file at once.
    """
    waits = [config.get(name) for name in ("segment.ms", "max.compaction.lag.ms")]
    if "compact" not in config.get("cleanup.policy", "") or None in waits:
        return None
    delay = int(config.get("file.delete.delay.ms", "0"))
    return max(int(wait) for wait in waits if wait is not None) + tick_ms + CLEANED_MS + delay


def differences(existing: TopicDescription, plan: TopicPlan) -> list[str]:
    """List in which settings an existing topic is not as planned."""
    planned = settings_of(plan, existing.replication)
    return [
        f"{existing.name}: {name} is {existing.config[name]}, should be {value}"
        for name, value in planned.items()
        if name in existing.config and existing.config[name] != value
    ]


def another_partition_count(name: str, count: int, expected: int) -> str:
    """Explain to an operator that topic `name` was created with another partition count than expected."""
    return (
        f"topic {name} has {count} partitions, not the {expected} asked for, and the count decides which partition "
        f"owns a graph: set the partition count back to {count}, use another topic prefix, or replay the log into new "
        "topics"
    )


def grown(name: str, existing: int, born_with: int) -> str:
    """Explain to an operator that the partition count of topic `name` was changed after its creation."""
    return (
        f"topic {name} has {existing} partitions and was created with {born_with}, and the count decides which "
        "partition owns a graph: records that are placed by the new count are rejected, or are not read. Stop the "
        f"programs that write to {name}; once all is read, delete it and create it again with `emgas topics create "
        f"--partitions {born_with}`"
    )
