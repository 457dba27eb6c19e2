"""What each mode is: the system it is of, and the constants of its spreading, which a question may change.

A mode has of SpreadingParameters what it needs: `propagation_decay` is D, the share that goes on over an edge (of a
walk: that does not restart); `max_iterations` how many edges far; `delta` when it stops, of `ppr-push` its ε.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from emgas.messages.modes import Mode
from processors.recall.ranking.activation import DEFAULT, LITERAL, SpreadingParameters

_WALK: Final = replace(
    DEFAULT, propagation_decay=0.5, max_iterations=0, delta=1e-8, weighting="ppmi", recall_links=0.0, marks=True
)


class ModeFacts(NamedTuple):
    """One mode.

    source     the system that it is of
    spreading  its constants
    fields     which of them it has
    depth      how many passages come back where nobody says, None for as many as the question needs
    """

    source: str
    spreading: SpreadingParameters
    fields: tuple[str, ...]
    depth: int | None = None


_D, _FAR, _STOP = "propagation_decay", "max_iterations", "delta"
MODES: Final[dict[Mode, ModeFacts]] = {
    "default": ModeFacts("EMGAS", DEFAULT, ("firing_threshold", _D, _FAR, _STOP, "convergence", "recall_links")),
    "literal": ModeFacts("EMGAS as first described", LITERAL, ("firing_threshold", _D, _FAR, _STOP, "convergence")),
    "ppr": ModeFacts("HippoRAG", _WALK, (_D, _STOP)),
    "ppr-push": ModeFacts("SoulMem (EdgePush-PPR)", replace(_WALK, delta=1e-6), (_D, _STOP)),
    "steady-state": ModeFacts("SoulMem (neural dynamics)", _WALK, (_D, _STOP)),
    "subtractive": ModeFacts(
        "MaiBot memory_system",
        replace(_WALK, max_iterations=3, window="turn", weighting="count", marks=False),
        (_FAR,),
        depth=6,
    ),
    "path": ModeFacts(
        "MoFox v2", replace(_WALK, propagation_decay=0.85, max_iterations=2, weighting="npmi", marks=False), (_D, _FAR)
    ),
    "vector": ModeFacts("top-k by vectors", DEFAULT, ()),
    "staged": ModeFacts("SoulMem (Soul-Retr)", DEFAULT, ("firing_threshold", _D, _FAR, _STOP, "convergence")),
}
