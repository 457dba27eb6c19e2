"""Whom the pronouns of turns mean that are decided together: who talked before in a session is looked up once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emgas.messages.turns import Turn
from processors.extraction.tags import by
from processors.lifecycle.said_last import said_last
from processors.text.language import clean
from processors.text.mentions import TurnBefore, bound, looks_back, pronouns, those_meant
from state.events.extraction_types import Concept, Mention
from state.graph.graph import Graph
from state.sealing.keyring import NO_KEYS, Keyring

LOOKED_BACK: Final = 20  # turns of a session, for who else speaks in it and whom pronouns mean

Session = tuple[str, str]  # of a graph, both by id


class Pronouns:
    """Remembers what was decided and is not folded yet.  `keys`: of encrypted graphs."""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys
        self._pending: dict[Session, list[TurnBefore]] = {}
        self._found: dict[Session, tuple[int, list[TurnBefore]]] = {}  # events that the graph had, and what it told

    def folded(self) -> None:
        """Forget what was pending: the state knows it now."""
        self._pending.clear()
        self._found.clear()

    def bound(self, turn: Turn, concepts: Sequence[Concept], graph: Graph | None) -> list[Mention]:
        """Bind the pronouns of a turn, and remember what of it those of the next one may mean, until it is folded.

        In an encrypted graph a turn names nothing of others: who is erased must not stay as somebody's "she".
        """
        pending, speaker = self._pending.setdefault((turn.graph, turn.session), []), by(clean(turn.speaker))
        meant, found = tuple(those_meant(concepts)), pronouns(turn.text)
        before = self._before(turn, graph) if any(map(looks_back, found)) else []
        pending.append(TurnBefore(speaker or "", meant))
        return bound(found, meant, speaker=speaker, before=before)

    def _before(self, turn: Turn, graph: Graph | None) -> list[TurnBefore]:
        """List the turns of a session before this one, the latest first; none in an encrypted graph."""
        if self._keys.of(turn.graph) or (graph is None and self._keys is not NO_KEYS):
            return []
        folded = [] if graph is None else self._folded(graph, turn.session)
        return [*reversed(self._pending[turn.graph, turn.session]), *folded]

    def _folded(self, graph: Graph, session: str) -> list[TurnBefore]:
        """List the last turns of a session that are folded: anew once an event of the graph is."""
        known = self._found.get((graph.graph_id, session))
        if known is None or known[0] != graph.events:
            known = self._found[graph.graph_id, session] = graph.events, said_last(graph, session, LOOKED_BACK)
        return known[1]
