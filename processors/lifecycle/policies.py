"""Policies of a graph's life that the default does without: windows, and further decisions, by kind and name.

    windows     further kinds of windows: a Window (window.py)
    decisions   what a window, a turn or a recall decides besides, as the types below: "fading-links", "leaving",
                "links", "neighbours", "pace", "units"

A setting of the graph turns one on.  It is loaded then, by what the program has registered: no I/O is done here
(streams/plugins/policies.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

from emgas.errors import HaltedError
from state.graph.graph import Graph


class UnknownPolicyError(HaltedError):
    """No installed package has a policy of this name.

    Of a question: it is refused.  Operator action where a graph is set so: install the package, or configure the graph.
    """


class FadedLinks(NamedTuple):
    """Links that go, as lists of ids, the first linked with each that follows; numbers of words without any left."""

    links: Sequence[list[str]] = ()
    alone: AbstractSet[int] = frozenset()


Linking = Callable[[Graph, Sequence[int]], list[tuple[str, str]]]  # a graph, new passages → concepts to link, by id
Neighbours = Callable[[Graph, Sequence[str]], list[str]]  # a graph, recalled concepts → those that are strengthened too
FadingLinks = Callable[[Graph, int], FadedLinks]  # a graph, the end of a decay window (ms) → the links that it takes
Leaving = Callable[[Graph, int], list[str]]  # a graph, the end of a window (ms) → turns that it archives, by id
Pace = Callable[[Graph, int], dict[str, int]]  # a graph, turns that leave → fields of the event that closes the window


def load_nothing(kind: str, name: str) -> Any:
    """Raise UnknownPolicyError: without a loader, there is the default alone."""
    raise UnknownPolicyError(f"there is no {name!r} among the {kind} that are installed here")


class _Library:
    """The loader of policies, and the policies that it has loaded."""

    def __init__(self) -> None:
        self._load: Callable[[str, str], Any] = load_nothing
        self._loaded: dict[tuple[str, str], Any] = {}

    def register(self, load: Callable[[str, str], Any]) -> None:
        self._load, self._loaded = load, {}

    def policy(self, kind: str, name: str) -> Any:
        if (kind, name) not in self._loaded:
            self._loaded[kind, name] = self._load(kind, name)
        return self._loaded[kind, name]


_LIBRARY: Final = _Library()


def register(load: Callable[[str, str], Any]) -> None:
    """Register what loads policies, for this process: called with (kind, name) when a setting first turns one on."""
    _LIBRARY.register(load)


def policy(kind: str, name: str) -> Any:
    """Return a policy.  Raises UnknownPolicyError."""
    return _LIBRARY.policy(kind, name)
