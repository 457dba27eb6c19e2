"""Compile regular expressions when they are first used: a command that needs a few of our thousand waits for no others.

lazy("…").search(text)      the first call compiles; all later ones go to the compiled pattern itself
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on its first use.  An error in `source` shows only then, as re.error."""
    return cast("re.Pattern[str]", _Lazy(source, flags))


class _Lazy:
    """Has the attributes of a compiled pattern, each kept as an attribute of its own once it was asked for."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(self._source, self._flags), name)  # `re` keeps what it compiled
        setattr(self, name, attribute)
        return attribute
