"""Read the words and patterns that lie beside the code as data: `data/*.tsv` of a room, the only reader of such files.

    # what the columns are          a comment, for people
    column<TAB>column               a row

The files are part of the program, as its source is: they are read once, when what needs them is imported, and nothing
writes them.  `importlib.resources` finds them in a clone, in an installed wheel and in a zip alike.
"""

from __future__ import annotations

import re
from importlib import metadata
from importlib.resources import files
from typing import Any, cast


def rows(package: str, name: str) -> list[list[str]]:
    """Read the rows of a table, in the order written, each as its columns.

    package  the room that holds it, as `__package__` names it there
    name     of its file, without the ending

    Raises FileNotFoundError where the package was installed without its data: install it again.
    """
    text = files(package).joinpath("data", f"{name}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def of_installed(distribution: str, file: str) -> str | None:
    """Read a file of an installed distribution without importing it; None where it has no such file, or is in a zip."""
    return metadata.distribution(distribution).read_text(f"../{file}")


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on its first use: a command needs a few of our thousand.

    An error in `source` shows only then, as re.error.
    """
    return cast("re.Pattern[str]", _Lazy(source, flags))


class _Lazy:
    """Has the attributes of a compiled pattern, each kept as an attribute of its own once it was asked for."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(self._source, self._flags), name)  # `re` keeps what it compiled
        setattr(self, name, attribute)
        return attribute
