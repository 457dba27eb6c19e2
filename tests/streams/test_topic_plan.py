"""The six topics as they are born, and what an operator is told when one is otherwise."""

from __future__ import annotations

import pytest

from emgas.limits import RECORD_BYTES as LARGEST_TURN
from emgas.limits import TRANSPORT_BYTES
from emgas.wire import TopicNames
from streams.transport.topic_plan import (
    CLEANED_MS,
    TopicDescription,
    another_partition_count,
    differences,
    plan,
    replaced_within_ms,
    settings_of,
)

NAMES = TopicNames("emgas")
PLANS = {each.name: each for each in plan(NAMES, 8)}


def test_there_are_six_and_the_keyed_ones_have_equally_many_partitions() -> None:
    keyed = (NAMES.turns, NAMES.events, NAMES.queries, NAMES.changes, NAMES.dead_letters)
    assert set(PLANS) == {*keyed, NAMES.replies}
    assert {PLANS[name].partitions for name in keyed} == {8}


def test_questions_have_partitions_for_each_reader_of_one_and_may_be_given_more() -> None:
    queries = {each.name: each for each in plan(NAMES, 8, readers=3)}[NAMES.queries]
    assert queries.partitions == 24
    assert [count for count in range(1, 40) if queries.may_have(count)] == [8, 16, 24, 32]
    assert [count for count in range(1, 40) if PLANS[NAMES.turns].may_have(count)] == [8]


def test_only_events_and_changes_are_kept_for_ever_and_nothing_is_compacted() -> None:
    settings = {name: settings_of(each, 1) for name, each in PLANS.items()}
    assert [name for name, each in settings.items() if each["retention.ms"] == "-1"] == [
        NAMES.events,
        NAMES.changes,
    ]
    assert {each["cleanup.policy"] for each in settings.values()} == {"delete"}
    assert {each["retention.bytes"] for each in settings.values()} == {"-1"}


def test_all_topics_compress_and_only_the_log_can_be_tiered() -> None:
    tiered = {each.name: settings_of(each, 1) for each in plan(NAMES, 8, local_ms=86_400_000)}
    others = {name for name, each in tiered.items() if each["compression.type"] != "zstd"}
    assert others == {NAMES.turns, NAMES.queries}, "what other programs send is kept as they sent it"
    remote = {name: each["local.retention.ms"] for name, each in tiered.items() if "remote.storage.enable" in each}
    assert remote == {NAMES.events: "86400000"}
    assert all("remote.storage.enable" not in settings_of(each, 1) for each in PLANS.values())


def test_a_client_cannot_have_its_turns_expire_by_their_own_timestamps() -> None:
    kinds = {name: settings_of(each, 1)["message.timestamp.type"] for name, each in PLANS.items()}
    assert kinds.pop(NAMES.events) == "CreateTime"
    assert set(kinds.values()) == {"LogAppendTime"}


def test_every_topic_takes_what_must_become_a_dead_letter_and_that_one_takes_more() -> None:
    sizes = {name: each.max_record_bytes for name, each in PLANS.items()}
    letters = sizes.pop(NAMES.dead_letters)
    assert LARGEST_TURN < TRANSPORT_BYTES < min(sizes.values()) <= max(sizes.values()) < letters


@pytest.mark.parametrize(("copies", "in_sync"), [(1, "1"), (2, "1"), (3, "2"), (5, "3")])
def test_one_broker_may_always_be_away(copies: int, in_sync: str) -> None:
    settings = settings_of(PLANS[NAMES.events], copies)
    assert settings["min.insync.replicas"] == in_sync
    assert settings["unclean.leader.election.enable"] == "false"


def test_a_topic_as_planned_has_no_differences_and_another_is_told_apart() -> None:
    expected = PLANS[NAMES.events]
    config = settings_of(expected, 1)
    assert differences(TopicDescription(expected.name, 8, 1, (), None, config), expected) == []
    compacted = {**config, "cleanup.policy": "compact", "retention.ms": "604800000"}
    assert differences(TopicDescription(expected.name, 8, 1, (), None, compacted), expected) == [
        "emgas.events: cleanup.policy is compact, should be delete",
        "emgas.events: retention.ms is 604800000, should be -1",
    ]


def test_another_partition_count_is_told_with_what_to_do() -> None:
    answer = another_partition_count("emgas.turns", 8, 16)
    assert "has 8 partitions, not the 16 asked for" in answer
    assert "set the partition count back to 8" in answer


def test_when_replaced_keys_are_gone_is_told_as_far_as_a_broker_tells() -> None:
    kept = {"cleanup.policy": "compact", "segment.ms": "3600000", "max.compaction.lag.ms": "3600000"}
    assert replaced_within_ms(kept, 10_000) == 3_600_000 + 10_000 + CLEANED_MS
    assert replaced_within_ms({**kept, "file.delete.delay.ms": "60000"}, 10_000) == 3_670_000 + CLEANED_MS
    assert replaced_within_ms({"cleanup.policy": "compact", "segment.ms": "3600000"}, 10_000) is None
    assert replaced_within_ms({**kept, "cleanup.policy": "delete"}, 10_000) is None


def test_what_brokers_refuse_is_left_out_of_the_settings_and_nothing_else() -> None:
    expected = PLANS[NAMES.turns]
    all_of_them = settings_of(expected, 3)
    without = settings_of(expected, 3, ["unclean.leader.election.enable"])
    assert all_of_them == {**without, "unclean.leader.election.enable": "false"}
