"""Recall: a question in; the woken concepts and the passages that answer best out.  It reads a view, changes nothing.

    question → seeds → spreading activation → energies → scores of passages → ranking

Two modes share the graph and the one spreading function; a mode differs in its `Spreading` and in how passages score:

    default   passages match energies BM25-like, then episodic structure counts (RECALL.md; processors/ranking.py)
    literal   seed 000 §4.3: the N most active concepts name the passages, ranked by the energy they hold; no marks

A query never changes state (SEEDS trap T8): what a reinforcing query should record is returned by `reinforced`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from processors.activation import DEFAULT, LITERAL, Activation, Spreading, spread
from processors.association import Edges, edges_out
from processors.extractor import Extraction
from processors.links import recall_links, topic_links
from processors.naming import named_speakers, speaker_mark
from processors.ranking import carried, matched, with_structure
from state.view import Floats, GraphView, Integers

Mode = Literal["default", "literal"]
SPREADING: dict[Mode, Spreading] = {"default": DEFAULT, "literal": LITERAL}


@dataclass(frozen=True)
class RecallOptions:
    """What to recall.

    spreading  SPREADING[mode], or a variation of it by `dataclasses.replace`
    concepts   how many of the most active concepts to list
    passages   how many passages to rank at most; for a context, processors/context.py `most_lines` says how many
    sources    literal mode: how many of the most active concepts name passages (the seed's N; it gives no number)
    """

    mode: Mode = "default"
    spreading: Spreading = DEFAULT
    concepts: int = 10
    passages: int = 100
    sources: int = 20


class Woken(NamedTuple):
    """A concept that holds energy; `path` is the way it first came, concept ids, seed first, itself last."""

    number: int
    id: str
    label: str
    energy: float
    path: tuple[str, ...]


class Ranked(NamedTuple):
    """A passage number and its score, > 0."""

    number: int
    score: float


@dataclass(frozen=True)
class Recollection:
    """What a question brought back.

    seeds     where energy was put in, in the order of the question's concepts, then its speakers; marks included
    concepts  the most active concepts, seeds among them, marks not; by energy descending, then number
    passages  by score descending, then number
    woken     how many nodes hold energy, seeds included
    clamped   whether an energy was cut off at activation.CEILING
    """

    seeds: tuple[Woken, ...]
    concepts: tuple[Woken, ...]
    passages: tuple[Ranked, ...]
    woken: int
    clamped: bool


def recall(view: GraphView, question: Extraction, text: str, options: RecallOptions) -> Recollection:
    """Return what the question `text`, of which `question` was extracted, brings back from `view`.

    A question of which the graph knows nothing brings back nothing: every list is empty.
    """
    named = named_speakers(text, view.speakers)
    seeds = _seeds(view, question, named, options.spreading.marks)
    if not len(seeds):
        return Recollection((), (), (), 0, False)
    activation = _activate(view, seeds, options.spreading)
    words = np.where(view.is_mark, 0.0, activation.energy)
    return Recollection(
        seeds=_described(view, activation, seeds),
        concepts=_described(view, activation, _highest(words, options.concepts)),
        passages=_ranked(_scores(view, activation.energy, words, named, options), options.passages),
        woken=int(np.count_nonzero(activation.energy)),
        clamped=activation.clamped,
    )


def reinforced(recollection: Recollection, threshold: float) -> list[str]:
    """Return the ids that a reinforcing query should record: seeds, then listed concepts with more energy than this."""
    strong = (woken.id for woken in recollection.concepts if woken.energy > threshold)
    return list(dict.fromkeys([*(seed.id for seed in recollection.seeds), *strong]))


def _seeds(view: GraphView, question: Extraction, named: Integers, marks: bool) -> Integers:
    ids = [concept.id for concept in question.concepts] + [speaker_mark(view.speakers[number]) for number in named]
    known = [view.numbers[name] for name in dict.fromkeys(ids) if name in view.numbers]
    return np.array([number for number in known if marks or not view.is_mark[number]], np.int64)


def _activate(view: GraphView, seeds: Integers, how: Spreading) -> Activation:
    counts = view.windows[how.window]

    def edges(firing: Integers) -> Edges:
        out = edges_out(counts, firing, how.weighting)
        if how.recall_links and len(view.windows["recall"].pairs):
            out = out.joined(recall_links(view, firing, how.recall_links))
        if how.topic_links:
            out = out.joined(topic_links(view, firing, how.topic_links))
        return out if how.marks else out.where(~view.is_mark[out.target])

    return spread(seeds, len(view.is_mark), edges, how)


def _scores(view: GraphView, energy: Floats, words: Floats, named: Integers, options: RecallOptions) -> Floats:
    if options.mode == "literal":
        return carried(view, energy, _highest(words, options.sources))
    return with_structure(view, matched(view, energy), named)


def _highest(values: Floats, limit: int) -> Integers:
    """Return the positions of the `limit` highest positive values, highest first, ties by position."""
    candidates = np.flatnonzero(values > 0)
    if limit < len(candidates):
        # Everything that could still tie with the last place stays in, so that ties fall by position alone.
        last = np.partition(values[candidates], -limit)[-limit]
        candidates = candidates[values[candidates] >= last]
    return candidates[np.argsort(-values[candidates], kind="stable")][:limit]


def _ranked(scores: Floats, limit: int) -> tuple[Ranked, ...]:
    best = _highest(scores, limit)
    return tuple(map(Ranked, best.tolist(), scores[best].tolist()))


def _described(view: GraphView, activation: Activation, numbers: Integers) -> tuple[Woken, ...]:
    return tuple(_woken(view, activation, number) for number in numbers.tolist())


def _woken(view: GraphView, activation: Activation, number: int) -> Woken:
    path = tuple(view.ids[node] for node in activation.path(number))
    return Woken(number, view.ids[number], view.labels[number], float(activation.energy[number]), path)
