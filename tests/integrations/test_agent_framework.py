"""Microsoft Agent Framework: agents that run with a context provider that remembers."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from agent_framework import Agent, AgentSession, BaseChatClient, ChatResponse, Message

from emgas import Memory, MemoryClient
from emgas.integrations.agent_framework import EmgasContextProvider
from tests.integrations.adapter_contract import FACT, AdapterContract


class Looking(BaseChatClient[Any]):
    """A model that says little, and keeps what it was shown."""

    shown = ""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **more: Any
    ) -> Awaitable[ChatResponse]:
        async def answer() -> ChatResponse:
            self.shown = "\n".join([str(options.get("instructions")), *(message.text for message in messages)])
            return ChatResponse(messages=[Message("assistant", ["Poor Biscuit!"])])

        return answer()


class TestAnAgent(AdapterContract):
    """An agent, a run, a session each."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        await self.ask(memory, graph, text, tolerant=tolerant)

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        model = Looking()
        provider = EmgasContextProvider(memory, graph=graph, tolerant=tolerant)
        await Agent(client=model, context_providers=[provider]).run(text)
        return model.shown


async def test_what_both_said_is_a_turn_each_in_the_graph_that_the_session_names(blocking: Memory, graph: str) -> None:
    provider = EmgasContextProvider(blocking, graph=lambda session: str(session.state["graph"]))
    session = AgentSession(session_id="s1")
    session.state["graph"] = graph
    question = Message("user", [FACT], author_name="Ada")
    await Agent(client=Looking(), name="Vet", context_providers=[provider]).run(question, session=session)
    passages = blocking.search("Biscuit", graph=graph).passages
    assert {(each.speaker, each.role, each.session, each.text) for each in passages} == {
        ("Ada", "user", "s1", FACT),
        ("Vet", "assistant", "s1", "Poor Biscuit!"),
    }
