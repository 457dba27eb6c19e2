"""Checks that many commands share: size, form and partition of a record, and whether its graph exists."""

from __future__ import annotations

from pydantic import ValidationError

from emgas import limits
from emgas.messages.requests import Command
from emgas.messages.transfer import Move, Receive
from emgas.messages.turns import Erase
from emgas.validation import describe
from emgas.wire import partition_of
from state.graph.graph import Graph
from state.standing.placement import Placement
from streams.errors import RejectedError

_RECEIVE = b'"kind":"receive"'
NAMED_BYTES = 4096  # in which the kind of such a record is found, behind its id and graph
REASON_CHARACTERS = 1000  # a record can hold thousands of unknown fields


def check_size(value: bytes, most: int = limits.RECORD_BYTES) -> None:
    """Raise RejectedError when a record is over the limit, before anything parses it."""
    if len(value) > most:
        raise RejectedError(f"the record is {len(value)} bytes, the limit is {most}: shorten it")


def most_bytes(value: bytes) -> int:
    """Return how large a record of `turns` may be: what may be an event from elsewhere is larger than a turn."""
    return limits.RECEIVED_BYTES if _RECEIVE in value[:NAMED_BYTES] else limits.RECORD_BYTES


class ElsewhereError(RejectedError):
    """The graph is on its way, or was moved; `to` says where it is now."""

    def __init__(self, message: str, to: str | None = None) -> None:
        super().__init__(message)
        self.to = to


def check_here(command: Command, placement: Placement | None) -> None:
    """Raise ElsewhereError for a command to a graph that is being received, or that leaves or left."""
    if placement is None or placement.accepts or isinstance(command, Receive | Move):
        return
    if placement.status in ("left", "receiving") and isinstance(command, Erase) and command.whole:
        return  # what stayed here, or what a cancelled move brought
    if (place := placement.went_to) is not None:
        raise ElsewhereError(moved(command.graph, place, returns=placement.comes_from is not None), place)
    if placement.status == "leaving":
        raise ElsewhereError(
            f"graph {command.graph!r} is being moved to {placement.place}: send this again in a moment. If the move "
            "was interrupted, run `emgas admin graph move` again to finish it, or with --cancel"
        )
    raise ElsewhereError(incomplete(command.graph))


def moved(graph_id: str, to: str, *, returns: bool = False) -> str:
    """Return the error text for a graph that was moved, and perhaps begins to come back."""
    if not returns:
        return f"graph {graph_id!r} was moved to {to}: use it there"
    return (
        f"graph {graph_id!r} was moved to {to}, and comes back: use it there until it is here. If it left there, and "
        "its move was interrupted, run `emgas admin graph move` there again"
    )


def incomplete(graph_id: str) -> str:
    """Return the error text for a graph that is not complete yet."""
    return (
        f"graph {graph_id!r} is incomplete: send this again in a moment. If its import or move was interrupted, run "
        "the same command again"
    )


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
