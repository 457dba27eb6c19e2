"""Events and graphs with defaults: a test names only what it is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from state.events.events import (
    AccessGranted,
    AccessRevoked,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DecayWindowClosed,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    GraphEvent,
    MemoryArchived,
    MemoryRestored,
    Pinned,
    Retracted,
    SessionEnded,
    SessionSummarised,
    Ticked,
    TopicChange,
    TurnDuplicated,
    TurnEmbedded,
    TurnNotRecorded,
    TurnRecorded,
    TurnRejected,
    Unpinned,
)
from state.events.extraction_types import Concept
from state.events.memory_settings import PRESETS
from state.events.vectors import packed
from state.graph.graph import Graph
from tests.support.clocks import NOON

UNLINKED: dict[str, Any] = {"epoch": 0, "claim": "", "seq": 1, "chain": bytes(8).hex()}  # where no log is involved


def concept(name: str, label: str | None = None, weight: float = 0.5, count: int = 1) -> Concept:
    """Return a concept whose label is its name."""
    return Concept(name, label or name, weight, count)


def concepts(names: Iterable[str | Concept] | str) -> list[Concept]:
    """Return concepts; "coffee tea" is short for two with defaults."""
    listed = names.split() if isinstance(names, str) else names
    return [concept(name) if isinstance(name, str) else name for name in listed]


def turn_recorded(**changes: Any) -> TurnRecorded:
    """Return an accepted turn; `concepts` may be a string of names, `text` follows `id` so that ids differ in text."""
    name = changes.get("id", "t0")
    fields = {
        **UNLINKED,
        "src": 0,
        "graph": "ada",
        "id": name,
        "session": "main",
        "speaker": "Ada",
        "role": "user",
        "text": f"text of {name}",
        "metadata": {},
        "at": NOON,
        "clamped": False,
        "live": True,
        "question": False,
        "tokens": 3,
        "times": [],
        "extractor": "test 1",
        **changes,
    }
    return TurnRecorded(**{**fields, "concepts": concepts(changes.get("concepts", "coffee tea"))})


def turn_embedded(**changes: Any) -> TurnEmbedded:
    """Return the vector of a turn; `vector` may be a list of numbers."""
    vector = changes.pop("vector", [1.0, 0.0])
    stored = vector if isinstance(vector, bytes) else packed(vector)
    return TurnEmbedded(
        **{**UNLINKED, "graph": "ada", "id": "t0", "at": NOON, "model": "m 1", "vector": stored, **changes}
    )


def turn_duplicated(**changes: Any) -> TurnDuplicated:
    """Return a turn that the graph knew."""
    return TurnDuplicated(**{**UNLINKED, "src": 0, "graph": "ada", "id": "t0", **changes})


def turn_rejected(**changes: Any) -> TurnRejected:
    """Return a refused input."""
    return TurnRejected(**{**UNLINKED, "src": 0, "reason": "text: is missing: add it", **changes})


def concepts_recalled(**changes: Any) -> ConceptsRecalled:
    """Return a reinforcing query's effect; `concepts` may be a string of names."""
    listed = _names(changes.pop("concepts", "coffee"))
    return ConceptsRecalled(**{**UNLINKED, "graph": "ada", "at": NOON, "concepts": listed, **changes})


def graph_configured(**changes: Any) -> GraphConfigured:
    """Return a configuration; all but `graph`, `src` and `preset` is what differs from the preset."""
    preset = changes.pop("preset", "default")
    event = {name: changes.pop(name) for name in (*UNLINKED, "src", "graph") if name in changes}
    settings = PRESETS[preset].model_validate({**PRESETS[preset].model_dump(), **changes})
    return GraphConfigured(**{**UNLINKED, "graph": "ada", "preset": preset, "settings": settings, **event})


def forgotten(**changes: Any) -> Forgotten:
    """Return a user's request; `concepts` and `turns` may be strings of names."""
    return Forgotten(**{**UNLINKED, "src": 0, "graph": "ada", **_gone(changes)})


def retracted(**changes: Any) -> Retracted:
    """Return an undo of the graph's first event, or of `first`..`last`."""
    return Retracted(**{**UNLINKED, "src": 0, "graph": "ada", "first": 0, "last": changes.get("first", 0), **changes})


def ticked(**changes: Any) -> Ticked:
    """Return a tick."""
    return Ticked(**{**UNLINKED, "graph": "ada", "at": NOON, **changes})


