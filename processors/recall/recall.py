"""Recall: a question in; the woken concepts and the passages that answer best out.  It reads a view, changes nothing.

    question → seeds → spreading activation → energies → flow to turns → scores of passages → ranking

Two modes share the graph and the one spreading function; a mode differs in its `Spreading` and in how passages score:

    default   what flows to a turn over typed edges, and what the turn is (processors/recall/edge_scores.py, features.py, weights.py)
    literal   seed 000 §4.3: the N most active concepts name the passages, ranked by the energy they hold; no marks

A query never changes state (SEEDS trap T8): what a reinforcing query should record is returned by `reinforced`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from processors.association import Edges, edges_out
from processors.extraction.extractor import Extraction
from processors.recall.activation import DEFAULT, LITERAL, Activation, Spreading, spread
from processors.recall.edge_scores import Mask
from processors.recall.filters import Filter
from processors.recall.links import recall_links, topic_links
from processors.recall.query_terms import QueryTerms, asked
from processors.recall.ranking import carried, scored
from processors.recall.weights import DEFAULT_FLOW, FlowWeights
from processors.text.language import clean
from processors.text.question_types import depth, greets
from state.graph.view import Floats, GraphView, Integers

Mode = Literal["default", "literal"]
SPREADING: dict[Mode, Spreading] = {"default": DEFAULT, "literal": LITERAL}


@dataclass(frozen=True)
class RecallOptions:
    """What to recall.

    spreading  SPREADING[mode], or a variation of it by `dataclasses.replace`
    concepts   how many of the most active concepts to list
    passages   how many passages to rank at most; for a context, processors/recall/context.py `most_lines` says how many;
               None: as many as the question needs (processors/text/question_types.py `depth`)
    sources    literal mode: how many of the most active concepts name passages (the seed's N; it gives no number)
    flow       default mode: what each edge type and each property of a turn is worth (processors/recall/weights.py)
    only       which passages may come back
    """

    mode: Mode = "default"
    spreading: Spreading = DEFAULT
    concepts: int = 10
    passages: int | None = 100
    sources: int = 20
    flow: FlowWeights = DEFAULT_FLOW
    only: Filter = field(default_factory=Filter)


class ActivatedConcept(NamedTuple):
    """A concept that holds energy; `path` is the way it first came, concept ids, seed first, itself last."""

    number: int
    id: str
    label: str
    energy: float
    path: tuple[str, ...]


class Ranked(NamedTuple):
    """A passage number and its score; the score of the default mode may be negative, its order is what counts."""

    number: int
    score: float


@dataclass(frozen=True)
class RecallResult:
    """What a question brought back.

    seeds     where energy was put in, in the order of the question's concepts, then its marks and its speakers
    concepts  the most active concepts, seeds among them, marks not; by energy descending, then number
    passages  by score descending, then number
    woken     how many nodes hold energy, seeds included
    depth     how many passages the question needs (processors/text/question_types.py)
    clamped   whether an energy was cut off at activation.CEILING
    """

    seeds: tuple[ActivatedConcept, ...]
    concepts: tuple[ActivatedConcept, ...]
    passages: tuple[Ranked, ...]
    woken: int
    clamped: bool
    depth: int = 0


NOTHING = RecallResult((), (), (), 0, False)


def recall(
    view: GraphView, question: Extraction, text: str, options: RecallOptions, cosine: Floats | None = None
) -> RecallResult:
    """Return what the question `text`, of which `question` was extracted, brings back from `view`.

    cosine  (p,) of each passage with the question, if there are embeddings; the literal mode has no use for it

    A greeting, and a question of which the graph knows nothing, nor what is near it, bring back nothing.
    """
    if options.mode == "default" and greets(clean(text)):
        return NOTHING
    meant = asked(view, question, text)
    seeds = seeds_of(view, question, meant, options.mode)
    near = len(meant.relatives.concept) if options.mode == "default" else 0
    if not len(seeds) and not near and cosine is None:
        return NOTHING
    activation = activate(view, seeds, options.spreading)
    words = np.where(view.is_mark, 0.0, activation.energy)
    needed = depth(text, len(meant.words), len(meant.named))
    limit = needed if options.passages is None else options.passages
    if options.mode == "literal":
        scores = carried(view, activation.energy, highest(words, words > 0, options.sources))
        reached = scores > 0
    else:
        scores, reached = scored(view, meant, activation.energy, options.flow, cosine)
    return RecallResult(
        seeds=_described(view, activation, seeds),
        concepts=_described(view, activation, highest(words, words > 0, options.concepts)),
        passages=_ranked(scores, reached, options.only.allowed(view), limit),
        woken=int(np.count_nonzero(activation.energy)),
        clamped=activation.clamped,
        depth=needed,
    )


def reinforced(recollection: RecallResult, threshold: float) -> list[str]:
    """Return the ids that a reinforcing query should record: seeds, then listed concepts with more energy than this."""
    strong = (woken.id for woken in recollection.concepts if woken.energy > threshold)
    return list(dict.fromkeys([*(seed.id for seed in recollection.seeds), *strong]))


def seeds_of(view: GraphView, question: Extraction, meant: QueryTerms, mode: Mode) -> Integers:
    """Return (k,) where energy is put in: in literal mode the words alone, as the question has them."""
    if mode == "literal":
        known = [number for concept in question.concepts if (number := view.number(concept.id)) is not None]
        return np.array([number for number in known if not view.is_mark[number]], np.int64)
    wants = [number for mark in sorted(meant.wants) if (number := view.number(mark)) is not None]
    return np.concatenate((meant.words, meant.dates, np.array(wants, np.int64), meant.speakers))


def activate(view: GraphView, seeds: Integers, how: Spreading) -> Activation:
    """Return where energy goes from `seeds` over associations, links of recall and links by topic."""
    counts = view.windows[how.window]

    def edges(firing: Integers) -> Edges:
        firing = firing if how.marks else firing[~view.is_mark[firing]]
        out = edges_out(counts, firing, how.weighting)
        if how.recall_links and view.windows["recall"].pairs:
            out = out.joined(recall_links(view, firing, how.recall_links))
        if how.topic_links:
            out = out.joined(topic_links(view, firing, how.topic_links))
        return out if how.marks else out.where(~view.is_mark[out.target])

    return spread(seeds, len(view.is_mark), edges, how)


def highest(values: Floats, among: Mask, limit: int) -> Integers:
    """Return the positions of the `limit` highest values `among` these, highest first, ties by position."""
    candidates = np.flatnonzero(among)
    if 0 < limit < len(candidates):
        # Everything that could still tie with the last place stays in, so that ties fall by position alone.
        last = np.partition(values[candidates], -limit)[-limit]
        candidates = candidates[values[candidates] >= last]
    return candidates[np.argsort(-values[candidates], kind="stable")][:limit]


def _ranked(scores: Floats, reached: Mask, allowed: Mask | None, limit: int) -> tuple[Ranked, ...]:
    best = highest(scores, reached if allowed is None else reached & allowed, limit)
    return tuple(map(Ranked, best.tolist(), scores[best].tolist()))


def _described(view: GraphView, activation: Activation, numbers: Integers) -> tuple[ActivatedConcept, ...]:
    return tuple(_woken(view, activation, number) for number in numbers.tolist())


def _woken(view: GraphView, activation: Activation, number: int) -> ActivatedConcept:
    path = tuple(view.ids[node] for node in activation.path(number))
    return ActivatedConcept(number, view.ids[number], view.labels[number], float(activation.energy[number]), path)
