"""A question to a graph: statistics of the whole graph about it, and the columns of turns that recall computes with.

    Inquiry        what holds for every turn: who mentions what was asked, how rare it is, what the spread woke
    TurnColumns    some turns and what each is in itself, the columns that features of a turn are made of
    SessionLayout  whole sessions laid out (counting/session_layout.py), so that flow between turns can be followed

A feature (features.py) is computed on a SessionLayout.  It gives each turn the same value whatever else is laid out,
so recall lays out only the sessions that may hold the best turns (best_turns.py).  Mentions are looked up by concept.
A speaker of a large part of all turns is *common*: this speaker's turns are recognised among those that are laid out,
and lead to no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.dense import standardised
from processors.recall.ranking.query_terms import QueryTerms
from processors.text.statements import holds_form, words_of
from state.arrays import Floats, Integers
from state.graph.counting.session_layout import Excerpt
from state.graph.tables.passage_table import ROLES, modality
from state.graph.view import UNTOLD, GraphView, importance

COMMON: Final = 64  # a speaker is common if one in so many turns is theirs,
FEWEST_COMMON: Final = 512  # and so many at least

Mask = NDArray[np.bool_]


T = TypeVar("T")


class Remembers:
    """Computes each cached property once."""

    @cached_property
    def _computed(self) -> dict[Any, Any]:
        return {}

    def once(self, compute: Callable[[Self], T]) -> T:
        """Compute something of this object, or return the cached value."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        value: T = self._computed[compute]
        return value


class PostedMentions(NamedTuple):
    """Mentions of the question's concepts, looked up by concept: (m,) each.

    row      which word, date or speaker of the question
    passage  the turn that mentions it;  session, within: where that turn stands
    times    how often, >= 1; a share below 1 where the turn only holds a relative (query_expansion.py)
    """

    row: Integers
    passage: Integers
    session: Integers
    within: Integers
    times: Floats


class RowWeights(NamedTuple):
    """The weight of each of k rows of a match, from statistics of the whole graph.

    weights      (k,) how much each counts
    turns        (k,) its rarity among turns · its weight
    sessions     (k,) its rarity among sessions · its weight; 0 for words that the graph does not know
    total        Σ of `turns`
    """

    weights: Floats
    turns: Floats
    sessions: Floats
    total: float


