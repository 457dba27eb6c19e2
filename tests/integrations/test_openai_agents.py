"""OpenAI Agents SDK: agents that run with a session that remembers, and with instructions that recall."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, TResponseInputItem, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText, ResponseStreamEvent

from emgas import Memory, MemoryClient
from emgas.integrations.openai_agents import RememberingSession, recalling
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract


class Looking(Model):
    """A model that says little, and keeps what it was shown."""

    shown = ""

    async def get_response(self, system_instructions: str | None, input: Any, *args: Any, **more: Any) -> ModelResponse:
        self.shown = f"{system_instructions}\n{input}"
        text = ResponseOutputText(text="Poor Biscuit!", type="output_text", annotations=[])
        utterance = ResponseOutputMessage(id="1", role="assistant", status="completed", type="message", content=[text])
        return ModelResponse(output=[utterance], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[ResponseStreamEvent]:
        raise NotImplementedError("no test streams")


class TestAnAgent(AdapterContract):
    """An agent, a run, a session each."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        session = RememberingSession(SQLiteSession("one"), memory, graph=graph, tolerant=tolerant)
        await Runner.run(Agent("a", model=Looking()), text, session=session, run_config=QUIET)

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        model = Looking()
        instructions = recalling(memory, graph=lambda run: str(run.context), instructions="Be kind.", tolerant=tolerant)
        agent = Agent[str]("a", model=model, instructions=instructions)
        await Runner.run(agent, text, context=graph, run_config=QUIET)
        assert "Be kind." in model.shown
        return model.shown


QUIET = RunConfig(tracing_disabled=True)


@pytest.fixture
def session(blocking: Memory, graph: str) -> RememberingSession:
    return RememberingSession(SQLiteSession("s1"), blocking, graph=graph)


CALL: TResponseInputItem = {"type": "function_call", "call_id": "1", "name": "age", "arguments": "{}"}
RESULT: TResponseInputItem = {"type": "function_call_output", "call_id": "1", "output": "4 years"}


def utterance(text: str) -> TResponseInputItem:
    return {"role": "user", "content": [{"type": "input_text", "text": text}]}


async def test_items_are_kept_whole_and_what_was_said_is_remembered(
    session: RememberingSession, blocking: Memory, graph: str
) -> None:
    items: list[TResponseInputItem] = [utterance(FACT), CALL, RESULT, {"role": "assistant", "content": "Poor Biscuit!"}]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(limit=1) == items[-1:]
    passages = blocking.search("Biscuit", graph=graph).passages
    assert {(each.role, each.session, each.text) for each in passages} == {
        ("user", "s1", FACT),
        ("assistant", "s1", "Poor Biscuit!"),
    }


async def test_what_is_popped_is_taken_back_and_nothing_else(
    session: RememberingSession, blocking: Memory, graph: str
) -> None:
    await RememberingSession(SQLiteSession("s2"), blocking, graph=graph).add_items([utterance(FACT)])
    await session.add_items([utterance("The vet called twice."), utterance(FACT), RESULT])
    assert await session.pop_item() == RESULT
    assert await session.pop_item() == utterance(FACT)
    left = {(each.session, each.text) for each in blocking.search("vet", graph=graph, top_passages=9).passages}
    assert left == {("s2", FACT), ("s1", "The vet called twice.")}
    await session.add_items([utterance(FACT)])  # and said again, it counts again
    assert blocking.describe(graph).turns == 3


async def test_a_session_that_is_cleared_stays_remembered(
    session: RememberingSession, blocking: Memory, graph: str
) -> None:
    await session.add_items([utterance(FACT)])
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    assert "ear drops" in blocking.search(QUESTION, graph=graph).context
