"""What operators ask of a partition's owner on the topic `queries`, and what comes back.

The record has no key: it goes to a partition, not to a graph.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from emgas.messages.fields import Message, Position


class Inspect(Message):
    """A question to the owner of a partition: what do you hold, and what is its digest?"""

    kind: Literal["inspect"] = "inspect"
    digest: bool = Field(default=True, description="compute the digest too (reads every graph of the partition)")
    graphs_after: str | None = Field(None, description="tell the digests of the next graphs after this name, by name")


class Inspection(Message):
    """What a partition's owner holds at `position`.

    turns        ids that were ever accepted, each once    concepts, pairs, topics   what is held, archived or not
    forgotten    concepts and turns that are gone          archived                  turns that faded, and can be found
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
        description="graphs that cannot be read, and why: a key is missing, or what is stored of them is damaged",
        exclude_if=lambda unavailable: not unavailable,
    )


class Checkpoint(Message):
    """A request to the owner of a partition: write a snapshot of what you hold to where you keep snapshots."""

    kind: Literal["checkpoint"] = "checkpoint"


class Checkpointed(Message):
    """A snapshot that was written: its name, where the state in it stands, and how large it is."""

    kind: Literal["checkpointed"] = "checkpointed"
    snapshot: str
    position: Position
    bytes: int
