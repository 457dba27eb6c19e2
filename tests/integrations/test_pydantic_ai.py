"""Pydantic AI: agents that run with a memory among their capabilities."""

from __future__ import annotations

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from emgas import Memory, MemoryClient
from emgas.integrations.pydantic_ai import EmgasMemory
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract


class TestAnAgent(AdapterContract):
    """An agent and a run each."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        await self.ask(memory, graph, text, tolerant=tolerant)

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        shown: list[str] = []

        def look(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            shown.append(f"{info.instructions}\n{messages}")
            return ModelResponse(parts=[TextPart("Poor Biscuit!")])

        capability = EmgasMemory[str](memory, lambda run: run.deps, tolerant=tolerant)
        agent = Agent(FunctionModel(look), deps_type=str, capabilities=[capability])
        await agent.run(text, deps=graph)
        return shown[-1]


class Animal(BaseModel):
    name: str


async def test_what_both_said_is_a_turn_each_also_where_it_is_more_than_text(blocking: Memory, graph: str) -> None:
    def look(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"name": "Biscuit"})])

    agent = Agent(FunctionModel(look), output_type=Animal, capabilities=[EmgasMemory[None](blocking, graph)])
    await agent.run([FACT, BinaryContent(b"png", media_type="image/png")], conversation_id="c1")
    passages = blocking.search(f"{QUESTION} name", graph=graph, top_passages=9).passages
    assert {(each.role, each.session, each.text) for each in passages} == {
        ("user", "c1", FACT),
        ("assistant", "c1", '{"name":"Biscuit"}'),
    }
