"""Find where conversations end by themselves, per graph and session: pure functions of (graph, time).  SEEDS S1, S15.

idle         nothing was said in it for `idle`                                  setting `end_sessions`
size         it has `session_turns` turns                                       setting `session_turns`
topic shift  its last turn has less than the share `topic_shift` of its words   setting `topic_shift`
in common with the BEFORE turns before it; what was said before it has ended
"""

from __future__ import annotations

from typing import Final

import numpy as np

from processors.lifecycle.sessions.sessions import ended, going_on
from processors.lifecycle.steps import in_one_step
from processors.lifecycle.window import Timekeeping, Window, WindowEnd
from state.arrays import Integers
from state.events.events import GraphEvent, SessionEnded
from state.graph.graph import Graph

BEFORE: Final = 4  # turns that the next one is compared with
LEAST: Final = 3  # words that both must have: "yes, please" is no shift of topic


def next_end(graph: Graph) -> SessionEnded | None:
    """Find the conversation that ends next, if nothing more is said; None if none does."""
    settings = graph.settings
    if not settings.ends_sessions or not len(graph.passages):
        return None
    graph.settle()
    ends = [end for session in _open(graph) if (end := _end(graph, session)) is not None]
    return min(ends, key=lambda end: end.at, default=None)


def _next_window(graph: Graph) -> WindowEnd | None:
    """Find the end of the next conversation; only silence waits for late turns."""
    end = next_end(graph)
    return None if end is None else WindowEnd(end.at, end.session, waits=end.reason == "idle")


def _closing(graph: Graph, _at: int) -> list[GraphEvent]:
    end = next_end(graph)
    return [] if end is None else [end]


def _may_end(graph: Timekeeping, _now: int) -> bool:
    return graph.settings.ends_sessions


CONVERSATION = Window("conversation", _next_window, in_one_step(_closing), _may_end, first=True)


def _open(graph: Graph) -> list[str]:
    """List the sessions that have turns since they last ended."""
    table, sessions = graph.passages, list(graph.passages.sessions)
    kept = np.flatnonzero(np.array(table.kept))
    of = np.array(table.session)[kept]
    last = np.full(len(sessions), -1)
    last[of] = kept  # ascending: the last one stays
    return [name for name, number in zip(sessions, last.tolist(), strict=True) if number >= graph.sessions.upto(name)]


def _end(graph: Graph, session: str) -> SessionEnded | None:
    """Find where a conversation that goes on ends, None if it does not."""
    settings, passages = graph.settings, going_on(graph, session)
    if not passages:
        return None
    at = graph.passages.at
    if settings.topic_shift and (before := _shifted(graph, passages)) is not None:
        return ended(graph, session, at=at[before], reason="topic shift", through=before)
    last = passages[-1]
    if settings.session_turns and len(passages) >= settings.session_turns:
        return ended(graph, session, at=at[last], reason="size", through=last)
    if not settings.end_sessions:
        return None
    latest = max(at[passage] for passage in passages)
    return ended(graph, session, at=latest + settings.idle, reason="idle", through=last)


def _shifted(graph: Graph, passages: list[int]) -> int | None:
    """Find the turn with which a topic ended, None if the last one goes on about it."""
    if len(passages) < 2:
        return None
    *before, last = passages[-1 - BEFORE :]
    words, earlier = _words(graph, [last]), _words(graph, before)
    if min(len(words), len(earlier)) < LEAST:
        return None
    shared = len(np.intersect1d(words, earlier)) / len(words)
    return before[-1] if shared < graph.settings.topic_shift else None


def _words(graph: Graph, passages: list[int]) -> Integers:
    """List the words, no marks, that passages hold, each once."""
    concepts = np.array([word for passage in passages for word in graph.passages.concepts_of(passage)], np.int64)
    words = np.unique(concepts)
    return words[~np.array(graph.concepts.is_mark, np.bool_)[words]]
