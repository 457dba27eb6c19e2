"""Tables of columns: each number that a table keeps per row is declared once, by `column`, and all else follows.

    class ConceptTable(Table):
        in_turns: array[int] = column("q")                  what a table of no rows starts with, what is packed,
        alive: array[int] = column("b", default=1)          copied, compacted and read back

A column is a typed array: half the memory of a list, and numpy sees it without copying.  The order of declaration is
the order of the arrays in a snapshot and in a digest: a column that is added, moved or retyped raises the layout of
graphs (state/graph/codec.py).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Column(NamedTuple):
    """One declared column.

    code       of array.array and of numpy: "q" int64, "i" int32, "b" int8, "d" float64
    blank      a row of which nothing is known yet: the bytes of the column's default
    per        what its rows are: "row" of the table, or another unit that the table names
    in_digest  whether equal memories must be equal in it
    """

    name: str
    code: str
    blank: bytes
    per: str
    in_digest: bool


def column(code: str, default: int = 0, *, per: str = "row", in_digest: bool = True) -> Any:
    """Declare a column of a Table: see Column.  `Any`, as the attribute is an array in every table that is made."""
    return Column("", code, array(code, [default]).tobytes(), per, in_digest)


class Table:
    """A table of the columns that its class declares; `columns` lists them in the order of declaration."""

    columns: ClassVar[tuple[Column, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the declared columns, each under the name that it was given in the class."""
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Column)]
        cls.columns += tuple(declaration._replace(name=name) for name, declaration in declared)

    def __init__(self) -> None:
        for each in self.columns:
            setattr(self, each.name, array(each.code))

    def read(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Append the rows of `arrays`, by column name."""
        for each in self.columns:
            getattr(self, each.name).frombytes(arrays[each.name].tobytes())

    def copies(self, per: str | None = None) -> dict[str, NDArray[Any]]:
        """Copy the columns, or those of one unit only, into arrays by name."""
        return {each.name: np.array(getattr(self, each.name)) for each in self.columns if per in (None, each.per)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy the columns that a digest covers into arrays by name."""
        return {each.name: np.array(getattr(self, each.name)) for each in self.columns if each.in_digest}
