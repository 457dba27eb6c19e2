"""A view of a graph for recall, at one moment of the fold."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, Literal, TypeVar, overload

import numpy as np
import numpy.ma  # the first np.unique imports it else: 10 ms of the first question
from numpy.typing import NDArray

from state.arrays import Counts, Floats, Integers, Mask
from state.errors import StaleViewError
from state.events.extraction_types import Statement
from state.graph.counting.cooccurrence import PairCounts
from state.graph.counting.derived_windows import DerivedWindow, derived
from state.graph.counting.session_layout import Excerpt, SessionOrder
from state.graph.graph_tables import GraphTables, Window
from state.graph.tables.advice_table import Rating
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.embedding_table import Embeddings, Model
from state.graph.tables.lists import ragged
from state.graph.tables.passage_table import ROLES, PassageTable
from state.graph.tables.relation_table import RelationTable
from state.graph.tables.turn_facts import TurnFacts
from state.graph.turn_index import TurnIndex

T = TypeVar("T")


class WindowCounts:
    """Counts of one kind of co-occurrence window, over n concepts.

    total    number of windows.  turn: one per turn ever; exchange: each with the turn before it in its session;
             recall: one per reinforcing query, holding the concepts that it woke; derived ones: as many as there are
    pairs    edges out of chosen concepts: `pairs.neighbours(concepts)`
    """

    def __init__(self, total: int, counts: Callable[[], array[int]], pairs: PairCounts) -> None:
        self.total, self.pairs, self._counts = total, pairs, counts

    def seen(self, concepts: Integers) -> Integers:
        """Count the windows that each of `concepts` (k,) occurred in."""
        return np.frombuffer(self._counts(), np.int64)[concepts]

    def fans(self, concepts: Integers) -> Integers:
        """Count the distinct concepts that each of `concepts` (k,) ever shared a window with."""
        return self.pairs.fan(len(self._counts()))[concepts]

    @cached_property
    def concept(self) -> Integers:
        """Count the windows that each concept occurred in, (n,); when first asked for."""
        return np.array(self._counts(), np.int64)

    @cached_property
    def fan(self) -> Integers:
        """Count the distinct concepts that each ever shared a window with, (n,); when first asked for."""
        return self.pairs.fan(len(self._counts())).copy()


class Labels(Sequence[str]):
    """The most frequent surface form of each of n concepts, looked up one by one: few of them are ever shown."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts, self._size = concepts, len(concepts)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        numbers = range(self._size)[number]
        if isinstance(numbers, int):
            return self._concepts.label(numbers)
        return [self._concepts.label(one) for one in numbers]


DEEP: Final = 3  # objects, one in the other, that are looked through for arrays
UNTOLD: Final = 0.5  # how much a turn matters if its importance is not known


def _whole(table: str, column: str, dtype: type[np.generic]) -> Any:
    """Declare a whole column of a view: copied from the table when it is first asked for."""

    def copied(view: GraphView) -> NDArray[Any]:
        view.check_fresh()
        return np.array(getattr(getattr(view, table), column), dtype)

    return cached_property(copied)


def _fresh_rows(tables: GraphTables, events: int) -> ConceptTable:
    """Return the rows of concepts as of so many events.  Raises StaleViewError if there were more since."""
    if tables.events != events:
        raise StaleViewError("the graph has changed since this view of it was taken: take another")
    return tables.concepts


