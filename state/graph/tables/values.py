"""Values of a whole graph: each is declared once, by `value`, and all else follows.

    class GraphTables(GraphValues):
        clock: int = value(EARLIEST_MS, always=True)       what a new graph starts with; what is hashed, packed,
        events: int = value(0, in_digest=False)            stored and read back
        timezone: str = value("UTC")                       left out of digests and snapshots while it is "UTC"
        mode: str = value("default", packed_in="asked")    these two are packed in one list, left out while both
        rerank: str = value("", packed_in="asked")         have their defaults
        habits: HabitTable = value(HabitTable)             starts empty; packed by its `values`, read by its `of`

So a graph without a value that was added has the digest that it always had.  Stores hold them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple


class Value(NamedTuple):
    """One declared value.

    default    what a new graph has; of a table, its class
    always     whether digests and snapshots hold the default, too, as they did in the first version
    in_digest  whether equal memories must be equal in it; a snapshot always holds one that need not be
    packed_in  name of the list that it shares with others; "" for its own name
    """

    name: str
    default: Any
    is_table: bool
    always: bool
    in_digest: bool
    packed_in: str

    def new(self) -> Any:
        """Return the default, as an object of its own."""
        return self.default() if self.is_table else copy(self.default)

    def packed(self, current: Any) -> Any:
        """Convert what a graph has to a JSON-able value."""
        return current.values() if self.is_table else current

    def read(self, packed: Any) -> Any:
        """Convert what `packed` returned back."""
        return self.default.of(packed) if self.is_table else packed


def value(default: Any, *, always: bool = False, in_digest: bool = True, packed_in: str = "") -> Any:
    """Declare a value: see Value.  `Any`, as the attribute is the value itself in every graph that is made."""
    return Value("", default, isinstance(default, type), always, in_digest, packed_in)


class GraphValues:
    """The values that its class declares."""

    declared: ClassVar[Mapping[str, tuple[Value, ...]]] = {}  # name that they are packed under → in order

    def __init_subclass__(cls) -> None:
        """Collect the declared values, each under the name that it was given in the class."""
        groups = dict(cls.declared)
        for name in [name for name, each in vars(cls).items() if isinstance(each, Value)]:
            each: Value = vars(cls)[name]._replace(name=name)
            packed_as = each.packed_in or name
            groups[packed_as] = (*groups.get(packed_as, ()), each)
            delattr(cls, name)  # so that only an object that was initialised has it
        cls.declared = groups

    def __init__(self) -> None:
        for group in self.declared.values():
            for each in group:
                setattr(self, each.name, each.new())

    def values_in_digest(self) -> dict[str, Any]:
        """Return what equal memories must be equal in, JSON-able, without what was added and has its default."""
        return {
            name: self._packed(group)
            for name, group in self.declared.items()
            if group[0].in_digest and (group[0].always or not self._is_blank(group))
        }

    def values_beside_digest(self) -> dict[str, Any]:
        """Return what a snapshot holds besides, JSON-able."""
        return {name: self._packed(group) for name, group in self.declared.items() if not group[0].in_digest}

    def values_to_store(self) -> dict[str, Any]:
        """Return all values, JSON-able."""
        return {name: self._packed(group) for name, group in self.declared.items()}

    def read_values(self, values: Mapping[str, Any]) -> None:
        """Take over what was packed or stored; what was left out keeps its default."""
        for name, group in self.declared.items():
            if name in values:
                parts = values[name] if group[0].packed_in else [values[name]]
                for each, packed in zip(group, parts, strict=True):
                    setattr(self, each.name, each.read(packed))

    def _packed(self, group: tuple[Value, ...]) -> Any:
        parts = [each.packed(getattr(self, each.name)) for each in group]
        return parts if group[0].packed_in else parts[0]

    def _is_blank(self, group: tuple[Value, ...]) -> bool:
        return all(each.packed(getattr(self, each.name)) == each.packed(each.new()) for each in group)
