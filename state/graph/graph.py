"""One graph: the fold of its own events over its tables (state/graph/graph_tables.py).

A graph is an island: it is the fold of the events that carry its id and of nothing else, so the same events give the
same graph (and digest) whatever happens to other graphs, and however they were batched.

Two things are put off, to be done for many events at once:

    turns               are counted by `settle`: until then concepts and pairs lack what the last turns said
    what was forgotten  at once nothing finds it any more; `compact` settles, and removes its rows

Reading changes nothing: code that reads concepts, pairs or rows of a graph calls one of them before.  `view`, `pack`,
`digest` and `expiry_queue` do it themselves.  When it happens cannot be seen in what the graph holds.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Protocol, TypeVar

import numpy as np

from state.arrays import Counts, Integers
from state.events.events import (
    AccessGranted,
    AccessRevoked,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DecayWindowClosed,
    EdgesRated,
    EventErased,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    GraphEvent,
    MemoryArchived,
    MemoryConsolidated,
    MemoryReplayed,
    MemoryRestored,
    PassageRewritten,
    PassageSplit,
    Pinned,
    Retracted,
    Sealed,
    SessionEnded,
    SessionSummarised,
    SubjectErased,
    Superseded,
    Ticked,
    TopicNamed,
    TurnEmbedded,
    TurnNotRecorded,
    TurnRecorded,
    TurnsExpired,
    Unpinned,
    WorthJudged,
)
from state.events.extraction_types import AnchorKind
from state.graph import codec
from state.graph.counting.link_queue import LinkQueue
from state.graph.deadlines import Deadlines
from state.graph.expiry_queue import ExpiryQueue
from state.graph.graph_tables import GraphTables
from state.graph.tables.decay import NEVER
from state.graph.turn_counting import count
from state.graph.turn_index import TurnIndex
from state.graph.view import GraphView

# Which method of a graph folds which kind of event.

Fold = TypeVar("Fold", bound=Callable[..., bool])
FOLDS: dict[type[GraphEvent], Callable[[Any, Any], bool]] = {}  # kind of event → the method of Graph that folds it


def folds(kind: type[GraphEvent]) -> Callable[[Fold], Fold]:
    """Register the method below as the fold of one kind of event: it returns whether the event had an effect."""

    def registered(fold: Fold) -> Fold:
        FOLDS[kind] = fold
        return fold

    return registered


LINKED_BY_RECALL = 8  # concepts of one recall that are linked with each other: the strongest, which come first
FEEDBACK_COUNTS = 2  # recalls that a user's word counts for: it weighs more than our own
WORTH = 0.5  # of a turn, by an advisor: what is worth less goes to the archive
ENOUGH_DEAD = 256  # rows that are worth a compaction of a small graph; code that takes a snapshot compacts anyway
FIXED_BYTES = 20_000  # of an empty graph
WAITING = 256  # turns, about, that are not counted yet at most
FEW = 8  # turns that are folded one by one


class _Sized(Protocol):
    @property
    def size(self) -> int: ...


class Graph(GraphTables):
    """A fold in progress, and the tables that it is a fold into.  `fold` is their only writer."""

    def __init__(self, graph_id: str) -> None:
        super().__init__(graph_id)
        self._begin()
        self._expiry_queue: ExpiryQueue | None = None  # made on first use: a replay never does
        self._link_queue: LinkQueue | None = None  # likewise, and only where links fade
        self._deadlines: Deadlines | None = None
        self._turn_index: TurnIndex | None = None  # likewise: made for the first question
        self._view: GraphView | None = None
        self.stored_events = 0  # how many events what is stored is the fold of
        self.unstored_vectors: list[tuple[int, str, bytes]] = []  # event, model and vector, of those that came since
        self.unstored_faded: list[Integers] = []  # (5, m) rows of links that were cut since, and their counts

    def _begin(self) -> None:
        """Go on from tables in which nothing is forgotten, and every passage is counted."""
        self._counted = len(self.passages)  # passages from here on wait: concepts and pairs do not know of them yet
        self._weights = array("d")  # of the postings of those
        self._units: dict[int, list[list[int]]] = {}  # of those that have any: concepts of each clause, or window
        self._dead_rows = 0

    def fold(self, event: GraphEvent) -> bool:
        """Apply the graph's next event in place; return whether it had an effect (a known turn id has none)."""
        had_effect = FOLDS[type(event)](self, event)
        self.skip()
        return had_effect

    def fold_all(self, events: Sequence[GraphEvent]) -> None:
        """Apply the graph's next events in place, as `fold` does one by one, but what turns say many at once."""
        turns = list[TurnRecorded]()
        for event in events:
            if isinstance(event, TurnRecorded) and not (event.anchor or event.uncounted):
                turns.append(event)
                continue
            self._fold_turns(turns)
            turns = []
            self.fold(event)
        self._fold_turns(turns)

    def skip(self) -> None:
        """Skip the graph's next event: it was taken back, or takes others back (state/retraction.py)."""
        self._skip(1)

    def _skip(self, count: int) -> None:
        self._view = None
        self.events += count
        self.undoable_from = max(self.undoable_from, self.events - self.settings.undo_events)

    def settle(self) -> None:
        """Count the turns that wait: their mentions, and the windows in which concepts occur together."""
        first, self._counted = self._counted, len(self.passages)
        if first == self._counted:
            return
        weights, self._weights = self._weights, array("d")
        units, self._units = self._units, {}
        count(self, first, weights, units)
        if self._expiry_queue:
            mentioned = self.passages.posting_concept[self.passages.starts[first] :]
            self._expiry_queue.watch_boosted(self.concepts, mentioned, boosts=weights, settings=self.settings)
            self._expiry_queue.watch_passages(self.passages, range(first, self._counted), self.settings)
        if self._link_queue:
            self._link_queue.add(self.concepts, self.passages, first, self.settings)

    def compact(self) -> None:
        """Settle, and remove the rows of what was forgotten.  Concepts and passages get new numbers."""
        self.settle()
        if not self._dead_rows:
            return
        self._link_queue = None
        self.concepts, concepts = self.concepts.compacted()
        self.passages, passages = self.passages.compacted(concepts)
        self._begin()
        resting = {id(each.stored): each.stored for each in self.pairs.values() if each.stored is not None}
        for pairs in self.pairs.values():
            pairs.renumber(concepts)
        for stored in resting.values():
            stored.renumber(concepts)
        self.embeddings.renumber(passages)
        self.relations = self.relations.renumbered(concepts, passages)
        self.sessions.renumber(passages)
        self.themes.renumber(concepts.tolist())
        if self._expiry_queue:
            self._expiry_queue.renumber(concepts, passages)

    def expiry_queue(self) -> ExpiryQueue:
        """Settle, and queue each concept by when it will have faded, each passage by when it is over.

        The fold keeps the queue up to date from now on.
        """
        self.settle()
        if self._expiry_queue is None:
            self._expiry_queue = ExpiryQueue.of(self.concepts, self.passages, self.settings)
        return self._expiry_queue

    def deadlines(self) -> Deadlines:
        """Return when turns expire.  The fold keeps it up to date from now on."""
        if self._deadlines is None:
            self._deadlines = Deadlines(self.passages)
        return self._deadlines

    @property
    def expires_next(self) -> int:
        """Return the time at which the next turn expires, ms; NEVER if none does."""
        return self.deadlines().earliest(self.passages.numbers)

    def link_queue(self) -> LinkQueue:
        """Compact, and find when concepts were last said together.  The fold keeps it up to date from now on."""
        self.compact()
        if self._link_queue is None:
            self._link_queue = LinkQueue.of(self.concepts, self.passages, self.settings)
        return self._link_queue

    def view(self) -> GraphView:
        """Compact, and show what recall may see, taken now; the same object until the next event."""
        if self._view is None:
            self.compact()
            self._view = GraphView(self, self._index())
        return self._view

    def release(self) -> None:
        """Drop the view, which refers to the graph: then both are freed with their last reader."""
        self._view = None

    def _index(self) -> TurnIndex:
        """Return the index of a compacted graph, with all that has come since it was asked for."""
        index = self._turn_index
        if index is None or not index.belongs_to(self.concepts, self.passages):
            index = self._turn_index = TurnIndex(self.concepts, self.passages)
        index.catch_up()
        return index

    def pack(self) -> bytes:
        """Compact, and pack the whole graph, for a snapshot: the content, and where it stands in its own events."""
        self.compact()
        return codec.pack(self)

    def digest(self) -> str:
        """Compact, and hash the content in its canonical form, which no tick changes: sha256 (hex)."""
        self.compact()
        return codec.digest(self)

    @classmethod
    def unpack(cls, packed: bytes) -> Graph:
        """Build the graph that `pack` described.  Raises ValueError for bytes of another layout."""
        values, arrays = codec.unpack(packed)
        graph = cls(values["name"])
        codec.fill(graph, values, arrays)
        graph._begin()
        return graph

    @folds(TurnRecorded)
    def _fold_turn(self, event: TurnRecorded) -> bool:
        if self.knows(event.id):
            return False
        passage = len(self.passages)
        numbers = self._note(passage, event)
        self.passages.add(event, self.events, numbers)
        self._count_fresh(event, self.turns)
        if event.uncounted:  # a gate set it aside: recall still finds it, behind the others
            self.passages.archive(passage)
            self.uncounted += 1
        self._settle_if_many()
        if event.anchor:
            self._anchor(numbers, event.anchor.kind, event.at)
        return True

    def _fold_turns(self, turns: Sequence[TurnRecorded]) -> None:
        """Fold turns that come one behind the other, all of them counted, none with an anchor."""
        if len(turns) < FEW:
            for turn in turns:
                self.fold(turn)
            return
        self.passages.unpack()  # before each is looked for: packed, that takes a few times as long
        new: dict[str, tuple[int, TurnRecorded]] = {}
        for ordinal, turn in enumerate(turns, self.events):
            if not self.knows(turn.id):
                new.setdefault(turn.id, (ordinal, turn))
        self._add_turns(list(new.values()))
        self._skip(len(turns))

    def _add_turns(self, new: Sequence[tuple[int, TurnRecorded]]) -> None:
        """Add turns whose ids are new, each with its ordinal."""
        if not new:
            return
        ordinals, turns = zip(*new, strict=True)
        numbers = [self._note(passage, turn) for passage, turn in enumerate(turns, len(self.passages))]
        for number, turn in enumerate(turns, self.turns + 1):
            self._count_fresh(turn, number)
        self.passages.extend(turns, ordinals, numbers)
        self._settle_if_many()

    def _settle_if_many(self) -> None:
        if len(self.passages) - self._counted >= WAITING:
            self.settle()

    def _note(self, passage: int, turn: TurnRecorded) -> list[int]:
        """Note all that a turn says but its row, which is to be that of `passage`; return its concepts' numbers."""
        numbers = self.concepts.numbers_of(turn.concepts, turn.at)
        if turn.relations:
            self.relations.add(passage, turn.relations, self.concepts.numbers)
        if turn.statements:
            self.statements.add(turn.id, turn.speaker, turn.statements)
        if turn.facts:
            self.people.add(turn.id, turn.speaker, turn.facts)
        if turn.units:
            self._units[passage] = [[numbers[place] for place in unit] for unit in turn.units]
        self._weights.extend([concept.weight for concept in turn.concepts])
        if self._deadlines and turn.expires_at is not None:
            self._deadlines.add(turn.expires_at, turn.id)
        return numbers

    def _anchor(self, numbers: Sequence[int], kind: AnchorKind, at: int) -> None:
        """Strengthen what a turn of `at` (ms) says. Count it first, else the next mention fades differently."""
        self.settle()
        self.concepts.anchor(numbers, kind, at=at, settings=self.settings)
        if self._expiry_queue:
            self._expiry_queue.watch_anchored(self.concepts, numbers, self.settings)

    def _count_fresh(self, event: TurnRecorded, ever: int) -> None:
        """Note that a turn came, the last of `ever` until then."""
        self.clock = max(self.clock, event.at)
        self.fresh_turns += 1
        self.last_turn_at = max(self.last_turn_at, event.at)
        self.live = event.live
        if self.enough_at == NEVER:  # once they are enough, one more cannot make them too few
            self._ask_if_enough(ever)

    def _ask_if_enough(self, ever: int) -> None:
        if self.fresh_turns < self.rhythm.enough_turns(ever):
            self.enough_at = NEVER
        elif self.enough_at == NEVER:
            self.enough_at = self.last_turn_at

    @folds(Superseded)
    def _fold_superseded(self, event: Superseded) -> bool:
        """Mark turns as out of date; the clock stays, as the newer turn has moved it."""
        newer = self.passages.numbers.get(event.newer)
        if newer is None:
            return False
        older = [number for number in self._passages(event.older) if number != newer]
        for number in older:
            self.passages.supersede(number, newer)
        return bool(older)

    @folds(TurnEmbedded)
    def _fold_embedding(self, event: TurnEmbedded) -> bool:
        """Keep the vector of a turn that is here: it may have been forgotten or taken back since."""
        number = self.passages.numbers.get(event.id)
        if number is None or not self.embeddings.add(number, event.model, event.vector):
            return False
        if self.stored_events:
            self.unstored_vectors.append((self.passages.event[number], event.model, event.vector))
        return True

    def begin_from_store(self, events: int) -> None:
        """Go on from tables that were filled with what was stored of so many events."""
        self._begin()
        self.stored_events = events
        for pairs in self.pairs.values():
            pairs.is_stored()

    @property
    def opens_slowly(self) -> bool:
        """Return whether opening the stored graph now would have to read all of its many pairs."""
        exchange = self.pairs["exchange"]
        return exchange.are_many and not (exchange.fans_are_stored and self.stored_events == self.events)

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes, with what was made for questions so far."""
        stored = self.pairs["exchange"].stored
        made: list[_Sized | None] = [stored, self._turn_index, self._view, self._expiry_queue, self._link_queue]
        made += [self.concepts, self.passages, self.embeddings, self.relations, self.facts, *self.pairs.values()]
        return FIXED_BYTES + sum(each.size for each in made if each is not None)

    def is_not_stored(self) -> None:
        """Note that nothing of the graph is stored any more: it is to be stored whole."""
        self.stored_events, self.unstored_vectors, self.unstored_faded = 0, [], []
        for pairs in self.pairs.values():
            pairs.is_not_stored()

    def is_stored(self) -> None:
        """Note that all of the graph has been stored."""
        self.stored_events, self.unstored_vectors, self.unstored_faded = self.events, [], []
        self.concepts.is_stored()
        self.passages.is_stored()
        for pairs in self.pairs.values():
            pairs.is_stored()

    @folds(ConceptsRecalled)
    def _fold_recall(self, event: ConceptsRecalled) -> bool:
        self.settle()
        self.clock = max(self.clock, event.at)
        self._boost(event.related, self.settings.recall_boost * self.settings.recall_spread, event.at)
        return self._wake(event.concepts, event.at)

    def _boost(self, concepts: Iterable[str], amount: float, at: int) -> None:
        """Strengthen concepts at `at` (ms) that were not asked for."""
        for number in (numbers := self._existing(concepts)):
            self.concepts.boost(number, amount, at=at, settings=self.settings)
        self._watch(numbers, amount)

    def _link(self, links: Iterable[tuple[str, str]]) -> None:
        """Link concepts as if they had been recalled together, pair by pair."""
        for link in links:
            self.pairs["recall"].add(self._existing(link))
        if self._link_queue:
            self._link_queue.look_again()  # of words that may have been silent for long

    def _wake(self, concepts: Iterable[str], at: int) -> bool:
        """Strengthen concepts that were recalled together at `at` (ms), and link the strongest, which come first."""
        numbers = self._existing(concepts)
        for number in numbers:
            self.concepts.recall(number, at, self.settings)
        self._watch(numbers, self.settings.recall_boost)
        self.recalled += bool(numbers)
        self.pairs["recall"].add([number for number in numbers if not self.concepts.is_mark[number]][:LINKED_BY_RECALL])
        if self._link_queue:
            self._link_queue.touched(at, self.settings)
        return bool(numbers)

    @folds(GraphConfigured)
    def _fold_settings(self, event: GraphConfigured) -> bool:
        self.settle()
        self.concepts.fade_all(self.clock, self.settings)  # what has faded, has faded by the old settings
        self.live_by(event)
        self._expiry_queue = self._link_queue = None
        self._ask_if_enough(self.turns)
        return True

    @folds(Ticked)
    def _fold_tick(self, event: Ticked) -> bool:
        self.clock = max(self.clock, event.at)
        return True

    @folds(Forgotten)
    def _fold_forgotten(self, event: Forgotten) -> bool:
        self._drop(event.concepts, event.turns)
        return True

    @folds(TurnsExpired)
    def _fold_expired(self, event: TurnsExpired) -> bool:
        self.clock = max(self.clock, event.at)
        self._drop(event.concepts, event.turns)
        return True

    @folds(DecayWindowClosed)
    def _fold_decay(self, event: DecayWindowClosed) -> bool:
        self._pass_window(event.at)
        self._drop(event.concepts, event.turns)
        return True

    @folds(MemoryArchived)
    def _fold_archived(self, event: MemoryArchived) -> bool:
        self._pass_window(event.at)
        self.settle()
        for number in self._existing(event.concepts):
            self.concepts.archive(number, archived=True)
        for number in self._passages(event.turns):
            self.passages.archive(number)
        alive, archived = self.concepts.alive, self.concepts.archived
        self.themes.keep(lambda word: bool(alive[word]) and not archived[word])
        if event.links:
            self._cut(event.links)
        return True

    def _cut(self, links: Iterable[Sequence[str]]) -> None:
        """Cut the links of the first concept of each list with the others, as far as they are here."""
        find = self.concepts.numbers.get
        ends = ((find(one), find(other)) for one, *others in links for other in others)
        pairs = {(min(a, b), max(a, b)) for a, b in ends if a is not None and b is not None}
        keys = np.array(sorted(a << 32 | b for a, b in pairs), np.int64)
        self._note_faded(keys, [self.pairs[window].drop(keys) for window in ("exchange", "turn", "recall")])

    def _note_faded(self, keys: Integers, counts: Sequence[Counts]) -> None:
        """Note what is stored of links and is no more: exchanges, turns, recalls (k,) of each."""
        if self.stored_events and np.any(counts):
            rows = np.array(self.concepts.rows)
            self.unstored_faded.append(np.stack([rows[keys >> 32], rows[keys & 0xFFFFFFFF], *counts]))

    @folds(MemoryRestored)
    def _fold_restored(self, event: MemoryRestored) -> bool:
        self.clock = max(self.clock, event.at)
        self.settle()
        words, turns = self._existing(event.concepts), self._passages(event.turns)
        for number in words:
            self.concepts.archive(number, archived=False)
        for number in turns:
            self.passages.restore(number, event.at)
        self._watch(words, 0.0)
        if self._expiry_queue:
            self._expiry_queue.watch_passages(self.passages, turns, self.settings)
        return bool(words or turns)

    @folds(Pinned)
    def _fold_pinned(self, event: Pinned) -> bool:
        return self._pin(event, pinned=True)

    @folds(Unpinned)
    def _fold_unpinned(self, event: Unpinned) -> bool:
        return self._pin(event, pinned=False)

    @folds(FeedbackGiven)
    def _fold_feedback(self, event: FeedbackGiven) -> bool:
        """Judge the turns; a right one links what was asked for more than a recall does, a wrong one takes as much."""
        turns = self._passages(event.turns)
        for number in turns:
            self.passages.judge(number, event.value)
        self.settle()
        for _ in range(FEEDBACK_COUNTS if event.value > 0 else 0):
            self._wake(event.concepts, self.clock)
        if event.value < 0 and self.pairs["recall"]:
            self._loosen([number for number in self._existing(event.concepts) if not self.concepts.is_mark[number]])
        return bool(turns)

    def _loosen(self, numbers: Sequence[int]) -> None:
        """Take from the links that recalls made between the first of these what a user's word puts there."""
        keys = np.array([a << 32 | b for a, b in combinations(sorted(numbers[:LINKED_BY_RECALL]), 2)], np.int64)
        counts = self.pairs["recall"].lessen(keys, FEEDBACK_COUNTS)
        self._note_faded(keys, [np.zeros_like(counts), np.zeros_like(counts), counts])
        if self._link_queue:
            self._link_queue.look_again()

    def _pin(self, event: Pinned | Unpinned, *, pinned: bool) -> bool:
        self.settle()
        words, turns = self._existing(event.concepts), self._passages(event.turns)
        for number in words:
            self.concepts.pin(number, pinned=pinned)
        if self._link_queue:
            self._link_queue.look_again()
        for number in turns:
            self.passages.pin(number, pinned=pinned)
        self._watch(words, 0.0)
        if self._expiry_queue:
            self._expiry_queue.watch_passages(self.passages, turns, self.settings)
        return bool(words or turns)

    @folds(ConsolidationWindowClosed)
    def _fold_consolidation(self, event: ConsolidationWindowClosed) -> bool:
        self.settle()
        self._pass_window(event.at)
        numbers = self._existing(event.consolidated)
        for number in numbers:
            self.concepts.consolidate(number, event.at, self.settings)
        self._watch(numbers, 0.0)
        if self._link_queue:
            self._link_queue.look_again()  # another law holds
        for change in event.topics:
            self.themes.apply(change, self._existing(change.concepts), event.at)
        self._drop([], [dropped for _, dropped in event.merged])
        for kept, repetition in event.repeats:
            if {kept, repetition} <= self.passages.numbers.keys():
                self.passages.archive(self.passages.numbers[repetition], repeats=self.passages.numbers[kept])
        self._link(event.links)
        self.fresh_turns, self.enough_at, self.ended_at = 0, NEVER, NEVER
        self.pace, self.active_before = event.pace, event.active
        return True

    @folds(MemoryReplayed)
    def _fold_replayed(self, event: MemoryReplayed) -> bool:
        """Strengthen and link what a dream came by; what has faded meanwhile stays in the archive."""
        self.settle()
        self._pass_window(event.at)
        archived, find = self.concepts.archived, self.concepts.numbers.get
        awake = (id for id in event.concepts if (number := find(id)) is not None and not archived[number])
        self._boost(awake, self.settings.dream_boost, event.at)
        self._link(event.links)
        return True

    @folds(MemoryConsolidated)
    def _fold_habit(self, event: MemoryConsolidated) -> bool:
        """Keep what recurs, by the members of it that are here; one without members goes."""
        self._pass_window(event.at)
        if event.text:
            self.habits.apply(event, [turn for turn in event.members if turn in self.passages.numbers])
        else:
            self.habits.remove(event.id)
        self.advice.keep_habits(self.habits.habits, changed=event.id)
        return True

    @folds(SessionEnded)
    def _fold_session_ended(self, event: SessionEnded) -> bool:
        """End a conversation: what is new is worth a consolidation then, however little it is."""
        self.clock = max(self.clock, event.at)
        last = self.passages.numbers.get(event.through, self.passages.last_of(event.session))  # if it was erased
        if last < self.sessions.upto(event.session):
            return False  # it ended already
        self.sessions.end(event, last + 1)
        self.ended_at = event.at if self.fresh_turns else NEVER
        return True

    @folds(SessionSummarised)
    def _fold_summary(self, event: SessionSummarised) -> bool:
        self.clock = max(self.clock, event.at)
        return all(turn in self.passages.numbers for turn in event.turns) and self.sessions.sum_up(event)

    @folds(TurnNotRecorded)
    def _fold_not_recorded(self, event: TurnNotRecorded) -> bool:
        self.unrecorded += 1
        return True

    @folds(AccessGranted)
    def _fold_granted(self, event: AccessGranted) -> bool:
        before = self.access.get(event.subject, [])
        self.access[event.subject] = sorted({*before, *event.rights})
        return len(self.access[event.subject]) > len(before)

    @folds(AccessRevoked)
    def _fold_revoked(self, event: AccessRevoked) -> bool:
        if event.subject not in self.access:
            return False
        before = self.access[event.subject]
        # A subject without rights stays listed: with an empty list, the graph would be open to everyone again.
        self.access[event.subject] = [right for right in before if right not in event.rights]
        return len(self.access[event.subject]) < len(before)

    @folds(TopicNamed)
    def _fold_name(self, event: TopicNamed) -> bool:
        return self.themes.name(event.topic, event.name, event.by)

    @folds(EdgesRated)
    def _fold_ratings(self, event: EdgesRated) -> bool:
        return self.advice.rate(event, self.concepts.numbers)

    @folds(PassageRewritten)
    def _fold_rewritten(self, event: PassageRewritten) -> bool:
        exists = event.id in (self.passages.numbers if event.of == "turn" else self.habits.habits)
        if exists:
            self.advice.rewrite(event)
        return exists

    @folds(PassageSplit)
    def _fold_split(self, event: PassageSplit) -> bool:
        if exists := event.turn in self.passages.numbers:
            self.advice.part(event)
        return exists

    @folds(WorthJudged)
    def _fold_worth(self, event: WorthJudged) -> bool:
        """Keep what a turn is worth; one that is not worth much leaves the active tier, and can still be found."""
        number = self.passages.numbers.get(event.turn)
        if number is None:
            return False
        self.advice.judge(event)
        if event.worth < WORTH and not self.passages.stays(number):
            self.settle()
            self.passages.archive(number)
        return True

    @folds(SubjectErased)
    def _fold_erased(self, event: SubjectErased) -> bool:
        """Mark turns as erased: the graph was folded without them (state/erasure.py)."""
        for turn in event.turns:
            self.passages.erase(turn)
        self.undoable_from = self.events + 1  # what was erased cannot come back, nor what it was a part of
        return bool(event.turns)

    @folds(Sealed)
    @folds(EventErased)
    def _fold_sealed(self, event: Sealed | EventErased) -> bool:
        """Do nothing: what it said is erased."""
        return False

    @folds(Retracted)
    def _refuse(self, event: Retracted) -> bool:
        raise TypeError("a Retracted does not add to a graph: it changes which events count (state/retraction.py)")

    def _watch(self, numbers: Sequence[int], boost: float) -> None:
        if self._expiry_queue:
            boosts = [boost] * len(numbers)
            self._expiry_queue.watch_boosted(self.concepts, numbers, boosts=boosts, settings=self.settings)

    def _pass_window(self, end: int) -> None:
        """Note that a window was closed, so that its grace was over: the clock never closes it again."""
        self.clock = max(self.clock, end + self.settings.grace)

    def _existing(self, ids: Iterable[str]) -> list[int]:
        """Find the number of each concept that is here, once: an event may name one twice."""
        return [self.concepts.numbers[id] for id in dict.fromkeys(ids) if id in self.concepts.numbers]

    def _passages(self, turns: Iterable[str]) -> list[int]:
        """Find the number of each turn that is here, once."""
        return [self.passages.numbers[turn] for turn in dict.fromkeys(turns) if turn in self.passages.numbers]

    def _drop(self, concepts: Iterable[str], turns: Iterable[str]) -> None:
        self.settle()  # the exchanges of turns that wait are with turns that are still here
        concepts, turns = list(concepts), list(turns)
        self.habits.without(turns, concepts)
        for number in self._existing(concepts):
            self.concepts.forget(number)
            self.forgotten += 1
            self._dead_rows += 1
        for number in self._passages(turns):
            self.statements.remove(self.passages.ids[number])
            self.people.remove(self.passages.ids[number])
            self.passages.remove(number)
            self._dead_rows += 1
        self.sessions.forget(frozenset(turns), self.passages.has_session)
        self.advice.without(turns, concepts, self.habits.habits)
        if self._dead_rows > ENOUGH_DEAD + (len(self.concepts) + len(self.passages)) // 2:
            self.compact()


TextOf = Callable[[Graph, int], TurnRecorded]  # reads what a turn of this number said
