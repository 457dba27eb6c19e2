"""Tables of columns: each number that a table keeps per row is declared once, by `column`, and all else follows.

    class ConceptTable(Table):
        in_turns: array[int] = column("q")                  what a table of no rows starts with, what is packed,
        alive: array[int] = column("b", default=1)          copied, compacted and read back

A column is a typed array: half the memory of a list, and numpy sees it without copying.  The order of declaration is
the order of the arrays in a snapshot and in a digest: a column that is added, moved or retyped raises the layout of
graphs (state/graph/codec.py).

A table that was opened from a store lays out a column, or what else it keeps, when somebody asks for it (`later`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Column(NamedTuple):
    """One declared column.

    code       of array.array and of numpy: "q" int64, "i" int32, "b" int8, "d" float64
    blank      a row of which nothing is known yet: the bytes of the column's default
    per        what its rows are: "row" of the table, or another unit that the table names
    in_digest  whether equal memories must be equal in it
    added_as   name in snapshots and digests of a column that older ones lack: it is left out while all of it is blank,
               so that a graph without it has the digest that it always had.  "" for all others: their own name
    """

    name: str
    code: str
    blank: bytes
    per: str
    in_digest: bool
    added_as: str

    @property
    def packed_as(self) -> str:
        """Name the array that it is packed into."""
        return self.added_as or self.name


def column(code: str, default: int = 0, *, per: str = "row", in_digest: bool = True, added_as: str = "") -> Any:
    """Declare a column of a Table: see Column.  `Any`, as the attribute is an array in every table that is made."""
    return Column("", code, array(code, [default]).tobytes(), per, in_digest, added_as)


class Late(NamedTuple):
    """An attribute of a table that is not laid out yet: how, given the table, and how much memory it then takes."""

    lay: Callable[[Any], Any]
    size: int = 0


class _Laid:
    """An attribute of a table that is laid out when it is not there: one that is there is found before this."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, table: Table | None, owner: type) -> Any:
        return self if table is None else table.lay(self._name)


def may_be_late() -> Any:
    """Declare an attribute of a Table, beside columns, that `later` may name."""
    return _Laid()


class Table:
    """A table of the columns that its class declares; `columns` lists them in the order of declaration."""

    columns: ClassVar[tuple[Column, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the declared columns, each under the name that it was given in the class."""
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Column)]
        cls.columns += tuple(declaration._replace(name=name) for name, declaration in declared)
        for name, _ in declared:
            setattr(cls, name, _Laid(name))

    def __init__(self) -> None:
        self._late: dict[str, Late] = {}
        for each in self.columns:
            setattr(self, each.name, array(each.code))

    def later(self, late: Mapping[str, Late]) -> None:
        """Lay out these attributes, by name, when somebody first asks for them."""
        for name in late:
            vars(self).pop(name, None)
        self._late = {**self._late, **late}

    def lay_all(self) -> None:
        """Lay out what is still to be: rows are to be added, or to go, and what is laid out later would have them."""
        for name in list(self._late):
            getattr(self, name)

    def is_late(self, name: str) -> bool:
        """Tell whether an attribute is not laid out yet."""
        return name in self._late

    def lay(self, name: str) -> Any:
        """Lay out an attribute that is late, and give it.  Raises AttributeError for any other."""
        late = self._late.get(name)
        if late is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        found = late.lay(self)
        setattr(self, name, found)
        self._late.pop(name, None)
        return found

    @property
    def size(self) -> int:
        """How much memory it takes once all is laid out, about, bytes: that of its columns."""
        rows: list[array[Any]] = [getattr(self, each.name) for each in self.columns if each.name not in self._late]
        return sum(len(each) * each.itemsize for each in rows) + sum(late.size for late in self._late.values())

    def read(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Append the rows of `arrays`, by the name that columns are packed as; those of one left out are blank."""
        rows = {each.per: len(arrays[each.name]) for each in self.columns if not each.added_as}
        for each in self.columns:
            found = arrays.get(each.packed_as) if each.added_as else arrays[each.name]
            into: array[Any] = getattr(self, each.name)
            if found is None:
                into.frombytes(each.blank * rows[each.per])
            else:  # without another copy, as bytes: array takes nothing else
                into.frombytes(np.ascontiguousarray(found, each.code).view(np.uint8).data)

    def copies(self, per: str | None = None) -> dict[str, NDArray[Any]]:
        """Copy the columns, or those of one unit only, into arrays by the name that they are packed as."""
        return {each.packed_as: np.array(getattr(self, each.name)) for each in self.columns if per in (None, each.per)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy the columns that a digest covers into arrays by the name that they are packed as."""
        covered = [each for each in self.columns if each.in_digest and not (each.added_as and self._is_blank(each))]
        return {each.packed_as: np.array(getattr(self, each.name)) for each in covered}

    def _is_blank(self, column: Column) -> bool:
        rows: array[Any] = getattr(self, column.name)
        return rows.count(array(column.code, column.blank)[0]) == len(rows)
