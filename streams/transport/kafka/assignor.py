"""Which worker gets which partitions, also where topics were given more of them than they were born with.

A graph's partition is a hash of its id modulo the count that the topics were born with, and Kafka lets nobody take
partitions away again.  Faust 0.15.3 shares out topics of unequal counts each for itself (assignor/
partition_assignor.py:129): after `turns` has grown, the next rebalance would give the turns of a partition to one
worker and its log to another, and nobody would account for them.  Here the partitions that came later are given to
nobody, and the rest stay together.  Whoever writes to `turns` by the new count is told (streams/worker/service.py).
"""

from __future__ import annotations

from typing import Any

from faust.assignor.partition_assignor import CopartitionedGroups, PartitionAssignor


class BirthAssignor(PartitionAssignor):
    """Shares out as many partitions of each topic as the one has that has fewest: so many all were born with."""

    @classmethod
    def _get_copartitioned_groups(cls, topics: set[str], cluster: Any, subscriptions: Any) -> CopartitionedGroups:
        groups = super()._get_copartitioned_groups(topics, cluster, subscriptions)
        there = {topic for group in groups.values() for together in group for topic in together}
        return {min(groups): cls._group_co_subscribed(there, subscriptions)} if groups else {}
