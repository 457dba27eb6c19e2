"""Tables of columns: each number that a table keeps per row is declared once, by `column`, and all else follows.

    class ConceptTable(ColumnTable):
        in_turns: array[int] = column("q")                  what a table of no rows starts with, what is packed,
        alive: array[int] = column("b", default=1)          copied, compacted, stored and read back

A column is a typed array: half the memory of a list, and numpy sees it without copying.  The order of declaration is
the order of the arrays in a snapshot and in a digest: a column that is moved or retyped raises the layout of graphs
(state/graph/codec.py).  One that is added needs `added_as`; stores of the columns before are folded again.

A table that was read from a store materialises a column, or another attribute, on first use (`set_lazy`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = Literal["", "concepts", "turns"]


class Column(NamedTuple):
    """One declared column.

    code       of array.array and of numpy: "q" int64, "i" int32, "b" int8, "d" float64
    blank      a row that was not filled yet: the bytes of the column's default
    per        what its rows are: "row" of the table, or another unit that the table names
    in_digest  whether equal memories must be equal in it
    points     what its values are numbers of, if of rows: a compaction renumbers them, and a store has permanent keys
    stored_in  the section of records that has it, where a table is stored in several (state/lsm/record_types.py)
    stored_as  its code in such records, where that is another
    first      its value in the row of a new turn; None: blank
    added_as   name in snapshots and digests of a column that older ones lack: it is left out while all of it is blank,
               so that a graph without it has the digest that it always had.  "" for all others: their own name
    """

    name: str
    code: str
    blank: bytes
    per: str
    in_digest: bool
    points: Points
    stored_in: str
    stored_as: str
    first: Callable[[Any], int] | None
    added_as: str

    @property
    def default(self) -> Any:
        """The value in a row that is blank."""
        return array(self.code, self.blank)[0]

    @property
    def packed_as(self) -> str:
        """The name of the array that it is packed into."""
        return self.added_as or self.name


def column(
    code: str,
    default: int = 0,
    *,
    per: str = "row",
    in_digest: bool = True,
    points: Points = "",
    stored_in: str = "",
    stored_as: str = "",
    first: Callable[[Any], int] | None = None,
    added_as: str = "",
) -> Any:
    """Declare a column: see Column.  `Any`, as the attribute is an array in every table that is made."""
    blank = array(code, [default]).tobytes()
    return Column("", code, blank, per, in_digest, points, stored_in, stored_as or code, first, added_as)


def append_all(rows: array[Any], values: Sequence[float]) -> None:
    """Append many values: as `extend` does, which converts each of them a few times more slowly."""
    rows.frombytes(np.array(values, rows.typecode).view(np.uint8).data)


class LazyColumn(NamedTuple):
    """An attribute that is still packed: how to materialise it, given the table, and its size then, bytes."""

    materialise: Callable[[Any], Any]
    size: int = 0


class _LazyAttribute:
    """A descriptor that materialises an attribute on first use; Python reads one that is set before it comes here."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, table: ColumnTable | None, owner: type) -> Any:
        return self if table is None else table.materialise(self._name)


def lazy_attribute() -> Any:
    """Declare an attribute of a ColumnTable, beside columns, that `set_lazy` may name."""
    return _LazyAttribute()


class ColumnTable:
    """A table of the columns that its class declares; `columns` lists them in the order of declaration."""

    columns: ClassVar[tuple[Column, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the declared columns, each under the name that it was given in the class."""
        declared = [(name, value) for name, value in vars(cls).items() if isinstance(value, Column)]
        cls.columns += tuple(declaration._replace(name=name) for name, declaration in declared)
        for name, _ in declared:
            setattr(cls, name, _LazyAttribute(name))

    def __init__(self) -> None:
        self._lazy: dict[str, LazyColumn] = {}
        for each in self.columns:
            setattr(self, each.name, array(each.code))

    def set_lazy(self, lazy: Mapping[str, LazyColumn]) -> None:
        """Materialise these attributes, by name, on first use."""
        for name in lazy:
            vars(self).pop(name, None)
        self._lazy = {**self._lazy, **lazy}

    def materialise_all(self) -> None:
        """Materialise all that is packed, before rows are added or removed: what is packed does not follow."""
        for name in list(self._lazy):
            getattr(self, name)

    def is_packed(self, name: str) -> bool:
        """Return whether an attribute is not materialised yet."""
        return name in self._lazy

    def materialise(self, name: str) -> Any:
        """Materialise a lazy attribute and return it.  Raises AttributeError for any other."""
        lazy = self._lazy.get(name)
        if lazy is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")
        value = lazy.materialise(self)
        setattr(self, name, value)
        self._lazy.pop(name, None)
        return value

    @property
    def size(self) -> int:
        """The memory of its columns once all are materialised, about, bytes."""
        rows: list[array[Any]] = [getattr(self, each.name) for each in self.columns if each.name not in self._lazy]
        return sum(len(each) * each.itemsize for each in rows) + sum(lazy.size for lazy in self._lazy.values())

    def read(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Append the rows of `arrays`, by the name that columns are packed as; those of one left out are blank."""
        rows = {each.per: len(arrays[each.name]) for each in self.columns if not each.added_as}
        for each in self.columns:
            values = arrays.get(each.packed_as) if each.added_as else arrays[each.name]
            into: array[Any] = getattr(self, each.name)
            if values is None:
                into.frombytes(each.blank * rows[each.per])
            else:  # without another copy, as bytes: array takes nothing else
                into.frombytes(np.ascontiguousarray(values, each.code).view(np.uint8).data)

    def copies(self, per: str | None = None) -> dict[str, NDArray[Any]]:
        """Copy the columns, or those of one unit only, into arrays by the name that they are packed as."""
        return {each.packed_as: np.array(getattr(self, each.name)) for each in self.columns if per in (None, each.per)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy the columns that a digest covers into arrays by the name that they are packed as."""
        covered = [each for each in self.columns if each.in_digest and not (each.added_as and self._is_blank(each))]
        return {each.packed_as: np.array(getattr(self, each.name)) for each in covered}

    def _is_blank(self, column: Column) -> bool:
        rows: array[Any] = getattr(self, column.name)
        return rows.count(column.default) == len(rows)
