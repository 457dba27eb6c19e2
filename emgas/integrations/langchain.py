"""LangChain: EmgasRetriever returns turns as documents; RememberingChatMessageHistory remembers a conversation.

A history keeps its messages, whole and in order, in any other history; the memory gets what people and the model said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering
from emgas.messages.fields import Role
from emgas.messages.queries import RecalledPassage

ROLES: dict[str, Role] = {"human": "user", "ai": "assistant"}  # by type of message: what is said to each other


class EmgasRetriever(BaseRetriever):
    """Finds turns of a graph.

    memory    a Memory; a MemoryClient does for `ainvoke`
    k         how many, also `invoke(…, k=3)`; None: as many as the question needs
    only      which turns may come: the fields of emgas.Filter
    tolerant  nothing is found where the memory fails, instead of an error
    """

    memory: Memory | MemoryClient
    graph: str
    k: int | None = None
    only: Mapping[str, Any] = Field(default_factory=dict)
    tolerant: bool = False

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return self._remembering.wait(lambda: self._documents(query, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return await self._documents(query, k)

    @property
    def _remembering(self) -> Remembering:
        return Remembering(self.memory, self.tolerant)

    async def _documents(self, query: str, k: int | None) -> list[Document]:
        most = self.k if k is None else k
        passages = await self._remembering.passages(self.graph, query, top_passages=most, only=self.only)
        return [_document(passage) for passage in passages]


def _document(passage: RecalledPassage) -> Document:
    fields = ("speaker", "session", "role", "at", "score", "archived")
    return Document(
        id=passage.id, page_content=passage.text, metadata={name: getattr(passage, name) for name in fields}
    )


class RememberingChatMessageHistory(BaseChatMessageHistory):
    """Any chat message history, whose people and model are remembered.

    `clear` ends the conversation: what was said stays remembered until `memory.forget(sessions=[…])`.
    """

    def __init__(
        self,
        history: BaseChatMessageHistory,
        memory: Memory | MemoryClient,
        *,
        graph: str,
        session: str,
        tolerant: bool = False,
    ) -> None:
        """`session` names this conversation in the memory; `memory` as that of EmgasRetriever."""
        super().__init__()
        self.history, self.graph, self.session = history, graph, session
        self._remembering = Remembering(memory, tolerant)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # a field there, never set
        return self.history.messages

    async def aget_messages(self) -> list[BaseMessage]:
        return await self.history.aget_messages()

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.history.add_messages(messages)
        self._remembering.wait(lambda: self._remember(messages))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        await self.history.aadd_messages(messages)
        await self._remember(messages)

    def clear(self) -> None:
        self.history.clear()

    async def aclear(self) -> None:
        await self.history.aclear()

    async def _remember(self, messages: Sequence[BaseMessage]) -> None:
        for message in messages:
            if (role := ROLES.get(message.type)) is not None:
                speaker = message.name or role
                await self._remembering.record(
                    self.graph, str(message.text), speaker=speaker, session=self.session, role=role
                )
