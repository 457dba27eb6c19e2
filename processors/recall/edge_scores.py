"""Flow: how a question's energy reaches turns, over the typed edges of a graph whose nodes are concepts *and* turns.

    edge type     from → to                    how much of the energy passes
    match         concept → turn that          idf · tf (k1 + 1) / (tf + k1 (1 − b + b length / mean)): BM25; what means
                  mentions it                  nearly the same counts in part (query_expansion.py)
    inherited     turn → turns after, before   a mention counts on, · 0.7 for every turn after it and half of that for
                  it, in its session           those before it (ellipsis, "it", "there": what is talked about stays);
                                               the longer the heir, the less it inherits: who says much says it anew
    session       concept → session → its      BM25 of the session, with the rarity among sessions
                  turns
    coverage      concept → turns nearby       share of the question that is said here, one turn away (0.6) or two
                                               (0.3): several seeds that meet
    association   concept → concept → turn     the strongest concept of the turn that the seeds woke (activation.py)
    bridge        concept → turn → concept →   the strongest concept that the turn shares with the turns that match
                  lone turn                    best, and that nobody asked for
    kinds         concept → its members →      for every asking word, how rare the rarest member is that the turn holds
                  turn                         (hyponyms.py)
    reply         question → the turn after    1 where the speaker who is asked about replies

`inherited`, `session` and `coverage` are of company: they are 0 for a lone turn, which nothing stands beside in its
session (a passage, a note), and would only have its match counted again.  Such a turn has its match and what concepts
tell of each other, `association` and `bridge`, which count more there.  In company, what a turn says itself is part of
its session and of what is said nearby: else its neighbours would have for a word what it has not, and rank before it.

What a seed gives is its idf; `match`, `inherited`, `session` and `kinds` are divided by √Σ idf, so that a long question
weighs no more than a short one against what a turn is in itself (features.py).  Everything is laid out in the places of
`view.session_order`.  What was tried: docs/recall.md.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from processors.recall.bm25 import idf, relative, saturated
from processors.recall.query_terms import QueryTerms
from state.arrays import Floats, Integers
from state.graph.view import GraphView

FADING: Final = 0.7  # of a mention, from one turn to the next
BACKWARDS: Final = 0.5  # what a later turn tells of an earlier one
REACH: Final = 8  # turns; 0.7^8 = 0.06 (`faded` doubles three times)
SATURATION: Final = 10.0  # of associations, whose strengths lie mostly between 0.01 and 1
HEIR: Final = 60.0  # words of a turn that inherits half of what a short one does
NEARBY: Final = ((2, 0.3), (1, 0.6))  # distance, share; nearest last
LONE: Final = 1.5  # what an association is worth to a lone turn, times what it is worth to others
BEST: Final = 10  # turns that a bridge starts from
BRIDGES: Final = 40  # concepts that may be one
SHARPNESS: Final = 2.0  # of the shares of the best turns: exp(SHARPNESS · match)

Mask = NDArray[np.bool_]


class Found(NamedTuple):
    """Mentions, one by one: the row and the place of each, how often, and whether it is only of a relative."""

    row: Integers
    at: Integers
    times: Floats
    in_part: Mask


class Mentions:
    """What k words, dates and speakers of a question are mentioned by: a row for each, a column for each of p places.

    counts  (k, p)  how often each turn mentions each; a share of 1 where it only holds a relative (query_expansion.py)
    given   (k,)    what each gives: its rarity · its weight
    """

    def __init__(self, view: GraphView, asked: QueryTerms, found: Found, rows: int) -> None:
        self.view, self.order = view, view.session_order
        self.turns, self.rows = len(view.passage_at), rows
        self.words, self.known = len(asked.words), len(asked.seeds)
        self.row, self.at, self.count, _ = found
        self.counts = self._laid_out(self.row * self.turns + self.at, self.count)
        unknown = np.count_nonzero(self.counts[self.known :], axis=1)
        self.weights = np.concatenate((asked.weights, np.ones(len(unknown))))
        self.given = idf(self.turns, np.concatenate((view.passages_with[asked.seeds], unknown))) * self.weights
        self.total = float(self.given.sum())
        self.relative = relative(view.passage_tokens[self.order.order])

    def _laid_out(self, cell: Integers, count: Floats) -> Floats:
        cells = np.zeros(self.rows * self.turns)
        cells[cell] = count
        return cells.reshape(self.rows, self.turns)

    def match(self) -> Floats:
        """Match the question with what each turn mentions itself: (p,)."""
        return self._normed(self.given @ self._own)

    def inherited(self) -> Floats:
        """Match it with what each turn has from the turns around it, beyond what it mentions itself: (p,)."""
        apart = np.arange(self.turns) + REACH * self.order.session  # so far that nothing reaches another session
        lasting = (self.row < self.words) | (self.row >= self.known)  # dates and speakers are of a turn
        said = np.zeros((self.rows, self.turns + REACH * len(self.order.tokens)))
        said[self.row[lasting], apart[self.at[lasting]]] = self.count[lasting]
        around = faded(said) + BACKWARDS * faded(said[:, ::-1])[:, ::-1]
        with_them = saturated(self.counts + around[:, apart] * self._heir, self.relative)
        return self._normed(self.given @ (with_them - self._own))

    def sessions(self) -> Floats:
        """Match it with the session that each turn belongs to: (p,), 0 for lone turns."""
        number, of = len(self.order.tokens), self.order.session
        cells = np.bincount(self.row * number + of[self.at], self.count, self.rows * number)
        counts = cells.astype(np.float64, copy=False).reshape(self.rows, number)
        given: Floats = idf(number, (counts > 0).sum(axis=1)) * self.weights
        scores = self._normed(given @ saturated(counts, relative(self.order.tokens)))
        return np.where(lone(self.view), 0.0, scores[of])

    def coverage(self) -> Floats:
        """Measure how much of the question is said in a turn or near it: (p,) in [0, 1], 0 for lone turns."""
        cover = np.zeros_like(self.counts)
        for distance, share in NEARBY:
            for at in (-distance, distance):
                near = self.at + at
                here = (near >= self.order.start[self.at]) & (near < self.order.end[self.at])
                cover[self.row[here], near[here]] = share
        cover[self.row, self.at] = 1.0
        shares = self.given @ cover / self.total if self.total else self.given @ cover
        return np.where(lone(self.view), 0.0, shares)

    def new(self) -> Mask:
        """Tell of each turn whether it mentions something that the turn before it in its session does not: (p,)."""
        cell = self.row * self.turns + self.at
        is_new = (self.at == self.order.start[self.at]) | ~np.isin(cell - 1, cell)
        found: Mask = np.bincount(self.at[is_new], minlength=self.turns) > 0
        return found

    @cached_property
    def _heir(self) -> Floats:
        """The share of what is around it that reaches each turn: (p,), the less the more it says itself."""
        share: Floats = 1 / (1 + (self.view.passage_tokens[self.order.order] / HEIR) ** 2)
        return share

    @cached_property
    def _own(self) -> Floats:
        return saturated(self.counts, self.relative)

    def _normed(self, scores: Floats) -> Floats:
        return scores / np.sqrt(self.total) if self.total else scores


def mentions(view: GraphView, asked: QueryTerms) -> tuple[Mentions, Mentions]:
    """Find what mentions the question's seeds, and what mentions them or what means nearly the same.

    Of the latter the rows of the words that the graph does not know stand behind those of the seeds.
    """
    found = _found(view, asked)
    full = ~found.in_part
    said = Found(found.row[full], found.at[full], found.times[full], found.in_part[full])
    seeds, unknown = len(asked.seeds), len(asked.unknown)
    return Mentions(view, asked, said, seeds), Mentions(view, asked, found, seeds + unknown)


def _found(view: GraphView, asked: QueryTerms) -> Found:
    """Find every mention, by row and place ascending; of several relatives in one turn the nearest counts."""
    row_of, share = np.full(len(view.is_mark), -1), np.zeros(len(view.is_mark))
    row_of[asked.relatives.concept], share[asked.relatives.concept] = asked.relatives.row, asked.relatives.share
    row_of[asked.seeds] = np.arange(len(asked.seeds))
    rows = row_of[view.posting_concept]
    found = np.flatnonzero(rows >= 0)
    row, at = rows[found], view.session_order.place[view.posting_passage[found]]
    shares = share[view.posting_concept[found]]
    cells = np.zeros((len(asked.seeds) + len(asked.unknown)) * len(view.passage_at))
    np.maximum.at(cells, row * len(view.passage_at) + at, np.where(shares > 0, shares, view.posting_count[found]))
    _answer_inherits(view, asked, cells.reshape(-1, len(view.passage_at)))
    cell = np.flatnonzero(cells > 0)
    row, at = np.divmod(cell, len(view.passage_at))
    return Found(row, at, cells[cell], cells[cell] < 1)


def _answer_inherits(view: GraphView, asked: QueryTerms, cells: Floats) -> None:
    """Let who answers speak of the dates that the question before named: FADING of a mention, in `cells` (k, p)."""
    dates = slice(len(asked.words), len(asked.words) + len(asked.dates))
    if not len(asked.dates):
        return
    order = view.session_order
    asks = view.passage_question[order.order] & (np.arange(len(order.order)) + 1 < order.end)
    given = np.where(asks, cells[dates], 0.0)[:, :-1] > 0
    cells[dates][:, 1:] = np.maximum(cells[dates][:, 1:], FADING * given)


def faded(counts: Floats) -> Floats:
    """Sum what stands d places before, · FADING^d, over the distances d from 1 to REACH: (k, p)."""
    sums = counts.copy()
    for distance in (1, 2, 4):  # sums over 2, 4, 8 places
        sums[:, distance:] += FADING**distance * sums[:, :-distance]
    sums[:, 1:] = FADING * sums[:, :-1]
    sums[:, :1] = 0.0
    return sums


def associated(view: GraphView, energy: Floats, asked: QueryTerms) -> Floats:
    """Compute (p,) ln(1 + 10 x), x the largest idf · energy among a turn's words that are no seeds, per word asked.

    One strong association tells almost as much as a much stronger one, as one mention does in BM25.
    """
    given = np.where(view.is_mark, 0.0, energy) * idf(len(view.passage_at), view.passages_with)
    given[asked.words] = 0.0
    strongest = _strongest(view, given)[view.session_order.order] / max(len(asked.words), 1)
    return np.log1p(SATURATION * strongest) * np.where(lone(view), LONE, 1.0)


def lone(view: GraphView) -> Mask:
    """Tell of each place (p,) whether its turn is alone in its session."""
    alone: Mask = view.session_order.end - view.session_order.start == 1
    return alone


def bridged(view: GraphView, asked: QueryTerms, match: Floats) -> Floats:
    """Find (p,) the strongest concept that a lone turn shares with the best matches; 0 for turns in company.

    A concept that nobody asked for is as strong as it is rare, times what the best turns say of it: the share of each
    by its `match` (p,), times the BM25 of its mentions.  No turn is a bridge to itself.
    """
    alone = lone(view)
    best = np.argsort(-match, kind="stable")[:BEST]
    best = best[match[best] > 0]
    if not len(best) or not alone.any():
        return np.zeros(len(match))
    among = np.full(len(match), -1)
    among[view.session_order.order[best]] = np.arange(len(best))
    gain = saturated(view.posting_count, relative(view.passage_tokens)[view.posting_passage])
    given = _given(view, asked, among[view.posting_passage], np.exp(SHARPNESS * (match[best] - match[best[0]])), gain)
    strength = given.sum(axis=0)
    rarity = idf(len(match), view.passages_with)
    strength[np.argsort(-strength * rarity, kind="stable")[BRIDGES:]] = 0.0
    found = np.flatnonzero(strength[view.posting_concept] > 0)
    concept, passage = view.posting_concept[found], view.posting_passage[found]
    of_others = strength[concept] - np.where(among[passage] >= 0, given[among[passage], concept], 0.0)
    strongest = np.zeros(len(match))
    np.maximum.at(strongest, passage, gain[found] * of_others)
    return np.where(alone, strongest[view.session_order.order], 0.0)


def _given(view: GraphView, asked: QueryTerms, among: Integers, share: Floats, gain: Floats) -> Floats:
    """Compute (b, n) what each of the best turns gives each concept that is neither a mark nor asked for.

    among  (m,) of each posting: which of the best turns it belongs to, -1 for none;  gain  (m,) its BM25
    share  (b,) of each of the best turns, up to a factor
    """
    usable = ~view.is_mark
    usable[asked.words] = usable[asked.relatives.concept] = False
    held = np.flatnonzero((among >= 0) & usable[view.posting_concept])
    given = np.zeros((len(share), len(view.is_mark)))
    given[among[held], view.posting_concept[held]] = gain[held]
    weighed: Floats = given * (share / share.sum())[:, None] * idf(len(view.passage_at), view.passages_with)
    return weighed


def _strongest(view: GraphView, given: Floats) -> Floats:
    """Find (passages,) the largest `given` (n,) among the concepts of each passage."""
    best = np.zeros(len(view.passage_at))
    starts = view.posting_start
    held = np.flatnonzero(np.diff(starts, append=len(view.posting_concept)))
    if len(held):
        best[held] = np.maximum.reduceat(given[view.posting_concept], starts[held])
    return best


def kinds(view: GraphView, asked: QueryTerms, total: float) -> Floats:
    """Compute (p,) Σ over the asking words: idf of the rarest member of the kind that a turn holds, over √total."""
    scores = np.zeros(len(view.passage_at))
    for members in map(np.array, asked.kinds.values()):
        given = np.zeros(len(view.is_mark))
        given[members] = idf(len(view.passage_at), view.passages_with[members])
        found = np.flatnonzero((given > 0)[view.posting_concept])
        rarest = np.zeros(len(view.passage_at))
        np.maximum.at(rarest, view.posting_passage[found], given[view.posting_concept[found]])
        scores += rarest
    return scores[view.session_order.order] / np.sqrt(total) if total else scores[view.session_order.order]


def holding(view: GraphView, concepts: Integers) -> Mask:
    """Tell of each passage (passages,) whether it holds one of `concepts`."""
    found = np.zeros(len(view.passage_at), np.bool_)
    if len(concepts) == 1:
        found[view.posting_passage[view.posting_concept == concepts[0]]] = True
        return found
    is_one = np.zeros(len(view.is_mark), np.bool_)
    is_one[concepts] = True
    found[view.posting_passage[is_one[view.posting_concept]]] = True
    return found