def _taken(value: object, depth: int) -> int:
    """Add up the arrays that an object holds, bytes."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, PairCounts):
        return value.size
    if isinstance(value, GraphView) or not depth:
        return 0
    attributes = vars(value).values() if hasattr(value, "__dict__") else ()
    return sum(_taken(each, depth - 1) for each in (value if isinstance(value, tuple) else attributes))


class GraphView:
    """A graph with n concepts, p passages (turns, in the order folded) and m postings, as it is at one moment.

    Concept and passage numbers are positions in these columns; numbers are given in first-seen order.
    Lists are the graph's own and may have grown since; only positions below n and p belong to this view.

        turns, concepts   p and n;  tokens: the words of all turns;  lengths: of the shortest, of the longest
        ids, labels       (n,) concept id and its most frequent surface form
        numbers           concept id → number
        settings          how the graph fades: what `strength` is worth now
        rated             how closely concepts belong together by advisors, by their ids
        themes            the graph's themes that have words, in order of birth
        phrases           numbers of concepts that are phrases ("new york"), ascending
        passage_id        (p,) turn ids
        windows           counts of what occurred together, by kind of window
        clock             the graph's stream time, ms: the largest event time seen

    A question looks up the few rows that it needs (`marks`, `holders`, `of_turns`, `excerpt` …).  Whole columns are
    copied when they are first asked for; exports, comparisons and baselines do that:

        is_archived       (n,) whether the concept has faded, and is in the archive
        is_mark           (n,) whether it is a mark ("@speaker:…", "@day:…") or a phrase, and not a word
        passages_with     (n,) number of passages that hold the concept
        strength          (n,) base activation, as of `strength_at` (n,) ms: see state/graph/tables/decay.py
        created, accessed, first_recall (n,) ms; first_recall is 0 for a concept that was never recalled
        posting_concept, posting_passage, posting_count  (m,) the concepts of each passage, by passage ascending
        passage_at        (p,) event time, ms
        passage_tokens    (p,) length in words
        passage_session, passage_speaker  (p,) position in `sessions`, `speakers`
        passage_question  (p,) whether the turn asks something
        passage_archived  (p,) whether it is in the archive
        passage_pinned    (p,) whether a user wants it kept in mind
        feedback          (p,) sum of what users thought of it, from −1, wrong, to 1, right, each
        importance        (p,) how much it matters, 0.5 if nothing was stated
        role              (p,) position of each role in ROLES; passage_role: the roles

    Code that reads on once the graph has changed gets StaleViewError; what was copied before stays as it was.
    """

    def __init__(self, tables: GraphTables, index: TurnIndex) -> None:
        self._tables, self._index, self._events = tables, index, tables.events
        concepts, passages = tables.concepts, tables.passages
        self._concepts, self._passages = concepts, passages
        self.turns, self.concepts = len(passages), len(concepts)
        self.tokens, self.lengths = index.tokens, index.lengths
        self.graph_id, self.clock, self.settings = tables.graph_id, tables.clock, tables.settings
        self.ids: Sequence[str] = concepts.ids
        self.labels: Sequence[str] = Labels(concepts)
        self.rated: Mapping[tuple[str, str], Rating] = tables.advice.rated
        self.themes = tuple(theme for theme in tables.themes.themes.values() if theme.members)
        counted, rows = tables.turns, partial(_fresh_rows, tables, tables.events)
        self.windows: Mapping[Window, WindowCounts] = {  # no circle: a view goes with the last who reads it
            "turn": WindowCounts(counted, lambda: rows().in_turns, tables.pairs["turn"]),
            "exchange": WindowCounts(counted, lambda: rows().in_exchanges, tables.pairs["exchange"]),
            "recall": WindowCounts(tables.recalled, lambda: rows().recalls, tables.pairs["recall"]),
        }

    def check_fresh(self) -> None:
        """Raise StaleViewError if the graph has changed since."""
        _fresh_rows(self._tables, self._events)

    @property
    def numbers(self) -> Mapping[str, int]:
        """Concept id → number."""
        return self._concepts.numbers

    @property
    def _rows(self) -> ConceptTable:
        self.check_fresh()
        return self._concepts

    @property
    def _turns(self) -> PassageTable:
        self.check_fresh()
        return self._passages

    @property
    def _turn_index(self) -> TurnIndex:
        self.check_fresh()
        return self._index

    @property
    def passage_id(self) -> Sequence[str]:
        """The ids of turns, (p,): they are unpacked on first use."""
        return self._passages.ids

    # Few rows

    def number(self, name: str) -> int | None:
        """Find the number of a concept id, None if this view does not know it."""
        number = self.numbers.get(name)
        return number if number is not None and number < self.concepts else None

    def numbers_of(self, names: Iterable[str]) -> list[int]:
        """List the numbers of those concept ids that this view knows, in their order."""
        number_or_none = map(self.numbers.get, names)
        return [number for number in number_or_none if number is not None and number < self.concepts]

    def marks(self, concepts: Integers) -> Mask:
        """Return which of `concepts` (k,) are marks ("@speaker:…", "@day:…") or phrases, and not words."""
        return np.frombuffer(self._rows.is_mark, np.bool_)[concepts]

    def holding(self, concepts: Integers) -> Integers:
        """Count the passages that hold each of `concepts` (k,)."""
        return self._turn_index.postings.lengths[concepts]

    def holders(self, concept: int) -> tuple[Counts, Counts]:
        """List the passages that hold a concept, ascending, (m,), and how often each does: not to be kept."""
        passages, counts = self._turn_index.postings.of(concept)
        return passages, counts

    def mentions_of(self, concepts: Integers) -> tuple[Integers, Integers, Integers]:
        """List the passages that hold each of some `concepts` (k,), and how often each does.

        Returns (m,) the position of the concept, ascending, (m,) passage, ascending for each, (m,) how often.
        """
        of, passages, counts = self._turn_index.postings.of_several(concepts)
        return of, passages, counts

    def holders_of(self, concepts: Integers) -> tuple[Integers, Integers]:
        """List the passages that hold each of `concepts` (k,): (m,) the position of the concept, ascending, passage."""
        of, passages, _ = self._turn_index.postings.of_all(concepts)
        return of, passages

    def extremes(self, column: Literal["importance", "pinned", "feedback"]) -> tuple[int, int]:
        """Find the least and the most in a column of passages, at least one."""

        def found(view: GraphView) -> tuple[int, int]:
            rows = np.frombuffer(getattr(view._turns, column), np.int8)
            return int(rows.min()), int(rows.max())

        return self.once(("extremes", column), found)

    def concepts_of(self, passages: Integers) -> tuple[Integers, Counts]:
        """List the concepts that `passages` hold: (k,) how many each has, (m,) their numbers, passage by passage."""
        starts, ends = self._turns.bounds(passages)
        at = ragged(starts, ends - starts)
        return ends - starts, np.frombuffer(self._turns.posting_concept, np.int32)[at]

    def most_of_turn(self, values: Floats) -> Floats:
        """Find the largest of `values` (n,), none below 0, among the concepts of every passage: (p,), 0 without any."""
        starts = np.frombuffer(self._turns.starts, np.int64)
        strengths = np.append(values[np.frombuffer(self._turns.posting_concept, np.int32)], 0.0)
        most: Floats = np.maximum.reduceat(strengths, starts) if len(starts) else np.zeros(0)
        most[starts == np.append(starts[1:], len(strengths) - 1)] = 0.0  # of none, reduceat gives what stands there
        return most

    def concepts_of_turns(self, passages: Integers) -> tuple[Integers, Integers, Integers]:
        """List what `passages` (k,) hold: (m,) the position of the passage, ascending, concept number and count."""
        starts, ends = self._turns.bounds(passages)
        at = ragged(starts, ends - starts)
        concept = np.frombuffer(self._turns.posting_concept, np.int32)[at].astype(np.int64)
        count = np.frombuffer(self._turns.posting_count, np.int32)[at].astype(np.int64)
        return np.repeat(np.arange(len(passages)), ends - starts), concept, count

    def of_turns(self, column: str, passages: Integers) -> Integers:
        """Return a column of PassageTable, by its name, of `passages` (k,)."""
        rows: array[int] = getattr(self._turns, column)
        return np.array(np.frombuffer(rows, rows.typecode)[passages], np.int64)

    def of_concepts(self, column: str, concepts: Integers) -> Integers:
        """Return a column of ConceptTable, by its name, of `concepts` (k,)."""
        rows: array[int] = getattr(self._rows, column)
        return np.array(np.frombuffer(rows, rows.typecode)[concepts], np.int64)

    def words_beginning(self, prefix: str) -> Sequence[str]:
        """List the words that begin with these letters (turn_index.py PREFIX), in the order first seen."""
        return self._turn_index.words_beginning(prefix)

    def words_with_initial(self, letter: str) -> Sequence[str]:
        """List the words that begin with this letter, in the order first seen."""
        return self._turn_index.words_with_initial(letter)

    def words_holding(self, pair: str) -> Sequence[str]:
        """List the words that hold these two characters of no ASCII script, in the order first seen."""
        return self._turn_index.words_holding(pair)

    def window(self, kind: Window | DerivedWindow | int) -> WindowCounts:
        """Return the counts of a kind of window, or of windows of so many turns; what no fold counts is derived."""
        if kind == "turn" or kind == "exchange" or kind == "recall":  # noqa: PLR1714 - so that the type is known
            return self.windows[kind]
        return self.once(("window", kind), lambda _: self._derived(kind))

    def _derived(self, kind: DerivedWindow | int) -> WindowCounts:
        in_windows = ~np.isin(self.posting_concept, np.array(list(self.phrases), np.int64))
        postings = self.posting_passage[in_windows], self.posting_concept[in_windows]
        derived_pairs = derived(kind, self.session_order, self.passage_speaker, postings, self.concepts)
        return WindowCounts(derived_pairs.total, lambda: derived_pairs.seen, derived_pairs.pairs)

    @property
    def size(self) -> int:
        """Return the memory use in bytes: columns that were copied, and what was computed once."""
        copied = (value for value in vars(self).values() if isinstance(value, np.ndarray))
        counted = (value for window in self.windows.values() for value in vars(window).values())
        arrays = sum(value.nbytes for value in (*copied, *counted) if isinstance(value, np.ndarray))
        return arrays + sum(_taken(value, DEEP) for value in self._computed.values())

    def once(self, key: Hashable, compute: Callable[[GraphView], T]) -> T:
        """Compute something of this view, or return the cached value: it lasts until the graph changes."""
        self.check_fresh()
        if key not in self._computed:
            self._computed[key] = compute(self)
        value: T = self._computed[key]
        return value

    @cached_property
    def _computed(self) -> dict[Hashable, Any]:
        return {}

    @property
    def concept_table(self) -> ConceptTable:
        """The rows of the concepts: to be read at once, and not kept."""
        return self._rows

    @property
    def phrases(self) -> Collection[int]:
        """The numbers of concepts that are phrases, ascending."""
        return self._rows.phrases

    def kind(self, concept: int) -> str:
        """Return what a concept is: one of emgas.messages.relations.Kind, "" if unknown."""
        return self._rows.kind(concept)

    def is_part(self, concept: int) -> bool:
        """Return whether a concept stood mostly inside other words, where it may be a wrong cut."""
        return self._rows.is_part(concept)

    @property
    def relations(self) -> RelationTable:
        """Return the relations that turns state."""
        self.check_fresh()
        return self._tables.relations

    @property
    def session_tokens(self) -> Integers:
        """The length of each session in words, (sessions,): not to be kept."""
        return self._turn_index.session_tokens

    @property
    def session_turns(self) -> Integers:
        """Return the number of turns of each session, (sessions,); do not keep it."""
        return self._turn_index.sessions.lengths

    @property
    def facts(self) -> TurnFacts:
        """Return the metadata and times of turns, as far as they were read: answer/turn_facts.py sees to that."""
        self.check_fresh()
        return self._tables.facts

    def session_upto(self, session: str) -> int:
        """Return from which passage on turns of a session are of the conversation that goes on in it."""
        self.check_fresh()
        return self._tables.sessions.upto(session)

    def session_numbers(self, names: Iterable[str]) -> Integers:
        """Find the numbers of the sessions of these names, as far as there are any."""
        number_of = self._turns.sessions
        return np.array([number_of[name] for name in names if name in number_of], np.int64)

    def passage_numbers(self, ids: Iterable[str]) -> Integers:
        """Find the numbers of the passages of these turn ids, as far as there are any."""
        number_of = self._turns.numbers
        return np.array([number_of[id] for id in ids if id in number_of], np.int64)

    def within(self, passages: Integers) -> Integers:
        """Find the position (k,) of each of `passages` in its session, from 0."""
        return self._turn_index.place[passages].astype(np.int64)

    def excerpt(self, sessions: Integers) -> Excerpt:
        """Lay out the passages of ascending `sessions` (s,)."""
        of, passages = self._turn_index.sessions.of_all(sessions)
        return Excerpt(passages, self.within(passages), sessions, of)

    # Whole columns

    is_archived: Mask = _whole("_concepts", "archived", np.bool_)
    is_mark: Mask = _whole("_concepts", "is_mark", np.bool_)
    strength: Floats = _whole("_concepts", "strength", np.float64)
    strength_at: Integers = _whole("_concepts", "strength_at", np.int64)
    created: Integers = _whole("_concepts", "created", np.int64)
    accessed: Integers = _whole("_concepts", "accessed", np.int64)
    first_recall: Integers = _whole("_concepts", "first_recall", np.int64)
    posting_concept: Integers = _whole("_passages", "posting_concept", np.int64)
    posting_count: Integers = _whole("_passages", "posting_count", np.int64)
    passage_at: Integers = _whole("_passages", "at", np.int64)
    passage_tokens: Integers = _whole("_passages", "tokens", np.int64)
    passage_session: Integers = _whole("_passages", "session", np.int64)
    passage_speaker: Integers = _whole("_passages", "speaker", np.int64)
    passage_question: Mask = _whole("_passages", "question", np.bool_)
    passage_archived: Mask = _whole("_passages", "archived", np.bool_)
    passage_pinned: Mask = _whole("_passages", "pinned", np.bool_)
    role: NDArray[np.int8] = _whole("_passages", "role", np.int8)

    @cached_property
    def importance(self) -> Floats:
        """Return how much each passage matters, (p,): 0.5 if nothing was stated."""
        return importance(self.of_turns("importance", np.arange(self.turns)))

    @cached_property
    def successions(self) -> tuple[Integers, Integers]:
        """List the passages that are history, ascending, and since which passage each is; (k,) both."""
        self.check_fresh()
        stated = list(self._tables.statements)
        numbers = self._passages.numbers if stated else {}  # of all turns: not to be asked for without need
        stating = np.array(sorted(numbers[turn] for turn in stated), np.int64)
        newer = self.of_turns("superseded", stating)
        return stating[newer >= 0], newer[newer >= 0]

    def stated(self, number: int) -> tuple[Statement, ...]:
        """List what a passage states of its speaker."""
        _, stated = self._tables.statements.of_turn(self.passage_id[number])
        return stated

    @cached_property
    def feedback(self) -> Floats:
        """Sum what users thought of each passage, (p,)."""
        return self.of_turns("feedback", np.arange(self.turns)) / 10

    @cached_property
    def posting_passage(self) -> Integers:
        """The passage of each posting, (m,), ascending."""
        self.check_fresh()
        return np.repeat(np.arange(self.turns), self._passages.lengths())

    @cached_property
    def passages_with(self) -> Integers:
        """Count the passages that hold each concept, (n,)."""
        return self.holding(np.arange(self.concepts))

    @cached_property
    def session_order(self) -> SessionOrder:
        """Lay out all passages, session by session."""
        return SessionOrder.of(self.excerpt(np.arange(len(self.session_turns))), self.session_tokens.copy())

    @cached_property
    def passage_role(self) -> list[str | None]:
        """List the role of each passage, (p,), None where the turn gave none."""
        return [ROLES[role] for role in self.role.tolist()]

    @cached_property
    def sessions(self) -> Sequence[str]:
        """List the sessions, by number."""
        return self._turns.session_names

    @cached_property
    def speakers(self) -> list[str]:
        """List the speakers, by number."""
        self.check_fresh()
        return list(self._passages.speakers)

    @cached_property
    def embeddings(self) -> Mapping[Model, Embeddings]:
        """Vectors of passages by the model that made them; none unless a model is set."""
        self.check_fresh()
        return self._tables.embeddings.embeddings()


def importance(percent: Integers) -> Floats:
    """Return what turns matter, (k,), as a share of 1: UNTOLD if nothing was stated."""
    return np.where(percent < 0, UNTOLD, percent / 100)
