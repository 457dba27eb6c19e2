"""Read the tables beside this file: `data/*.tsv`, a row per line, `#` begins a comment."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def rows(name: str) -> list[list[str]]:
    """Read the rows of a table, in the order written, each as its columns."""
    text = files("evaluation.year").joinpath("data", f"{name}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
