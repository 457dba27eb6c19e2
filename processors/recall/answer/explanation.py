"""Explain why a passage was recalled: every term of its score, and the edges over which energy reached it.

It is computed again from the view and the question: every fold of the same log to the same offset explains the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from emgas.messages.explanations import Hop, Kind, Mention, Why
from processors.association import edges_out
from processors.extraction.extractor import Extraction
from processors.recall.answer.closer_look import TERM as CLOSER
from processors.recall.ranking.activation import Activation, SpreadingParameters
from processors.recall.ranking.archive import SHARE as ARCHIVED
from processors.recall.ranking.archive import term
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.edge_scores import REACH
from processors.recall.ranking.features import values
from processors.recall.ranking.inquiry import Inquiry, SessionLayout
from processors.recall.ranking.pronouns import TERM as PRONOUN
from processors.recall.ranking.query_terms import QueryTerms
from processors.recall.ranking.succession import TERM as SUCCESSION
from processors.recall.ranking.weights import FEATURES
from processors.recall.ranking.working_memory import SHARE, TFIDF, weighed
from processors.recall.retrieval.policies import Retriever
from processors.recall.retrieval.recall import Ranked, RecallOptions, RecallResult, activate, seeds_of
from state.arrays import Floats, Integers
from state.graph.view import GraphView

DEFAULTS = RecallOptions()
NOTHING: Final[Mapping[int, float]] = MappingProxyType({})
TELLING = 1e-6  # of a score: less is rounding


def explanations(
    view: GraphView,
    question: Extraction,
    text: str,
    *,
    passages: Iterable[int],
    options: RecallOptions = DEFAULTS,
    cosine: Floats | None = None,
    scores: Sequence[float] | None = None,
    pronouns: Mapping[int, float] = NOTHING,
    closer: Mapping[int, float] = NOTHING,
) -> Iterator[Why]:
    """Explain, one after the other, why the default recall gives each of `passages` (numbers) its score.

    scores    that they were ranked by: what the terms lack of one was handed down by what it superseded (succession.py)
    pronouns  what their pronouns add to the scores, by number (pronouns.py);  closer: what a closer look does

    What concerns the question alone is computed once, before the first.  The graph of `view` must not change meanwhile:
    how often two concepts were said together is read from it.
    """
    meant = options.terms(view, question, text)
    activation = activate(view, seeds_of(view, meant), options.spreading)
    inquiry, flow = Inquiry(view, meant, activation.energy, cosine), options.weights.vector()
    numbers = np.fromiter(passages, np.int64)
    laid = inquiry.on(np.unique(view.of_turns("session", numbers)))
    columns = values(laid)
    for rank, (passage, place) in enumerate(zip(numbers.tolist(), laid.place(numbers).tolist(), strict=True)):
        values_of = zip(FEATURES, columns[:, place] * flow, strict=True)
        nonzero = {name: float(value) for name, value in values_of if value}
        ranked = nonzero | term(view, passage) | options.kind.explained(view, passage)
        ranked |= {PRONOUN: pronouns[passage]} if passage in pronouns else {}
        ranked |= {CLOSER: closer[passage]} if passage in closer else {}
        lacks = 0.0 if scores is None else scores[rank] - sum(ranked.values())
        ranked |= {SUCCESSION: lacks} if lacks > TELLING else {}
        yield Why(
            terms=_of_mind(view, meant, passage, options.now) if options.kind.in_mind else ranked,
            mentions=_mentions(laid, meant, place),
            associations=_hops(view, meant, activation, options.spreading, passage),
            kinds=_kinds(view, meant, passage),
        )


def explanations_of_mode(
    view: GraphView,
    result: RecallResult,
    retriever: Retriever,
    *,
    options: RecallOptions,
    meant: QueryTerms,
    listed: Iterable[Ranked],
) -> Iterator[Why]:
    """Explain, one after the other, why another retriever gave each of `listed` its score."""
    for passage, score in listed:
        activation = result.activation
        terms = dict(result.terms.get(passage, {}))
        if not terms and retriever.explain is not None and activation is not None:
            terms = retriever.explain(view, activation, passage)
            if view.of_turns("archived", np.array([passage]))[0]:
                terms["times_archived"] = ARCHIVED
        yield Why(
            terms=terms or {"score": score},
            mentions=_here(view, meant, passage),
            associations=[] if activation is None else _hops(view, meant, activation, options.spreading, passage),
            kinds=_kinds(view, meant, passage),
        )


def _here(view: GraphView, meant: QueryTerms, passage: int) -> list[Mention]:
    """List the seeds, and what means nearly the same as one of them, in a turn itself."""
    near = dict(zip(meant.relatives.concept.tolist(), meant.relatives.share.tolist(), strict=True))
    weights = near | dict(zip(meant.seeds.tolist(), meant.weights.tolist(), strict=True))
    turn = view.passage_id[passage]
    return [
        Mention(concept=view.ids[concept], weight=weights[concept], turn=turn, distance=0, times=count)
        for concept, count in _postings(view, passage)
        if concept in weights
    ]


def _of_mind(view: GraphView, meant: QueryTerms, passage: int, now: int) -> dict[str, float]:
    """Return the factors of the score of a turn that is in mind (working.py)."""
    terms = weighed(view, meant, np.array([passage]), now)
    shares = {"tf_idf": TFIDF * terms.tfidf, "keywords": SHARE * terms.keywords}
    factors = {"times_decay": terms.decay, "times_importance": terms.importance}
    return {name: float(value[0]) for name, value in (shares | factors).items()}


def _mentions(laid: SessionLayout, meant: QueryTerms, place: int) -> list[Mention]:
    """List the seeds, and what means nearly the same as one of them, in a turn and in those it inherits from."""
    view, order = laid.view, laid.excerpt
    places = np.arange(max(order.start[place], place - REACH), min(order.end[place], place + REACH + 1))
    near = dict(zip(meant.relatives.concept.tolist(), meant.relatives.share.tolist(), strict=True))
    weights = near | dict(zip(meant.seeds.tolist(), meant.weights.tolist(), strict=True))
    inherited = near.keys() | set(meant.words.tolist())
    return [
        Mention(
            concept=view.ids[concept],
            weight=weights[concept],
            turn=view.passage_id[turn],
            distance=int(here - place),
            times=count,
        )
        for here in sorted(places.tolist(), key=lambda here: abs(here - place))
        for turn in [int(order.turn[here])]
        for concept, count in _postings(view, turn)
        if concept in (weights if here == place else inherited)
    ]


def _postings(view: GraphView, passage: int) -> list[tuple[int, int]]:
    _, concepts, counts = view.concepts_of_turns(np.array([passage]))
    return list(zip(concepts.tolist(), counts.tolist(), strict=True))


def _hops(
    view: GraphView, meant: QueryTerms, activation: Activation, how: SpreadingParameters, passage: int
) -> list[Hop]:
    """Trace the hops to the strongest concept of a passage that the seeds woke, seed first; none if there is none."""
    seeds = set(meant.seeds.tolist())
    neighbours = np.array([number for number, _ in _postings(view, passage) if number not in seeds], np.int64)
    concepts = neighbours[~view.marks(neighbours)]
    ids = concepts.tolist()
    weights = activation.energy[concepts] * idf(view.turns, view.holding(concepts))
    if not (weights > 0).any():
        return []
    path = activation.path(ids[int(np.argmax(weights))])
    return [_hop(view, source, target, how) for source, target in pairwise(path)]


def _hop(view: GraphView, source: int, target: int, how: SpreadingParameters) -> Hop:
    counts = view.window(how.window)
    one = np.array([source])
    _, neighbours, together = counts.pairs.neighbours(one)
    edges = edges_out(counts, one, how.weighting)
    return Hop(
        source=view.ids[source],
        target=view.ids[target],
        times=int(_at(neighbours, together, target)),
        weight=_at(edges.target, edges.weight, target),
    )


def _at(targets: Integers, values: Integers | Floats, target: int) -> float:
    """Read the value at `target`, 0 where two concepts were recalled together but never said together."""
    matches = values[targets == target]
    return float(matches[0]) if len(matches) else 0.0


def _kinds(view: GraphView, meant: QueryTerms, passage: int) -> list[Kind]:
    """List the members of the kinds asked for that a passage holds."""
    concepts = {number for number, _ in _postings(view, passage)}
    return [
        Kind(asked=cue, member=view.ids[member])
        for cue, members in meant.kinds.items()
        for member in members
        if member in concepts
    ]
