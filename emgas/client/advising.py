"""How a client says something of what is in a graph: advice, which stands beside what was said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emgas.messages.advice import Advice
from emgas.messages.turns import Outcome


class Advising:
    """The part of MemoryClient that advises."""

    async def advise(
        self, graph: str, by: str, *, id: str | None = None, timeout: float | None = None, **said: Any
    ) -> Outcome:
        """Say something of what is in a graph; `said`: one of named, rated, summary, rewritten, split, judged (Advice).

        by  who says it, with its version

        The outcome is `rejected` where it does not fit what the graph holds.
        """
        return await self._command(Advice, graph, id=id, timeout=timeout, fields={**said, "by": by})

    async def _command(
        self, kind: Any, graph: str, *, id: str | None, timeout: float | None, fields: Mapping[str, Any]
    ) -> Outcome:
        raise NotImplementedError
