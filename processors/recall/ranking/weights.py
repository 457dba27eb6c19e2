"""The weights of a turn's features in recall's score, by name.

The features and their default weights are declared in ranking/features.py.  A weight of 0 switches its
feature off, so every ablation is a setting: `DEFAULT_FLOW.replace(session=0.0)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from processors.recall.ranking import features
from state.arrays import Floats

FEATURES: Final = tuple(feature.name for feature in features.FEATURES)
FLOW_EDGES: Final = tuple(feature.name for feature in features.FEATURES if feature.is_edge)


class FlowWeights(Mapping[str, float]):
    """A weight for each of FEATURES, in their order; by default the declared weight.  Immutable."""

    __slots__ = ("_weights",)

    def __init__(self, **weights: float) -> None:
        """Take weights by name.  Raises ValueError for a name that is no feature."""
        if unknown := sorted(weights.keys() - set(FEATURES)):
            raise ValueError(f"weights: there is no feature {unknown[0]!r}: choose from {', '.join(FEATURES)}")
        self._weights = {each.name: float(weights.get(each.name, each.weight)) for each in features.FEATURES}

    def __getitem__(self, name: str) -> float:
        """Return the weight of a feature."""
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names in the order of FEATURES."""
        return iter(self._weights)

    def __len__(self) -> int:
        """Count the features."""
        return len(self._weights)

    def __hash__(self) -> int:
        """Hash the weights, so that options that hold them can be a key."""
        return hash(tuple(self._weights.values()))

    def __repr__(self) -> str:
        """Write the weights as the call that makes them."""
        return f"FlowWeights({', '.join(f'{name}={weight:g}' for name, weight in self._weights.items())})"

    def replace(self, **weights: float) -> FlowWeights:
        """Copy the weights with some of them changed.  Raises ValueError for a name that is no feature."""
        return FlowWeights(**(self._weights | weights))

    def own(self) -> dict[str, float]:
        """List what differs from the default."""
        return {each.name: value for each in features.FEATURES if (value := self[each.name]) != each.weight}

    def vector(self) -> Floats:
        """List the weights (f,) in the order of FEATURES."""
        return np.array(list(self._weights.values()), np.float64)


def of_graph(own: Mapping[str, float]) -> FlowWeights:
    """Make the weights of a graph from those of its own; what is no feature any more counts for nothing."""
    return FlowWeights(**{name: weight for name, weight in own.items() if name in FEATURES}) if own else DEFAULT_FLOW


DEFAULT_FLOW: Final = FlowWeights()

# The control: a recall in which nothing flows, with the weights that suit it best.  Switching the edges off and leaving
# the rest would make it look worse than it is: here `match` has to carry what `inherited` did.
NO_FLOW: Final = FlowWeights(**{feature.name: feature.without_flow for feature in features.FEATURES})
