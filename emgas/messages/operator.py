"""Operators' questions to a partition's owner on the topic `queries`, and the answers.

The record has no key: it goes to a partition, not to a graph.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from emgas.messages.fields import Position
from emgas.messages.requests import AnswerMessage, PartitionQuestion


class Inspection(AnswerMessage):
    """What a partition's owner holds at `position`.

    turns        accepted ids, each once                   concepts, pairs, topics   active and archived ones
    forgotten    concepts and turns that were forgotten    archived                  faded turns, still searchable
    digests      by graph, in pages
    """

    kind: Literal["inspection"] = "inspection"
    position: Position
    digest: str | None
    graphs: int
    turns: int
    concepts: int
    pairs: int
    topics: int
    forgotten: int
    archived: int = 0
    digests: dict[str, str] = Field(default_factory=dict)
    unavailable: dict[str, str] = Field(
        default_factory=dict,
        description="graphs that cannot be read, and why: a key is missing, or stored data is damaged",
        exclude_if=lambda unavailable: not unavailable,
    )


class Checkpointed(AnswerMessage):
    """A snapshot that was written: its name, the position of its state, and its size."""

    kind: Literal["checkpointed"] = "checkpointed"
    snapshot: str
    position: Position
    bytes: int


class Inspect(PartitionQuestion, example={"digest": True}):
    """Ask the owner of a partition for counts of what it holds, and for its digest."""

    answer: ClassVar[type[Inspection]] = Inspection
    kind: Literal["inspect"] = "inspect"
    digest: bool = Field(default=True, description="compute the digest too (reads every graph of the partition)")
    graphs_after: str | None = Field(None, description="return the digests of the next graphs after this name, by name")


class Checkpoint(PartitionQuestion, example={}):
    """Ask the owner of a partition to write a snapshot to its folder of snapshots."""

    answer: ClassVar[type[Checkpointed]] = Checkpointed
    kind: Literal["checkpoint"] = "checkpoint"
