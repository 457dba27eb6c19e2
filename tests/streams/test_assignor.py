"""Who gets which partitions: those of one number stay together, also where a topic was given more of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from faust.assignor.partition_assignor import PartitionAssignor
from hypothesis import given
from hypothesis import strategies as st

from streams.transport.kafka.assignor import BirthAssignor, ReaderAssignor, ranges

TOPICS = {"turns", "events", "queries"}
MEMBERS = {"one": list(TOPICS), "two": list(TOPICS)}


def cluster(**counts: int) -> Any:
    return SimpleNamespace(partitions_for_topic=lambda topic: set(range(counts.get(topic, 0))))


def groups(assignor: type[PartitionAssignor], **counts: int) -> dict[int, list[set[str]]]:
    result = assignor._get_copartitioned_groups(TOPICS, cluster(**counts), cast(Any, MEMBERS))  # noqa: SLF001 - Faust asks it so
    return {count: [set(together) for together in topics] for count, topics in result.items()}


@pytest.mark.parametrize("assignor", [BirthAssignor, PartitionAssignor])
def test_topics_of_one_count_are_shared_out_together(assignor: type[PartitionAssignor]) -> None:
    assert groups(assignor, turns=8, events=8, queries=8) == {8: [TOPICS]}


def test_topics_that_were_given_more_partitions_stay_together_with_the_others() -> None:
    assert groups(BirthAssignor, turns=11, events=8, queries=9) == {8: [TOPICS]}
    assert groups(PartitionAssignor, turns=11, events=8, queries=8) == {11: [{"turns"}], 8: [{"events", "queries"}]}


def test_a_topic_that_is_not_there_is_left_out() -> None:
    assert groups(BirthAssignor, events=8, queries=8) == {8: [{"events", "queries"}]}
    assert groups(BirthAssignor) == {}


# questions, of which there may be several partitions about one


def cluster_of(counts: dict[str, int]) -> Any:
    return SimpleNamespace(partitions_for_topic=lambda topic: set(range(counts.get(topic, 0))))


def a_member(kind: type[PartitionAssignor], number: int) -> Any:
    url = f"http://member-{number}"
    tables = SimpleNamespace(data={}, changelog_topics={"m.events"})
    sensors = SimpleNamespace(
        on_assignment_start=lambda *_: None,
        on_assignment_completed=lambda *_: None,
        on_assignment_error=lambda *_: None,
    )
    app = SimpleNamespace(
        tables=tables, conf=SimpleNamespace(canonical_url=url), tracer=None, sensors=sensors, producer=None
    )
    return kind(cast(Any, app), replicas=1)


def share_out(members: dict[str, Any], counts: dict[str, int]) -> dict[str, dict[str, list[int]]]:
    """Have one of the members share out, and tell all what they have; return it by member and topic."""
    metadata = {name: member.metadata(set(counts)) for name, member in members.items()}
    shares = next(iter(members.values())).assign(cluster_of(counts), metadata)
    for name, share in shares.items():
        members[name].on_assignment(share)
    return {name: {topic: list(result) for topic, result in share.assignment} for name, share in shares.items()}


@pytest.mark.parametrize("readers", [1, 2, 3])
def test_a_worker_gets_all_questions_about_its_partitions_in_whatever_order_workers_come_and_go(readers: int) -> None:
    counts = {"m.turns": 8, "m.events": 8, "m.queries": 8 * readers}
    members: dict[str, Any] = {}
    for number in range(6):
        if number == 4:
            del members["1"]
        members[str(number)] = a_member(BirthAssignor, number)
        shares = share_out(members, counts)
        request = sorted(q for share in shares.values() for q in share.get("m.queries", []))
        assert request == list(range(8 * readers))
        for share in shares.values():
            owned = set(share.get("m.turns", []))
            assert {q % 8 for q in share.get("m.queries", [])} == owned
            assert owned <= set(share.get("m.events", [])), "what it does not own of those, it stands by for"


def test_questions_that_were_given_partitions_by_mistake_come_to_nobody() -> None:
    shares = share_out({"0": a_member(BirthAssignor, 0)}, {"m.turns": 8, "m.events": 8, "m.queries": 9})
    assert sorted(shares["0"]["m.queries"]) == list(range(8))


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 60))
def test_no_reader_gets_two_question_partitions_about_the_same_one_if_there_are_enough_readers(
    partitions: int, readers: int, members: int
) -> None:
    shares = ranges([str(number) for number in range(members)], partitions * readers)
    assert sorted(q for share in shares.values() for q in share) == list(range(partitions * readers))
    sizes = {len(share) for share in shares.values()}
    assert max(sizes) - min(sizes) <= 1
    if members >= readers:
        assert all(len({q % partitions for q in share}) == len(share) for share in shares.values())


def test_readers_keep_what_they_can_when_one_comes_or_goes() -> None:
    counts = {"m.queries": 16}
    members = {str(number): a_member(ReaderAssignor, number) for number in range(4)}
    before = share_out(members, counts)
    assert sorted(q for share in before.values() for q in share["m.queries"]) == list(range(16))
    assert share_out(members, counts) == before, "nothing moves for nothing"
    last = max(members, key=lambda name: before[name]["m.queries"])
    members["9"] = a_member(ReaderAssignor, 9)
    after = share_out(members, counts)
    assert max(after["9"]["m.queries"]) == 15, "who comes takes the end"
    del members[last]
    gone = share_out(members, counts)
    kept = [len(set(before[name]["m.queries"]) & set(gone[name]["m.queries"])) for name in members if name != "9"]
    assert all(kept)
