"""Microsoft Agent Framework: EmgasContextProvider adds helpful memories to the context, and records the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering
from emgas.messages.fields import Role

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}  # of what is said to each other


class EmgasContextProvider(ContextProvider):
    """The memory of an agent.

    graph     whose memory, or how to tell it from the session
    budget    tokens that what is recalled may take
    tolerant  log what fails in the memory, and go on
    """

    def __init__(
        self,
        memory: Memory | MemoryClient,
        *,
        graph: str | Callable[[AgentSession], str],
        budget: int = 1000,
        tolerant: bool = False,
        source_id: str = "emgas",
    ) -> None:
        super().__init__(source_id)
        self.graph, self.budget = graph, budget
        self._remembering = Remembering(memory, tolerant)

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        question = "\n".join(message.text for message in context.input_messages if message.role == "user")
        memories = await self._remembering.instructions(self._graph_of(session), question, self.budget)
        if memories:
            context.extend_instructions(self.source_id, memories)

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        answered: list[Message] = context.response.messages if context.response is not None else []
        for message in [*context.input_messages, *answered]:
            if (role := ROLES.get(str(message.role))) is not None:
                await self._remembering.record(
                    self._graph_of(session),
                    message.text,
                    speaker=message.author_name or role,
                    session=session.session_id,
                    role=role,
                )

    def _graph_of(self, session: AgentSession) -> str:
        return self.graph if isinstance(self.graph, str) else self.graph(session)
