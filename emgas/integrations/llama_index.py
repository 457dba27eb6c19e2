"""LlamaIndex: EmgasMemoryBlock, a block of its Memory that keeps what falls out of the short-term memory."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from pydantic import InstanceOf

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering
from emgas.messages.fields import Role

ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant"}


class EmgasMemoryBlock(BaseMemoryBlock[str]):
    """A block with memories that help with the user's last message.

    memory    a Memory: this framework may call from several event loops; a MemoryClient does for one
    budget    tokens that what is recalled may take
    tolerant  log what fails in the memory, and go on
    """

    name: str = "memory"
    memory: InstanceOf[Memory] | InstanceOf[MemoryClient]
    graph: str
    budget: int = 1000
    tolerant: bool = False

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        question = next((message.content for message in reversed(messages or []) if message.role == "user"), None)
        return await self._remembering.instructions(self.graph, question or "", self.budget)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            if (role := ROLES.get(message.role.value)) is not None:
                session = message.additional_kwargs.get("session_id") or "main"
                await self._remembering.record(
                    self.graph, message.content or "", speaker=role, session=str(session), role=role
                )

    @property
    def _remembering(self) -> Remembering:
        return Remembering(self.memory, self.tolerant)
