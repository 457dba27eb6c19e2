"""Configure a graph: settings that a request does not name stay unchanged, whatever the preset."""

from __future__ import annotations

from pydantic import ValidationError

from emgas.messages.settings.memory_settings import Settings
from emgas.messages.turns import Configure
from processors.recall.ranking.weights import FlowWeights
from state.events.events import UNSTAMPED, DataEvent, GraphConfigured
from state.events.memory_settings import PRESETS, SWITCHES, MemorySettings
from state.graph.graph import Graph
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides
from streams.ingest.verbs.refusals import explained
from streams.ingest.verbs.unfolded import preset_mode


@decides(Configure)
def configure(request: Configure, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Configure a graph, new or not; the turns that are decided next are said in its time zone."""
    try:
        settings = _settings(request, graph)
        weights, (mode, rerank) = _weights(request, graph), _mode_and_reranker(request, graph)
    except ValidationError as error:  # each value is within its bounds, but they do not go together
        raise RejectedError(explained(error)) from error
    except ValueError as error:
        raise RejectedError(str(error)) from error
    zone = request.timezone or context.unfolded.zone(request.graph, context.state)
    context.unfolded.births.add(request.graph)
    context.unfolded.zones[request.graph] = zone
    return [
        GraphConfigured(
            src=context.source,
            graph=request.graph,
            preset=request.preset,
            settings=settings,
            weights=weights,
            mode=mode,
            rerank=rerank,
            timezone=zone,
            **UNSTAMPED,
        )
    ]


def _settings(request: Configure, graph: Graph | None) -> MemorySettings:
    """Apply a request's settings to its preset; recording and recalling stay as they are unless it names them.

    Raises ValidationError where values do not go together.
    """
    requested = request.settings
    if graph is not None:
        kept = {name: getattr(graph.settings, name) for name in SWITCHES}
        requested = Settings(**{**kept, **requested.model_dump(exclude_none=True)})
    return PRESETS[request.preset].changed(requested)


def _weights(request: Configure, graph: Graph | None) -> dict[str, float]:
    """Return the weights of recall that differ from the default: as they were, unless the request names weights.

    Raises ValueError for a name that is no feature.
    """
    if request.weights is not None:
        return FlowWeights(**request.weights).own()
    return {} if graph is None else graph.weights


def _mode_and_reranker(request: Configure, graph: Graph | None) -> tuple[str, str]:
    """Return the mode and the reranker of questions that name none: as before, or by the preset.

    A request that names the preset that the graph has already changes neither, unless it names them.
    """
    preset = preset_mode(request.preset)
    mode, rerank = preset if graph is None or graph.preset != request.preset else (graph.mode, graph.rerank)
    if request.rerank is not None:
        rerank = "" if request.rerank == "none" else request.rerank
    return request.mode or mode, rerank
