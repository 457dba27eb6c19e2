"""OpenAI Agents SDK: RememberingSession remembers a conversation, `recalling` gives an agent helpful memories.

A session keeps its items, whole and in order, in any other session; the memory gets what users and agents said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, RunContextWrapper, TResponseInputItem
from agents.memory.session import SessionABC

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering
from emgas.messages.fields import Role

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}  # of what is said to each other
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


class RememberingSession(SessionABC):
    """Any session, whose users and agents are remembered.

    pop_item       what was popped is taken back: it is forgotten, where its own words find it
    clear_session  the conversation ends; what was said stays remembered until `memory.forget(sessions=[…])`
    """

    def __init__(
        self, session: SessionABC, memory: Memory | MemoryClient, *, graph: str, tolerant: bool = False
    ) -> None:
        """`tolerant`: log what fails in the memory, and go on."""
        self.session, self.graph = session, graph
        self.session_id = session.session_id
        self.session_settings = session.session_settings
        self._remembering = Remembering(memory, tolerant)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        return await self.session.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        await self.session.add_items(items)
        for item in items:
            if (role := ROLES.get(_field(item, "role"))) is not None:
                await self._remembering.record(
                    self.graph, _text(item), speaker=role, session=self.session_id, role=role
                )

    async def pop_item(self) -> TResponseInputItem | None:
        item = await self.session.pop_item()
        if item is not None and (role := ROLES.get(_field(item, "role"))) is not None:
            await self._remembering.take_back(self.graph, _text(item), speaker=role, session=self.session_id)
        return item

    async def clear_session(self) -> None:
        await self.session.clear_session()


def recalling(
    memory: Memory | MemoryClient,
    *,
    graph: str | Callable[[RunContextWrapper[Any]], str],
    instructions: str = "",
    budget: int = 1000,
    tolerant: bool = False,
) -> Instructions:
    """Return the `instructions` of an Agent: yours, and the memories that help with the user's last message.

    graph   whose memory: a name, or a function of the run's context
    budget  tokens that it may take
    """
    remembering = Remembering(memory, tolerant)

    async def recalled(context: RunContextWrapper[Any], _: Agent[Any]) -> str:
        name = graph if isinstance(graph, str) else graph(context)
        memories = await remembering.instructions(name, _last_user_text(context.turn_input), budget)
        return "\n\n".join(part for part in (instructions, memories) if part)

    return recalled


def _last_user_text(items: list[TResponseInputItem]) -> str:
    """Return the last message of the user."""
    return next((_text(item) for item in reversed(items) if _field(item, "role") == "user"), "")


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _text(item: Any) -> str:
    content = _field(item, "content")
    if isinstance(content, str):
        return content
    texts = (_field(part, "text") for part in content or [])
    return "\n".join(text for text in texts if isinstance(text, str))
