"""What recall may see of a graph: arrays that do not change, taken at one moment of the fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from state.arrays import Floats, Integers, Mask
from state.events.memory_settings import MemorySettings
from state.graph.concept_table import ConceptTable
from state.graph.cooccurrence import PairCounts
from state.graph.embedding_table import Embeddings, Model
from state.graph.passage_table import ROLES
from state.graph.tables import GraphTables, Window
from state.graph.theme_table import Theme


@dataclass(frozen=True)
class WindowCounts:
    """Counts of one kind of co-occurrence window, over n concepts.

    total    number of windows.  turn: one per turn ever; exchange: each with the turn before it in its session;
             recall: one per reinforcing query, holding the concepts that it woke
    concept  (n,) in how many windows each concept occurred
    pairs    edges out of chosen concepts: `pairs.neighbours(concepts)`
    """

    total: int
    concept: Integers
    pairs: PairCounts

    @cached_property
    def fan(self) -> Integers:
        """Count the distinct concepts that each ever shared a window with, (n,); when first asked for."""
        return self.pairs.fan(len(self.concept))[: len(self.concept)]


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


@dataclass(frozen=True)
class SessionOrder:
    """The p passages laid out session by session, each session in the order folded: flow between turns runs along it.

    order       (p,) passage number at each place            place       (p,) place of each passage number
    session     (p,) session at each place, ascending
    start, end  (p,) where the session of each place starts, and where it ends (exclusive)
    tokens      (sessions,) length of each session in words
    """

    order: Integers
    place: Integers
    session: Integers
    start: Integers
    end: Integers
    tokens: Integers


@dataclass(frozen=True)
class GraphView:
    """A graph with n concepts, p passages (turns, in the order folded) and m postings.

    Concept and passage numbers are positions in these arrays; numbers are given in first-seen order.
    Lists are the graph's own and may have grown since; only positions below n and p belong to this view.

        ids, labels       (n,) concept id and its most frequent surface form
        numbers           concept id → number
        is_archived       (n,) whether it has faded, and is in the archive
        is_mark           (n,) whether it is a mark ("@speaker:…", "@day:…") and not a word
        passages_with     (n,) number of passages that hold the concept
        strength          (n,) base activation, as of `strength_at` (n,) ms: see state/graph/decay.py
        created, accessed, first_recall (n,) ms; first_recall is 0 for a concept that was never recalled
        settings          how the graph fades: what `strength` is worth now
        themes            the graph's themes that have words, in order of birth
        posting_concept, posting_passage, posting_count  (m,) the concepts of each passage, by passage ascending
        passage_id        (p,) turn ids
        passage_at        (p,) event time, ms
        passage_tokens    (p,) length in words
        passage_session, passage_speaker  (p,) position in `sessions`, `speakers`
        passage_question  (p,) whether the turn asks something
        passage_archived  (p,) whether it is in the archive
        passage_pinned    (p,) whether a user wants it kept in mind
        feedback          (p,) sum of what users thought of it, from −1, wrong, to 1, right, each
        importance        (p,) how much it matters, 0.5 where nobody said
        role              (p,) position of each role in ROLES; passage_role: the roles
        clock             the graph's stream time, ms: the largest event time seen
        embeddings        vectors of passages by the model that made them; none unless a model is set
    """

    graph_id: str
    clock: int
    settings: MemorySettings
    ids: Sequence[str]
    labels: Sequence[str]
    numbers: Mapping[str, int]
    is_archived: Mask
    is_mark: Mask
    passages_with: Integers
    strength: Floats
    strength_at: Integers
    created: Integers
    accessed: Integers
    first_recall: Integers
    windows: Mapping[Window, WindowCounts]
    themes: tuple[Theme, ...]
    posting_concept: Integers
    posting_passage: Integers
    posting_count: Integers
    passage_id: Sequence[str]
    passage_at: Integers
    passage_tokens: Integers
    passage_session: Integers
    passage_speaker: Integers
    passage_question: Mask
    passage_archived: Mask
    passage_pinned: Mask
    importance: Floats
    feedback: Floats
    role: NDArray[np.int8]
    sessions: Sequence[str]
    speakers: Sequence[str]
    embeddings: Mapping[Model, Embeddings]

    @property
    def passage_role(self) -> list[str | None]:
        """Name the role of each passage, (p,), None where the turn gave none."""
        return [ROLES[role] for role in self.role.tolist()]

    @cached_property
    def session_order(self) -> SessionOrder:
        """Lay out the passages as flow between turns needs them; when first asked for, once for every view."""
        order = np.argsort(self.passage_session, kind="stable")
        session = self.passage_session[order]
        places, sessions = np.arange(len(order)), len(self.sessions)
        place = np.empty_like(places)
        place[order] = places
        return SessionOrder(
            order=order,
            place=place,
            session=session,
            start=np.searchsorted(session, session, "left"),
            end=np.searchsorted(session, session, "right"),
            tokens=np.bincount(session, self.passage_tokens[order], sessions).astype(np.int64),
        )

    @cached_property
    def posting_start(self) -> Integers:
        """Find where the postings of each passage begin, (p,)."""
        return np.searchsorted(self.posting_passage, np.arange(len(self.passage_at)))

    @cached_property
    def words(self) -> str:
        """Join the ids of the concepts that are words, a line each: what holds a piece of text is found at once."""
        named = zip(self.ids, self.is_mark.tolist(), strict=False)  # ids may have grown since
        return "\n".join(["", *(name for name, is_mark in named if not is_mark), ""])

    def number(self, name: str) -> int | None:
        """Find the number of a concept id, None if this view does not know it."""
        number = self.numbers.get(name)
        return number if number is not None and number < len(self.is_mark) else None


def _importance(percent: NDArray[np.int8]) -> Floats:
    """Give what a turn matters, (p,), as a share of 1: 0.5 where nobody said."""
    return np.where(percent < 0, 0.5, percent / 100)


def view_of(tables: GraphTables) -> GraphView:
    """Show what recall may see of a compacted graph."""
    concepts, passages = tables.concepts, tables.passages
    posting_concept = np.array(passages.posting_concept, np.int64)
    windows: dict[Window, tuple[int, Sequence[int]]] = {
        "turn": (tables.turns, concepts.in_turns),
        "exchange": (tables.turns, concepts.in_exchanges),
        "recall": (tables.recalled, concepts.recalls),
    }
    return GraphView(
        graph_id=tables.graph_id,
        clock=tables.clock,
        settings=tables.settings,
        ids=concepts.ids,
        labels=Labels(concepts),
        numbers=concepts.numbers,
        is_archived=np.array(concepts.archived, np.bool_),
        is_mark=np.array(concepts.is_mark, np.bool_),
        passages_with=np.bincount(posting_concept, minlength=len(concepts)),
        strength=np.array(concepts.strength),
        strength_at=np.array(concepts.strength_at),
        created=np.array(concepts.created),
        accessed=np.array(concepts.accessed),
        first_recall=np.array(concepts.first_recall),
        windows={
            window: WindowCounts(total, np.array(counts), tables.pairs[window])
            for window, (total, counts) in windows.items()
        },
        themes=tuple(theme for theme in tables.themes.themes.values() if theme.members),
        posting_concept=posting_concept,
        posting_passage=np.repeat(np.arange(len(passages)), passages.lengths()),
        posting_count=np.array(passages.posting_count, np.int64),
        passage_id=passages.ids,
        passage_at=np.array(passages.at),
        passage_tokens=np.array(passages.tokens, np.int64),
        passage_session=np.array(passages.session, np.int64),
        passage_speaker=np.array(passages.speaker, np.int64),
        passage_question=np.array(passages.question, np.bool_),
        passage_archived=np.array(passages.archived, np.bool_),
        passage_pinned=np.array(passages.pinned, np.bool_),
        importance=_importance(np.array(passages.importance)),
        feedback=np.array(passages.feedback) / 10,
        role=np.array(passages.role, np.int8),
        sessions=list(passages.sessions),
        speakers=list(passages.speakers),
        embeddings=tables.embeddings.embeddings(),
    )
