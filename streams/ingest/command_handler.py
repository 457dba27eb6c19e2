"""Decide which events account for a record of `turns`: read it, check it, call the decider of its kind.

Every record gets exactly one event that accounts for it, in order, so that the source position never skips:

    not acceptable, or fails twice          TurnRejected, and the bytes go to dead-letters
    of a subject without the right          TurnRejected
    a turn                                  streams/ingest/turns.py
    any other request                       streams/ingest/verbs/, one file each.  Requests are not recognised by id: a
                                            repeated one has its effect once more
    a request to erase what is erased       TurnDuplicated: it is done, and nothing happens again
    for a graph that cannot be read         TurnRejected, so that every fold goes on alike, with the key or without it;
                                            but a request to erase all of it is accepted

The events are unstamped: the partition's writer knows their places in the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as replaced

from msgspec.structs import replace
from pydantic import ValidationError

from emgas.errors import HaltedError, TransportError
from emgas.limits import RECORD_BYTES
from emgas.logs import logger
from emgas.messages.requests import Command
from emgas.messages.topics import read_inbound
from emgas.messages.turns import Erase, Reinforce, Turn
from emgas.redaction import redact_bytes, redact_message
from emgas.wire import SUBJECT, Record, as_mapping
from processors.extraction.extractor import Utterance
from state.errors import GraphLockedError, GraphUnavailableError, KeysError
from state.events.events import UNSTAMPED, TurnDuplicated, source_of
from state.graph.graph import Graph
from state.log_position import draft
from state.partition import Partition
from streams.errors import RejectedError
from streams.ingest.turns import AheadExtractor, Decision, ReadAhead, TurnDecider, rejected
from streams.ingest.verbs import DECIDERS
from streams.ingest.verbs.deciding import AlreadyDoneError, Deciding, HandlerContext
from streams.ingest.verbs.refusals import (
    ElsewhereError,
    check_here,
    check_place,
    check_size,
    explained,
    most_bytes,
)
from streams.ingest.verbs.reinforce import question_time
from streams.ingest.verbs.rights import check_command
from streams.ingest.verbs.unfolded import UnfoldedDecisions
from streams.transport.sender import cut

log = logger("ingest")
SEARCHED_BYTES = 64 * 1024  # of a record that is too large: some 0.1 s
MAY_PASS = (HaltedError, TransportError, OSError, MemoryError)  # on another try: they stop the worker


class CommandHandler:
    """Decides which events the records of one partition become, from the partition's state."""

    def __init__(self, state: Partition, partition: int, context: HandlerContext) -> None:
        self._state = state
        self._partition = partition
        self._context = context
        self._unfolded = UnfoldedDecisions(context.keys, encrypts=context.encrypts)
        self._ahead = ReadAhead()
        self._turns = TurnDecider(state, partition, context, self._unfolded, self._ahead)

    def folded(self) -> None:
        """Forget pending decisions: the state knows them now."""
        self._unfolded.clear()
        self._turns.folded()
        self._ahead.forget_vectors()

    @property
    def embeds(self) -> bool:
        """Return whether there is a model of text embeddings, or an encoder of attachments."""
        return self._context.embedder is not None or bool(self._context.encoders)

    def embed_ahead(self, arrivals: Sequence[Record]) -> None:
        """Embed the records that are about to be decided, together: in any thread, while nothing is decided."""
        commands = [self.read(arrival) for arrival in arrivals]
        self._turns.embed_ahead([command for command in commands if isinstance(command, Turn)])

    async def extract_ahead(self, pool: AheadExtractor, arrivals: Sequence[Record]) -> None:
        """Extract in a pool the concepts of turns that are decided later; `decide` extracts the rest."""
        turns = []
        for arrival in arrivals:
            command = self._ahead.commands[arrival.offset] = self.read(arrival)
            if isinstance(command, Turn) and self.is_available(command.graph):
                turns.append((arrival, command))
        await self._turns.extract_ahead(pool, turns)

    def graphs_of_turns(self, arrivals: Sequence[Record]) -> set[str]:
        """Read records that are about to be decided; return the graphs of the turns among them."""
        commands = [(arrival.offset, self.read(arrival)) for arrival in arrivals]
        self._ahead.commands.update(commands)
        return {command.graph for _, command in commands if isinstance(command, Turn)}

    def extraction_request(self, arrival: Record) -> Utterance | None:
        """Read a record that is about to be decided; return what to extract from, None if there is nothing to do."""
        command = self._ahead.commands[arrival.offset] = self.read(arrival)
        if isinstance(command, Decision) or not self.is_available(command.graph) or not isinstance(command, Turn):
            return None
        return self._turns.extraction_request(arrival, command)

    def extract(self, utterance: Utterance) -> None:
        """Extract the concepts of a turn that is about to be decided."""
        self._turns.extract(utterance)

    def forget_ahead(self) -> None:
        """Forget what was read and extracted ahead: no record of it is decided any more."""
        self._ahead.forget_records()

    def read(self, arrival: Record) -> Command | Decision:
        """Read the command that `arrival` holds, or decide that it is rejected."""
        if (ahead := self._ahead.commands.pop(arrival.offset, None)) is not None:
            return ahead
        try:
            check_size(arrival.value, most_bytes(arrival.value))
            command = read_inbound(arrival.value)
            check_size(arrival.value, command.most_bytes)
            check_place(command.graph, arrival.key, self._partition, partitions=self._context.partitions)
        except ValidationError as error:
            return rejected(arrival, None, explained(error))
        except RejectedError as why:
            return rejected(arrival, None, str(why))
        return redact_message(command) if self._context.redact else command

    def redacted(self, arrival: Record) -> Record:
        """Return a record without the secrets of its value, for a dead letter.

        Of a record that is much larger than any message, only the beginning is kept: to search megabytes for secrets
        would hold up every partition of the worker for as many seconds.
        """
        if not self._context.redact or arrival.value is None:
            return arrival
        kept = arrival if len(arrival.value) <= 2 * RECORD_BYTES else cut(arrival, SEARCHED_BYTES)
        return kept._replace(value=redact_bytes(kept.value))

    def is_available(self, graph_id: str) -> bool:
        """Return whether a graph can be read and written; if not, `decide` rejects what is sent to it."""
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

    def needs_fold(self, command: Command) -> bool:
        """Return whether everything before a command must be folded before it is decided."""
        return not isinstance(command, Turn) or self._turns.needs_fold(command)

    def question_time(self, request: Reinforce, arrival: Record) -> int:
        """Return when the question of a request to reinforce was asked, ms."""
        return question_time(request, self._state.graph(request.graph), self._context.latest(arrival))

    def decide(self, arrival: Record, command: Command) -> Decision:
        """Decide which events account for `arrival`.  Everything before it must be folded if it `needs_fold`.

        An error that happens twice at one record (an extractor or a model at its text, an event that cannot be read
        back) is permanent, so it is the record's outcome.  An error that may be temporary is raised.
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
            return rejected(arrival, command, f"{why}: the worker's log has the place; what it said is kept here")

    def _tried(self, arrival: Record, command: Command) -> Decision:
        """Decide, and write the events as drafts; if either fails, nothing of the command stays pending."""
        pending = self._unfolded.pending(command)
        try:
            decision = self._decided(arrival, command)
            decision.drafts = [draft(event) for event in decision.events]
        except Exception:
            self._unfolded.withdraw(command, pending)
            raise
        return decision

    def _decided(self, arrival: Record, command: Command) -> Decision:
        try:
            self._check_available(command.graph)
            graph = self._state.graph(command.graph)
            check_command(command, arrival, graph)
            check_here(command, self._state.placement(command.graph))
        except ElsewhereError as why:
            return replaced(rejected(arrival, command, str(why)), moved_to=why.to, again=why.to is None)
        except RejectedError as why:
            return rejected(arrival, command, str(why))
        except GraphUnavailableError as why:
            return self._unavailable(arrival, command, why)
        if isinstance(command, Turn):
            return self._turns.decide(arrival, command, graph)
        return self._requested(arrival, command, graph)

    def _requested(self, arrival: Record, request: Command, graph: Graph | None) -> Decision:
        """Decide a request that is no turn, by the function that is registered for it."""
        try:
            context = Deciding(self._state, arrival, self._context, self._unfolded)
            events = DECIDERS[type(request)](request, graph, context)
        except RejectedError as why:
            return rejected(arrival, request, str(why))
        except AlreadyDoneError as why:
            event = TurnDuplicated(src=arrival.offset, graph=request.graph, id=request.id, **UNSTAMPED)
            return Decision(arrival, [event], "duplicate", request.id, str(why))
        if all(source_of(event) is None for event in events):
            # The last one: if the worker dies before it, the request is read again and its rest is decided.
            if hasattr(events[-1], "src"):
                events[-1] = replace(events[-1], src=arrival.offset)
            else:  # the end of a window, which came with a graph from another log
                events.append(TurnDuplicated(src=arrival.offset, graph=request.graph, id=request.id, **UNSTAMPED))
        remains = " ".join(context.notes) or None
        return Decision(arrival, events, "accepted", request.id, graph_id=request.graph, remains=remains)

    def _unavailable(self, arrival: Record, command: Command, why: GraphUnavailableError) -> Decision:
        """Reject what is sent to a graph that cannot be read, except an operator's request to erase all of it.

        The rights that it granted are unknown, so a subject's request is always rejected.
        """
        if isinstance(command, Erase) and command.whole and SUBJECT not in as_mapping(arrival.headers):
            return self._requested(arrival, command, None)
        log.warning("graph unavailable", partition=self._partition, graph=command.graph, why=str(why))
        kept = "What was sent lies among the dead letters (`emgas admin dead-letters list`): send it again then."
        return replaced(rejected(arrival, command, f"{why.client_message}. {kept}"), in_clear=True)
