"""Agent Development Kit: runs whose agent searches the memory, and sessions that are added to it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.genai.types import Content, Part
from pydantic import Field

from emgas import Memory, MemoryClient
from emgas.integrations.google_adk import EmgasMemoryService
from emgas.integrations.graph_names import graph_for
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract

WHEN = 1_683_554_160.0


def content(text: str, role: str = "user") -> Content:
    return Content(role=role, parts=[Part(text=text)])


class Looking(BaseLlm):
    """A model that says little, and keeps what it was shown."""

    shown: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.shown.append(llm_request.model_dump_json(include={"contents"}))
        yield LlmResponse(content=content("Poor Biscuit!", "model"))


async def recall(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    """Show the model what its memory finds: as the framework's own tool does it, but without swallowing errors."""
    question = str(callback_context.user_content and callback_context.user_content.parts[0].text)
    result = await callback_context.search_memory(question)
    llm_request.contents += [memory.content for memory in result.memories]


class TestAnAgent(AdapterContract):
    """A run in a session each, which is added to the memory when it ends."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        service = EmgasMemoryService(memory, tolerant=tolerant)
        _, session = await self.run(service, graph, text)
        await service.add_session_to_memory(session)

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        shown, _ = await self.run(EmgasMemoryService(memory, tolerant=tolerant), graph, text)
        return shown

    async def run(self, service: EmgasMemoryService, user: str, text: str) -> tuple[str, Session]:
        sessions, model = InMemorySessionService(), Looking(model="looking")
        agent = LlmAgent(name="vet", model=model, before_model_callback=recall)
        runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=service)
        begun = await sessions.create_session(app_name="app", user_id=user)
        async for _ in runner.run_async(user_id=user, session_id=begun.id, new_message=content(text)):
            pass
        ended = await sessions.get_session(app_name="app", user_id=user, session_id=begun.id)
        assert ended is not None
        return "\n".join(model.shown), ended


@pytest.fixture
def service(blocking: Memory) -> EmgasMemoryService:
    return EmgasMemoryService(blocking)


def event(id: str, text: str, *, days: int = 0) -> Event:
    return Event(id=id, author="user", content=content(text), timestamp=WHEN + days * 86_400)


async def search(service: EmgasMemoryService, user: str, query: str) -> list[MemoryEntry]:
    return (await service.search_memory(app_name="app", user_id=user, query=query)).memories


async def test_a_session_that_is_added_again_adds_what_is_new(
    service: EmgasMemoryService, blocking: Memory, graph: str
) -> None:
    events = [
        event("e1", FACT),
        Event(id="e2", author="vet", content=content("Poor Biscuit!", "model"), timestamp=WHEN),
    ]
    for existing in (1, 2, 2):
        session = Session(id="s1", app_name="app", user_id=graph, events=events[:existing])
        await service.add_session_to_memory(session)
        assert blocking.describe(graph_for("app", graph)).turns == existing


async def test_an_entry_tells_who_said_it_and_when(service: EmgasMemoryService, graph: str) -> None:
    await service.add_events_to_memory(app_name="app", user_id=graph, events=[event("e1", FACT)], session_id="s1")
    [result] = await search(service, graph, QUESTION)
    assert (result.id, result.author, result.content) == ("e1", "user", content(FACT))
    assert result.timestamp is not None
    assert datetime.fromisoformat(result.timestamp) == datetime.fromtimestamp(WHEN, UTC)
    assert result.custom_metadata["session"] == "s1"


async def test_thoughts_calls_and_empty_events_are_not_remembered(
    service: EmgasMemoryService, blocking: Memory, graph: str
) -> None:
    thought = Content(role="model", parts=[Part(text="Hm.", thought=True), Part(text=FACT)])
    events = [Event(id="1", author="vet", content=thought), Event(id="2", author="vet"), event("3", " ")]
    await service.add_events_to_memory(app_name="app", user_id=graph, events=events)
    [result] = await search(service, graph, QUESTION)
    assert result.content == content(FACT, "model")
    assert blocking.describe(graph_for("app", graph)).turns == 1


async def test_after_years_of_silence_it_is_still_found(
    service: EmgasMemoryService, blocking: Memory, graph: str
) -> None:
    later = event("e2", "Tea is served at four.", days=3000)
    for each in (event("e1", FACT), later):
        await service.add_events_to_memory(app_name="app", user_id=graph, events=[each])
    assert blocking.describe(graph_for("app", graph)).archived == 1
    assert content(FACT) in [entry.content for entry in await search(service, graph, QUESTION)]


async def test_an_entry_can_be_added_and_deleted(service: EmgasMemoryService, graph: str) -> None:
    entry = MemoryEntry(id="m1", content=content(FACT), author="Ada", timestamp="2023-05-08T13:56:00+00:00")
    await service.add_memory(app_name="app", user_id=graph, memories=[entry])
    [result] = await search(service, graph, QUESTION)
    assert (result.id, result.author, result.timestamp) == ("m1", "Ada", "2023-05-08T13:56:00+00:00")
    await service.delete_memory(app_name="app", user_id=graph, memory_id="m1")
    assert await search(service, graph, QUESTION) == []


async def test_users_and_apps_whose_names_run_together_share_nothing(service: EmgasMemoryService, graph: str) -> None:
    await service.add_events_to_memory(app_name="app", user_id=f"x:{graph}", events=[event("e1", FACT)])
    result = await service.search_memory(app_name="app:x", user_id=graph, query=QUESTION)
    assert result.memories == []
