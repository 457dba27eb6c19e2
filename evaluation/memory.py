"""The input of a method of recall: a folded graph and the texts of its turns, without the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from emgas.messages.settings.modes import Mode
from processors.extraction.extractor import Extraction, Extractor
from processors.recall.retrieval.recall import Ranked, by_token, worth_showing
from state.arrays import Floats, Integers
from state.graph.view import GraphView

TOKENS_PER_WORD = 1.3  # what SimpleMem and Mem0 count with; Han text: per segmented word
DEPTH = 200  # how many turns a method ranks at most: some four times what the larger budget holds


class Ranking(NamedTuple):
    """Passage numbers, (k,) each, best first.

    listed  as a reply lists them
    packed  as a context takes them until it is full
    shown   those of them that it takes at all, however much room there is: fewer, where scores drop
    """

    listed: Integers
    packed: Integers
    shown: Integers


Ranker = Callable[[Extraction, str], Ranking]  # of a question's extraction and its text


@dataclass(frozen=True)
class EvaluatedMemory:
    """A folded graph.  `texts` (p,) are the turns' texts, for methods that read them; a view holds none."""

    view: GraphView
    texts: Sequence[str]
    extractor: Extractor

    def question(self, text: str) -> Extraction:
        """Extract a question as the product does: "last week" is seen from the end of what the graph knows."""
        return self.extractor.of_query(text, self.view.clock)

    @property
    def costs(self) -> Floats:
        """Estimate what each turn costs in a budget: (p,) tokens, from its words."""
        return (TOKENS_PER_WORD * self.view.passage_tokens).astype(np.float64, copy=False)


def ranking(view: GraphView, ranked: Sequence[Ranked], mode: Mode) -> Ranking:
    """Rank what recall found, or a peer with scores of the same kind, as an answer lists, packs and shows it."""
    orders = ranked, by_token(view, ranked, mode), by_token(view, worth_showing(ranked, mode), mode)
    return Ranking(*(np.array([each.number for each in order], np.int64) for order in orders))


def best(scores: Floats, depth: int = DEPTH) -> Ranking:
    """Rank the passages of scores (p,) above 0, best first, ties by number; a context takes them in this order."""
    reached = np.flatnonzero(scores > 0)
    listed = reached[np.argsort(-scores[reached], kind="stable")][:depth]
    return Ranking(listed, listed, listed)
