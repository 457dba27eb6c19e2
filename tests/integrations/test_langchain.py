"""LangChain: its own conformance tests for retrievers, a chain, and a conversation with a history."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

from emgas import Memory, MemoryClient
from emgas.errors import WrongEventLoopError
from emgas.integrations.langchain import EmgasRetriever, RememberingChatMessageHistory
from emgas.integrations.remembering import Remembering
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract

pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:Warning")


class Looking(SimpleChatModel):
    """A model that answers with what it was shown."""

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        return "\n".join(str(message.content) for message in messages)

    @property
    def _llm_type(self) -> str:
        return "looking"


class TestEmgasRetriever(RetrieversIntegrationTests):
    """The framework's own tests."""

    @pytest.fixture(autouse=True)
    def remembered(self, blocking: Memory, graph: str) -> None:
        self.memory, self.graph = blocking, graph
        for number, sick in enumerate(["cat", "dog", "hamster", "parrot", "tortoise"]):
            blocking.add(f"The vet prescribed drops for the {sick}.", graph=graph, id=f"t{number}")

    @property
    def retriever_constructor(self) -> type[EmgasRetriever]:
        return EmgasRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory, "graph": self.graph}

    @property
    def retriever_query_example(self) -> str:
        return "what did the vet prescribe?"


class TestAChain(AdapterContract):
    """Recall as a part of a chain."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        await Remembering(memory, tolerant).record(graph, text, speaker="Ada")

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        retriever = EmgasRetriever(memory=memory, graph=graph, tolerant=tolerant)
        prompt = ChatPromptTemplate.from_messages([("system", "You know:\n{known}"), ("user", "{asked}")])
        chain = {"known": retriever | _texts, "asked": RunnablePassthrough()} | prompt | Looking()
        return str((await chain.ainvoke(text)).content)


def _texts(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


class TestAConversation(AdapterContract):
    """A conversation with a history, whose next one recalls it."""

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        history = RememberingChatMessageHistory(
            InMemoryChatMessageHistory(), memory, graph=graph, session="one", tolerant=tolerant
        )
        conversation = RunnableWithMessageHistory(Looking(), lambda: history, history_factory_config=[])
        await conversation.ainvoke([HumanMessage(text)])
        assert [message.type for message in await history.aget_messages()] == ["human", "ai"]

    ask = TestAChain.ask


async def test_a_document_tells_what_the_memory_knows_of_the_turn(blocking: Memory, graph: str) -> None:
    blocking.add(FACT, graph=graph, id="t1", speaker="Ada", session="s", at=1_683_554_160_000)
    [result] = await EmgasRetriever(memory=blocking, graph=graph).ainvoke(QUESTION)
    assert (result.id, result.page_content) == ("t1", FACT)
    detail = {"speaker": "Ada", "session": "s", "role": None, "at": 1_683_554_160_000, "archived": False}
    assert {name: value for name, value in result.metadata.items() if name != "score"} == detail
    assert result.metadata["score"] > 0


def test_only_what_the_filter_lets_through_is_found(blocking: Memory, graph: str) -> None:
    blocking.add("The vet is in Lyon.", graph=graph, speaker="Ada")
    blocking.add("The vet is in Bonn.", graph=graph, speaker="Ben")
    retriever = EmgasRetriever(memory=blocking, graph=graph, only={"speakers": ["Ben"]})
    assert [document.page_content for document in retriever.invoke("where is the vet?")] == ["The vet is in Bonn."]


def test_a_history_keeps_every_message_and_remembers_what_people_and_the_model_said(
    blocking: Memory, graph: str
) -> None:
    history = RememberingChatMessageHistory(InMemoryChatMessageHistory(), blocking, graph=graph, session="s1")
    utterance: list[BaseMessage] = [
        SystemMessage("You are a vet."),
        HumanMessage(FACT, name="Ada"),
        AIMessage([{"type": "text", "text": "Poor Biscuit!"}]),
        ToolMessage("Biscuit: 4 years", tool_call_id="1"),
    ]
    history.add_messages(utterance)
    assert history.messages == utterance
    assert blocking.describe(graph).turns == 2
    passages = blocking.search("Biscuit", graph=graph).passages
    assert {(each.speaker, each.role, each.session, each.text) for each in passages} == {
        ("Ada", "user", "s1", FACT),
        ("assistant", "assistant", "s1", "Poor Biscuit!"),
    }


def test_a_conversation_that_is_cleared_stays_remembered(blocking: Memory, graph: str) -> None:
    history = RememberingChatMessageHistory(InMemoryChatMessageHistory(), blocking, graph=graph, session="s1")
    history.add_messages([HumanMessage(FACT)])
    history.clear()
    assert history.messages == []
    assert blocking.describe(graph).turns == 1


async def test_without_an_event_loop_a_memory_client_is_refused_with_what_to_do(address: str, graph: str) -> None:
    async with MemoryClient(address) as client:
        retriever = EmgasRetriever(memory=client, graph=graph)
        with pytest.raises(WrongEventLoopError, match=r"emgas\.Memory instead"):
            retriever.invoke(QUESTION)
