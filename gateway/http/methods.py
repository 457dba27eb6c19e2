"""The methods that routes take at a path: a 405 names all of them in its header Allow.

Several routes may have one path (GET and POST of /v1/graphs/{graph}/turns), and each knows only its own method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from starlette.routing import BaseRoute, Match
from starlette.types import Scope

METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
Methods = Callable[[Scope], list[str]]


def methods_of(routes: Iterable[BaseRoute]) -> Methods:
    """Return a function from a request to the methods that its path takes; none for an unknown path."""

    def at(scope: Scope) -> list[str]:
        return [name for name in METHODS if any(_takes(route, {**scope, "method": name}) for route in routes)]

    return at


def _takes(route: BaseRoute, scope: Scope) -> bool:
    return route.matches(scope)[0] is Match.FULL
