"""Who gets which partitions: those of one number stay together, also where a topic was given more of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.assignor.partition_assignor import PartitionAssignor

from streams.transport.kafka.assignor import BirthAssignor

TOPICS = {"turns", "events", "queries"}
MEMBERS = {"one": list(TOPICS), "two": list(TOPICS)}


def cluster(**counts: int) -> Any:
    return SimpleNamespace(partitions_for_topic=lambda topic: set(range(counts.get(topic, 0))))


def groups(assignor: type[PartitionAssignor], **counts: int) -> dict[int, list[set[str]]]:
    found = assignor._get_copartitioned_groups(TOPICS, cluster(**counts), cast(Any, MEMBERS))  # noqa: SLF001 - Faust asks it so
    return {count: [set(together) for together in topics] for count, topics in found.items()}


@pytest.mark.parametrize("assignor", [BirthAssignor, PartitionAssignor])
def test_topics_of_one_count_are_shared_out_together(assignor: type[PartitionAssignor]) -> None:
    assert groups(assignor, turns=8, events=8, queries=8) == {8: [TOPICS]}


def test_topics_that_were_given_more_partitions_stay_together_with_the_others() -> None:
    assert groups(BirthAssignor, turns=11, events=8, queries=9) == {8: [TOPICS]}
    assert groups(PartitionAssignor, turns=11, events=8, queries=8) == {11: [{"turns"}], 8: [{"events", "queries"}]}


def test_a_topic_that_is_not_there_is_left_out() -> None:
    assert groups(BirthAssignor, events=8, queries=8) == {8: [{"events", "queries"}]}
    assert groups(BirthAssignor) == {}
