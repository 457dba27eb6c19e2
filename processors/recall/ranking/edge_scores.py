"""Flow: how a question's energy reaches turns, over the typed edges of a graph whose nodes are concepts *and* turns.

    edge type     from → to                    how much of the energy passes
    match         concept → turn that          idf · tf (k1 + 1) / (tf + k1 (1 − b + b length / mean)): BM25; what means
                  mentions it                  nearly the same counts in part (query_expansion.py)
    inherited     turn → turns after, before   a mention counts on, · 0.7 for every turn after it and half of that for
                  it, in its session           those before it (ellipsis, "it", "there": what is talked about stays);
                                               a longer turn inherits less, because it repeats the words that it needs
    session       concept → session → its      BM25 of the session, with the rarity among sessions
                  turns
    coverage      concept → turns nearby       share of the question that is said here, one turn away (0.6) or two
                                               (0.3): several seeds that meet
    association   concept → concept → turn     the strongest concept of the turn that the seeds woke (activation.py)
    bridge        concept → turn → concept →   the strongest concept that the turn shares with the turns that match
                  lone turn                    best, and that is not in the question
    kinds         concept → its members →      for every asking word, how rare the rarest member is that the turn holds
                  turn                         (hyponyms.py)
    reply         question → the turn after    1 where the speaker who is asked about replies

`inherited`, `session` and `coverage` depend on other turns of the session.  If every turn is alone in its session
(passages, notes), they are 0, because they would only count the match again.  Such a turn has its match, and
`association` and `bridge`, which count more there.  A turn's own words are part of its session and its neighbourhood:
otherwise its neighbours would get more for a word than the turn itself.  For the same reason, a lone turn in a graph
with other sessions gets `session` and `coverage` for its own words, scaled by the share of turns that are in company.

The energy of a seed is its idf.  `match`, `inherited`, `session` and `kinds` are divided by √Σ idf, so that a long and
a short question have the same weight against a turn's own features (features.py).  Experiments: evaluation/README.md.

A term is computed for each turn of a SessionLayout (inquiry.py); the other turns of the layout must not change a bit of
it.  So rows are added in order (`added`), never by a matrix product, whose order depends on its size.  Each term has an
upper bound for turns of sessions that the question does not touch (best_turns.py).
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from processors.recall.ranking.bm25 import K1, idf, saturated
from processors.recall.ranking.inquiry import Inquiry, RowWeights, SessionLayout, TurnColumns
from state.arrays import Floats, Integers

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


class QuestionMentions:
    """The mentions of k words, dates and speakers of a question: a row for each, a column for each of p places.

    counts  (k, p)  how often each turn mentions each; a share of 1 where it only holds a relative (query_expansion.py)
    weights   (k,)    what each gives: its rarity · its weight
    """

    def __init__(self, laid: SessionLayout, counts: Floats, weights: RowWeights) -> None:
        self.laid: SessionLayout = proxy(
            laid
        )  # which keeps these: no circle, so that a graph that is let go of goes at once
        self.excerpt, self.counts, self.turns = laid.excerpt, counts, len(laid.turn)
        self.weights, self.total, self._among_sessions = weights.turns, weights.total, weights.sessions
        self.words, self.seeds = len(laid.terms.words), len(laid.terms.seeds)
        self.row, self.at = np.divmod(np.flatnonzero(counts > 0), max(self.turns, 1))

    def match(self) -> Floats:
        """Match the question with what each turn mentions itself: (p,)."""
        return self._normed(added(self.weights, self._own))

    def inherited(self) -> Floats:
        """Match it with what each turn has from the turns around it, beyond what it mentions itself: (p,)."""
        apart = np.arange(self.turns) + REACH * self.excerpt.session  # so far that nothing reaches another session
        lasting = (self.row < self.words) | (self.row >= self.seeds)  # dates and speakers are of a turn
        mentions = np.zeros((len(self.counts), self.turns + REACH * len(self.excerpt.sessions)))
        row, at = self.row[lasting], self.at[lasting]
        mentions[row, apart[at]] = self.counts[row, at]
        around = faded(mentions) + BACKWARDS * faded(mentions[:, ::-1])[:, ::-1]
        with_them = saturated(self.counts + around[:, apart] * self._heir, self.laid.relative)
        return self._normed(added(self.weights, with_them - self._own))

    def sessions(self) -> Floats:
        """Match it with the session that each turn belongs to: (p,), less for lone turns."""
        number, of = len(self.excerpt.sessions), self.excerpt.session
        cells = np.bincount(self.row * number + of[self.at], self.counts[self.row, self.at], len(self.counts) * number)
        counts = cells.astype(np.float64, copy=False).reshape(len(self.counts), number)
        lengths = self.laid.session_tokens / self.laid.inquiry.mean_session
        scores = self._normed(added(self._among_sessions, saturated(counts, lengths)))
        return self._of_company(scores[of])

    def coverage(self) -> Floats:
        """Measure how much of the question is said in a turn or near it: (p,) in [0, 1], less for lone turns."""
        cover = np.zeros_like(self.counts)
        for distance, share in NEARBY:
            for at in (-distance, distance):
                near = self.at + at
                here = (near >= self.excerpt.start[self.at]) & (near < self.excerpt.end[self.at])
                cover[self.row[here], near[here]] = share
        cover[self.row, self.at] = 1.0
        shares = added(self.weights, cover) / self.total if self.total else added(self.weights, cover)
        return self._of_company(shares)

    def new(self) -> Mask:
        """Return for each turn (p,) whether it mentions a word that the turn before it in its session does not."""
        cell = self.row * self.turns + self.at
        is_new = (self.at == self.excerpt.start[self.at]) | ~np.isin(cell - 1, cell)
        has_new: Mask = np.bincount(self.at[is_new], minlength=self.turns) > 0
        return has_new

    def _of_company(self, scores: Floats) -> Floats:
        """Return scores (p,) with those of lone turns scaled by the share of turns that are in company."""
        return np.where(self.laid.lone, self.laid.inquiry.company * scores, scores)

    @cached_property
    def _heir(self) -> Floats:
        """The share of what is around it that reaches each turn: (p,), the less the more it says itself."""
        share: Floats = 1 / (1 + (self.laid.tokens / HEIR) ** 2)
        return share

    @cached_property
    def _own(self) -> Floats:
        return saturated(self.counts, self.laid.relative)

    def _normed(self, scores: Floats) -> Floats:
        return normed(scores, self.total)


def normed(scores: Floats, total: float) -> Floats:
    """Divide by √total, so that a long question weighs no more than a short one."""
    return scores / np.sqrt(total) if total else scores


def added(weights: Floats, values: Floats) -> Floats:
    """Add up rows (k, p), each times what it gives (k,): (p,), one row after the other."""
    total = np.zeros(values.shape[1])
    for each, row in zip(weights.tolist(), values, strict=True):
        if each:
            total += each * row
    return total


def find_mentions(laid: SessionLayout) -> tuple[QuestionMentions, QuestionMentions]:
    """Lay out what mentions the question's seeds, and what mentions them or what means nearly the same.

    Of the latter the rows of the words that the graph does not know stand behind those of the seeds.
    """
    (weights, near), counts = laid.inquiry.row_weights, laid.counts.copy()
    _answer_inherits(laid, counts)
    full = counts[: len(weights.weights)]
    every = QuestionMentions(laid, counts, near)
    if not len(laid.terms.relatives.concept) and not len(laid.terms.dates):  # no mention counts in part
        return every, every
    return QuestionMentions(laid, np.where(full >= 1, full, 0.0), weights), every


def _answer_inherits(laid: SessionLayout, counts: Floats) -> None:
    """Add to replies the dates that the question before them named: FADING of a mention, in `counts` (k, p)."""
    dates = slice(len(laid.terms.words), len(laid.terms.words) + len(laid.terms.dates))
    if not len(laid.terms.dates):
        return
    asks = (laid.asks > 0) & (np.arange(len(laid.turn)) + 1 < laid.excerpt.end)
    has_dates = np.where(asks, counts[dates], 0.0)[:, :-1] > 0
    counts[dates][:, 1:] = np.maximum(counts[dates][:, 1:], FADING * has_dates)


def faded(counts: Floats) -> Floats:
    """Sum what stands d places before, · FADING^d, over the distances d from 1 to REACH: (k, p)."""
    sums = counts.copy()
    for distance in (1, 2, 4):  # sums over 2, 4, 8 places
        sums[:, distance:] += FADING**distance * sums[:, :-distance]
    sums[:, 1:] = FADING * sums[:, :-1]
    sums[:, :1] = 0.0
    return sums


def common_match(turns: TurnColumns) -> Floats:
    """Match turns with what is common alone, which is all that one of an untouched session can match."""
    _, near = turns.inquiry.row_weights
    score = np.zeros(len(turns.turn))
    for row in turns.inquiry.common:
        score += near.turns[row] * saturated(turns.times(row), turns.relative)
    return normed(score, near.total)


def most_of_session(turns: TurnColumns) -> Floats:
    """Bound what a session can add to turns that match only what is common."""
    weights, _ = turns.inquiry.row_weights
    most = sum(weights.sessions[row] for row in turns.inquiry.common) * (K1 + 1)
    return normed(np.full(len(turns.turn), float(most)), weights.total)


def most_coverage(turns: TurnColumns) -> Floats:
    """Bound the coverage of turns around which only what is common is said."""
    weights, _ = turns.inquiry.row_weights
    most = sum(weights.turns[row] for row in turns.inquiry.common)
    return np.full(len(turns.turn), float(most / weights.total if weights.total else most))


def associated(turns: TurnColumns) -> Floats:
    """Compute (p,) ln(1 + 10 x), x the largest idf · energy among a turn's words that are no seeds, per word asked.

    One strong association tells almost as much as a much stronger one, as one mention does in BM25.
    """
    numbers, woken = turns.inquiry.woken
    energies = np.zeros(turns.view.concepts)
    energies[numbers] = woken
    return saturated_association(turns, _strongest(turns, energies))


def saturated_association(turns: TurnColumns, strongest: Floats) -> Floats:
    """Compute what an association is worth to turns (p,) whose strongest concept has this idf · energy (p,)."""
    alone = LONE + (1 - LONE) * turns.inquiry.company
    return np.log1p(SATURATION * (strongest / max(len(turns.terms.words), 1))) * np.where(turns.lone, alone, 1.0)


def _strongest(turns: TurnColumns, energies: Floats) -> Floats:
    """Find (p,) the largest `energies` (n,) among the concepts of each turn."""
    if 2 * len(turns.turn) > turns.view.turns:  # most of them: all are sooner looked at than these are picked
        return turns.view.most_of_turn(energies)[turns.turn]
    best = np.zeros(len(turns.turn))
    lengths, concepts = turns.view.concepts_of(turns.turn)
    holds = np.flatnonzero(lengths)
    if len(holds):
        best[holds] = np.maximum.reduceat(energies[concepts], (lengths.cumsum() - lengths)[holds])
    return best


class Bridge(NamedTuple):
    """The concepts that lead from the best matches to lone turns.

    strength  (n,) of each concept, 0 for all but BRIDGES
    best      (b,) the turns that it starts from, ascending
    mentions  (b, c) what each of them gives each of `concepts`
    concepts  (c,) that any of them holds, ascending
    """

    strength: Floats
    best: Integers
    mentions: Floats
    concepts: Integers

    @property
    def ends(self) -> Integers:
        """The concepts that are bridges."""
        return np.flatnonzero(self.strength > 0)


def find_bridges(inquiry: Inquiry) -> Bridge | None:
    """Return the bridges of a question, None if there is no lone turn or no match.

    The strength of a concept outside the question is its rarity times the sum over the best turns: the share of a
    turn by its match, times the BM25 of its mentions.
    """
    best, match = _best_matches(inquiry) if inquiry.any_lone else (np.zeros(0, np.int64), np.zeros(0))
    if not len(best):
        return None
    of, concept, count = inquiry.view.concepts_of_turns(best)
    concepts, column = np.unique(concept, return_inverse=True)
    relative = inquiry.view.of_turns("tokens", best) / inquiry.mean_tokens
    mentions = np.zeros((len(best), len(concepts)))
    mentions[of, column] = saturated(count, relative[of])
    mentions[:, ~_usable(inquiry, concepts)] = 0.0
    share = np.exp(SHARPNESS * (match - match[0]))
    rarity = idf(inquiry.view.turns, inquiry.view.holding(concepts))
    mentions = mentions * (share / share.sum())[:, None] * rarity
    sums = mentions.sum(axis=0)
    sums[np.argsort(-sums * rarity, kind="stable")[BRIDGES:]] = 0.0
    strength = np.zeros(inquiry.view.concepts)
    strength[concepts] = sums
    order = np.argsort(best)
    return Bridge(strength, best[order], mentions[order], concepts)


def _usable(inquiry: Inquiry, concepts: Integers) -> Mask:
    """Return which concepts are neither marks nor asked for."""
    query_concepts = np.concatenate((inquiry.terms.words, inquiry.terms.relatives.concept))
    return ~inquiry.view.marks(concepts) & ~np.isin(concepts, query_concepts)


def find_matches(inquiry: Inquiry) -> tuple[Integers, Floats]:
    """List all turns that match, by number, and how well each does; (k,) both."""
    laid = inquiry.near
    everywhere = common_match(TurnColumns.all_of(inquiry)) if inquiry.common else np.zeros(inquiry.view.turns)
    everywhere[laid.turn] = laid.once(find_mentions)[1].match()
    turn = np.flatnonzero(everywhere > 0)
    return turn, everywhere[turn]


def _best_matches(inquiry: Inquiry) -> tuple[Integers, Floats]:
    """Find the BEST turns that match best, best first, and how well; of equals, in the order of sessions."""
    turn, match = inquiry.once(find_matches)
    best = np.arange(len(turn))
    if len(best) > BEST:
        best = best[match[best] >= np.partition(match[best], -BEST)[-BEST]]
    turn, match = turn[best], match[best]
    order = np.lexsort((inquiry.view.within(turn), inquiry.view.of_turns("session", turn), -match))[:BEST]
    return turn[order], match[order]


def bridged(laid: SessionLayout) -> Floats:
    """Find (p,) the strongest concept that a lone turn shares with the best matches; 0 for turns in company.

    No turn is a bridge to itself.
    """
    strongest, values = np.zeros(len(laid.turn)), laid.inquiry.once(find_bridges)
    if values is None or not laid.lone.any():
        return strongest
    return _over(values, laid, strongest)


def _over(bridge: Bridge, laid: SessionLayout, strongest: Floats) -> Floats:
    alone = np.flatnonzero(laid.lone)
    of, concept, count = laid.view.concepts_of_turns(laid.turn[alone])
    positions = np.flatnonzero(bridge.strength[concept] > 0)
    place, concept = alone[of[positions]], concept[positions]
    gain = saturated(count[positions], laid.relative[place])
    at = np.minimum(np.searchsorted(bridge.best, laid.turn[place]), len(bridge.best) - 1)
    own = np.where(
        bridge.best[at] == laid.turn[place], bridge.mentions[at, np.searchsorted(bridge.concepts, concept)], 0.0
    )
    np.maximum.at(strongest, place, gain * (bridge.strength[concept] - own))
    return strongest


def kinds(laid: SessionLayout) -> Floats:
    """Compute (p,) Σ over the asking words: idf of the rarest member of the kind that a turn holds, over √total."""
    scores = np.zeros(len(laid.turn))
    for passages, rarity in laid.inquiry.kinds:
        place = laid.place(passages)
        rarest = np.zeros(len(laid.turn))
        np.maximum.at(rarest, place[place >= 0], rarity[place >= 0])
        scores += rarest
    return normed(scores, laid.inquiry.row_weights[0].total)
