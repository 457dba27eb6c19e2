"""Checks that many commands share: size, form and partition of a record, and whether its graph exists."""

from __future__ import annotations

from pydantic import ValidationError

from emgas import limits
from emgas.messages.requests import Command
from emgas.validation import describe
from emgas.wire import partition_of
from state.graph.graph import Graph
from streams.errors import RejectedError

REASON_CHARACTERS = 1000  # a record can hold thousands of unknown fields


def check_size(value: bytes) -> None:
    """Raise RejectedError when a record is over the limit, before anything parses it."""
    if len(value) > limits.RECORD_BYTES:
        raise RejectedError(f"the record is {len(value)} bytes, the limit is {limits.RECORD_BYTES}: shorten it")


def explained(error: ValidationError) -> str:
    """Describe what is wrong, one sentence per problem, without the offending content (it may be private)."""
    return describe(error)[:REASON_CHARACTERS]


def check_place(graph_id: str, key: bytes | None, partition: int, *, partitions: int) -> None:
    """Raise RejectedError unless a record's key is its graph, and `partition` is the graph's of so many partitions."""
    if key is None:
        raise RejectedError("the record has no key: it must be the graph id")
    if key != graph_id.encode():
        raise RejectedError("the record's key is not the turn's graph: give both the same id, in normal form C")
    home = partition_of(graph_id, partitions)
    if home != partition:
        raise RejectedError(
            f"this graph belongs to partition {home}, the record came to {partition}: "
            "use murmur2 partitioning (librdkafka: partitioner=murmur2_random)"
        )


def existing(request: Command, graph: Graph | None) -> Graph:
    """Return the graph of a request that needs one.  Raises RejectedError if there is none."""
    if graph is None:
        raise RejectedError(f"there is no graph {request.graph!r}: nothing to {request.tag()}")
    return graph
