"""Gates at work: what a graph's settings ask to be decided of a turn before it is recorded."""

from __future__ import annotations

from msgspec.structs import replace

from processors.extraction.extractor import Extractor
from processors.extraction.units import units
from processors.lifecycle.gates import gated
from state.events.events import TurnRecorded
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph


def living(graph: Graph | None, preset: str) -> MemorySettings:
    """Tell how a graph lives, or will from its birth on, by a preset."""
    return PRESETS[preset] if graph is None or graph.is_blank else graph.settings


def passed(
    turn: TurnRecorded, text: str, *, graph: Graph | None, settings: MemorySettings, extractor: Extractor
) -> TurnRecorded:
    """Add to a turn what gates find, of a graph that lives by `settings`; nothing where it has none.

    text   what the turn's concepts were found in       graph  None for one that is born with the turn
    """
    if not settings.has_gates:
        return turn
    if graph is None or graph.is_blank:
        graph = Graph(turn.graph)
        graph.settings = settings
    turn = gated(turn, graph)
    if turn.uncounted or not settings.counts_units:
        return turn
    found = units(extractor, text, turn.concepts, tokens=turn.tokens, settings=settings)
    return replace(turn, units=found)
