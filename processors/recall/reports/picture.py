"""Pictures: the part of a graph that is worth drawing, as columns of numbers.

    which concepts   the strongest, or those that are fewest links away from some; marks are no words, and not drawn
    which links      the strongest of each concept, then the second of each, to the 4th, so that nothing hangs loose;
                     then the strongest of the rest; last those of concepts that meet by chance alone
    which turns      the newest that hold one of these concepts
    activity         how many turns were said when, for a slider over time

Nothing is changed.  A large picture takes long, so it is a generator as an answer is (answer/answer.py).
"""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from emgas.limits import PICTURED_LINKS
from emgas.messages.fields import Position
from emgas.messages.pictures import (
    Activity,
    Picture,
    Pictured,
    PicturedConcepts,
    PicturedLinks,
    PicturedPassages,
    PicturedTheme,
)
from processors.association import edges_out
from processors.extraction.extractor import Extractor
from processors.lifecycle.steps import Steps
from processors.recall.answer.prepared_query import concept_ids
from processors.recall.answer.turn_facts import GraphMoment
from processors.recall.ranking.activation import DEFAULT
from processors.text.shown import Shown
from state.arrays import Floats, Integers, Mask
from state.graph.graph import Graph

STRONGEST: Final = 4  # links of each concept that come before all others
AT_ONCE: Final = 200  # concepts whose links are read without letting others in: a few milliseconds
STRENGTHS_AT_ONCE: Final = 2000  # likewise
PARTS: Final = 120  # of the time that `activity` counts turns in
DIGITS: Final = 6  # of strengths and weights


class _Links(NamedTuple):
    """Links in both directions, by source ascending: (m,) concept numbers, weight, exchanges that held both."""

    source: Integers
    target: Integers
    weight: Floats
    times: Integers


def draw_picture(graph: Graph | None, request: Picture, extractor: Extractor, position: Position) -> Steps[Pictured]:
    """Return the picture of a graph, None if it has no events.  Raises GraphChangedError: begin again."""
    if graph is None or graph.is_blank:
        return Pictured(graph=request.graph, found=False, position=position)
    return (yield from _Picture(graph, request).steps(extractor, position))


