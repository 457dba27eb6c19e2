"""One graph: everything that one conversation partner's memory holds, and the fold of its own events.

A graph is an island: it is the fold of the events that carry its name and of nothing else, so the same events give the
same graph (and digest) whatever happens to other graphs, and however they were batched.

Two things are done for many events at once, and always before somebody reads, so when that happens cannot be seen:

    turns               whoever asks for `concepts`, `pairs` or `fading` counts those that wait (state/graph/turn_counting.py)
    what was forgotten  at once nothing finds it any more; `view`, `pack` and `digest` remove its rows (`compact`)
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from emgas.limits import EARLIEST_MS
from state.events.events import (
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DecayWindowClosed,
    Forgotten,
    GraphConfigured,
    GraphEvent,
    Retracted,
    Ticked,
    TurnEmbedded,
    TurnRecorded,
)
from state.events.memory_settings import PRESETS
from state.graph.canonical_bytes import pack
from state.graph.codec import checked, content, packed, restore
from state.graph.concept_table import ConceptTable
from state.graph.cooccurrence import PairCounts
from state.graph.decay import NEVER
from state.graph.embedding_table import EmbeddingTable
from state.graph.expiry_queue import ExpiryQueue
from state.graph.passage_table import PassageTable
from state.graph.theme_table import ThemeTable
from state.graph.turn_counting import count
from state.graph.view import GraphView, Window, view_of

LINKED_BY_RECALL = 8  # concepts of one recall that are linked with each other: the strongest, which come first
ENOUGH_DEAD = 256  # rows that are worth a compaction of a small graph; whoever takes a snapshot compacts anyway
WAITING = 256  # turns, at most, that are not counted yet


class Graph:
    """A fold in progress.  `fold` is its only writer; everything else reads.

    clock          stream time, ms: the largest event time seen
    live           whether the last turn was recorded as it was said (else: imported), so that ticks make sense
    fresh_turns    turns since the last consolidation
    last_turn_at   the largest event time of a turn
    enough_at      `last_turn_at` when the new turns became enough to be consolidated, NEVER while they are not
    recalled       ConceptsRecalled that had an effect
    forgotten      concepts that have ever left; turns that have are `passages.archived`
    undoable_from  ordinal of the first event that may still be taken back: it only ever grows
    configured     whether a GraphConfigured is among the events that count
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.clock = EARLIEST_MS  # not 0: a memory may be older than 1970
        self.events = self.undoable_from = 0
        self.configured = self.live = False
        self.preset, self.settings = "default", PRESETS["default"]
        self.recalled = self.forgotten = 0
        self.fresh_turns, self.last_turn_at, self.enough_at = 0, EARLIEST_MS, NEVER
        self.hold(ConceptTable(), PassageTable())
        self.embeddings = EmbeddingTable()
        self._pairs: dict[Window, PairCounts] = {"turn": PairCounts(), "exchange": PairCounts(), "recall": PairCounts()}
        self.topics = ThemeTable()
        self._fading: ExpiryQueue | None = None  # made when somebody asks for it: a replay never does
        self._view: GraphView | None = None

    @property
    def concepts(self) -> ConceptTable:
        """Return the concepts, every turn so far counted in them: to be asked for anew after an event."""
        self._count_turns()
        return self._concepts

    @property
    def pairs(self) -> dict[Window, PairCounts]:
        """Return how often concepts occurred together, by kind of window, every turn so far counted."""
        self._count_turns()
        return self._pairs

    def hold(self, concepts: ConceptTable, passages: PassageTable) -> None:
        """Hold these tables: nothing in them is forgotten, every passage is counted in concepts and pairs."""
        self._concepts, self.passages = concepts, passages
        self._counted = len(passages)  # passages from here on wait, and concepts and pairs do not know of them yet
        self._weights = array("d")  # of the postings of those
        self._dead_rows = 0

    def fold(self, event: GraphEvent) -> bool:
        """Apply the graph's next event in place; return whether it had an effect (a known turn id has none)."""
        self._view = None
        had_effect = _FOLDS[type(event)](self, event)
        self.skip()
        return had_effect

    def skip(self) -> None:
        """Let the graph's next event have no effect: it was taken back, or says what was (state/retraction.py)."""
        self.events += 1
        self.undoable_from = max(self.undoable_from, self.events - self.settings.undo_events)

    def _refuse(self, event: Retracted) -> bool:
        raise TypeError("a Retracted does not add to a graph: it changes which events count (state/retraction.py)")

    def _fold_turn(self, event: TurnRecorded) -> bool:
        if self.knows(event.id):
            return False
        self.clock = max(self.clock, event.at)
        numbers = self._concepts.numbers_of(event.concepts, event.at)
        self.passages.add(event, self.events, numbers)
        self._weights.extend([concept.weight for concept in event.concepts])
        if len(self.passages) - self._counted >= WAITING:
            self._count_turns()
        self._count_fresh(event)
        return True

    def _fold_embedding(self, event: TurnEmbedded) -> bool:
        """Keep the vector of a turn that is here: it may have been forgotten or taken back since."""
        number = self.passages.numbers.get(event.id)
        return number is not None and self.embeddings.add(number, event.model, event.vector)

    def _count_turns(self) -> None:
        """Count the turns that wait: their mentions, and the windows in which concepts occur together."""
        first, self._counted = self._counted, len(self.passages)
        if first == self._counted:
            return
        weights, self._weights = self._weights, array("d")
        count(self.passages, first, weights, self._concepts, self._pairs, self.settings)
        if self._fading:
            mentioned = self.passages.posting_concept[self.passages.starts[first] :]
            self._fading.watch_boosted(self._concepts, mentioned, weights, self.settings)
            self._fading.watch_passages(self.passages, range(first, self._counted), self.settings)

    def _watch(self, numbers: Sequence[int], boost: float) -> None:
        if self._fading:
            self._fading.watch_boosted(self._concepts, numbers, [boost] * len(numbers), self.settings)

    def _count_fresh(self, event: TurnRecorded) -> None:
        self.fresh_turns += 1
        self.last_turn_at = max(self.last_turn_at, event.at)
        self.live = event.live
        if self.enough_at == NEVER:  # once they are enough, one more cannot make them too few
            self._ask_if_enough()

    def _ask_if_enough(self) -> None:
        if self.fresh_turns < self.settings.enough_turns(self.turns):
            self.enough_at = NEVER
        elif self.enough_at == NEVER:
            self.enough_at = self.last_turn_at

    def _pass_window(self, end: int) -> None:
        """Note that a window was closed: so its grace was over.  What ended by the clock is never closed again."""
        self.clock = max(self.clock, end + self.settings.grace)

    def _fold_recall(self, event: ConceptsRecalled) -> bool:
        self.clock = max(self.clock, event.at)
        known = self._known(event.concepts)
        for number in known:
            self.concepts.recall(number, event.at, self.settings)
        self._watch(known, self.settings.recall_boost)
        self.recalled += bool(known)
        self.pairs["recall"].add([number for number in known if not self.concepts.is_mark[number]][:LINKED_BY_RECALL])
        return bool(known)

    def _fold_settings(self, event: GraphConfigured) -> bool:
        self.concepts.fade_all(self.clock, self.settings)  # what has faded, has faded by the old settings
        self.preset, self.settings, self.configured = event.preset, event.settings, True
        self._fading = None
        self._ask_if_enough()
        return True

    def _fold_tick(self, event: Ticked) -> bool:
        self.clock = max(self.clock, event.at)
        return True

    def _fold_wish(self, event: Forgotten) -> bool:
        self._drop(event.concepts, event.turns)
        return True

    def _fold_decay(self, event: DecayWindowClosed) -> bool:
        self._pass_window(event.at)
        self._drop(event.concepts, event.turns)
        return True

    def _fold_consolidation(self, event: ConsolidationWindowClosed) -> bool:
        self._pass_window(event.at)
        known = self._known(event.consolidated)
        for number in known:
            self.concepts.consolidate(number, event.at, self.settings)
        self._watch(known, 0.0)
        for change in event.topics:
            self.topics.apply(change, self._known(change.concepts), event.at)
        self._drop([], [dropped for _, dropped in event.merged])
        self.fresh_turns, self.enough_at = 0, NEVER
        return True

    def _known(self, names: Iterable[str]) -> list[int]:
        """Return the number of each concept that is here, once: an event may name one twice."""
        return [self.concepts.numbers[name] for name in dict.fromkeys(names) if name in self.concepts.numbers]

    def _drop(self, concepts: Iterable[str], turns: Iterable[str]) -> None:
        self._count_turns()  # their exchanges are with turns that are still here
        for number in self._known(concepts):
            self.concepts.forget(number)
            self.forgotten += 1
            self._dead_rows += 1
        for turn in turns:
            if turn in self.passages.numbers:
                self.passages.archive(self.passages.numbers[turn])
                self._dead_rows += 1
        if self._dead_rows > ENOUGH_DEAD + (len(self.concepts) + len(self.passages)) // 2:
            self.compact()

    def compact(self) -> None:
        """Remove the rows of what was forgotten.  Nothing that can be seen changes."""
        if not self._dead_rows:
            return
        new_concepts, concepts = self.concepts.compacted()
        new_passages, passages = self.passages.compacted(concepts)
        self.hold(new_concepts, new_passages)
        for pairs in self.pairs.values():
            pairs.renumber(concepts)
        self.embeddings.renumber(passages)
        self.topics.renumber(concepts.tolist())
        if self._fading:
            self._fading.renumber(concepts, passages)

    @property
    def fading(self) -> ExpiryQueue:
        """Return when each concept will have faded and each passage is over; the fold keeps it so from now on."""
        self._count_turns()
        if self._fading is None:
            self._fading = ExpiryQueue.of(self._concepts, self.passages, self.settings)
        return self._fading

    @property
    def turns(self) -> int:
        """Return how many turns were ever accepted."""
        return self.passages.accepted

    def knows(self, turn: str) -> bool:
        """Return whether a turn of this id was accepted."""
        return self.passages.knows(turn) is not None

    @property
    def is_blank(self) -> bool:
        """Return whether nothing counts: nothing has happened yet, or all of it was taken back."""
        return not self.configured and self.clock == EARLIEST_MS

    def view(self) -> GraphView:
        """Return what recall may see, taken now; the same object until the next event."""
        if self._view is None:
            self.compact()
            tables = self.concepts, self.passages, self.pairs, self.topics, self.embeddings
            self._view = view_of(self.name, self.clock, self.settings, self.recalled, *tables)
        return self._view

    def pack(self) -> bytes:
        """Return the bytes of the whole graph, for a snapshot: the content, and where it stands in its own events."""
        self.compact()
        return packed(self)

    def digest(self) -> str:
        """Return the sha256 (hex) of the content in its canonical form (state/graph/canonical_bytes.py): equal for equal memories.

        How many events there were is not content: ticks may be many or few, and change nothing.
        """
        self.compact()
        return hashlib.sha256(pack(*content(self))).hexdigest()

    @classmethod
    def unpack(cls, packed: bytes) -> Graph:
        """Return the graph that `pack` described.  Raises ValueError for bytes of another layout."""
        values, arrays = checked(packed)
        graph = cls(values["name"])
        restore(graph, values, arrays)
        return graph


_FOLDS: dict[type[GraphEvent], Callable[[Graph, Any], bool]] = {
    TurnRecorded: Graph._fold_turn,
    TurnEmbedded: Graph._fold_embedding,
    ConceptsRecalled: Graph._fold_recall,
    GraphConfigured: Graph._fold_settings,
    Ticked: Graph._fold_tick,
    Forgotten: Graph._fold_wish,
    Retracted: Graph._refuse,
    DecayWindowClosed: Graph._fold_decay,
    ConsolidationWindowClosed: Graph._fold_consolidation,
}
