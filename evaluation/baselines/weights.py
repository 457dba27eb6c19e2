"""The weights of each peer's walk and other features, fitted as the weights of recall are."""

from __future__ import annotations

from typing import Final

from processors.recall.ranking.weights import FlowWeights

PPR: Final = FlowWeights(
    match=1.41,
    inherited=3.01,
    session=-0.52,
    coverage=0.75,
    association=1.0,
    bridge=0.47,
    kinds=0.2,
    reply=0.56,
    speaker=2.13,
    asks=-0.77,
    first=0.52,
    time=2.17,
    name=1.03,
    number=1.09,
    names=0.26,
    length=1.02,
    brevity=0.83,
)
SUBTRACTIVE: Final = FlowWeights(
    inherited=0.3,
    session=-0.3,
    coverage=8.0,
    association=0.0,
    kinds=0.5,
    reply=1.0,
    match=-1.3,
    speaker=1.6,
    asks=-0.7,
    first=1.0,
    time=2.2,
    name=1.7,
    number=1.7,
    names=0.2,
    length=0.0,
    brevity=-0.55,
    bridge=0.0,
)
STEADY_STATE: Final = FlowWeights(
    inherited=3.1,
    session=-0.1,
    coverage=4.0,
    association=0.0,
    kinds=0.3,
    reply=0.8,
    match=-0.2,
    speaker=1.7,
    asks=-0.6,
    first=1.7,
    time=1.8,
    name=1.2,
    number=1.1,
    names=0.2,
    length=0.0,
    brevity=-0.3,
    bridge=0.0,
)
