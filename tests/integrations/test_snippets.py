"""Every snippet of clients/python/README.md runs; only the model is another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import agents
import google.adk.agents
import pydantic_ai
import pytest
from google.adk.sessions import InMemorySessionService
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

from emgas import Memory, MemoryClient
from tests.integrations import (
    test_agent_framework as of_agent_framework,
)
from tests.integrations import (
    test_google_adk as of_google_adk,
)
from tests.integrations import (
    test_openai_agents as of_openai_agents,
)
from tests.integrations.adapter_contract import FACT, QUESTION

PAGE = Path(__file__).resolve().parents[2] / "clients/python/README.md"
SNIPPET = re.compile(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = dict(SNIPPET.findall(PAGE.read_text("utf-8")))


def run(title: str) -> dict[str, Any]:
    """Run the snippet below a heading; give its names."""
    names: dict[str, Any] = {}
    exec(compile(SNIPPETS[title], f"clients/python/README.md: {title}", "exec"), names)  # noqa: S102
    return names


@pytest.fixture(autouse=True)
def here(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `Memory()` and `MemoryClient()` mean the memory of these tests."""
    monkeypatch.setenv("EMGAS_BROKER", address)


def test_there_is_one_for_each_adapter() -> None:
    adapters = {path.stem for path in PAGE.parents[2].glob("emgas/integrations/[a-z]*.py")} - {
        "graph_names",
        "remembering",
        "hermes",  # its host loads it: integrations/agents has what is installed
    }
    results = {name for source in SNIPPETS.values() for name in re.findall(r"emgas\.integrations\.(\w+)", source)}
    assert results == adapters


def test_langchain(capsys: pytest.CaptureFixture[str]) -> None:
    run("LangChain")
    assert capsys.readouterr().out == FACT + "\n"


def test_langgraph(capsys: pytest.CaptureFixture[str]) -> None:
    run("LangGraph")
    assert capsys.readouterr().out == "The vet prescribed ear drops for Biscuit.\n"


async def test_openai_agents(graph: str) -> None:
    names, model = run("OpenAI Agents SDK"), of_openai_agents.Looking()
    names["Agent"] = lambda name, **more: agents.Agent(name, model=model, **more)
    assert await names["answer"](FACT, graph) == "Poor Biscuit!"
    await names["answer"](QUESTION, graph)
    assert "ear drops" in model.shown
    assert "You are a kind vet." in model.shown


async def test_pydantic_ai(graph: str) -> None:
    shown: list[str] = []

    def look(messages: Any, info: Any) -> ModelResponse:
        shown.append(str(info.instructions))
        return ModelResponse(parts=[TextPart("Poor Biscuit!")])

    names = run("Pydantic AI")
    names["Agent"] = lambda model, **more: pydantic_ai.Agent(FunctionModel(look), **more)
    for text in (FACT, QUESTION):
        assert await names["answer"](text, graph) == "Poor Biscuit!"
    assert "ear drops" in shown[-1]


async def test_google_adk(graph: str) -> None:
    names, model = run("Google's Agent Development Kit"), of_google_adk.Looking(model="looking")
    names["LlmAgent"] = lambda **more: google.adk.agents.LlmAgent(**more | {"model": model})
    async with MemoryClient() as memory:
        runner = names["runner"](memory)
        sessions: InMemorySessionService = runner.session_service
        for text in (FACT, QUESTION):
            begun = await sessions.create_session(app_name="shop", user_id=graph)
            utterance = of_google_adk.content(text)
            async for _ in runner.run_async(user_id=graph, session_id=begun.id, new_message=utterance):
                pass
            ended = await sessions.get_session(app_name="shop", user_id=graph, session_id=begun.id)
            await runner.memory_service.add_session_to_memory(ended)
    assert "ear drops" in model.shown[-1]


def test_llama_index() -> None:
    names, fact = run("LlamaIndex"), f"{FACT} {uuid4().hex}"
    message = names["ShortTermMemory"]  # a name of the framework's, so that the snippet is what made it
    assert isinstance(names["short"], message)
    with Memory() as memory:
        memory.add(fact, graph="ada")
        names["block"].memory = memory  # the snippet's own is closed where it ends
        assert fact in str(names["short"].get(input=QUESTION))


async def test_agent_framework(graph: str) -> None:
    names, model = run("Microsoft Agent Framework"), of_agent_framework.Looking()
    for text in (FACT, QUESTION):
        assert await names["answer"](text, graph, model) == "Poor Biscuit!"
    assert "ear drops" in model.shown


def test_haystack(address: str, blocking: Memory) -> None:
    blocking.add(FACT, graph="ada")
    names: dict[str, Any] = {}
    exec(SNIPPETS["Haystack"].replace("http://127.0.0.1:8088", address), names)  # noqa: S102
    results = names["pipeline"].run({"memory": {"query": QUESTION}})["memory"]["documents"]
    names["pipeline"].get_component("memory").close()
    assert FACT in [document.content for document in results]
