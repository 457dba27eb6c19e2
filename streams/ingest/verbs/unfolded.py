"""Decisions that are not folded yet: turns, new graphs and time zones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from emgas.messages.requests import Command
from emgas.messages.settings.memory_settings import PRESET_MODES
from emgas.messages.turns import Turn
from processors.extraction.tags import by
from processors.lifecycle.sessions.preceding_turns import preceding_turns
from processors.text.facts.facts import facts, names_in
from processors.text.language import clean
from processors.text.pronouns.mentions import LOOKED_BACK, TurnBefore, bound, looks_back, pronouns, those_meant
from state.events.events import UNSTAMPED, GraphConfigured
from state.events.extraction_types import Concept, Fact, Mention
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring

RECENT_SESSIONS: Final = 512  # sessions whose latest texts are kept
NO_ONE: Final = ("assistant", "system", "tool", "web")  # roles and origins of turns that state nothing of who speaks

Session = tuple[str, str]  # of a graph, both by id


def states_of_speaker(turn: Turn) -> bool:
    """Return whether a turn says how things are with its speaker: a person's words, no model's, tool's or page's."""
    return turn.role not in NO_ONE and turn.origin not in NO_ONE


class Pending(NamedTuple):
    """Whether a command's graph was pending as a new one, and its id as a turn, before the command was decided."""

    birth: bool
    turn: bool


class UnfoldedDecisions:
    """The decisions of one partition since its last fold.

    turns   (graph id, turn id) → text        births  ids of graphs that these decisions create
    zones   graph id → where its people are   keys    of encrypted graphs
    """

    def __init__(self, keys: Keyring, *, encrypts: bool) -> None:
        self.turns: dict[tuple[str, str], str] = {}
        self.births: set[str] = set()
        self.zones: dict[str, str] = {}
        self._keys, self._encrypts = keys, encrypts and keys is not NO_KEYS
        self._sessions: dict[Session, list[TurnBefore]] = {}
        self._folded: dict[Session, tuple[int, list[TurnBefore]]] = {}  # with how many events the graph had
        self._recent: dict[Session, dict[str, TurnBefore]] = {}  # by turn, the latest last; the state has no texts

    def clear(self) -> None:
        """Forget everything: the state knows it now."""
        self.turns.clear()
        self.births.clear()
        self.zones.clear()
        self._sessions.clear()
        self._folded.clear()

    def pending(self, command: Command) -> Pending:
        """Note what is pending of a command before it is decided.

        A command that may erase a text clears the recent turns of its graph.
        """
        if not isinstance(command, Turn):
            for session in [each for each in self._recent if each[0] == command.graph]:
                del self._recent[session]
        return Pending(command.graph in self.births, (command.graph, command.id) in self.turns)

    def withdraw(self, command: Command, before: Pending) -> None:
        """Withdraw what deciding a command left: it failed, so that no event of it will be folded."""
        if not before.birth:
            self.births.discard(command.graph)
        if not before.turn:
            self.turns.pop((command.graph, command.id), None)

    def birth(self, graph_id: str, graph: Graph | None, preset: str) -> list[GraphConfigured]:
        """Configure a graph that is new, by a preset; return nothing for one that exists.

        The event says how the graph lives, so that no replay depends on configuration.  A graph that was undone
        completely is born again.
        """
        if graph_id in self.births or (graph is not None and not graph.is_blank):
            return []
        self.births.add(graph_id)
        mode, rerank = preset_mode(preset)
        settings = PRESETS[preset]
        return [
            GraphConfigured(graph=graph_id, preset=preset, settings=settings, mode=mode, rerank=rerank, **UNSTAMPED)
        ]

    def zone(self, graph_id: str, state: Partition) -> str:
        """Return the time zone of a graph's people: "yesterday" means the day before there."""
        graph = None if graph_id in self.zones else state.graph(graph_id)
        return self.zones.get(graph_id, "UTC") if graph is None else graph.timezone

    def read(self, turn: Turn, concepts: Sequence[Concept], graph: Graph | None) -> tuple[list[Mention], list[Fact]]:
        """Bind the pronouns of a turn, find its facts, and remember whom the next turn may mean.

        In an encrypted graph, pronouns are bound within the turn only: an erased person must not survive as the "she"
        of another turn.
        """
        pending, speaker = self._sessions.setdefault((turn.graph, turn.session), []), by(clean(turn.speaker))
        meant, words = tuple(those_meant(concepts)), pronouns(turn.text)
        before = cache(lambda: self._turns_before(turn, graph))
        bound_words = bound(words, meant, speaker=speaker, before=before() if any(map(looks_back, words)) else [])
        speaks = states_of_speaker(turn)
        stated = (
            facts(turn.text, speaker=speaker, mentions=bound_words, concepts=meant, before=before) if speaks else []
        )
        utterance = TurnBefore(speaker or "", meant, turn.text, names_in(stated))
        pending.append(utterance)
        self._hear(turn, utterance, graph)
        return bound_words, stated

    def _hear(self, turn: Turn, utterance: TurnBefore, graph: Graph | None) -> None:
        """Remember the text of a turn for the pronouns of the next, unless its graph is encrypted."""
        if self._is_sealed(turn, graph):
            return
        recent = self._recent.pop((turn.graph, turn.session), {})
        recent[turn.id] = utterance
        self._recent[turn.graph, turn.session] = dict(list(recent.items())[-LOOKED_BACK:])
        if len(self._recent) > RECENT_SESSIONS:
            del self._recent[next(iter(self._recent))]

    def _is_sealed(self, turn: Turn, graph: Graph | None) -> bool:
        return bool(self._keys.of(turn.graph)) or (graph is None and self._encrypts)

    def _turns_before(self, turn: Turn, graph: Graph | None) -> list[TurnBefore]:
        """List the turns of a session before this one, the latest first; none in an encrypted graph."""
        if self._is_sealed(turn, graph):
            return []
        pending = self._sessions[turn.graph, turn.session]
        folded = [] if graph is None else self._folded_turns(graph, turn.session)
        recent = [each for id, each in self._recent.get((turn.graph, turn.session), {}).items() if id != turn.id]
        texts = [each._replace(concepts=(), names=()) for each in recent[: max(0, len(recent) - len(pending))]]
        return [*reversed(pending), *folded, *reversed(texts)]

    def _folded_turns(self, graph: Graph, session: str) -> list[TurnBefore]:
        """List the last folded turns of a session; looked up again only after the graph has folded an event."""
        cached = self._folded.get((graph.graph_id, session))
        if cached is None or cached[0] != graph.events:
            cached = self._folded[graph.graph_id, session] = graph.events, preceding_turns(graph, session, LOOKED_BACK)
        return cached[1]


def preset_mode(preset: str) -> tuple[str, str]:
    """Return the recall mode and the reranker of a preset."""
    return PRESET_MODES.get(preset, ("default", ""))
