"""Read the words and patterns that lie beside the code as data: `data/*.tsv` of a room, the only reader of such files.

    # what the columns are          a comment, for people
    column<TAB>column               a row

The files are part of the program, as its source is: they are read once, when what needs them is imported, and nothing
writes them.  `importlib.resources` finds them in a clone, in an installed wheel and in a zip alike.
"""

from __future__ import annotations

from importlib.resources import files


def rows(package: str, name: str) -> list[list[str]]:
    """Read the rows of a table, in the order written, each as its columns.

    package  the room that holds it, as `__package__` names it there
    name     of its file, without the ending

    Raises FileNotFoundError where the package was installed without its data: install it again.
    """
    text = files(package).joinpath("data", f"{name}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
