"""Assign the partitions of `queries` to readers, in ranges.

With P partitions and R readers to each, question partition q = r·P + p is about partition p, for every r < R.  Two that
are about the same one lie P apart, and a range of N readers is at most ⌈P·R / N⌉ long: with N ≥ R no reader has two of
them.  Members keep their order from one rebalance to the next, so most of what a reader holds stays with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from faust.assignor.client_assignment import ClientAssignment
from faust.assignor.partition_assignor import PartitionAssignor


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
