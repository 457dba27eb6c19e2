"""From a record of `turns` to the event that accounts for it: validate, recognise, extract, clamp.

Every record gets exactly one event that accounts for it, in order, so that the source position never skips:

    not acceptable                          TurnRejected, and the bytes go to dead-letters
    id known to the graph, same text        TurnDuplicated
    id known to the graph, other text       TurnRejected
    else                                    TurnRecorded with what extraction found; before it a new graph's
                                            GraphConfigured, behind it TurnEmbedded if there is a model
    a wish to configure, forget, undo       GraphConfigured, Forgotten, Retracted.  Wishes are not told apart by id: a
                                            repeated one has the same effect once more
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import ValidationError

from emgas import limits
from emgas.messages.topics import INBOUND
from emgas.messages.turns import Configure, Forget, Turn, Undo
from emgas.times import HOUR_MS
from emgas.validation import describe
from emgas.wire import Record, partition_of
from processors.extraction.extractor import Extractor
from processors.lifecycle.forgetting import wished
from processors.recall.dense import Embedder, model_name, vector_of
from state.events.events import (
    DataEvent,
    Forgotten,
    GraphConfigured,
    Retracted,
    TurnDuplicated,
    TurnEmbedded,
    TurnRecorded,
    TurnRejected,
)
from state.events.memory_settings import PRESETS, MemorySettings
from state.events.vectors import packed
from state.graph.graph import Graph
from state.graph.passage_table import fingerprint
from state.partition import Partition
from streams.errors import RejectedError

REASON_CHARACTERS = 1000  # a record can hold thousands of unknown fields

Draft = Callable[..., DataEvent]  # takes epoch, claim, seq, chain: the owner links it into the log


Message = Turn | Configure | Forget | Undo
LIVE_MS = HOUR_MS  # a turn that is recorded within an hour of being said belongs to a conversation that goes on


@dataclass(frozen=True, slots=True)
class Decision:
    """One record, the event it becomes, and what its sender is told."""

    arrival: Record
    drafts: list[Draft]
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    graph: str | None = None
    at: int | None = None  # event time (ms) of an accepted turn
    settings: MemorySettings | None = None  # how a graph that is born with the turn will live


class CommandHandler:
    """Judges the records of one partition against its state.  `now` returns the present in ms."""

    def __init__(
        self,
        state: Partition,
        number: int,
        partitions: int,
        extractor: Extractor,
        skew_ms: int,
        preset: str,
        now: Callable[[], int],
        embedder: Embedder | None = None,
    ) -> None:
        self._state = state
        self._number = number
        self._partitions = partitions
        self._extractor, self._embedder = extractor, embedder
        self._skew_ms = skew_ms
        self._now = now
        self._preset = preset
        self._pending: dict[tuple[str, str], int] = {}  # (graph, turn id) → fingerprint, judged but not folded yet
        self._born: set[str] = set()  # graphs whose first turn is judged but not folded yet

    def folded(self) -> None:
        """Forget what was pending: the state knows it now."""
        self._pending.clear()
        self._born.clear()

    def read(self, arrival: Record) -> Message | Decision:
        """Return what `arrival` says, or that it is rejected."""
        try:
            check_size(arrival.value)
            message = INBOUND.validate_json(arrival.value)
            self._check_place(message, arrival.key)
        except ValidationError as error:
            return _rejected(arrival, None, explained(error))
        except RejectedError as why:
            return _rejected(arrival, None, str(why))
        return message

    def judge(self, arrival: Record, message: Message) -> Decision:
        """Return the events that account for `arrival`.  For a command, everything before it must be folded."""
        if isinstance(message, Configure):
            return self._configured(arrival, message)
        if isinstance(message, Forget):
            return self._forgotten(arrival, message)
        if isinstance(message, Undo):
            return self._taken_back(arrival, message)
        known = self._known_text(message)
        if known is None:
            return self._recorded(arrival, message)
        if known != fingerprint(message.text):
            return _rejected(arrival, message, f"turn id {message.id!r} is known with another text: use a new id")
        draft = partial(TurnDuplicated, src=arrival.offset, graph=message.graph, id=message.id)
        return Decision(arrival, [draft], "duplicate", message.id)

    def _check_place(self, turn: Message, key: bytes | None) -> None:
        if key is None:
            raise RejectedError(f"the record has no key: it must be the graph id, {turn.graph!r}")
        if key != turn.graph.encode():
            raise RejectedError(f"the record's key {key[:200]!r} is not the turn's graph {turn.graph!r}")
        owner = partition_of(turn.graph, self._partitions)
        if owner != self._number:
            raise RejectedError(
                f"graph {turn.graph!r} belongs to partition {owner}, the record came to {self._number}: "
                "use murmur2 partitioning (librdkafka: partitioner=murmur2_random)"
            )

    def _known_text(self, turn: Turn) -> int | None:
        graph = self._state.graph(turn.graph)
        known = None if graph is None else graph.passages.knows(turn.id)
        return self._pending.get((turn.graph, turn.id)) if known is None else known

    def _recorded(self, arrival: Record, turn: Turn) -> Decision:
        said_at, now = arrival.timestamp if turn.at is None else turn.at, self._now()
        at = min(said_at, now + self._skew_ms)
        found = self._extractor.of_turn(turn.text, speaker=turn.speaker, at=at)
        self._pending[turn.graph, turn.id] = fingerprint(turn.text)
        draft = partial(
            TurnRecorded,
            src=arrival.offset,
            **turn.model_dump(exclude={"at"}),
            at=at,
            clamped=at != said_at,
            live=now - at <= LIVE_MS,
            question=found.question,
            tokens=found.tokens,
            concepts=list(found.concepts),
            times=list(found.times),
            extractor=self._extractor.version,
        )
        birth = self._birth(turn.graph)
        drafts: list[Draft] = [*birth, draft, *self._embedded(turn, at)]
        settings = PRESETS[self._preset] if birth else None
        return Decision(arrival, drafts, "accepted", turn.id, graph=turn.graph, at=at, settings=settings)

    def _embedded(self, turn: Turn, at: int) -> list[Draft]:
        """Return the event of the turn's vector, if there is a model and it has one for the text."""
        vector = None if self._embedder is None else vector_of(self._embedder, turn.text)
        if self._embedder is None or vector is None:
            return []
        model = model_name(self._embedder)
        return [partial(TurnEmbedded, graph=turn.graph, id=turn.id, at=at, model=model, vector=packed(vector))]

    def _birth(self, graph: str) -> list[Draft]:
        """Return a new graph's first event: how it lives, so that no replay has to ask any configuration.

        A graph of which all was taken back is born again.
        """
        known = self._state.graph(graph)
        if graph in self._born or (known is not None and not known.is_blank):
            return []
        self._born.add(graph)
        return [partial(GraphConfigured, graph=graph, preset=self._preset, settings=PRESETS[self._preset])]

    def _configured(self, arrival: Record, message: Configure) -> Decision:
        try:
            settings = PRESETS[message.preset].changed(message.settings)
        except ValidationError as error:  # each value is within its bounds, but they do not go together
            return _rejected(arrival, message, explained(error))
        self._born.add(message.graph)
        draft = partial(
            GraphConfigured, src=arrival.offset, graph=message.graph, preset=message.preset, settings=settings
        )
        return Decision(arrival, [draft], "accepted", message.id, graph=message.graph)

    def _forgotten(self, arrival: Record, message: Forget) -> Decision:
        graph = self._state.graph(message.graph)
        if graph is None:
            return _rejected(arrival, message, f"nobody has written to graph {message.graph!r}: nothing to forget")
        concepts = [name for text in message.concepts for name in self._names(graph, text)]
        gone = wished(graph, concepts, message.turns, message.sessions)
        if not any(gone):
            return _rejected(arrival, message, "none of these is in the graph: nothing to forget")
        draft = partial(Forgotten, src=arrival.offset, graph=message.graph, concepts=gone.concepts, turns=gone.turns)
        return Decision(arrival, [draft], "accepted", message.id, graph=message.graph)

    def _taken_back(self, arrival: Record, message: Undo) -> Decision:
        graph = self._state.graph(message.graph)
        if graph is None:
            return _rejected(arrival, message, f"nobody has written to graph {message.graph!r}: nothing to undo")
        last = min(message.last if message.last is not None else graph.events, graph.events - 1)
        if why := self._too_late(graph, message.first, last):
            return _rejected(arrival, message, why)
        draft = partial(Retracted, src=arrival.offset, graph=message.graph, first=message.first, last=last)
        return Decision(arrival, [draft], "accepted", message.id, graph=message.graph)

    def _too_late(self, graph: Graph, first: int, last: int) -> str | None:
        """Return why these events cannot be taken back, None if they can."""
        if first >= graph.events:
            return f"graph {graph.name!r} has {graph.events} events, counted from 0: it has no event {first}"
        if first > last:
            return f"the last event to undo, {last}, lies before the first, {first}"
        if first < graph.undoable_from:
            return (
                f"graph {graph.name!r} can undo its last {graph.events - graph.undoable_from} events; to go further "
                "back, make a branch: emgas replay branch"
            )
        if self._state.counting(graph, first, last) == 0:
            return f"events {first} to {last} of graph {graph.name!r} are taken back already: nothing left to undo"
        return None

    def _names(self, graph: Graph, text: str) -> list[str]:
        """Return the concept ids that a user means: an id, or whatever the extractor finds in the words."""
        if text in graph.concepts.numbers:
            return [text]
        return [concept.id for concept in self._extractor.of_query(text).concepts]


def _rejected(arrival: Record, message: Message | None, reason: str) -> Decision:
    draft = partial(TurnRejected, src=arrival.offset, reason=reason)
    return Decision(arrival, [draft], "rejected", message.id if message else None, reason)


def check_size(value: bytes) -> None:
    """Raise RejectedError when a record is over the limit, before anything parses it."""
    if len(value) > limits.RECORD_BYTES:
        raise RejectedError(f"the record is {len(value)} bytes, the limit is {limits.RECORD_BYTES}: shorten it")


def explained(error: ValidationError) -> str:
    """Return one sentence per problem, without the offending content (it may be private)."""
    return describe(error)[:REASON_CHARACTERS]
