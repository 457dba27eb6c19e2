"""Decide which events a turn of the topic `turns` becomes: recognise, extract, clamp, embed, apply gates.

A turn becomes one event that accounts for it, by what its id stands for:

    id known to the graph, same text        TurnDuplicated
    id known to the graph, other text       TurnRejected
    id known as erased                      TurnDuplicated: nothing of it is kept again, whatever its text
    while recording is paused               TurnNotRecorded: nothing of the text is kept, not even as a dead letter
    over a quota of the graph or subject    TurnRejected (streams/ingest/verbs/quota.py); within one, QuotaCounted and:
    else                                    TurnRecorded with what extraction found; before it a new graph's
                                            GraphConfigured, behind it TurnEmbedded if there is a model, and
                                            Superseded for statements that are history now
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypedDict

import numpy as np
from msgspec.structs import replace

from emgas.logs import logger
from emgas.messages.requests import Command
from emgas.messages.turns import Turn
from emgas.redaction import count_redacted
from emgas.times import HOUR_MS, MINUTE_MS, wall_clock
from emgas.wire import Record
from processors.extraction.extractor import Extraction, Extractor, Utterance
from processors.extraction.known_people import with_known_people
from processors.lifecycle.gates import Gate, gated
from processors.lifecycle.policies import policy
from processors.lifecycle.turns.supersession import superseded
from processors.recall.answer.perceptual import AttachmentEncoder, encoder_name
from processors.recall.ranking.dense import Vectors, model_name, vector_of, vectors_of
from processors.text.anchors import anchored
from processors.text.statements import statements
from state.events.events import (
    UNSTAMPED,
    DataEvent,
    Superseded,
    TurnDuplicated,
    TurnEmbedded,
    TurnNotRecorded,
    TurnRecorded,
    TurnRejected,
)
from state.events.extraction_types import Anchor, Attached, Statement
from state.events.memory_settings import PRESETS, MemorySettings
from state.events.vectors import packed
from state.graph.graph import Graph
from state.graph.tables.passage_table import ERASED, fingerprint
from state.log_position import Draft
from state.partition import Partition
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import HandlerContext
from streams.ingest.verbs.quota import QuotaCounter
from streams.ingest.verbs.unfolded import UnfoldedDecisions, states_of_speaker

log = logger("ingest")
LIVE_MS = HOUR_MS  # a turn that is recorded within an hour of its event time belongs to a conversation that goes on


@dataclass(slots=True)
class Decision:
    """One record, the events it becomes, and the outcome that its sender gets.

    remains    what remains after a request to forget or erase
    discarded  nothing of it is kept, not even as a dead letter
    in_clear   its dead letter is not sealed: the key of its graph may be wrong, and nothing could open the letter
    drafts     the events but for their stamps, if they are written already
    moved_to   where the graph is now, if it is not here
    again      the graph is on its way: the same may be accepted in a moment
    """

    arrival: Record
    events: list[DataEvent]
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    remains: str | None = None
    graph_id: str | None = None
    at: int | None = None  # event time (ms) of an accepted turn
    expires_at: int | None = None  # and when it is forgotten, if ever
    settings: MemorySettings | None = None  # of a graph that is born with the turn
    discarded: bool = False
    in_clear: bool = False
    drafts: Sequence[Draft] = ()
    moved_to: str | None = None
    again: bool = False

    @property
    def redacted(self) -> int:
        """Return the number of secrets that were replaced in the recorded turn."""
        return sum(count_redacted(event.text) for event in self.events if isinstance(event, TurnRecorded))


def rejected(arrival: Record, command: Command | None, reason: str) -> Decision:
    """Reject a record; `command` is what could be read of it."""
    event = TurnRejected(src=arrival.offset, reason=reason, **UNSTAMPED)
    return Decision(arrival, [event], "rejected", command.id if command else None, reason)


class AheadExtractor(Protocol):
    """Extracts the concepts of turns before they are decided, beside the event loop (streams/plugins)."""

    def start(self) -> None:
        """Begin to get ready, in the background: there is a burst of turns."""

    @property
    def is_ready(self) -> bool:
        """Return whether it can extract."""

    async def extract(self, turns: Sequence[Utterance]) -> dict[Utterance, Extraction]:
        """Extract what it can; never raise."""


class ExtractionRequest(NamedTuple):
    """An extractor's input for a turn, and times in ms: the sender's, the event's, and the present."""

    utterance: Utterance
    sent_at: int
    at: int
    now: int


