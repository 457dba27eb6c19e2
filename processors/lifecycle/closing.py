"""Closing a window: what the event that closes it has to say.  One step of the loop that brings a graph up to date:

    while due := next_due(graph, now):        processors/lifecycle/windows.py
        facts = close(graph, due)
        if facts:
            append and fold facts.event       the next window is decided on the state that this one left

A decay window in which nothing faded leaves no event, yet moves the loop on: what seemed due is due later now.  A
consolidation window always leaves one, however little it says: the fold counts new turns from there on.
"""

from __future__ import annotations

from typing import NamedTuple

from processors.lifecycle.consolidation import consolidated
from processors.lifecycle.forgetting import faded
from processors.lifecycle.windows import Due
from state.events.events import ConsolidationWindowClosed, DecayWindowClosed, TopicChange
from state.graph.graph import Graph


class DecayFacts(NamedTuple):
    """What faded: the fields of DecayWindowClosed that are not its link in the log."""

    graph: str
    at: int
    concepts: list[str]
    turns: list[str]

    def event(self, *, epoch: int, claim: str, seq: int, chain: str) -> DecayWindowClosed:
        """Return the event at its place in the log."""
        return DecayWindowClosed(epoch=epoch, claim=claim, seq=seq, chain=chain, **self._asdict())


class ConsolidationFacts(NamedTuple):
    """What was consolidated: the fields of ConsolidationWindowClosed that are not its link in the log."""

    graph: str
    at: int
    consolidated: list[str]
    topics: list[TopicChange]
    merged: list[tuple[str, str]]

    def event(self, *, epoch: int, claim: str, seq: int, chain: str) -> ConsolidationWindowClosed:
        """Return the event at its place in the log."""
        return ConsolidationWindowClosed(epoch=epoch, claim=claim, seq=seq, chain=chain, **self._asdict())


def close(graph: Graph, due: Due) -> DecayFacts | ConsolidationFacts | None:
    """Return what closing `due` finds, None if that is nothing.  Fold it before asking for the next window."""
    if due.kind == "consolidation":
        return ConsolidationFacts(graph.name, due.at, *consolidated(graph, due.at))
    gone = faded(graph, due.at)
    return DecayFacts(graph.name, due.at, *gone) if any(gone) else None
