"""The tables and counters of one graph.

state/graph/graph.py folds events into them, codec.py packs them, view.py reads them.

The latest turns may be in `passages` only, and forgotten rows may still be there: code that reads tables calls
`Graph.settle` or `Graph.compact` first.
"""

from __future__ import annotations

from math import inf
from typing import Literal, get_args

from emgas.limits import EARLIEST_MS
from state.events.memory_settings import PRESETS, MemorySettings
from state.events.requests import GraphConfigured
from state.graph.counting.cooccurrence import PairCounts
from state.graph.tables.advice_table import AdviceTable
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import NEVER
from state.graph.tables.embedding_table import EmbeddingTable
from state.graph.tables.habit_table import HabitTable
from state.graph.tables.passage_table import PassageTable
from state.graph.tables.people_table import PeopleTable
from state.graph.tables.relation_table import RelationTable
from state.graph.tables.session_table import SessionTable
from state.graph.tables.statement_table import StatementTable
from state.graph.tables.theme_table import ThemeTable
from state.graph.tables.turn_facts import TurnFacts
from state.graph.tables.values import GraphValues, value

Window = Literal["turn", "exchange", "recall"]


class GraphTables(GraphValues):
    """Everything that a graph's memory holds.  Only the graph's fold writes here.

    A value of the whole graph is declared here and nowhere else.  What a table holds of turns, concepts and pairs is in
    state/graph/tables/ and counting/; how the tables are packed, in codec.py and state/lsm/.

    facts  metadata and times of turns, as far as they were read: no content
    """

    # The largest event time seen, ms: the stream's time.  Not 0 at first: a memory may be older than 1970.
    clock: int = value(EARLIEST_MS, always=True)
    # The last turn was recorded as it was said (else: imported), so that ticks make sense.
    live: bool = value(default=False, always=True)
    fresh_turns: int = value(0, always=True)  # turns since the last consolidation
    last_turn_at: int = value(EARLIEST_MS, always=True)  # the largest event time of a turn
    # `last_turn_at` when the new turns became enough to be consolidated, NEVER while they are not.
    enough_at: int = value(NEVER, always=True)
    recalled: int = value(0, always=True)  # ConceptsRecalled that had an effect
    forgotten: int = value(0, always=True)  # concepts that are gone for good; turns that are, are `passages.gone`
    preset: str = value("default", always=True)
    events: int = value(0, in_digest=False)  # how many there were, with or without effect: the next one's ordinal
    undoable_from: int = value(0, in_digest=False)  # ordinal of the first event that may be taken back: only grows
    configured: bool = value(default=False, in_digest=False)  # whether a GraphConfigured is among the events that count
    # What features of a turn are worth in its recall, by name, where that is not the default.
    weights: dict[str, float] = value({})
    mode: str = value("default", packed_in="asked")  # of its questions that name no mode
    rerank: str = value("", packed_in="asked")
    timezone: str = value("UTC")  # of turns and questions that do not say where they were said
    # How much sooner than set windows consolidate, in steps (MemorySettings.paced); 0 unless they adapt.
    pace: int = value(0, packed_in="pace")
    active_before: int = value(0, packed_in="pace")  # turns active after the last consolidation, where windows adapt
    ended_at: int = value(NEVER)  # when the last conversation ended (ms), until what is new is consolidated
    unrecorded: int = value(0)  # turns that came while recording was paused
    uncounted: int = value(0)  # turns that gates set aside as they came: they went to the archive at once
    access: dict[str, list[str]] = value({})  # who may do what, by subject; empty: open to everyone
    habits: HabitTable = value(HabitTable)
    advice: AdviceTable = value(AdviceTable)  # what advisors said, beside all that

    def __init__(self, graph_id: str) -> None:
        super().__init__()
        self.graph_id = graph_id
        self.settings = PRESETS["default"]
        self.concepts = ConceptTable()
        self.passages = PassageTable()
        # How often concepts occurred together, by kind of window.
        self.pairs: dict[Window, PairCounts] = {window: PairCounts() for window in get_args(Window)}
        self.embeddings = EmbeddingTable()
        self.themes = ThemeTable()
        self.relations = RelationTable()
        self.statements = StatementTable()
        self.people = PeopleTable()
        self.sessions = SessionTable()  # the conversations that have ended
        self.facts = TurnFacts()

    def live_by(self, event: GraphConfigured) -> None:
        """Take over what a request to configure says; windows that no longer adapt are as they are set at once."""
        self.preset, self.settings, self.configured = event.preset, event.settings, True
        self.weights, self.mode, self.rerank = dict(event.weights), event.mode, event.rerank
        self.timezone = event.timezone
        if not event.settings.steady_growth:
            self.pace = self.active_before = 0

    @property
    def rhythm(self) -> MemorySettings:
        """Return the settings by which windows consolidate now."""
        return self.settings.paced(self.pace)

    def load_pairs(self, most: float = inf) -> bool:
        """Read so many of the pairs that are still where they are stored; return whether there are more."""
        stored = self.pairs["exchange"].stored
        return stored is not None and not stored.grows and stored.load(most)

    @property
    def reads_stored_pairs(self) -> bool:
        """Return whether pairs are read from the store: its tables must not change meanwhile."""
        stored = self.pairs["exchange"].stored
        return stored is not None and not stored.grows

    def merge_pairs(self, most: int) -> bool:
        """Merge so many of the pairs in memory, if they are to be; return whether any were."""
        return any(pairs.merge_some(most) for pairs in self.pairs.values())

    @property
    def turns(self) -> int:
        """Count the turns that were ever accepted."""
        return self.passages.accepted

    @property
    def is_blank(self) -> bool:
        """Return whether nothing counts: nothing has happened yet, or all of it was taken back."""
        return not self.configured and self.clock == EARLIEST_MS

    @property
    def is_emptied(self) -> bool:
        """Return whether nothing is left: all of it was forgotten, erased or taken back."""
        had_turns = self.passages.accepted > 0
        return self.is_blank or (had_turns and not self.passages.here and not any(self.concepts.alive))

    def knows(self, turn: str) -> bool:
        """Return whether a turn of this id was ever accepted."""
        return self.passages.knows(turn) is not None