def decay_closed(**changes: Any) -> DecayWindowClosed:
    """Return a decay window's end; `concepts` and `turns` may be strings of names."""
    return DecayWindowClosed(**{**UNLINKED, "graph": "ada", "at": NOON, **_gone(changes)})


def memory_archived(**changes: Any) -> MemoryArchived:
    """Return what a decay window archived; `concepts` and `turns` may be strings of names."""
    return MemoryArchived(**{**UNLINKED, "graph": "ada", "at": NOON, **_gone(changes)})


def memory_restored(**changes: Any) -> MemoryRestored:
    """Return what a recall brought back; `concepts` and `turns` may be strings of names."""
    return MemoryRestored(**{**UNLINKED, "graph": "ada", "at": NOON, **_gone(changes)})


def pinned(**changes: Any) -> Pinned:
    """Return a user's wish to keep something in mind; `concepts` and `turns` may be strings of names."""
    return Pinned(**{**UNLINKED, "src": 0, "graph": "ada", **_gone(changes)})


def unpinned(**changes: Any) -> Unpinned:
    """Return a user's wish to let it fade again; `concepts` and `turns` may be strings of names."""
    return Unpinned(**{**UNLINKED, "src": 0, "graph": "ada", **_gone(changes)})


def feedback_given(**changes: Any) -> FeedbackGiven:
    """Return what a user thought of turns; `concepts` and `turns` may be strings of names."""
    return FeedbackGiven(**{**UNLINKED, "src": 0, "graph": "ada", "value": 1.0, **_gone(changes)})


def session_ended(**changes: Any) -> SessionEnded:
    """Return the end of session "main" with turn "t0"."""
    there = {"graph": "ada", "at": NOON, "session": "main", "reason": "said", "through": "t0"}
    return SessionEnded(**{**UNLINKED, "src": None, **there, **changes})


def session_summarised(**changes: Any) -> SessionSummarised:
    """Return what session "main" was about; `turns` may be a string of names."""
    turns = _names(changes.pop("turns", "t0"))
    there = {"graph": "ada", "at": NOON, "session": "main", "text": "Ada: Tea.", "by": "test 1"}
    return SessionSummarised(**{**UNLINKED, **there, "turns": turns, **changes})


def turn_not_recorded(**changes: Any) -> TurnNotRecorded:
    """Return a turn that came while recording was paused."""
    return TurnNotRecorded(**{**UNLINKED, "src": 0, "graph": "ada", **changes})


def access_granted(**changes: Any) -> AccessGranted:
    """Return rights that "bob" was granted."""
    return AccessGranted(**{**UNLINKED, "src": 0, "graph": "ada", "subject": "bob", "rights": ["read"], **changes})


def access_revoked(**changes: Any) -> AccessRevoked:
    """Return rights that "bob" lost."""
    return AccessRevoked(**{**UNLINKED, "src": 0, "graph": "ada", "subject": "bob", "rights": ["read"], **changes})


def consolidation_closed(**changes: Any) -> ConsolidationWindowClosed:
    """Return a consolidation window's end; `consolidated` may be a string of names."""
    fields = {"consolidated": _names(changes.pop("consolidated", "")), "topics": [], "merged": [], **changes}
    return ConsolidationWindowClosed(**{**UNLINKED, "graph": "ada", "at": NOON, **fields})


def topic_change(id: str, concepts: str = "", change: str = "born", label: str | None = None) -> TopicChange:
    """Return what became of a topic; its label is its concepts unless told otherwise."""
    facts = {"id": id, "change": change, "label": concepts if label is None else label, "concepts": concepts.split()}
    return msgspec.convert(facts, TopicChange)


def _names(names: Iterable[str] | str) -> list[str]:
    return names.split() if isinstance(names, str) else list(names)


def _gone(changes: dict[str, Any]) -> dict[str, Any]:
    return {**changes, **{name: _names(changes.get(name, "")) for name in ("concepts", "turns")}}


def folded(*events: GraphEvent) -> Graph:
    """Build the graph "ada" of these events, settled."""
    return refolded(events, Graph("ada"))


def refolded(events: Iterable[GraphEvent], graph: Graph) -> Graph:
    """Fold `events` into `graph` and settle it; return it."""
    for event in events:
        graph.fold(event)
    graph.settle()
    return graph


def graph_of(*turns: str) -> Graph:
    """Return a graph in which turns of these concepts were said, each in a session of its own."""
    graph = Graph("ada")
    for number, words in enumerate(turns):
        graph.fold(turn_recorded(id=f"t{number}", session=f"s{number}", concepts=words, at=NOON + number))
    return graph
