"""One question to several graphs: their answers, merged by rank.

Not a message of the wire: each graph is answered by its owner, so the client or the gateway merges the answers.
"""

from __future__ import annotations

from pydantic import Field

from emgas.messages.fields import Message
from emgas.messages.queries import RecalledPassage
from emgas.messages.requests import Failure


class GraphPassage(Message):
    """An old turn of one of the graphs.  `score` is comparable over graphs: it falls with the rank in its own."""

    graph: str
    rank: int
    score: float
    passage: RecalledPassage


class AskedGraph(Message):
    """What became of a question to one graph.  failure: why it gave no answer, as where its subject may not read."""

    graph: str
    found: bool = False
    matched: bool = False
    paused: bool = False
    failure: Failure | None = None


class Merged(Message):
    """The answers of several graphs to one question.

    graphs   what became of it in each, in the order asked     passages  best first, each with its graph
    context  of each graph that answered, under its name       tokens    of it, estimated
    """

    graphs: list[AskedGraph]
    passages: list[GraphPassage] = Field(default_factory=list)
    context: str = ""
    tokens: int = 0
