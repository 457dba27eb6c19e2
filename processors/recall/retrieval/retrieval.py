"""One question, one answer path: whichever mode is asked for, what it finds becomes the same RecallResult.

default, literal   recall.py
staged             modes/staged.py, over default, ppr and path
every other        modes/registry.py: what was put in → what woke and what was found

then a second round, if it is asked for; then the best ordered anew, if that is (rerank.py)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from emgas.messages.modes import Mode, Stage
from processors.extraction.extractor import Extraction
from processors.recall.ranking.activation import Activation
from processors.recall.ranking.archive import SHARE, behind
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.query_terms import QueryTerms
from processors.recall.ranking.succession import current_first
from processors.recall.retrieval.modes import path, ppr, staged
from processors.recall.retrieval.modes.constants import MODES
from processors.recall.retrieval.modes.matching import matched
from processors.recall.retrieval.modes.registry import FINDS
from processors.recall.retrieval.modes.seam import ModeInput, ModeResult
from processors.recall.retrieval.modes.seeds import put_in
from processors.recall.retrieval.modes.staged import Ranking
from processors.recall.retrieval.modes.ways import likeliest
from processors.recall.retrieval.recall import (
    MOST_RECALLED,
    NOTHING,
    RecallOptions,
    RecallResult,
    described,
    needs,
    ranked,
    recall,
    recalled,
    seeds_of,
    shown,
    strongest_of,
)
from processors.recall.retrieval.rerank import Candidates, formula_of, reranked
from processors.text.complexity import complexity
from processors.text.language import clean
from processors.text.question_types import greets
from state.arrays import Floats, Integers
from state.graph.view import GraphView

READ_AGAIN: Final = 8  # of the best passages of a first round, whose words a second one seeks too,
FURTHER: Final = 8  # so many words at most


def retrieve(
    view: GraphView, question: Extraction, text: str, options: RecallOptions, cosine: Floats | None = None
) -> RecallResult:
    """Recall from `view` in the mode that is asked for; see `recall`.

    cosine  (p,) of each passage with the question, if there are embeddings

    Raises TooMuchAskedError where a mode looks at the whole graph and that is too large.
    """
    wide = options
    if options.rerank is not None and options.passages is not None:
        fetched = formula_of(options.rerank, options.memory).fetched
        wide = replace(options, passages=fetched * options.passages)
    asking = _Asking(view, question, text, wide, cosine)
    found = asking.once()
    if options.rounds > 1 and found.passages:
        found = asking.again(found)
    if options.rerank is not None and found.passages:
        found = asking.ordered_anew(found, options.passages)
    return found


@dataclass
class _Asking:
    """One question to one graph."""

    view: GraphView
    question: Extraction
    text: str
    options: RecallOptions
    cosine: Floats | None

    def once(self) -> RecallResult:
        """Ask, in one round."""
        if self.options.mode in ("default", "literal"):
            return recall(self.view, self.question, self.text, self.options, self.cosine)
        if greets(clean(self.text)) or not self._anything:
            return NOTHING
        found = self._staged() if self.options.mode == "staged" else FINDS[self.options.mode](self._given())
        return self._result(found)

    @property
    def _anything(self) -> bool:
        """Whether anything of the question leads into the graph."""
        return bool(self._energy.any()) or (self.cosine is not None and self.options.mode in ("vector", "staged"))

    @cached_property
    def _meant(self) -> QueryTerms:
        return self.options.terms(self.view, self.question, self.text)

    @cached_property
    def _energy(self) -> Floats:
        return put_in(self.view, self.question, self._meant)

    def _given(self, mode: Mode | None = None) -> ModeInput:
        """Return a mode what it needs: this question's own constants, or those of another mode."""
        options = self.options
        how = options.spreading if mode is None else MODES[mode].spreading
        how = replace(how, type_weights=options.spreading.type_weights)
        return ModeInput(self.view, self._energy, how, self.cosine, options.episodic, options.semantic)

    def _staged(self) -> ModeResult:
        options, best = self.options, needs(self.text, self._meant, self.options)
        names = staged.stages_of(complexity(self.text), options.depth)
        allowed = Allowed(self.view, options.only)
        asked = staged.parts(self.question, self.text)
        found, told = staged.staged(
            ((name, lambda name=name: _passing(self._stage(name), allowed)) for name in names),  # type: ignore[misc]
            lambda passages: staged.coverage(self.view, self._meant, asked, passages),
            best,
        )
        return ModeResult(self._energy, found.passages, found.scores, {"ranks": found.scores}, stages=told)

    def _stage(self, name: str) -> Ranking:
        """Find what a stage finds."""
        stages: Mapping[str, Callable[[], Ranking]] = {
            "direct": self._direct,
            "spread": self._spread,
            "ppr": lambda: self._walked(ppr.find, "ppr"),
            "exhaustive": self._exhaustive,
        }
        return stages[name]()

    def _direct(self) -> Ranking:
        found = ModeResult.ranked(self._energy, matched(self.view, self._energy))
        return Ranking(found.passages, found.scores)

    def _walked(self, find: Callable[[ModeInput], ModeResult], mode: Mode) -> Ranking:
        if not self._energy.any():
            return Ranking(np.zeros(0, np.int64), np.zeros(0))
        found = find(self._given(mode))
        return Ranking(found.passages, found.scores)

    def _spread(self) -> Ranking:
        return _likelihood(recall(self.view, self.question, self.text, self._default, self.cosine))

    def _exhaustive(self) -> Ranking:
        asking = replace(self, options=self._default)
        first = asking.once()
        rounds = _likelihood(asking.again(first)) if first.passages else _likelihood(first)
        return staged.merged([rounds, self._walked(path.find, "path")])

    @cached_property
    def _default(self) -> RecallOptions:
        return replace(self.options, mode="default", rerank=None)

    def _result(self, found: ModeResult) -> RecallResult:
        """Filter what a mode found, put the archive behind, and say what woke."""
        view, options = self.view, self.options
        keep = Allowed(view, options.only).passes(found.passages)
        places = np.flatnonzero(keep)
        scores = behind(view, found.passages[places], found.scores[places], options.mode)
        order = np.argsort(-scores, kind="stable")
        needed = needs(self.text, self._meant, options)
        order = order[: needed if options.passages is None else options.passages]
        places, scores = places[order], scores[order]
        activation = self._activation(found)
        awake = np.flatnonzero(found.energy > 0)
        words = awake[~view.marks(awake)]
        seeds = seeds_of(view, self.question, self._meant, options.mode)
        strongest = strongest_of(activation, words, options.looked_at)
        passages = found.passages[places]
        return RecallResult(
            seeds=described(view, activation, seeds),
            concepts=shown(view, activation, strongest, options),
            passages=ranked(passages, scores),
            woken=len(awake),
            clamped=False,
            depth=needed,
            recalled=recalled(view, seeds, strongest[:MOST_RECALLED], found.energy),
            stages=found.stages,
            terms=_terms(view, passages, {name: values[places] for name, values in found.terms.items()}),
            topics=_topics(passages, found.topic, places),
            activation=activation,
        )

    def _activation(self, found: ModeResult) -> Activation:
        """Describe what a mode left behind as spreading does: a walk has no ways of its own."""
        before = found.predecessor
        if before is None:
            woke = found.energy is not self._energy
            before = likeliest(self._given(), found.energy) if woke else np.full(len(found.energy), -1)
        return Activation(found.energy, before, np.where(self._energy > 0, 0, -1), 0, clamped=False)

    def again(self, first: RecallResult) -> RecallResult:
        """Ask again, seeking weakly what the best passages of the first round hold besides (SEEDS P32)."""
        further = self._further([each.number for each in first.passages[:READ_AGAIN]])
        second = replace(self, options=replace(self.options, weak=(*self.options.weak, *further)))
        found = second.once()
        stage = Stage(name="second-round", found=len(found.passages))
        return replace(found, stages=(*found.stages, stage))

    def _further(self, best: list[int]) -> tuple[str, ...]:
        """Find the words that the best passages hold most, by how rare they are, and nobody asked for."""
        _, concept, _ = self.view.held(np.array(best, np.int64))
        words, times = np.unique(concept[~self.view.marks(concept)], return_counts=True)
        new = ~np.isin(words, self._meant.words)
        words, times = words[new], times[new]
        worth = times * idf(self.view.turns, self.view.holding(words))
        return tuple(self.view.ids[number] for number in words[np.lexsort((words, -worth))][:FURTHER].tolist())

    def ordered_anew(self, found: RecallResult, limit: int | None) -> RecallResult:
        """Order what was found by another formula."""
        assert self.options.rerank is not None  # noqa: S101 - whoever calls has looked
        numbers = np.array([each.number for each in found.passages], np.int64)
        scores = np.array([each.score for each in found.passages])
        candidates = Candidates(self.view, numbers, scores, self._meant, self.text, self._energy, self.cosine)
        order, scores, terms = reranked(candidates, formula_of(self.options.rerank, self.options.memory))
        if self.options.kind.tells and not self._meant.past:
            terms["times_current"] = factor = current_first(self.view, numbers[order], scores)
            scores = scores * factor
            again = np.argsort(-scores, kind="stable")
            scores, order = scores[again], order[again]
            terms = {name: values[again] for name, values in terms.items()}
        order, scores = order[:limit], scores[:limit]
        passages = numbers[order]
        return replace(
            found,
            passages=ranked(passages, scores),
            terms=_terms(
                self.view, passages, {name: values[: len(order)] for name, values in terms.items()}, was=False
            ),
            stages=(*found.stages, Stage(name=f"rerank {self.options.rerank}", found=len(passages))),
        )


