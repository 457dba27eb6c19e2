"""The seam of the walks: a view of a graph and the energy that a question puts in; what woke and what was found.

    question ─▶ put_in (seeds.py) ─▶ ModeInput ─▶ a walk's find() ─▶ ModeResult ─▶ filter, archive (walking.py)

A mode is a pure function of ModeInput.  What it needs of the whole graph it computes once for a view (GraphView.once),
so the second question of the same moment is cheap.  Nothing is computed until a question names the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from emgas.messages.settings.modes import Stage
from processors.association import Edges
from processors.recall.ranking.activation import SpreadingParameters
from processors.recall.ranking.associations import associations
from state.arrays import Floats, Integers
from state.errors import TooMuchAskedError
from state.graph.view import GraphView

MOST_EDGES = 5_000_000  # of a graph that a mode may lay out whole: some seconds
AT_ONCE = 1024  # concepts whose edges are counted before more are looked up


@dataclass(frozen=True)
class ModeInput:
    """The input of a mode.

    put_in    (n,) the energy that the question puts in at each concept
    how       the mode's constants: those of spreading that it has, as the question changed them
    cosine    (p,) of each passage with the question, None without a model of text embeddings
    episodic  how much counts what was said in one place: edges between concepts and turns
    semantic  how much counts what belongs together at all: edges between concepts
    """

    view: GraphView
    put_in: Floats
    how: SpreadingParameters
    cosine: Floats | None = None
    episodic: float = 1.0
    semantic: float = 1.0

    @property
    def seeds(self) -> Integers:
        """Return the seeds, ascending."""
        return np.flatnonzero(self.put_in > 0)

    def edges(self, concepts: Integers) -> Edges:
        """Find the edges out of ascending `concepts` (k,) that weigh something, ordered by (source, target)."""
        out = associations(self.view, self.how)(concepts)
        out = out._replace(weight=out.weight * self.semantic) if self.semantic != 1.0 else out
        return out.where(out.weight > 0)

    def all_edges(self) -> Edges:
        """Find all edges between concepts.  Raises TooMuchAskedError once it has seen more than MOST_EDGES."""
        parts, count = [self.edges(np.zeros(0, np.int64))], 0
        for first in range(0, self.view.concepts, AT_ONCE):
            parts.append(self.edges(np.arange(first, min(first + AT_ONCE, self.view.concepts))))
            count += len(parts[-1].source)
            if count > MOST_EDGES:
                raise TooMuchAskedError(
                    f"this mode looks at the whole graph, and {self.view.graph_id} has more than {MOST_EDGES:,} links: "
                    "ask in the mode default, or ppr-push"
                )
        source, target, weight = zip(*parts, strict=True)
        return Edges(np.concatenate(source), np.concatenate(target), np.concatenate(weight))

    def once(self, what: str, compute: Callable[[], object]) -> object:
        """Compute what depends on the graph and the constants alone, once for this view."""
        how = self.how
        links = how.recall_links, how.topic_links, tuple(sorted(how.type_weights.items()))
        key: Hashable = (what, how.window, how.weighting, how.marks, links, self.episodic, self.semantic)
        return self.view.once(key, lambda _: compute())


@dataclass(frozen=True)
class ModeResult:
    """The result of a mode.

    energy       (n,) what the concepts hold in the end
    passages     (k,) numbers of what was found, best first;  scores: (k,) of each, > 0, never rising
    terms        name → (k,) what the score of each is made of; `times_…` are factors of the sum of the others
    topic        (k,) the concept through which each was found, None where that means nothing
    predecessor  (n,) whence energy first came to a concept, -1 for none; None where a mode has no ways
    stages       what was done, one after the other
    """

    energy: Floats
    passages: Integers
    scores: Floats
    terms: Mapping[str, Floats] = field(default_factory=dict)
    topic: Integers | None = None
    predecessor: Integers | None = None
    stages: tuple[Stage, ...] = ()

    @classmethod
    def ranked(
        cls,
        energy: Floats,
        scores: Floats,
        terms: Mapping[str, Floats] | None = None,
        *,
        predecessor: Integers | None = None,
        stages: tuple[Stage, ...] = (),
    ) -> Self:
        """Rank all passages by scores (p,) above 0, of equal ones the newer first; terms: (p,) each."""
        reached = np.flatnonzero(scores > 0)
        order = reached[np.lexsort((-reached, -scores[reached]))]
        columns = {name: values[order] for name, values in (terms or {"score": scores}).items()}
        return cls(energy, order, scores[order], columns, predecessor=predecessor, stages=stages)
