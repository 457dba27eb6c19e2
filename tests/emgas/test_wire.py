"""Keys, partitions and headers: as Kafka's own clients have them."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import DefaultPartitioner, murmur2  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from emgas import wire


@given(st.binary(max_size=300))
def test_murmur2_is_that_of_the_kafka_clients(key: bytes) -> None:
    assert wire.murmur2(key) == murmur2(key) & 0xFFFFFFFF


@given(st.text(min_size=1), st.integers(1, 200))
def test_a_graph_lies_where_the_default_partitioner_puts_its_key(graph: str, partitions: int) -> None:
    everywhere = list(range(partitions))
    key = graph.encode()
    assert wire.partition_of(graph, partitions) == DefaultPartitioner()(key, everywhere, everywhere)
    assert wire.partition_of(key, partitions) == wire.partition_of(graph, partitions)


@pytest.mark.parametrize(("key", "number"), [(b"21", -973932308), (b"foobar", -790332482), (b"abc", 479470107)])
def test_murmur2_gives_the_values_of_the_java_clients_tests(key: bytes, number: int) -> None:
    assert wire.murmur2(key) == number & 0xFFFFFFFF


def test_a_reply_address_writes_the_four_headers_that_ask_for_an_answer() -> None:
    headers = wire.ReplyAddress("emgas.replies", 3, b"abc").headers(1_700_000_000_000)
    assert wire.as_mapping(headers) == {
        "correlation-id": b"abc",
        "reply-to": b"emgas.replies",
        "reply-partition": b"3",
        "deadline": b"1700000000000",
    }


def test_cloud_event_headers_are_binary_mode() -> None:
    headers = wire.as_mapping(wire.cloud_event("turn", "é", "ada"))
    assert headers["ce_id"] == "é".encode()
    assert headers["ce_type"] == b"io.emgas.turn.v1"
    assert {"ce_specversion", "ce_source", "ce_subject", "content-type"} <= headers.keys()


def test_of_a_repeated_header_the_last_one_counts() -> None:
    assert wire.as_mapping([("a", b"1"), ("a", b"2")]) == {"a": b"2"}
    assert wire.as_mapping(None) == {}


def test_topics_share_their_prefix() -> None:
    names = wire.TopicNames("mine")
    assert {names.turns, names.events, names.queries, names.replies, names.dead_letters} == {
        "mine.turns",
        "mine.events",
        "mine.queries",
        "mine.replies",
        "mine.dead-letters",
    }