@dataclass(slots=True)
class ReadAhead:
    """Results that are computed ahead of the decisions on records.

    commands     by offset: records that were parsed, or rejected       vectors     by text: None for no vector
    requests     by offset: extraction requests of turns                encodings   by graph and turn id, then model
    extractions  by what was extracted from
    """

    commands: dict[int, Command | Decision] = field(default_factory=dict)
    requests: dict[int, ExtractionRequest] = field(default_factory=dict)
    extractions: dict[Utterance, Extraction] = field(default_factory=dict)
    vectors: dict[str, Vectors | None] = field(default_factory=dict)
    encodings: dict[tuple[str, str], dict[str, Vectors]] = field(default_factory=dict)

    def forget_vectors(self) -> None:
        """Forget what models made of a batch that is decided."""
        self.vectors.clear()
        self.encodings.clear()

    def forget_records(self) -> None:
        """Forget what was parsed and extracted: some records of it may have been accounted for otherwise."""
        self.commands.clear()
        self.requests.clear()
        self.extractions.clear()


class TurnDecider:
    """Decides which events the turns of one partition become."""

    def __init__(
        self, state: Partition, partition: int, context: HandlerContext, unfolded: UnfoldedDecisions, ahead: ReadAhead
    ) -> None:
        self._state = state
        self._partition = partition
        self._context = context
        self._unfolded = unfolded
        self._ahead = ahead
        self._quotas = QuotaCounter(state)

    def folded(self) -> None:
        """Forget what was decided and is folded by now."""
        self._quotas.folded()

    def embed_ahead(self, turns: Sequence[Turn]) -> None:
        """Embed turns that are about to be decided, all texts in one call of the model.

        A failure is left to `decide`, which finds out which turn causes it.
        """
        embedder = self._context.embedder
        for turn in turns:
            self._encodings(turn)
        if embedder is None:
            return
        texts = list(dict.fromkeys(turn.text for turn in turns))
        try:
            self._ahead.vectors = dict(zip(texts, vectors_of(embedder, texts), strict=True))
        except Exception:  # of whichever model
            log.warning("turns embedded one by one", partition=self._partition, turns=len(texts), exc_info=True)

    async def extract_ahead(self, pool: AheadExtractor, turns: Sequence[tuple[Record, Turn]]) -> None:
        """Extract in a pool from turns that are decided later; `decide` extracts from the rest."""
        utterances = [self._request(arrival, turn).utterance for arrival, turn in turns]
        self._ahead.extractions |= await pool.extract(utterances)

    def extraction_request(self, arrival: Record, turn: Turn) -> Utterance | None:
        """Return what to extract from before a turn is decided; None if that is done, or the turn is not new."""
        if not self._may_be_new(turn):
            return None
        request = self._ahead.requests[arrival.offset] = self._request(arrival, turn)
        return None if request.utterance in self._ahead.extractions else request.utterance

    def extract(self, utterance: Utterance) -> None:
        """Extract from a turn that is about to be decided.  A failure is left to `decide`.

        Many texts in a row, with the extractor's code in the processor's cache, take a fifth less time.
        """
        if utterance not in self._ahead.extractions:
            with suppress(Exception):
                self._ahead.extractions[utterance] = self._extract(utterance)

    def _may_be_new(self, turn: Turn) -> bool:
        graph = self._state.graph_at_hand(turn.graph)
        return graph is None or (graph.passages.knows(turn.id) is None and bool(graph.settings.recording))

    def _extract(self, utterance: Utterance) -> Extraction:
        return self._context.extractor.of_turn(utterance.text, speaker=utterance.speaker, at=utterance.at)

    def _request(self, arrival: Record, turn: Turn) -> ExtractionRequest:
        """Build the extraction request of a turn; its event time is not far in the future, whatever its sender says."""
        now = self._context.present(arrival)
        sent_at = arrival.timestamp if turn.at is None else turn.at
        at = min(sent_at, now + self._context.skew_ms)
        return ExtractionRequest(
            Utterance(searchable_text(turn), turn.speaker, wall_clock(at, self._zone(turn))), sent_at, at, now
        )

    def _zone(self, turn: Turn) -> str:
        """Return the time zone of a turn: its own, else that of its graph's people."""
        zone = turn.metadata.get("timezone")
        return zone if isinstance(zone, str) else self._unfolded.zone(turn.graph, self._state)

    def needs_fold(self, turn: Turn) -> bool:
        """Return whether everything before a turn must be folded before it is decided.

        Its statements are compared with earlier ones, and gates compare it with earlier turns.
        """
        return bool(stated_by(turn)) or current_settings(self._state.graph(turn.graph), self._context.preset).has_gates

    def decide(self, arrival: Record, turn: Turn, graph: Graph | None) -> Decision:
        """Decide which events a turn becomes."""
        existing = self._existing_text(turn, graph)
        if existing is None:
            is_recording = graph is None or bool(graph.settings.recording)
            return self._counted(arrival, turn, graph) if is_recording else _not_recorded(arrival, turn)
        if existing not in (ERASED, fingerprint(turn.text)):
            return rejected(arrival, turn, f"turn id {turn.id!r} is known with another text: use a new id")
        event = TurnDuplicated(src=arrival.offset, graph=turn.graph, id=turn.id, **UNSTAMPED)
        return Decision(arrival, [event], "duplicate", turn.id)

    def _counted(self, arrival: Record, turn: Turn, graph: Graph | None) -> Decision:
        """Record a turn and count it, unless a quota keeps it out."""
        try:
            counts = self._quotas.count(arrival, turn)
        except RejectedError as why:
            return rejected(arrival, turn, str(why))
        decision = self._recorded(arrival, turn, graph)
        decision.events = [*counts, *decision.events]
        return decision

    def _existing_text(self, turn: Turn, graph: Graph | None) -> int | None:
        """Return the fingerprint of the text that a turn's id stands for already, folded or not."""
        existing = None if graph is None else graph.passages.knows(turn.id)
        if existing is None and (text := self._unfolded.turns.get((turn.graph, turn.id))) is not None:
            return fingerprint(text)
        return existing

    def _recorded(self, arrival: Record, turn: Turn, graph: Graph | None) -> Decision:
        extractor = self._context.extractor
        # A graph that was configured since the turn was read may have another time zone.
        request = None if turn.graph in self._unfolded.zones else self._ahead.requests.pop(arrival.offset, None)
        utterance, sent_at, at, now = request or self._request(arrival, turn)
        extraction = self._ahead.extractions.pop(utterance, None) or self._extract(utterance)
        self._unfolded.turns[turn.graph, turn.id] = turn.text
        concepts = with_known_people(turn.text, [*extraction.concepts, *extraction.phrases], graph)
        bound, stated = self._unfolded.read(turn, concepts, graph)
        event = TurnRecorded(
            src=arrival.offset,
            id=turn.id,
            graph=turn.graph,
            speaker=turn.speaker,
            text=turn.text,
            session=turn.session,
            role=turn.role,
            metadata=turn.metadata,
            **importance_of(turn),
            at=at,
            clamped=at != sent_at,
            live=now - at <= LIVE_MS,
            question=extraction.question,
            tokens=extraction.tokens,
            concepts=concepts,
            times=list(extraction.times),
            relations=list(extraction.relations),
            mentions=bound,
            facts=stated,
            extractor=extractor.version,
            statements=stated_by(turn),
            attachments=[Attached(**each.model_dump()) for each in turn.attachments],
            ahead=round((utterance.at - at) / MINUTE_MS),
            origin=turn.origin,
            expires_at=turn.expires_at,
            **UNSTAMPED,
        )
        birth = self._unfolded.birth(turn.graph, graph, self._context.preset)
        settings = current_settings(graph, self._context.preset)
        event = with_gates(
            event, utterance.text, graph=graph, settings=settings, extractor=extractor, gate=self._context.gate
        )
        embedded = [*self._embedded(turn, at), *self._perceived(turn, at)]
        events: list[DataEvent] = [*birth, event, *embedded, *self._superseded(event)]
        born_with = birth[0].settings if birth else None
        return Decision(
            arrival,
            events,
            "accepted",
            turn.id,
            graph_id=turn.graph,
            at=at,
            expires_at=turn.expires_at,
            settings=born_with,
        )

    def _superseded(self, event: TurnRecorded) -> list[Superseded]:
        """Decide which earlier statements a turn makes history; everything before it must be folded."""
        graph = self._state.graph(event.graph) if event.statements else None
        if graph is None:
            return []
        speaker, at = event.speaker, event.at
        return list(superseded(graph, event.id, speaker=speaker, at=at, stated=event.statements))

    def _embedded(self, turn: Turn, at: int) -> list[TurnEmbedded]:
        """Embed a turn, if there is a model and it has a vector for the text."""
        embedder = self._context.embedder
        if embedder is None:
            return []
        vectors = self._ahead.vectors
        vector = vectors[turn.text] if turn.text in vectors else vector_of(embedder, turn.text)
        if vector is None:
            return []
        model, stored = model_name(embedder), packed(vector)
        return [TurnEmbedded(graph=turn.graph, id=turn.id, at=at, model=model, vector=stored, **UNSTAMPED)]

    def _encodings(self, turn: Turn) -> dict[str, Vectors]:
        """Encode a turn's attachments, once: by model, the first attachment that its encoder can read."""
        encodings = self._ahead.encodings.get((turn.graph, turn.id))
        if encodings is None:
            encodings = self._ahead.encodings[turn.graph, turn.id] = {}
            for encoder in self._context.encoders:
                fitting = (each.uri for each in turn.attachments if each.kind == encoder.kind)
                vectors = (_encoded(encoder, uri) for uri in fitting)
                vector = next((vector for vector in vectors if vector is not None), None)
                if vector is not None:
                    encodings[encoder_name(encoder)] = vector
        return encodings

    def _perceived(self, turn: Turn, at: int) -> list[TurnEmbedded]:
        """Record the vectors of a turn's attachments, each of its own model."""
        encodings = self._encodings(turn) if self._context.encoders and turn.attachments else {}
        return [
            TurnEmbedded(graph=turn.graph, id=turn.id, at=at, model=model, vector=packed(vector), **UNSTAMPED)
            for model, vector in encodings.items()
        ]


