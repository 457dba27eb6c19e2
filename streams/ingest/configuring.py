"""What a request to configure a graph leaves as it was: what a user said of it holds, whatever preset it lives by."""

from __future__ import annotations

from emgas.messages.memory_settings import Settings
from emgas.messages.turns import Configure
from processors.recall.weights import FlowWeights
from state.events.memory_settings import PRESETS, SWITCHES, MemorySettings
from state.graph.graph import Graph


def settings_of(request: Configure, graph: Graph | None) -> MemorySettings:
    """Put what a request says onto its preset; recording and recalling stay as they are, unless it names them.

    Raises ValidationError where values do not go together.
    """
    given = request.settings
    if graph is not None:
        kept = {name: getattr(graph.settings, name) for name in SWITCHES}
        given = Settings(**{**kept, **given.model_dump(exclude_none=True)})
    return PRESETS[request.preset].changed(given)


def weights_of(request: Configure, graph: Graph | None) -> dict[str, float]:
    """Say what recall is to weigh otherwise than by default: as it did, unless the request names weights.

    Raises ValueError for a name that is no feature.
    """
    if request.weights is not None:
        return FlowWeights(**request.weights).own()
    return {} if graph is None else graph.weights
