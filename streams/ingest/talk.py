"""Whom the pronouns of turns mean: what was said last in each conversation, folded or decided and not folded yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emgas.messages.turns import Turn
from processors.extraction.tags import by
from processors.lifecycle.said_last import said_last
from processors.text.language import clean
from processors.text.mentions import TurnBefore, may_be_meant, mentions
from state.events.extraction_types import Concept, Mention
from state.graph.graph import Graph
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring

LOOKED_BACK: Final = 20  # turns of a session, for who else speaks in it and whom pronouns mean


class Talk:
    """The conversations of one partition."""

    def __init__(self, state: Partition, keys: Keyring) -> None:
        self._state, self._keys = state, keys
        self._pending: dict[tuple[str, str], list[TurnBefore]] = {}  # (graph id, session) → turns not folded yet
        self._folded: dict[tuple[str, str], tuple[int, list[TurnBefore]]] = {}  # → events of the graph, turns folded

    def clear(self) -> None:
        """Let go of what was not folded: it is now, or never will be."""
        self._pending.clear()
        self._folded.clear()

    def mentions(self, turn: Turn, concepts: Sequence[Concept]) -> list[Mention]:
        """Bind the pronouns of a turn, and remember what of it those of the next one may mean, until it is folded.

        In an encrypted graph a turn names nothing of others: who is erased must not stay as somebody's "she".
        """
        pending, speaker = self._pending.setdefault((turn.graph, turn.session), []), by(clean(turn.speaker))
        graph = self._state.graph(turn.graph)
        is_encrypted = bool(self._keys.of(turn.graph)) or (graph is None and self._keys is not NO_KEYS)
        folded = [] if graph is None or is_encrypted else self._said_last(graph, turn.session)
        before = [] if is_encrypted else [*reversed(pending), *folded]
        found = mentions(turn.text, concepts, speaker, before)
        pending.append(TurnBefore(speaker or "", tuple(concept for concept in concepts if may_be_meant(concept))))
        return found

    def _said_last(self, graph: Graph, session: str) -> list[TurnBefore]:
        """List the last turns of a session that are folded: once, as long as no event of the graph is."""
        known = self._folded.get((graph.graph_id, session))
        if known is None or known[0] != graph.events:
            known = self._folded[graph.graph_id, session] = graph.events, said_last(graph, session, LOOKED_BACK)
        return known[1]
