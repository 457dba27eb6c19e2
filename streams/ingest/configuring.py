"""What a request to configure a graph leaves as it was: what a user said of it holds, whatever preset it lives by."""

from __future__ import annotations

from typing import Final

from emgas.messages.memory_settings import PRESET_MODES, Settings
from emgas.messages.turns import Configure
from processors.recall.ranking.weights import FlowWeights
from state.events.events import UNSTAMPED, GraphConfigured
from state.events.memory_settings import PRESETS, SWITCHES, MemorySettings
from state.graph.graph import Graph

PLAIN: Final = ("default", "")


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


def asked_of(request: Configure, graph: Graph | None) -> tuple[str, str]:
    """Say in which mode questions are answered that name none, and by whose formula: as before, or as the preset says.

    A request that names the preset by which the graph lives changes nothing of it, unless it names a mode.
    """
    preset = PRESET_MODES.get(request.preset, PLAIN)
    mode, rerank = preset if graph is None or graph.preset != request.preset else (graph.mode, graph.rerank)
    if request.rerank is not None:
        rerank = "" if request.rerank == "none" else request.rerank
    return request.mode or mode, rerank


def born(graph_id: str, preset: str) -> GraphConfigured:
    """Make the first event of a graph that nobody configured: how it lives, as a preset has it."""
    mode, rerank = PRESET_MODES.get(preset, PLAIN)
    settings = PRESETS[preset]
    return GraphConfigured(graph=graph_id, preset=preset, settings=settings, mode=mode, rerank=rerank, **UNSTAMPED)
