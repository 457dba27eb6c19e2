"""Everything of the lab by kind and name: what pyproject.toml names as entry points, and evaluation compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lab.gates import novelty, worth
from lab.gates.units import units
from lab.guidance.guide import GUIDE
from lab.masks import masked
from lab.rerankers.formulas import HELLO_AGENTS, MOFOX, SIMPLEMEM
from lab.retrievers import literal, path, ppr, ppr_push, staged, steady_state, subtractive, vector
from lab.windows.conversations import CONVERSATION
from lab.windows.dreams import DREAM
from lab.windows.fading_links import faded_links
from lab.windows.leaving import leaving
from lab.windows.links import linked
from lab.windows.neighbours import related
from lab.windows.pace import adapted
from processors.lifecycle.gates import Gate
from processors.lifecycle.policies import load_nothing
from processors.lifecycle.window import Window
from processors.recall.retrieval.policies import Guide, Policies, Renderer, Reranker, Retriever

RETRIEVERS: Final[Mapping[str, Retriever]] = {
    module.RETRIEVER.name: module.RETRIEVER
    for module in (literal, ppr, ppr_push, steady_state, subtractive, path, vector, staged)
}
RERANKERS: Final[Mapping[str, Reranker]] = {each.name: each for each in (HELLO_AGENTS, SIMPLEMEM, MOFOX)}
GATES: Final[Mapping[str, Gate]] = {"novelty": novelty.gate, "worth": worth.gate}
RENDERERS: Final[Mapping[str, Renderer]] = {"masked": masked}
GUIDES: Final[Mapping[str, Guide]] = {"guidance": GUIDE}
WINDOWS: Final[Mapping[str, Window]] = {each.kind: each for each in (CONVERSATION, DREAM)}
DECISIONS: Final[Mapping[str, object]] = {
    "fading-links": faded_links,
    "leaving": leaving,
    "links": linked,
    "neighbours": related,
    "pace": adapted,
    "units": units,
}
KINDS: Final[Mapping[str, Mapping[str, object]]] = {
    "retrievers": RETRIEVERS,
    "rerankers": RERANKERS,
    "gates": GATES,
    "renderers": RENDERERS,
    "guides": GUIDES,
    "windows": WINDOWS,
    "decisions": DECISIONS,
}


def load(kind: str, name: str) -> object:
    """Return a policy of the lab.  Raises UnknownPolicyError."""
    return KINDS[kind].get(name) or load_nothing(kind, name)


POLICIES: Final = Policies(load)
