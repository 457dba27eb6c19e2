"""Assign partitions to workers, even if partitions were added to a topic after its creation; and questions to readers.

A graph's partition is a hash of its id modulo the number at the topics' creation, and Kafka cannot
remove partitions.  Faust 0.15.3 shares out topics of unequal counts each for itself (assignor/
partition_assignor.py:129): after `turns` has grown, the next rebalance would give the turns of a partition to one
worker and its log to another, and no worker would account for them.  Here the partitions that came later stay
unassigned, and the rest stay together.  Workers report that `turns` has grown (streams/worker/service.py).

But `queries` may have been created with R times as many, for readers (reader_app.py): question partition q is about
partition q modulo P then, so its worker gets p, p + P, p + 2 P …, whether or not there are readers.

Readers get the partitions of `queries` in ranges.  With P partitions and R readers to each, question partition
q = r·P + p is about partition p, for every r < R.  Two that are about the same one lie P apart, and a range of N
readers is at most ⌈P·R / N⌉ long: with N ≥ R no reader has two of them.  Members keep their order from one rebalance to
the next, so most of what a reader holds stays with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faust.assignor.client_assignment import ClientAssignment, ClientMetadata
from faust.assignor.partition_assignor import CopartitionedGroups, PartitionAssignor

from emgas.wire import TopicNames

QUERIES = TopicNames("").queries  # behind the prefix


class BirthAssignor(PartitionAssignor):
    """Assigns as many partitions of each topic as the smallest topic has: the number at creation."""

    @classmethod
    def _get_copartitioned_groups(cls, topics: set[str], cluster: Any, subscriptions: Any) -> CopartitionedGroups:
        groups = super()._get_copartitioned_groups(topics, cluster, subscriptions)
        there = {topic for group in groups.values() for together in group for topic in together}
        return {min(groups): cls._group_co_subscribed(there, subscriptions)} if groups else {}

    def _perform_assignment(self, cluster: Any, member_metadata: Any) -> Any:
        self._counts = {
            topic: len(cluster.partitions_for_topic(topic) or ())
            for topic in {topic for metadata in member_metadata.values() for topic in metadata.subscription}
        }
        return super()._perform_assignment(cluster, member_metadata)

    def _global_table_standby_assignments(self, assignments: Any, partitions_by_topic: Any) -> Any:
        """Add the further question partitions, once those that all topics have are shared out."""
        assignments = super()._global_table_standby_assignments(assignments, partitions_by_topic)
        for topic, count in self._counts.items():
            born_with = partitions_by_topic.get(topic, count)
            if topic.endswith(QUERIES) and count % born_with == 0:
                for assignment in assignments.values():
                    first = assignment.actives.get(topic, [])
                    assignment.actives[topic] = [
                        *first,
                        *(p + more for more in range(born_with, count, born_with) for p in first),
                    ]
        return assignments

    @property
    def _metadata(self) -> ClientMetadata:
        """Return our assignment for other members, without added partitions: Faust would not recognise it."""
        actives = self._assignment.actives
        least = min((max(partitions, default=0) for topic, partitions in actives.items()), default=0)
        first = {topic: [p for p in partitions if p <= least] for topic, partitions in actives.items()}
        metadata: ClientMetadata = super()._metadata
        metadata.assignment = ClientAssignment(actives=first, standbys=self._assignment.standbys)
        return metadata


def ranges(members: Sequence[str], partitions: int) -> dict[str, list[int]]:
    """Cut 0 … `partitions` − 1 into as many ranges as there are members, in their order, as long as one another ± 1."""
    cuts = [partitions * number // len(members) for number in range(len(members) + 1)]
    return {member: list(range(*cuts[number : number + 2])) for number, member in enumerate(members)}


def in_order(owned: Mapping[str, Sequence[int]]) -> list[str]:
    """Sort members by what they own; those that own nothing come last."""
    return sorted(owned, key=lambda member: (not owned[member], min(owned[member], default=0), member))


class ReaderAssignor(PartitionAssignor):
    """Assigns each topic in ranges.  There are no tables, and so no standbys."""

    def _perform_assignment(self, cluster: Any, member_metadata: Any) -> Any:
        clients = {member: self._get_client_metadata(metadata) for member, metadata in member_metadata.items()}
        self._update_member_urls(clients)
        topics = sorted({topic for metadata in member_metadata.values() for topic in metadata.subscription})
        assigned: dict[str, dict[str, list[int]]] = {member: {} for member in clients}
        for topic in topics:
            owned = {member: client.assignment.actives.get(topic, []) for member, client in clients.items()}
            partitions_of_topic = cluster.partitions_for_topic(topic) or set()
            for member, partitions in ranges(in_order(owned), len(partitions_of_topic)).items():
                assigned[member][topic] = partitions
        shares = {member: ClientAssignment(actives=actives, standbys={}) for member, actives in assigned.items()}
        return self._protocol_assignments(shares, {}, {}, dict.fromkeys(topics, 0))