def _passing(found: Ranking, allowed: Allowed) -> Ranking:
    keep = allowed.passes(found.passages)
    return Ranking(found.passages[keep], found.scores[keep])


def _likelihood(found: RecallResult) -> Ranking:
    """Return how likely each passage answers beside the best, (k,) in (0, 1]: scores of the default are logarithms."""
    passages = np.array([each.number for each in found.passages], np.int64)
    scores = np.array([each.score for each in found.passages])
    return Ranking(passages, np.exp(scores - scores.max(initial=-np.inf)) if len(scores) else scores)


def _terms(
    view: GraphView, passages: Integers, terms: Mapping[str, Floats], *, was: bool = True
) -> dict[int, dict[str, float]]:
    """Return what the score of each passage is made of, the archive's share of it with it."""
    archived = view.of_turns("archived", passages) > 0
    told = {name: values.tolist() for name, values in terms.items()}
    rows = {
        number: {name: values[row] for name, values in told.items()} for row, number in enumerate(passages.tolist())
    }
    for number in passages[archived].tolist() if was else ():
        rows[number]["times_archived"] = SHARE
    return rows


def _topics(passages: Integers, topic: Integers | None, places: Integers) -> dict[int, int]:
    if topic is None:
        return {}
    pairs = zip(passages.tolist(), topic[places].tolist(), strict=True)
    return {passage: concept for passage, concept in pairs if concept >= 0}
