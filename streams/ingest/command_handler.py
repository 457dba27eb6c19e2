"""From a record of `turns` to the event that accounts for it: validate, recognise, extract, clamp.

Every record gets exactly one event that accounts for it, in order, so that the source position never skips:

    not acceptable, or fails twice          TurnRejected, and the bytes go to dead-letters
    id known to the graph, same text        TurnDuplicated
    id known to the graph, other text       TurnRejected
    else                                    TurnRecorded with what extraction found; before it a new graph's
                                            GraphConfigured, behind it TurnEmbedded if there is a model, and
                                            Superseded for what is history since
    id known as erased                      TurnDuplicated: nothing of it is kept again, whatever it says now
    a request to erase what is erased       TurnDuplicated: it is done, and nothing happens again
    a turn while recording is paused        TurnNotRecorded: nothing of what it says, not even as a dead letter
    what a question woke, told by a reader  ConceptsRecalled, and MemoryRestored
    a request to configure, forget, undo,   GraphConfigured, Forgotten, Retracted, Pinned, Unpinned, FeedbackGiven,
    pin, unpin, feedback, erase, end a      SubjectErased, SessionEnded, AccessGranted, AccessRevoked.  Requests are
    session, grant, revoke                  not told apart by id: a repeated one has its effect once more
    what an advisor says                    TopicNamed, EdgesRated, SessionSummarised, PassageRewritten, PassageSplit,
                                            WorthJudged, if it fits what the graph has
    of a subject that may not               TurnRejected
    for a graph that cannot be read         TurnRejected, so every fold goes on alike, whether it has the key or not;
                                            but a request to erase all of it is accepted

The events are unstamped: where they lie in the log is for the partition's writer to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import Literal, NamedTuple

from msgspec.structs import replace
from pydantic import ValidationError

from emgas.errors import HaltedError, TransportError
from emgas.logs import logger
from emgas.messages.advice import Advice
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.topics import Command, read_inbound
from emgas.messages.turns import Configure, Erase, Feedback, Forget, Pin, Reinforce, Turn, Undo, Unpin
from emgas.times import HOUR_MS, MINUTE_MS, wall_clock
from emgas.wire import SUBJECT, Record, as_mapping
from processors.extraction.extractor import Extraction, Extractor, Said
from processors.lifecycle.feedback import answering
from processors.lifecycle.forgetting import everything, requested
from processors.lifecycle.supersession import superseded
from processors.recall.answer.perceptual import Encoder, encoder_name
from processors.recall.ranking.dense import Embedder, Vectors, model_name, vector_of, vectors_of
from state.errors import GraphLockedError, GraphUnavailableError, KeysError
from state.events.events import (
    UNSTAMPED,
    DataEvent,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    Pinned,
    Retracted,
    Superseded,
    TurnDuplicated,
    TurnEmbedded,
    TurnNotRecorded,
    TurnRecorded,
    TurnRejected,
    Unpinned,
)
from state.events.extraction_types import Attached
from state.events.memory_settings import MemorySettings
from state.events.vectors import packed
from state.graph.graph import Graph
from state.graph.tables.passage_table import ERASED, fingerprint
from state.log_position import Draft, draft
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring
from streams.errors import RejectedError
from streams.ingest import conversations
from streams.ingest.access import check_command, granted
from streams.ingest.advising import AdviceHandler
from streams.ingest.ahead import AheadExtractor
from streams.ingest.beside_words import read_by, remembered, stated_by
from streams.ingest.configuring import asked_of, born, settings_of, weights_of
from streams.ingest.erasing import parts_of
from streams.ingest.gating import living, passed
from streams.ingest.pronouns import Pronouns
from streams.ingest.refusals import check_place, check_size, explained
from streams.ingest.reinforcing import commanded
from streams.ingest.resuming import resumable_parts
from streams.ingest.undoing import why_no_range, why_not
from streams.ingest.weighing import weighed

log = logger("ingest")
MAY_PASS = (HaltedError, TransportError, OSError, MemoryError)  # on another try: they stop the worker
LIVE_MS = HOUR_MS  # a turn that is recorded within an hour of being said belongs to a conversation that goes on


@dataclass(slots=True)
class Decision:
    """One record, the events it becomes, and what its sender is told.

    unheard  nothing of it is to be kept, not even as a dead letter
    in_clear its dead letter is not sealed: the key of its graph may be wrong, and would lock it for good
    drafts   the events but for their stamps, if they are written already
    """

    arrival: Record
    events: list[DataEvent]
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    graph_id: str | None = None
    at: int | None = None  # event time (ms) of an accepted turn
    settings: MemorySettings | None = None  # how a graph that is born with the turn will live
    unheard: bool = False
    in_clear: bool = False
    drafts: Sequence[Draft] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class HandlerContext:
    """What all of a worker's command handlers share.

    partitions  of the topic `turns`          skew_ms  how far ahead of the present a turn may be said, ms
    preset      by which new graphs live      now      tells the present, ms
    keys        of encrypted graphs
    """

    partitions: int
    extractor: Extractor
    embedder: Embedder | None = None
    encoders: Sequence[Encoder] = ()
    skew_ms: int
    preset: str
    now: Callable[[], int]
    keys: Keyring = NO_KEYS


class _Asked(NamedTuple):
    """What an extractor is asked about a turn, and times, ms: as its sender told it, of the event, and the present."""

    said: Said
    said_at: int
    at: int
    now: int


class CommandHandler:
    """Decides what the records of one partition become, by its state."""

    def __init__(self, state: Partition, partition: int, context: HandlerContext) -> None:
        self._state = state
        self._partition = partition
        self._context = context
        self._pending: dict[tuple[str, str], str] = {}  # (graph id, turn id) → text, decided but not folded yet
        self._born: set[str] = set()  # graphs whose first turn is decided but not folded yet
        self._zones: dict[str, str] = {}  # graph id → where its people are, decided but not folded yet
        self._pronouns = Pronouns(context.keys)
        self._vectors: dict[str, Vectors | None] = {}  # of texts that were embedded ahead
        self._encoded: dict[tuple[str, str], dict[str, Vectors]] = {}  # of what came with turns, by graph and turn id
        self._read: dict[int, Command | Decision] = {}  # by offset, what was read ahead
        self._asked: dict[int, _Asked] = {}  # by offset, of turns that are about to be decided
        self._extracted: dict[Said, Extraction] = {}  # what was found ahead

    def folded(self) -> None:
        """Forget what was pending: the state knows it now."""
        self._pending.clear()
        self._born.clear()
        self._zones.clear()
        self._pronouns.folded()
        self._vectors.clear()
        self._encoded.clear()

    @property
    def embeds(self) -> bool:
        """Whether there is a model of text embeddings, or of what comes with turns."""
        return self._context.embedder is not None or bool(self._context.encoders)

    def embed_ahead(self, arrivals: Sequence[Record]) -> None:
        """Embed the texts of records that are about to be decided, together: in any thread, while nothing is decided.

        What a model fails at is left to `decide`, which knows whose fault it is.
        """
        embedder = self._context.embedder
        commands = [self.read(arrival) for arrival in arrivals]
        for turn in commands:
            if isinstance(turn, Turn):
                self._encode(turn)
        if embedder is None:
            return
        texts = list(dict.fromkeys(command.text for command in commands if isinstance(command, Turn)))
        try:
            self._vectors = dict(zip(texts, vectors_of(embedder, texts), strict=True))
        except Exception:  # of whichever model
            log.warning("turns embedded one by one", partition=self._partition, turns=len(texts), exc_info=True)

    async def extract_ahead(self, pool: AheadExtractor, arrivals: Sequence[Record]) -> None:
        """Have a pool find what turns hold that are to be decided later; what it does not find, `decide` does."""
        for arrival in arrivals:
            self._read[arrival.offset] = self.read(arrival)
        read = [(arrival, self._read[arrival.offset]) for arrival in arrivals]
        turns = [(arrival, turn) for arrival, turn in read if isinstance(turn, Turn) and self.is_available(turn.graph)]
        said = [self._asked_of(arrival, turn).said for arrival, turn in turns]
        self._extracted |= await pool.found(said)

    def to_find(self, arrival: Record) -> Said | None:
        """Read a record that is about to be decided, and tell what an extractor is asked about it.

        None for what was found ahead, for what is known or unwanted, and for what is no turn.
        """
        turn = self._read[arrival.offset] = self.read(arrival)
        if not isinstance(turn, Turn) or not self.is_available(turn.graph) or not self._may_be_new(turn):
            return None
        asked = self._asked[arrival.offset] = self._asked_of(arrival, turn)
        return None if asked.said in self._extracted else asked.said

    def find(self, said: Said) -> None:
        """Find what turns hold that are about to be decided: the same, but with the extractor's code at hand.

        Many texts in a row take a fifth less.  What fails is left to `decide`.
        """
        if said not in self._extracted:
            with suppress(Exception):
                self._extracted[said] = self._extract(said)

    def _may_be_new(self, turn: Turn) -> bool:
        graph = self._state.graph_at_hand(turn.graph)
        return graph is None or (graph.passages.knows(turn.id) is None and bool(graph.settings.recording))

    def _extract(self, said: Said) -> Extraction:
        return self._context.extractor.of_turn(said.text, speaker=said.speaker, at=said.at)

    def forget_ahead(self) -> None:
        """Forget what was read and found ahead: of records that were accounted for already, it is never asked for."""
        self._read.clear()
        self._asked.clear()
        self._extracted.clear()

    def _asked_of(self, arrival: Record, turn: Turn) -> _Asked:
        """Tell when a turn was said: not far in the future, whatever its sender says; and ask about it."""
        now = self._now(arrival)
        said_at = arrival.timestamp if turn.at is None else turn.at
        at = min(said_at, now + self._context.skew_ms)
        return _Asked(Said(remembered(turn), turn.speaker, wall_clock(at, self._zone(turn))), said_at, at, now)

    def _zone(self, turn: Turn) -> str:
        """Tell where a turn was said: as it tells itself, else where its graph's people are."""
        told = turn.metadata.get("timezone")
        return told if isinstance(told, str) else self._zone_of(turn.graph)

    def _zone_of(self, graph_id: str) -> str:
        """Tell where a graph's people are: "yesterday" means the day before there."""
        graph = None if graph_id in self._zones else self._state.graph(graph_id)
        return self._zones.get(graph_id, "UTC") if graph is None else graph.timezone

    def read(self, arrival: Record) -> Command | Decision:
        """Read the command that `arrival` holds, or decide that it is rejected."""
        if (ahead := self._read.pop(arrival.offset, None)) is not None:
            return ahead
        try:
            check_size(arrival.value)
            command = read_inbound(arrival.value)
            check_place(command.graph, arrival.key, self._partition, partitions=self._context.partitions)
        except ValidationError as error:
            return _rejected(arrival, None, explained(error))
        except RejectedError as why:
            return _rejected(arrival, None, str(why))
        return command

    def is_available(self, graph_id: str) -> bool:
        """Tell whether a graph can be read and written; where not, `decide` says so."""
        try:
            self._check_available(graph_id)
        except GraphUnavailableError:
            return False
        return True

    def _check_available(self, graph_id: str) -> None:
        """Raise GraphUnavailableError for a graph that is set aside, or that is new and whose key is damaged."""
        graph = self._state.graph(graph_id)
        try:
            self._context.keys.of(graph_id)
        except KeysError as error:
            if graph is not None:
                self._state.set_aside(graph_id, error)
            raise GraphLockedError(graph_id, str(error)) from error

    def decide(self, arrival: Record, command: Command) -> Decision:
        """Decide which events account for `arrival`.  All before must be folded, but before a turn that states nothing.

        What fails twice at one record (an extractor or a model at its text, an event that nobody could read back) fails
        for ever, so it is that record's outcome.  What may pass on another day is raised.
        """
        try:
            return self._tried(arrival, command)
        except MAY_PASS:
            raise
        except Exception:  # of whichever extractor or model
            log.warning("turn tried again", partition=self._partition, offset=arrival.offset, exc_info=True)
        try:
            return self._tried(arrival, command)
        except MAY_PASS:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails on one record becomes its outcome
            why = f"nothing can be made of this {type(command).__name__.lower()} ({type(error).__name__}, twice)"
            return _rejected(arrival, command, f"{why}: the worker's log has the place; what it said is kept here")

    def _tried(self, arrival: Record, command: Command) -> Decision:
        """Decide, and see to it that what was decided can be written; else nothing of it is pending."""
        was_born, was_pending = command.graph in self._born, (command.graph, command.id) in self._pending
        try:
            decision = self._decided(arrival, command)
            decision.drafts = [draft(event) for event in decision.events]
        except Exception:
            if not was_born:
                self._born.discard(command.graph)
            if not was_pending:
                self._pending.pop((command.graph, command.id), None)
            raise
        return decision

    def _decided(self, arrival: Record, command: Command) -> Decision:  # noqa: PLR0911 - a table of kinds
        try:
            self._check_available(command.graph)
            graph = self._state.graph(command.graph)
            check_command(command, arrival, graph)
        except RejectedError as why:
            return _rejected(arrival, command, str(why))
        except GraphUnavailableError as why:
            return self._unavailable(arrival, command, why)
        match command:
            case Turn():  # as most are: each kind that is asked for before takes time
                return self._of_turn(arrival, command, graph)
            case EndSession() | Grant() | Revoke() | Advice():
                return self._shared(arrival, command)
            case Configure():
                return self._configured(arrival, command)
            case Forget() | Erase():
                return self._removed(arrival, command)
            case Undo():
                return self._retracted(arrival, command)
            case Pin() | Unpin():
                return self._pinned(arrival, command)
            case Feedback() | Reinforce():
                return self._strengthened(arrival, command)

    def _shared(self, arrival: Record, request: EndSession | Grant | Revoke | Advice) -> Decision:
        """Decide what concerns those who share a graph: its conversations, who may do what, and what advisors say."""
        try:
            if isinstance(request, Advice):
                advising = AdviceHandler(self._state, self._context.extractor, self._context.keys)
                advised: list[DataEvent] = [advising.decided(request, arrival.offset)]
                return Decision(arrival, advised, "accepted", request.id, graph_id=request.graph)
            if isinstance(request, EndSession):
                events: list[DataEvent] = [*conversations.parts_of(request, self._state, arrival.offset)]
            else:
                graph = self._state.graph(request.graph)
                right = granted(request, graph, arrival.offset)
                events = [
                    *self._birth(request.graph, graph),
                    right,
                ]  # born last: who is refused gives birth to none
        except RejectedError as why:
            return _rejected(arrival, request, str(why))
        return Decision(arrival, events, "accepted", request.id, graph_id=request.graph)

    def _strengthened(self, arrival: Record, request: Feedback | Reinforce) -> Decision:
        if isinstance(request, Reinforce):
            return self._reinforced(arrival, request)
        return self._judged(arrival, request)

    def _removed(self, arrival: Record, request: Forget | Erase) -> Decision:
        if isinstance(request, Erase):
            return self._erased(arrival, request)
        return self._forgotten(arrival, request)

    def _of_turn(self, arrival: Record, command: Turn, graph: Graph | None) -> Decision:
        known = self._known_text(command, graph)
        if known is None:
            is_heard = graph is None or bool(graph.settings.recording)
            return self._recorded(arrival, command, graph) if is_heard else _unheard(arrival, command)
        if known not in (ERASED, fingerprint(command.text)):
            return _rejected(arrival, command, f"turn id {command.id!r} is known with another text: use a new id")
        event = TurnDuplicated(src=arrival.offset, graph=command.graph, id=command.id, **UNSTAMPED)
        return Decision(arrival, [event], "duplicate", command.id)

    def _known_text(self, turn: Turn, graph: Graph | None) -> int | None:
        """Find the fingerprint of what was said before under a turn's id, folded or pending."""
        known = None if graph is None else graph.passages.knows(turn.id)
        if known is None and (said := self._pending.get((turn.graph, turn.id))) is not None:
            return fingerprint(said)
        return known

    def _recorded(self, arrival: Record, turn: Turn, graph: Graph | None) -> Decision:
        extractor = self._context.extractor
        known = None if turn.graph in self._zones else self._asked.pop(arrival.offset, None)
        said, said_at, at, now = known or self._asked_of(arrival, turn)
        found = self._extracted.pop(said, None) or self._extract(said)
        self._pending[turn.graph, turn.id] = turn.text
        concepts = [*found.concepts, *found.phrases]
        event = TurnRecorded(
            src=arrival.offset,
            id=turn.id,
            graph=turn.graph,
            speaker=turn.speaker,
            text=turn.text,
            session=turn.session,
            role=turn.role,
            metadata=turn.metadata,
            **weighed(turn),
            at=at,
            clamped=at != said_at,
            live=now - at <= LIVE_MS,
            question=found.question,
            tokens=found.tokens,
            concepts=concepts,
            times=list(found.times),
            relations=list(found.relations),
            mentions=self._pronouns.bound(turn, concepts, graph),
            extractor=extractor.version,
            statements=stated_by(turn),
            attachments=[Attached(**each.model_dump()) for each in turn.attachments],
            ahead=round((said.at - at) / MINUTE_MS),
            **UNSTAMPED,
        )
        birth = self._birth(turn.graph, graph)
        lives = living(graph, self._context.preset)
        event = passed(event, said.text, graph=graph, settings=lives, extractor=extractor)
        embedded = [] if event.uncounted else [*self._embedded(turn, at), *self._perceived(turn, at)]
        events: list[DataEvent] = [*birth, event, *embedded, *self._superseded(event)]
        settings = birth[0].settings if birth else None
        return Decision(arrival, events, "accepted", turn.id, graph_id=turn.graph, at=at, settings=settings)

    def has_gates(self, graph_id: str) -> bool:
        """Tell whether a turn is looked at before it is counted: then all before it must be folded."""
        return living(self._state.graph(graph_id), self._context.preset).has_gates

    def _superseded(self, event: TurnRecorded) -> list[Superseded]:
        """Decide what a turn that states something makes history; all before it must be folded."""
        graph = self._state.graph(event.graph) if event.statements else None
        if graph is None:
            return []
        speaker, at = event.speaker, event.at
        return list(superseded(graph, event.id, speaker=speaker, at=at, stated=event.statements))

    def _unavailable(self, arrival: Record, command: Command, why: GraphUnavailableError) -> Decision:
        """Reject what is sent to a graph that cannot be read, but for a request of its operator to erase all of it.

        Nobody can say which rights it granted: so who names a subject may not.
        """
        if isinstance(command, Erase) and command.whole and SUBJECT not in as_mapping(arrival.headers):
            return self._erased(arrival, command)
        log.warning("graph unavailable", partition=self._partition, graph=command.graph, why=str(why))
        kept = "What was sent lies among the dead letters (`emgas dead-letters list`): send it again then."
        return replaced(_rejected(arrival, command, f"{why.told}. {kept}"), in_clear=True)

    def _now(self, arrival: Record) -> int:
        """Tell the present: a worker's clock that is behind the broker's must not move turns into the past."""
        now = self._context.now()
        return max(now, arrival.timestamp) if arrival.by_broker else now

    def _embedded(self, turn: Turn, at: int) -> list[TurnEmbedded]:
        """Embed a turn, if there is a model and it has a vector for the text."""
        embedder = self._context.embedder
        if embedder is None:
            return []
        vector = self._vectors[turn.text] if turn.text in self._vectors else vector_of(embedder, turn.text)
        if vector is None:
            return []
        model, stored = model_name(embedder), packed(vector)
        return [TurnEmbedded(graph=turn.graph, id=turn.id, at=at, model=model, vector=stored, **UNSTAMPED)]

    def _encode(self, turn: Turn) -> dict[str, Vectors]:
        """Encode what came with a turn, by model: the first attachment that an encoder can read.  Once for a turn."""
        known = self._encoded.get((turn.graph, turn.id))
        if known is None:
            known = self._encoded[turn.graph, turn.id] = {}
            for encoder in self._context.encoders:
                fitting = (each.uri for each in turn.attachments if each.kind == encoder.kind)
                vectors = (read_by(encoder, uri) for uri in fitting)
                vector = next((vector for vector in vectors if vector is not None), None)
                if vector is not None:
                    known[encoder_name(encoder)] = vector
        return known

    def _perceived(self, turn: Turn, at: int) -> list[TurnEmbedded]:
        """Record what encoders make of what came with a turn, as vectors of their own models."""
        found = self._encode(turn) if self._context.encoders and turn.attachments else {}
        return [
            TurnEmbedded(graph=turn.graph, id=turn.id, at=at, model=model, vector=packed(vector), **UNSTAMPED)
            for model, vector in found.items()
        ]

    def _birth(self, graph_id: str, known: Graph | None) -> list[GraphConfigured]:
        """Configure a graph that is new: its first event says how it lives, so that no replay asks any configuration.

        A graph of which all was taken back is born again.
        """
        if graph_id in self._born or (known is not None and not known.is_blank):
            return []
        self._born.add(graph_id)
        return [born(graph_id, self._context.preset)]

    def _configured(self, arrival: Record, request: Configure) -> Decision:
        graph = self._state.graph(request.graph)
        try:
            settings = settings_of(request, graph)
            weights, (mode, rerank) = weights_of(request, graph), asked_of(request, graph)
        except ValidationError as error:  # each value is within its bounds, but they do not go together
            return _rejected(arrival, request, explained(error))
        except ValueError as error:
            return _rejected(arrival, request, str(error))
        zone = request.timezone or self._zone_of(request.graph)
        self._born.add(request.graph)
        self._zones[request.graph] = zone
        event = GraphConfigured(
            src=arrival.offset,
            graph=request.graph,
            preset=request.preset,
            settings=settings,
            weights=weights,
            mode=mode,
            rerank=rerank,
            timezone=zone,
            **UNSTAMPED,
        )
        return Decision(arrival, [event], "accepted", request.id, graph_id=request.graph)

    def _forgotten(self, arrival: Record, request: Forget) -> Decision:
        graph = self._state.graph(request.graph)
        if graph is None:
            return _rejected(arrival, request, f"nobody has written to graph {request.graph!r}: nothing to forget")
        concepts = [concept for text in request.concepts for concept in self._concept_ids(graph, text)]
        named = requested(graph, concepts, request.turns, request.sessions)
        gone = everything(graph) if request.everything else named
        if not any(gone):
            return _rejected(arrival, request, "none of these is in the graph: nothing to forget")
        *before, last = [
            Forgotten(graph=request.graph, concepts=part["concepts"], turns=part["turns"], **UNSTAMPED)
            for part in resumable_parts(gone, concepts)
        ]
        # Only the last has the source: if we die before it, the request is read again and finds what is left.
        events: list[DataEvent] = [*before, replace(last, src=arrival.offset)]
        return Decision(arrival, events, "accepted", request.id, graph_id=request.graph)

    def _pinned(self, arrival: Record, request: Pin | Unpin) -> Decision:
        graph = self._state.graph(request.graph)
        if graph is None:
            why = f"nobody has written to graph {request.graph!r}: nothing to {request.kind}"
            return _rejected(arrival, request, why)
        named = (concept for text in request.concepts for concept in self._concept_ids(graph, text))
        concepts = [concept for concept in dict.fromkeys(named) if concept in graph.concepts.numbers]
        turns = [turn for turn in dict.fromkeys(request.turns) if turn in graph.passages.numbers]
        if not (concepts or turns):
            return _rejected(arrival, request, f"none of these is in the graph: nothing to {request.kind}")
        kind = Pinned if isinstance(request, Pin) else Unpinned
        event = kind(src=arrival.offset, graph=request.graph, concepts=concepts, turns=turns, **UNSTAMPED)
        return Decision(arrival, [event], "accepted", request.id, graph_id=request.graph)

    def _judged(self, arrival: Record, request: Feedback) -> Decision:
        graph = self._state.graph(request.graph)
        turns = [] if graph is None else [turn for turn in request.turns if turn in graph.passages.numbers]
        if graph is None or not turns:
            return _rejected(arrival, request, f"graph {request.graph!r} holds none of these turns")
        asked = [] if request.query is None else self._context.extractor.of_query(request.query, graph.clock).concepts
        named = (concept for turn in turns for concept in answering(graph, turn, [each.id for each in asked]))
        concepts, value = list(dict.fromkeys(named)), request.value
        event = FeedbackGiven(
            src=arrival.offset, graph=request.graph, turns=turns, concepts=concepts, value=value, **UNSTAMPED
        )
        return Decision(arrival, [event], "accepted", request.id, graph_id=request.graph)

    def asked_at(self, request: Reinforce, arrival: Record) -> int:
        """Tell when a question was asked, in its graph's own time (ms): one that is not live is not told the present.

        Of an imported memory, all windows up to now would close, and nearly everything in it fade at once.
        """
        graph = self._state.graph(request.graph)
        if graph is not None and not graph.live:
            return graph.clock
        return min(request.at, self._now(arrival) + self._context.skew_ms)

    def _reinforced(self, arrival: Record, request: Reinforce) -> Decision:
        """Record what a question woke; the windows that end before it was asked are closed."""
        graph = self._state.graph(request.graph)
        if graph is None:
            return _rejected(arrival, request, f"nobody has written to graph {request.graph!r}: nothing to reinforce")
        at = self.asked_at(request, arrival)
        events: list[DataEvent] = [*commanded(request, graph, at=at, source=arrival.offset)]
        return Decision(arrival, events, "accepted", request.id, graph_id=request.graph)

    def _retracted(self, arrival: Record, request: Undo) -> Decision:
        graph = self._state.graph(request.graph)
        if graph is None:
            return _rejected(arrival, request, f"nobody has written to graph {request.graph!r}: nothing to undo")
        last = min(request.last if request.last is not None else graph.events, graph.events - 1)
        if why := why_no_range(graph, request.first, last):
            return _rejected(arrival, request, why)
        event = Retracted(src=arrival.offset, graph=request.graph, first=request.first, last=last, **UNSTAMPED)
        if why := why_not(self._state, graph, event, arrival):
            return _rejected(arrival, request, why)
        return Decision(arrival, [event], "accepted", request.id, graph_id=request.graph)

    def _erased(self, arrival: Record, request: Erase) -> Decision:
        try:
            parts = parts_of(request, self._state, self._context.keys)
        except RejectedError as why:
            return _rejected(arrival, request, str(why))
        if not parts:
            return self._erased_before(arrival, request)
        *before, last = parts
        # As in `_forgotten`: only the last has the source.
        events: list[DataEvent] = [*before, replace(last, src=arrival.offset)]
        self._born.discard(request.graph)
        return Decision(arrival, events, "accepted", request.id, graph_id=request.graph)

    def _erased_before(self, arrival: Record, request: Erase) -> Decision:
        """Say that it is done, with the digest of the proof: an answer that was lost is asked for again."""
        event = TurnDuplicated(src=arrival.offset, graph=request.graph, id=request.id, **UNSTAMPED)
        graph = self._state.graph(request.graph)
        digest = "" if graph is None else f"; digest of the graph: {graph.digest()}"
        why = f"this is erased already, and nobody can read it any more{digest}"
        return Decision(arrival, [event], "duplicate", request.id, why)

    def _concept_ids(self, graph: Graph, text: str) -> list[str]:
        """Find the concept ids that a user means: an id, or whatever the extractor finds in the words.

        Of a phrase its words are meant as well.
        """
        number = graph.concepts.numbers.get(text)
        if number is not None and number not in graph.concepts.phrases:
            return [text]
        found = [concept.id for concept in self._context.extractor.of_query(text).concepts]
        return found if number is None else [text, *found]


def _unheard(arrival: Record, turn: Turn) -> Decision:
    """Pass over a turn that came while recording is paused, and say so to its sender."""
    event = TurnNotRecorded(src=arrival.offset, graph=turn.graph, **UNSTAMPED)
    why = f"graph {turn.graph!r} does not record at present: nothing of this turn was kept (`emgas resume`)"
    return Decision(arrival, [event], "rejected", turn.id, why, unheard=True)


def _rejected(arrival: Record, command: Command | None, reason: str) -> Decision:
    event = TurnRejected(src=arrival.offset, reason=reason, **UNSTAMPED)
    return Decision(arrival, [event], "rejected", command.id if command else None, reason)
