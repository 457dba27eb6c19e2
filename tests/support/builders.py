"""Events and graphs with defaults: a test names only what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from state.events.events import (
    AccessGranted,
    AccessRevoked,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DataEvent,
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

Made = TypeVar("Made", bound=DataEvent)
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


def _builder(kind: type[Made], **defaults: Any) -> Callable[..., Made]:
    """Return a function that makes events of a kind, of `defaults` but for what it is given.

    A list of names may be given as a string: "coffee tea" is short for two.
    """

    def build(**changes: Any) -> Made:
        fields = {**UNLINKED, **defaults, **changes}
        return kind(**{name: _names(each) if name in LISTS else each for name, each in fields.items()})

    return build


LISTS = ("concepts", "turns", "consolidated", "topics", "merged", "rights")
ASKED: dict[str, Any] = {"src": 0, "graph": "ada"}  # by a user
DECIDED: dict[str, Any] = {"graph": "ada", "at": NOON}  # by the worker
NOTHING = {"concepts": "", "turns": ""}
MAIN = {**DECIDED, "session": "main"}

turn_duplicated = _builder(TurnDuplicated, **ASKED, id="t0")
turn_rejected = _builder(TurnRejected, src=0, reason="text: is missing: add it")
turn_not_recorded = _builder(TurnNotRecorded, **ASKED)
concepts_recalled = _builder(ConceptsRecalled, **DECIDED, concepts="coffee")
forgotten = _builder(Forgotten, **ASKED, **NOTHING)
pinned = _builder(Pinned, **ASKED, **NOTHING)
unpinned = _builder(Unpinned, **ASKED, **NOTHING)
feedback_given = _builder(FeedbackGiven, **ASKED, **NOTHING, value=1.0)
ticked = _builder(Ticked, **DECIDED)
decay_closed = _builder(DecayWindowClosed, **DECIDED, **NOTHING)
memory_archived = _builder(MemoryArchived, **DECIDED, **NOTHING)
memory_restored = _builder(MemoryRestored, **DECIDED, **NOTHING)
consolidation_closed = _builder(ConsolidationWindowClosed, **DECIDED, consolidated="", topics="", merged="")
session_ended = _builder(SessionEnded, **MAIN, src=None, reason="said", through="t0")
session_summarised = _builder(SessionSummarised, **MAIN, turns="t0", text="Ada: Tea.", by="test 1")
access_granted = _builder(AccessGranted, **ASKED, subject="bob", rights="read")
access_revoked = _builder(AccessRevoked, **ASKED, subject="bob", rights="read")


def graph_configured(**changes: Any) -> GraphConfigured:
    """Return a configuration; all but `graph`, `src` and `preset` is what differs from the preset."""
    preset = changes.pop("preset", "default")
    event = {name: changes.pop(name) for name in (*UNLINKED, "src", "graph") if name in changes}
    settings = PRESETS[preset].model_validate({**PRESETS[preset].model_dump(), **changes})
    return GraphConfigured(**{**UNLINKED, "graph": "ada", "preset": preset, "settings": settings, **event})


def retracted(**changes: Any) -> Retracted:
    """Return an undo of the graph's first event, or of `first`..`last`."""
    return Retracted(**{**UNLINKED, "src": 0, "graph": "ada", "first": 0, "last": changes.get("first", 0), **changes})


def topic_change(id: str, concepts: str = "", change: str = "born", label: str | None = None) -> TopicChange:
    """Return what became of a topic; its label is its concepts unless told otherwise."""
    facts = {"id": id, "change": change, "label": concepts if label is None else label, "concepts": concepts.split()}
    return msgspec.convert(facts, TopicChange)


def _names(names: Iterable[Any] | str) -> list[Any]:
    return names.split() if isinstance(names, str) else list(names)


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
