"""Limit the memory of loaded graphs, in bytes: if it is exceeded, the least recently used graphs are evicted.

All partitions of a process share one budget.  The size of a graph is estimated from its contents; unflushed graphs
stay, whatever their size.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Protocol

MIB: Final = 1 << 20
DEFAULT_MEMORY: Final = 256 * MIB


class Holder(Protocol):
    """An owner of graphs in memory."""

    def drop(self, graph_id: str) -> bool:
        """Drop a graph from memory unless some of it is not flushed yet; return whether it was dropped."""


class MemoryBudget:
    """The sizes of the graphs in memory, least recently used first."""

    def __init__(self, most: int = DEFAULT_MEMORY) -> None:
        self._most = most
        self._taken = 0
        self._sizes: OrderedDict[tuple[Holder, str], int] = OrderedDict()

    @property
    def is_exceeded(self) -> bool:
        """Return whether graphs use more memory than allowed, and none can be evicted."""
        return self._taken > self._most

    def use(self, holder: Holder, graph_id: str) -> None:
        """Note that a graph was used."""
        if (holder, graph_id) in self._sizes:
            self._sizes.move_to_end((holder, graph_id))

    def measure(self, holder: Holder, graph_id: str, size: int) -> None:
        """Note the size, bytes, of a graph that was used before; evict others if the budget is exceeded."""
        key = holder, graph_id
        if key not in self._sizes:  # it was let go of meanwhile
            return
        self._taken += size - self._sizes[key]
        self._sizes[key] = size
        if self.is_exceeded:
            self._make_room(next(reversed(self._sizes)))

    def hold(self, holder: Holder, graph_id: str, size: int) -> None:
        """Note the size of a graph in use, bytes; evict others if the budget is exceeded."""
        key = holder, graph_id
        self._taken += size - self._sizes.pop(key, 0)
        self._sizes[key] = size
        if self.is_exceeded:
            self._make_room(key)

    def _make_room(self, keep: tuple[Holder, str]) -> None:
        for key in list(self._sizes):
            holder, graph_id = key
            if key != keep and holder.drop(graph_id):
                self._taken -= self._sizes.pop(key)
                if not self.is_exceeded:
                    return

    def forget(self, holder: Holder, graph_id: str) -> None:
        """Note that a graph is in memory no more."""
        self._taken -= self._sizes.pop((holder, graph_id), 0)

    def release(self, holder: Holder) -> None:
        """Note that an owner has dropped its graphs."""
        for key in [key for key in self._sizes if key[0] is holder]:
            self._taken -= self._sizes.pop(key)
