"""A partition that questions are answered from: folded by its writer, or followed by a reader."""

from __future__ import annotations

from typing import Protocol

from state.partition import Partition


class HeldPartition(Protocol):
    """What a question needs of a partition."""

    @property
    def partition(self) -> int:
        """Its number."""

    @property
    def state(self) -> Partition:
        """The fold of its log, as far as it has come."""

    async def until_source(self, offset: int) -> None:
        """Wait until the turn at `offset` of `turns` is folded."""