def _not_recorded(arrival: Record, turn: Turn) -> Decision:
    """Skip a turn that came while recording is paused, and report that to its sender."""
    event = TurnNotRecorded(src=arrival.offset, graph=turn.graph, **UNSTAMPED)
    why = f"graph {turn.graph!r} does not record at present: nothing of this turn was kept (`emgas change resume`)"
    return Decision(arrival, [event], "rejected", turn.id, why, discarded=True)


def _encoded(encoder: AttachmentEncoder, uri: str) -> Vectors | None:
    """Encode an attachment; None if the encoder cannot read it, or fails: the turn is recorded without its vector."""
    try:
        vector = encoder.encode(uri)
    except Exception:  # of whichever encoder
        log.warning("attachment not encoded", model=encoder_name(encoder), exc_info=True)
        return None
    return vector if vector is not None and np.isfinite(vector).all() and vector.any() else None


def searchable_text(turn: Turn) -> str:
    """Return the text that concepts are extracted from: a turn's own, and the captions of its attachments."""
    if not turn.attachments:
        return turn.text
    return "\n".join([turn.text, *(each.caption for each in turn.attachments if each.caption)])


def stated_by(turn: Turn) -> list[Statement]:
    """Return what a turn states; statements of an assistant about itself do not count."""
    return statements(turn.text) if states_of_speaker(turn) else []