@dataclass(eq=False)
class Inquiry(Remembers):
    """A question put to one graph.

    energy  (n,) what the concepts hold after spreading
    cosine  (p,) of each passage with the question, by passage number; None without embeddings
    """

    view: GraphView
    terms: QueryTerms
    energy: Floats
    cosine: Floats | None = None

    @cached_property
    def common(self) -> tuple[int, ...]:
        """The rows of speakers that mark a large part of all turns."""
        many = max(FEWEST_COMMON, self.view.turns // COMMON)
        turn_counts = self.view.holding(self.terms.seeds)
        speakers = range(len(turn_counts) - len(self.terms.speakers), len(turn_counts))
        return tuple(row for row in speakers if turn_counts[row] > many)

    @cached_property
    def posted(self) -> PostedMentions:
        """Every mention of what is not common."""
        common, (relative, rows, shares) = set(self.common), self.terms.relatives
        seeds = self.terms.seeds
        kept = np.array([row for row in range(len(seeds)) if row not in common], np.int64)
        of, passage, counts = self.view.mentions_of(np.concatenate((seeds[kept], relative)))
        itself = of < len(kept)
        times = counts.astype(np.float64)
        times[~itself] = shares[of[~itself] - len(kept)]
        row = np.concatenate((kept, rows))[of]
        return PostedMentions(row, passage, self.view.of_turns("session", passage), self.view.within(passage), times)

    @cached_property
    def row_weights(self) -> tuple[RowWeights, RowWeights]:
        """Return the weights of the seeds, and of seeds and unknown words, which come last."""
        terms, turns = self.terms, self.view.turns
        seeds, unknown = len(terms.seeds), len(terms.unknown)
        unknown_counts = [np.unique(self.posted.passage[self.posted.row == seeds + row]).size for row in range(unknown)]
        weights = np.concatenate((terms.weights, np.ones(unknown)))
        rarity = (
            idf(turns, np.concatenate((self.view.holding(terms.seeds), np.array(unknown_counts, np.int64)))) * weights
        )
        among = idf(len(self.view.session_tokens), self._sessions_with()) * terms.weights
        mentioned = RowWeights(terms.weights, rarity[:seeds], among, float(rarity[:seeds].sum()))
        return mentioned, RowWeights(weights, rarity, np.append(among, np.zeros(unknown)), float(rarity.sum()))

    def _sessions_with(self) -> Integers:
        """Count the sessions that mention each seed itself, (seeds,)."""
        seeds = len(self.terms.seeds)
        itself = (self.posted.times >= 1) & (self.posted.row < seeds)
        mentions = np.zeros((seeds, len(self.view.session_tokens)), np.bool_)  # marked, as sorting them takes longer
        mentions[self.posted.row[itself], self.posted.session[itself]] = True
        counts: Integers = mentions.sum(axis=1)
        for common in self.common:
            passages, _ = self.view.holders(int(self.terms.seeds[common]))
            bears = np.zeros(len(self.view.session_tokens), np.bool_)
            bears[self.view.of_turns("session", passages.astype(np.int64))] = True
            counts[common] = int(np.count_nonzero(bears))
        return counts

    @cached_property
    def successions(self) -> tuple[Integers, Integers]:
        """List the turns that are history, and since which turn each is, if what changed may be asked for: (k,) both.

        "I live in Leeds, and my brother works at Bosch" is no history for a question about the brother.
        """
        older, newer = self.view.successions
        if not len(older):
            return older, newer
        asked_for = ~self.mentions(older)  # a turn without a word of the question is history for any
        for place in np.flatnonzero(~asked_for).tolist():
            words = self._words_of_change(int(older[place]), int(newer[place]))
            asked_for[place] = not words or self.asks_with(words)
        return older[asked_for], newer[asked_for]

    def _words_of_change(self, older: int, newer: int) -> set[str]:
        """Collect the words of what a turn states of the slots that a newer one fills again."""
        slots = {each.slot for each in self.view.stated(newer)}
        changed = (words_of(each) for each in self.view.stated(older) if each.slot in slots)
        return {word for words in changed for word in words}

    def mentions(self, turns: Integers) -> Mask:
        """Return which of some turns (k,) mention a word of the question."""
        of, concepts, _ = self.view.concepts_of_turns(turns)
        here: Mask = np.bincount(of[np.isin(concepts, self.terms.words)], minlength=len(turns)) > 0
        return here

    def asks_with(self, said: Iterable[str]) -> bool:
        """Return whether a word of the question may be a form of one of these."""
        known = map(self.view.ids.__getitem__, self.terms.words.tolist())
        return holds_form((*known, *self.terms.unknown), said)

    @cached_property
    def mean_tokens(self) -> float:
        """The mean length of a turn in words, 1 at least."""
        return max(self.view.tokens / max(self.view.turns, 1), 1.0)

    @cached_property
    def mean_session(self) -> float:
        """The mean length of a session in words, 1 at least."""
        return max(self.view.tokens / max(len(self.view.session_tokens), 1), 1.0)

    @cached_property
    def woken(self) -> tuple[Integers, Floats]:
        """The words that the spread woke and that were not asked for, (w,) ascending, and idf · energy of each, > 0."""
        numbers = np.flatnonzero(self.energy > 0)
        energies = self.energy[numbers] * idf(self.view.turns, self.view.holding(numbers))
        energies[self.view.marks(numbers) | np.isin(numbers, self.terms.words)] = 0.0
        return numbers[energies > 0], energies[energies > 0]

    @cached_property
    def kinds(self) -> tuple[tuple[Integers, Floats], ...]:
        """For every asking word the passages that hold a member of the kind, and how rare that is; (m,) each."""
        kinds = []
        for members in self.terms.kinds.values():
            rarity = idf(self.view.turns, self.view.holding(np.array(members)))
            of, passages, _ = self.view.mentions_of(np.array(members))
            kinds.append((passages, rarity[of]))
        return tuple(kinds)

    @cached_property
    def likeness(self) -> Floats | None:
        """By how many deviations each passage's cosine lies above the mean, (p,)."""
        return None if self.cosine is None else standardised(self.cosine)

    @cached_property
    def any_lone(self) -> bool:
        """Return whether any turn is alone in its session."""
        return bool((self.view.session_turns == 1).any())

    @cached_property
    def company(self) -> float:
        """The share of turns that are not alone in their sessions."""
        alone = int(np.count_nonzero(self.view.session_turns == 1))
        return 1 - alone / max(self.view.turns, 1)

    @cached_property
    def touched(self) -> Integers:
        """The sessions in which something that is not common is mentioned, ascending."""
        touches = np.zeros(len(self.view.session_tokens), np.bool_)
        touches[self.posted.session] = True
        for passages, _ in self.kinds:
            touches[self.view.of_turns("session", passages)] = True
        return np.flatnonzero(touches)

    @cached_property
    def near(self) -> SessionLayout:
        """The sessions that were touched, laid out."""
        return self.on(self.touched)

    @cached_property
    def everything(self) -> SessionLayout:
        """All sessions, laid out."""
        return (
            self.near
            if len(self.touched) == len(self.view.session_tokens)
            else self.on(np.arange(len(self.view.session_tokens)))
        )

    def on(self, sessions: Integers) -> SessionLayout:
        """Lay out ascending `sessions`."""
        return SessionLayout(self, self.view.excerpt(sessions))

    def bears(self, concept: int, turn: Integers) -> Integers:
        """Count how often each of `turn` (k,) holds a concept."""
        passages, counts = self.view.holders(concept)
        if not len(passages):
            return np.zeros(len(turn), np.int64)
        at = np.minimum(passages.searchsorted(turn.astype(np.int32)), len(passages) - 1)
        return np.where(passages[at] == turn, counts[at], 0)


class TurnColumns(Remembers):
    """Columns of k turns, with features that depend on the turn alone: (k,) each.

    turn    passage numbers
    within  position of each in its session;  company: how many turns its session has
    """

    def __init__(self, inquiry: Inquiry, turn: Integers, within: Integers, company: Integers) -> None:
        self.inquiry, self.view, self.terms = inquiry, inquiry.view, inquiry.terms
        self.turn, self.within, self.company = turn, within, company

    @classmethod
    def all_of(cls, inquiry: Inquiry) -> Self:
        """Take all turns of the graph, by number."""
        turn = np.arange(inquiry.view.turns)
        company = inquiry.view.session_turns[inquiry.view.of_turns("session", turn)]
        return cls(inquiry, turn, inquiry.view.within(turn), company)

    @cached_property
    def asks(self) -> Floats:
        """1 for the turns that ask something."""
        return self.view.of_turns("question", self.turn).astype(np.float64)

    @cached_property
    def is_first(self) -> Floats:
        """1 for the turns that open their session."""
        first: Floats = (self.within == 0).astype(np.float64)
        return first

    @cached_property
    def lone(self) -> Mask:
        """Return whether each turn is alone in its session."""
        alone: Mask = self.company == 1
        return alone

    @cached_property
    def tokens(self) -> Integers:
        """The length of each turn in words."""
        return self.view.of_turns("tokens", self.turn)

    @cached_property
    def words(self) -> Floats:
        """The length of each turn in words, at least 1."""
        return np.maximum(self.tokens, 1).astype(np.float64)

    @cached_property
    def relative(self) -> Floats:
        """The length of each turn over the mean of all."""
        relative: Floats = self.tokens / self.inquiry.mean_tokens
        return relative

    @cached_property
    def speaker(self) -> Floats:
        """1 for the turns of the speaker named, if it is just one."""
        named = self.terms.named
        if len(named) != 1:
            return np.zeros(len(self.turn))
        speakers: Floats = (self.view.of_turns("speaker", self.turn) == named[0]).astype(np.float64)
        return speakers

    @cached_property
    def importance(self) -> Floats:
        """Return the importance of each turn, from 0 to 1; pinned turns have 1."""
        if self.view.extremes("importance")[1] < 0 and not self.view.extremes("pinned")[1]:  # no turn has any
            return np.full(len(self.turn), UNTOLD)
        matters = importance(self.view.of_turns("importance", self.turn))
        return np.where(self.view.of_turns("pinned", self.turn) > 0, 1.0, matters)

    @cached_property
    def by_assistant(self) -> Mask:
        """Return whether an assistant said each turn."""
        assistant: Mask = self.view.of_turns("role", self.turn) == ROLES.index("assistant")
        return assistant

    @cached_property
    def feedback(self) -> Floats:
        """The sum of what users thought of each turn."""
        thought: Floats = self.view.of_turns("feedback", self.turn) / 10
        return thought

    @cached_property
    def is_history(self) -> Floats:
        """1 for the turns that a later turn supersedes, unless the question asks for the past."""
        older, _ = self.inquiry.successions
        if self.terms.past or not len(older):
            return np.zeros(len(self.turn))
        history: Floats = np.isin(self.turn, older).astype(np.float64)
        return history

    @cached_property
    def is_pictured(self) -> Floats:
        """1 for the turns that a photo came with, if the question asks for one."""
        if not self.terms.pictures:
            return np.zeros(len(self.turn))
        shows: Floats = (self.view.of_turns("modality", self.turn) & modality(["image"]) > 0).astype(np.float64)
        return shows

    @property
    def strongest(self) -> Floats:
        """An upper bound of the idf · energy of the strongest concept of each turn that is not in the question."""
        return np.full(len(self.turn), self.inquiry.woken[1].max(initial=0.0))

    @cached_property
    def likeness(self) -> Floats:
        """Return the similarity of each turn to the question, in deviations from the mean; 0 without embeddings."""
        likeness = self.inquiry.likeness
        return np.zeros(len(self.turn)) if likeness is None else likeness[self.turn]

    def times(self, row: int) -> Integers:
        """Count how often each turn mentions what is asked in a row."""
        return self.inquiry.bears(int(self.terms.seeds[row]), self.turn)

    def bears(self, mark: str) -> Floats:
        """Mark the turns that bear `mark` with 1, all others with 0."""
        number = self.view.number(mark)
        if number is None:
            return np.zeros(len(self.turn))
        borne: Floats = (self.inquiry.bears(number, self.turn) > 0).astype(np.float64)
        return borne


class SessionLayout(TurnColumns):
    """Whole sessions laid out, place by place."""

    def __init__(self, inquiry: Inquiry, excerpt: Excerpt) -> None:
        super().__init__(inquiry, excerpt.turn, excerpt.within, excerpt.end - excerpt.start)
        self.excerpt = excerpt

    def some(self, places: Integers) -> TurnColumns:
        """Take the turns at these places alone."""
        return TurnColumns(self.inquiry, self.turn[places], self.within[places], self.company[places])

    def place(self, passages: Integers) -> Integers:
        """Find the place of each of `passages` (m,), -1 for those that are not laid out."""
        return self.excerpt.place(self.view.of_turns("session", passages), self.view.within(passages))

    @cached_property
    def session_tokens(self) -> Integers:
        """The length of each session that is laid out, in words."""
        return self.view.session_tokens[self.excerpt.sessions]

    @cached_property
    def counts(self) -> Floats:
        """Return how often each turn mentions each row, (rows, k); a share of 1 if it only holds a relative."""
        rows, posted = len(self.inquiry.row_weights[1].weights), self.inquiry.posted
        at = self.excerpt.place(posted.session, posted.within)
        here = np.flatnonzero(at >= 0)
        counts = np.zeros((rows, len(self.turn)))
        np.maximum.at(counts, (posted.row[here], at[here]), posted.times[here])
        for row in self.inquiry.common:
            counts[row] = self.times(row)
        return counts
