"""Pydantic AI: EmgasMemory, a capability that adds helpful memories to a run, and records its messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import AgentDepsT
from pydantic_core import to_json

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering


@dataclass
class EmgasMemory(AbstractCapability[AgentDepsT]):
    """The memory of an agent.

    graph     whose memory, or how to tell it from a run's context
    budget    tokens that what is recalled may take
    tolerant  log what fails in the memory, and go on
    """

    memory: Memory | MemoryClient
    graph: str | Callable[[RunContext[AgentDepsT]], str]
    budget: int = 1000
    tolerant: bool = False

    def get_instructions(self) -> Callable[[RunContext[AgentDepsT]], Awaitable[str]]:
        async def recalled(context: RunContext[AgentDepsT]) -> str:
            return await self._remembering.instructions(self._graph_of(context), _prompt(context), self.budget)

        return recalled

    async def after_run(self, ctx: RunContext[AgentDepsT], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        graph, session, run = self._graph_of(ctx), ctx.conversation_id or "main", ctx.run_id
        await self._remembering.record(
            graph, _prompt(ctx), speaker="user", session=session, role="user", id=f"{run}:user"
        )
        await self._remembering.record(
            graph,
            _text(result.output),
            speaker="assistant",
            session=session,
            role="assistant",
            id=f"{run}:assistant",
        )
        return result

    @property
    def _remembering(self) -> Remembering:
        return Remembering(self.memory, self.tolerant)

    def _graph_of(self, context: RunContext[AgentDepsT]) -> str:
        return self.graph if isinstance(self.graph, str) else self.graph(context)


def _prompt(context: RunContext[Any]) -> str:
    """Return the text of the user's prompt; pictures and files are left out."""
    if isinstance(context.prompt, str | None):
        return context.prompt or ""
    texts = (part if isinstance(part, str) else getattr(part, "content", None) for part in context.prompt)
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(output: Any) -> str:
    return output if isinstance(output, str) else to_json(output).decode()