class Importance(TypedDict):
    """The importance of a turn, None for the default, and the rule that set it."""

    importance: float | None
    anchor: Anchor | None


def importance_of(turn: Turn) -> Importance:
    """Return the importance that the sender gave, else the one by the rule that anchors the text."""
    match = anchored(turn.text)
    if match is None:
        return {"importance": turn.importance, "anchor": None}
    anchor, importance = match
    return {"importance": importance if turn.importance is None else turn.importance, "anchor": anchor}


def current_settings(graph: Graph | None, preset: str) -> MemorySettings:
    """Return the settings of a graph, or those of its preset if it does not exist yet."""
    return PRESETS[preset] if graph is None or graph.is_blank else graph.settings


def with_gates(
    turn: TurnRecorded,
    text: str,
    *,
    graph: Graph | None,
    settings: MemorySettings,
    extractor: Extractor,
    gate: Callable[[str], Gate],
) -> TurnRecorded:
    """Add the results of the gates in `settings` to a turn; return it unchanged if there are none.

    text   what the turn's concepts were extracted from       graph  None if the turn creates it
    """
    if not settings.has_gates:
        return turn
    if graph is None or graph.is_blank:
        graph = Graph(turn.graph)
        graph.settings = settings
    turn = gated(turn, graph, gate)
    if not settings.counts_units:
        return turn
    units: Callable[..., list[list[int]]] = policy("decisions", "units")
    return replace(turn, units=units(extractor, text, turn.concepts, tokens=turn.tokens, settings=settings))