class _Picture:
    """One picture while it is made, of the graph as it is now."""

    def __init__(self, graph: Graph, request: Picture) -> None:
        self._graph, self._request = graph, request
        self._view, self._moment = graph.view(), GraphMoment(graph)
        self._words = np.flatnonzero(~self._view.is_mark)
        self._shown = Shown(self._view.concept_table)

    def steps(self, extractor: Extractor, position: Position) -> Steps[Pictured]:
        strengths = yield from self._strengths()
        if self._request.around:
            chosen, hops = yield from self._grown(extractor, strengths)
        else:
            chosen = self._strongest(strengths)
            hops = np.zeros(len(chosen), np.int64)
        links = yield from self._links_among(chosen)
        themes = [theme for theme in self._view.themes if np.isin(theme.members, chosen).any()]
        return Pictured(
            graph=self._request.graph,
            found=True,
            clock=self._view.clock,
            total=len(self._words),
            concepts=self._concepts(chosen, hops, strengths, {m: n for n, t in enumerate(themes) for m in t.members}),
            links=_columns(links, chosen, self._request.links),
            passages=self._passages(chosen),
            themes=[
                PicturedTheme(id=each.id, label=self._shown.title(each.members), born=each.born) for each in themes
            ],
            activity=self._activity(),
            position=position,
        )

    def _strengths(self) -> Steps[Floats]:
        """Compute (n,) the strength of every word at the graph's clock."""
        strengths, concepts, clock = np.zeros(len(self._view.is_mark)), self._graph.concepts, self._view.clock
        for count, number in enumerate(self._words.tolist()):
            if count and count % STRENGTHS_AT_ONCE == 0:
                yield from self._moment.let_others_in()
            strengths[number] = concepts.strength_of(number, clock, self._view.settings)
        return strengths

    def _strongest(self, strengths: Floats) -> Integers:
        """Choose the strongest words that are fit for people, then others if there is room; order them by strength.

        Archived words come after all others.
        """
        order = np.lexsort((self._words, -strengths[self._words], self._view.is_archived[self._words]))
        ranked = self._words[order]
        shown = (number for number in ranked.tolist() if self._shown.label(number) is not None)
        first = np.array(list(islice(shown, self._request.nodes)), np.int64)
        rest = ranked[~np.isin(ranked, first)][: self._request.nodes - len(first)]
        return ranked[np.isin(ranked, np.concatenate((first, rest)))]

    def _grown(self, extractor: Extractor, strengths: Floats) -> Steps[tuple[Integers, Integers]]:
        """Choose what is fewest links away from the concepts asked for; of as many, what has the strongest link."""
        ids = dict.fromkeys(concept_ids(self._request.around, self._view, extractor))
        numbers = [number for name in ids if (number := self._view.number(name)) is not None]
        ring = np.array([number for number in numbers if not self._view.is_mark[number]], np.int64)[
            : self._request.nodes
        ]
        chosen, hops = [ring], [np.zeros(len(ring), np.int64)]
        seen = np.array(self._view.is_mark)
        seen[ring] = True
        for hop in range(1, self._request.hops + 1):
            room = self._request.nodes - sum(map(len, chosen))
            if not room or not len(ring):
                break
            ring = _nearest((yield from self._links(np.sort(ring))), seen, room)
            seen[ring] = True
            chosen.append(ring)
            hops.append(np.full(len(ring), hop))
        return np.concatenate(chosen), np.concatenate(hops)

    def _links_among(self, chosen: Integers) -> Steps[_Links]:
        is_chosen = np.zeros(len(self._view.is_mark), np.bool_)
        is_chosen[chosen] = True
        return (yield from self._links(np.sort(chosen), is_chosen))

    def _links(self, concepts: Integers, among: Mask | None = None) -> Steps[_Links]:
        """Read the links out of ascending `concepts`, to words `among` (n,) these."""
        counts, parts = self._view.window(DEFAULT.window), []
        for first in range(0, len(concepts), AT_ONCE):
            if first:
                yield from self._moment.let_others_in()
            some = concepts[first : first + AT_ONCE]
            edges, times = edges_out(counts, some, DEFAULT.weighting), counts.pairs.neighbours(some)[2]
            is_drawn = ~self._view.is_mark[edges.target]
            if among is not None:
                is_drawn &= among[edges.target]
            parts.append(
                _Links(edges.source[is_drawn], edges.target[is_drawn], edges.weight[is_drawn], times[is_drawn])
            )
        if not parts:
            nothing = np.zeros(0, np.int64)
            return _Links(nothing, nothing, np.zeros(0), nothing)
        return _Links(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _concepts(
        self, chosen: Integers, hops: Integers, strengths: Floats, theme_of: dict[int, int]
    ) -> PicturedConcepts:
        view, numbers = self._view, chosen.tolist()
        return PicturedConcepts(
            ids=[view.ids[number] for number in numbers],
            labels=[self._shown.label(number) or view.labels[number] for number in numbers],
            strengths=strengths[chosen].round(DIGITS).tolist(),
            mentions=view.windows["turn"].concept[chosen].tolist(),
            themes=[theme_of.get(number, -1) for number in numbers],
            hops=hops.tolist(),
            born=view.created[chosen].tolist(),
            touched=view.accessed[chosen].tolist(),
            long_term=[bool(self._graph.concepts.long_term[number]) for number in numbers],
            archived=view.is_archived[chosen].tolist(),
            pinned=[bool(self._graph.concepts.pinned[number]) for number in numbers],
        )

    def _passages(self, chosen: Integers) -> PicturedPassages:
        """List the newest turns that hold a chosen concept."""
        view = self._view
        place = np.full(len(view.is_mark), -1)
        place[chosen] = np.arange(len(chosen))
        holds = place[view.posting_concept] >= 0
        holding = np.unique(view.posting_passage[holds])
        newest = holding[np.lexsort((holding, view.passage_at[holding]))][::-1][: self._request.passages]
        at = np.full(len(view.passage_at), -1)
        at[newest] = np.arange(len(newest))
        postings = np.flatnonzero(holds & (at[view.posting_passage] >= 0))[:PICTURED_LINKS]
        return PicturedPassages(
            ids=[view.passage_id[number] for number in newest.tolist()],
            sessions=[view.sessions[number] for number in view.passage_session[newest].tolist()],
            speakers=[view.speakers[number] for number in view.passage_speaker[newest].tolist()],
            at=view.passage_at[newest].tolist(),
            archived=view.passage_archived[newest].tolist(),
            held_by=at[view.posting_passage[postings]].tolist(),
            holds=place[view.posting_concept[postings]].tolist(),
        )

    def _activity(self) -> Activity:
        at = self._view.passage_at
        if not len(at):
            return Activity(first=self._view.clock, last=self._view.clock)
        first, last = int(at.min()), int(at.max())
        part = (at - first) * PARTS // (last - first + 1)
        return Activity(first=first, last=last, turns=np.bincount(part, minlength=PARTS).tolist())


def _nearest(links: _Links, seen: Mask, room: int) -> Integers:
    """Choose at most `room` targets that were not seen, the one on the strongest link first, ties by number."""
    new = ~seen[links.target]
    best = np.zeros(len(seen))
    np.maximum.at(best, links.target[new], links.weight[new])
    positions = np.flatnonzero(best)
    return positions[np.argsort(-best[positions], kind="stable")][:room]


def _columns(links: _Links, chosen: Integers, limit: int) -> PicturedLinks:
    """Lay each link out once, in the order of `ranks`; ends are positions in `chosen`."""
    rank = _ranks(links)
    backward = np.argsort(links.target << 32 | links.source, kind="stable")  # the same link from its other end
    rank = np.minimum(np.minimum(rank, rank[backward]), STRONGEST)
    rank[links.weight == 0] = STRONGEST
    once = np.flatnonzero(links.source < links.target)
    order = once[np.lexsort((once, -links.weight[once], rank[once]))][:limit]
    by_number = np.argsort(chosen)
    place = by_number[np.searchsorted(chosen, np.stack((links.source[order], links.target[order])), sorter=by_number)]
    return PicturedLinks(
        sources=place[0].tolist(),
        targets=place[1].tolist(),
        weights=links.weight[order].round(DIGITS).tolist(),
        times=links.times[order].tolist(),
    )


def _ranks(links: _Links) -> Integers:
    """Rank each link among those of its source, the strongest 0."""
    order = np.lexsort((links.target, -links.weight, links.source))
    starts = np.searchsorted(links.source, links.source, "left")  # sources ascend, and so they do in `order`
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - starts
    return rank
