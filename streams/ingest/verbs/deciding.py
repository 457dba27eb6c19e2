"""The form of a verb's decision, what it may use, and the table of all decisions.

    @decides(Pin, Unpin)
    def pin(request: Pin | Unpin, graph: Graph | None, context: Deciding) -> list[DataEvent]: ...

A decision returns unstamped events.  One of them accounts for the record, by its `src`: the last one, unless another
names the record itself.  A decision raises RejectedError for a request that cannot be carried out, and AlreadyDoneError
for one that has no effect any more.  The graph is None if no event names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from emgas.messages.requests import Command
from emgas.wire import Record
from processors.extraction.extractor import Extractor
from processors.lifecycle.gates import Gate
from processors.lifecycle.policies import load_nothing
from processors.recall.answer.perceptual import AttachmentEncoder
from processors.recall.ranking.dense import Embedder
from state.events.events import DataEvent
from state.graph.graph import Graph
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring
from streams.ingest.verbs.unfolded import UnfoldedDecisions


class AlreadyDoneError(Exception):
    """The request was carried out before; the text says so.  Its sender may have missed the outcome."""


def no_gate(name: str) -> Gate:
    """Raise UnknownPolicyError: without a loader, there are no gates."""
    return cast(Gate, load_nothing("gates", name))


@dataclass(frozen=True, kw_only=True, slots=True)
class HandlerContext:
    """The objects that all of a worker's command handlers share.

    partitions  of the topic `turns`          skew_ms  how far in the future a turn may be, ms
    preset      of new graphs                 now      returns the present, ms
    keys        of encrypted graphs           gate     returns a gate by its name
    encrypts    whether new graphs get a key
    redact      whether secrets are replaced in what is sent, before any of it is recorded
    """

    partitions: int
    extractor: Extractor
    embedder: Embedder | None = None
    encoders: Sequence[AttachmentEncoder] = ()
    skew_ms: int
    preset: str
    now: Callable[[], int]
    keys: Keyring = NO_KEYS
    encrypts: bool = True
    gate: Callable[[str], Gate] = no_gate
    redact: bool = True

    def present(self, arrival: Record) -> int:
        """Return the present (ms); a worker's clock that is behind the broker's must not move turns into the past."""
        now = self.now()
        return max(now, arrival.timestamp) if arrival.by_broker else now

    def latest(self, arrival: Record) -> int:
        """Return the latest event time (ms) that is accepted of a record."""
        return self.present(arrival) + self.skew_ms


@dataclass(frozen=True, slots=True)
class Deciding:
    """The context of a decision: the state of its partition, the record, and the objects that all handlers share."""

    state: Partition
    arrival: Record
    shared: HandlerContext
    unfolded: UnfoldedDecisions
    notes: list[str] = field(default_factory=list)  # what the sender should know about what remains

    @property
    def extractor(self) -> Extractor:
        """The extractor of concepts."""
        return self.shared.extractor

    @property
    def keys(self) -> Keyring:
        """The keys of encrypted graphs."""
        return self.shared.keys

    @property
    def source(self) -> int:
        """Offset of the record in `turns`."""
        return self.arrival.offset

    def birth(self, graph_id: str, graph: Graph | None) -> Sequence[DataEvent]:
        """Configure a graph that is new, by the preset of new graphs."""
        return self.unfolded.birth(graph_id, graph, self.shared.preset)

    def concept_ids(self, graph: Graph, text: str) -> list[str]:
        """Return the ids of the concepts that a user means, by id or by words; a phrase means its words as well."""
        return concept_ids(graph, text, self.extractor)


def concept_ids(graph: Graph, text: str, extractor: Extractor) -> list[str]:
    """Return the ids of the concepts that a text names, by id or by words; a phrase means its words as well."""
    number = graph.concepts.numbers.get(text)
    if number is not None and number not in graph.concepts.phrases:
        return [text]
    matches = [concept.id for concept in extractor.of_query(text).concepts]
    return matches if number is None else [text, *matches]


Decider = Callable[[Any, Graph | None, Deciding], list[DataEvent]]
D = TypeVar("D", bound=Decider)
DECIDERS: dict[type[Command], Decider] = {}


def decides(*messages: type[Command]) -> Callable[[D], D]:
    """Register the decorated function as the decision of these messages.  Raises ValueError for a second one."""

    def register(decider: D) -> D:
        for message in messages:
            if message in DECIDERS:
                raise ValueError(f"{message.__name__} is decided twice: by {DECIDERS[message]} and {decider}")
            DECIDERS[message] = decider
        return decider

    return register
