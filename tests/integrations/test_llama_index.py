"""LlamaIndex: chat engines whose memory has a block that remembers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, ChatResponse, MessageRole, MockLLM
from llama_index.core.memory import Memory as ShortTermMemory
from pydantic import Field

from emgas import Memory, MemoryClient
from emgas.integrations.llama_index import EmgasMemoryBlock
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract


class Looking(MockLLM):
    """A model that says little, and keeps what it was shown."""

    shown: list[str] = Field(default_factory=list)

    async def achat(self, messages: Sequence[ChatMessage], **more: Any) -> ChatResponse:
        self.shown.append("\n".join(message.content or "" for message in messages))
        return ChatResponse(message=ChatMessage(role="assistant", content="Poor Biscuit!"))


def short_term(memory: Memory | MemoryClient, graph: str, *, tolerant: bool = False) -> ShortTermMemory:
    """Make a memory that keeps no more than a message itself."""
    block = EmgasMemoryBlock(memory=memory, graph=graph, tolerant=tolerant)
    none = {"chat_history_token_ratio": 0.00001, "token_flush_size": 1}
    return ShortTermMemory.from_defaults(session_id=uuid4().hex, token_limit=40_000, memory_blocks=[block], **none)


class TestAChatEngine(AdapterContract):
    """An engine with a short-term memory of its own each."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        short = short_term(memory, graph, tolerant=tolerant)
        engine = SimpleChatEngine.from_defaults(llm=Looking(), memory=short)
        for each in (text, "Thanks."):  # the last exchange stays in the short-term memory
            await engine.achat(each)

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        model = Looking()
        engine = SimpleChatEngine.from_defaults(llm=model, memory=short_term(memory, graph, tolerant=tolerant))
        await engine.achat(text)
        return model.shown[-1]


def test_what_falls_out_of_the_short_term_memory_is_remembered(blocking: Memory, graph: str) -> None:
    short = short_term(blocking, graph)
    for role, text in (("user", FACT), ("assistant", "Poor Biscuit!"), ("tool", "4 years"), ("user", "Thanks.")):
        short.put(ChatMessage(role=MessageRole(role), content=text))  # from a loop of its own each time
    passages = blocking.search("Biscuit", graph=graph).passages
    assert {(each.role, each.session, each.text) for each in passages} == {
        ("user", short.session_id, FACT),
        ("assistant", short.session_id, "Poor Biscuit!"),
    }
    assert "ear drops" in "\n".join(message.content or "" for message in short.get(input=QUESTION))
