"""Why a passage was recalled: every term of its score, and the edges over which energy came to it.

Computed again from the view and the question: whoever folds the same log to the same offset gets the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from processors.association import edges_out
from processors.extraction.extractor import Extraction
from processors.recall.activation import Activation, Spreading
from processors.recall.edge_scores import REACH, idf
from processors.recall.features import features
from processors.recall.query_terms import QueryTerms, asked
from processors.recall.recall import RecallOptions, activate, seeds_of
from processors.recall.weights import FEATURES
from state.graph.view import Floats, GraphView, Integers


class Mention(NamedTuple):
    """A seed said in a turn: in the passage itself (distance 0), so many turns before it (< 0) or after it (> 0).

    `weight` is what it counts as a seed, `times` how often the turn says it.  A word that means nearly the same as one
    of the question (processors/lexicon/query_expansion.py) stands here with its share as weight.
    """

    concept: str
    turn: str
    distance: int
    times: int
    weight: float


class Hop(NamedTuple):
    """An association that energy took: how often both were seen together, and the weight of the edge."""

    source: str
    target: str
    times: int
    weight: float


class Kind(NamedTuple):
    """A word of the question that asks for a kind of thing, and the member of the kind that the passage holds."""

    asked: str
    member: str


@dataclass(frozen=True)
class Explanation:
    """Why one passage has its score.

    terms         feature → weight · value, without those that are 0; their sum is the score
    mentions      the question's concepts in the passage and in the turns it inherits from
    associations  the hops to the strongest concept of the passage that the seeds woke, seed first; empty if none
    kinds         members of the kinds that the question asks for
    """

    turn: str
    session: str
    speaker: str
    at: int
    score: float
    terms: dict[str, float]
    mentions: tuple[Mention, ...]
    associations: tuple[Hop, ...]
    kinds: tuple[Kind, ...]


def explain(
    view: GraphView,
    question: Extraction,
    text: str,
    passage: int,
    options: RecallOptions | None = None,
    cosine: Floats | None = None,
) -> Explanation:
    """Return why the default recall gives `passage` (its number) the score that it has for this question."""
    return explanations(view, question, text, [passage], options, cosine)[0]


def explanations(
    view: GraphView,
    question: Extraction,
    text: str,
    passages: Iterable[int],
    options: RecallOptions | None = None,
    cosine: Floats | None = None,
) -> list[Explanation]:
    """Return `explain` of each passage; what concerns the question is computed once."""
    options = options or RecallOptions()
    meant = asked(view, question, text)
    activation = activate(view, seeds_of(view, question, meant, "default"), options.spreading)
    values = features(view, meant, activation.energy, cosine)
    flow = options.flow.vector()

    def terms(passage: int) -> Floats:
        return values[:, view.session_order.place[passage]] * flow

    how = options.spreading
    return [_explanation(view, meant, activation, how, passage, terms(passage)) for passage in passages]


def _explanation(
    view: GraphView, meant: QueryTerms, activation: Activation, how: Spreading, passage: int, terms: Floats
) -> Explanation:
    return Explanation(
        turn=view.passage_id[passage],
        session=view.sessions[view.passage_session[passage]],
        speaker=view.speakers[view.passage_speaker[passage]],
        at=int(view.passage_at[passage]),
        score=float(terms.sum()),
        terms={name: float(term) for name, term in zip(FEATURES, terms, strict=True) if term},
        mentions=_mentions(view, meant, passage),
        associations=_hops(view, meant, activation, how, passage),
        kinds=_kinds(view, meant, passage),
    )


def _mentions(view: GraphView, meant: QueryTerms, passage: int) -> tuple[Mention, ...]:
    order = view.session_order
    place = order.place[passage]
    places = np.arange(max(order.start[place], place - REACH), min(order.end[place], place + REACH + 1))
    near = dict(zip(meant.relatives.concept.tolist(), meant.relatives.share.tolist(), strict=True))
    weights = near | dict(zip(meant.seeds.tolist(), meant.weights.tolist(), strict=True))
    inherited = near.keys() | set(meant.words.tolist())
    return tuple(
        Mention(view.ids[concept], view.passage_id[turn], int(here - place), count, weights[concept])
        for here in sorted(places.tolist(), key=lambda here: abs(here - place))
        for turn in [int(order.order[here])]
        for concept, count in _postings(view, turn)
        if concept in (weights if here == place else inherited)
    )


def _postings(view: GraphView, passage: int) -> list[tuple[int, int]]:
    first, last = np.searchsorted(view.posting_passage, [passage, passage + 1])
    return list(zip(view.posting_concept[first:last].tolist(), view.posting_count[first:last].tolist(), strict=True))


def _hops(view: GraphView, meant: QueryTerms, activation: Activation, how: Spreading, passage: int) -> tuple[Hop, ...]:
    seeds = set(meant.seeds.tolist())
    held = [number for number, _ in _postings(view, passage) if number not in seeds and not view.is_mark[number]]
    concepts = np.array(held, np.int64)
    given = activation.energy[concepts] * idf(len(view.passage_at), view.passages_with[concepts])
    if not (given > 0).any():
        return ()
    path = activation.path(held[int(np.argmax(given))])
    return tuple(_hop(view, source, target, how) for source, target in pairwise(path))


def _hop(view: GraphView, source: int, target: int, how: Spreading) -> Hop:
    counts = view.windows[how.window]
    one = np.array([source])
    _, neighbours, together = counts.pairs.neighbours(one)
    edges = edges_out(counts, one, how.weighting)
    return Hop(
        view.ids[source],
        view.ids[target],
        int(_at(neighbours, together, target)),
        float(_at(edges.target, edges.weight, target)),
    )


def _at(targets: Integers, values: Integers | Floats, target: int) -> float:
    """Return the value at `target`, 0 where two concepts were recalled together but never said together."""
    found = values[targets == target]
    return float(found[0]) if len(found) else 0.0


def _kinds(view: GraphView, meant: QueryTerms, passage: int) -> tuple[Kind, ...]:
    held = {number for number, _ in _postings(view, passage)}
    return tuple(
        Kind(cue, view.ids[member]) for cue, members in meant.kinds.items() for member in members if member in held
    )
