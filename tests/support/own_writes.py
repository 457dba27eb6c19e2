"""A client that asks behind its own writes, as one that wants to see them at a reader must: a reader may lag."""

from __future__ import annotations

from typing import Any

from emgas import MemoryClient
from emgas.messages.requests import GraphQuestion, Outcome


class OwnWrites(MemoryClient):
    """Asks each graph with `after`: the last record of `turns` that is known to be folded into it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._folded: dict[str, int] = {}

    async def send(self, request: Any, *, after: Any = None, **kwargs: Any) -> Any:
        """Send a message; a question waits for what this client wrote to the graph before it."""
        graph = getattr(request, "graph", "")
        if isinstance(request, GraphQuestion) and request.after is None and getattr(request, "as_of", None) is None:
            after = self._folded.get(graph) if after is None else after
        answer = await super().send(request, after=after, **kwargs)
        if isinstance(answer, Outcome) and answer.position.source >= 0:
            self._folded[graph] = max(answer.position.source, self._folded.get(graph, 0))
        return answer
