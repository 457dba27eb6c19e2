"""What each edge type and each property of a turn is worth: the weights of recall's score, by name.

A weight of 0 switches its term off, so every ablation is a setting: `replace(DEFAULT_FLOW, session=0.0)`.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Final

import numpy as np

from state.arrays import Floats


@dataclass(frozen=True)
class FlowWeights:
    """The score of a turn is Σ weight · feature, one field for each feature (processors/recall/features.py).

    Edge types (processors/recall/edge_scores.py): what the graph carries to a turn.

        inherited, session, coverage, association, kinds, reply

    The turn itself:

        match      it mentions what is asked           time, name, number   it holds the kind of answer that is wanted
        speaker    the one speaker named said it       names    it names somebody or something, whatever is asked
        asks       it asks something itself            length   natural logarithm of its length in words
        first      it opens its session                dense    how like the question an embedding finds it, if there
                                                                is one: max(0, z(cosine))
    """

    inherited: float
    session: float
    coverage: float
    association: float
    kinds: float
    reply: float
    match: float
    speaker: float
    asks: float
    first: float
    time: float
    name: float
    number: float
    names: float
    length: float
    dense: float = 1.0

    def vector(self) -> Floats:
        """Return the weights in the order of FEATURES."""
        return np.array(astuple(self), np.float64)


FEATURES: Final = tuple(field.name for field in fields(FlowWeights))
FLOW_EDGES: Final = ("inherited", "session", "coverage", "association", "kinds", "reply")

# Fitted by evaluation/fitting.py on five conversations of LoCoMo and two Chinese ones, rounded to what changes nothing;
# the scale is that of log-odds.  With the conversation that is asked left out, T973 in English is 89.1; fitted to all
# of them, 89.3 (docs/recall.md).  `dense` is not fitted: without embeddings there is nothing to fit it to.
DEFAULT_FLOW: Final = FlowWeights(
    inherited=1.8,
    session=1.0,
    coverage=1.1,
    association=0.3,
    kinds=0.3,
    reply=0.7,
    match=0.1,
    speaker=1.6,
    asks=-0.6,
    first=1.3,
    time=2.3,
    name=1.6,
    number=1.4,
    names=0.3,
    length=0.15,
)

# The control: a recall in which nothing flows, with the weights that suit it best.  Switching the edges off and leaving
# the rest would make it look worse than it is: here `match` has to carry what `inherited` did.  They were searched for
# on the measured recall itself, on all the questions (T973 75.8): the logit's own weights for it give 75.0.
NO_FLOW: Final = FlowWeights(
    inherited=0.0,
    session=0.0,
    coverage=0.0,
    association=0.0,
    kinds=0.0,
    reply=0.0,
    match=1.0,
    speaker=0.84,
    asks=-0.5,
    first=0.0,
    time=1.0,
    name=0.35,
    number=1.4,
    names=0.25,
    length=0.0,
)
