"""Haystack: a pipeline whose prompt is built from what the memory finds."""

from __future__ import annotations

import pytest
from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.core.errors import PipelineRuntimeError

from emgas import Memory, MemoryClient
from emgas.integrations.haystack import EmgasRetriever
from emgas.integrations.remembering import Remembering
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract

TEMPLATE = "{% for document in documents %}{{ document.content }}\n{% endfor %}{{ query }}"


def pipeline(retriever: EmgasRetriever) -> Pipeline:
    made = Pipeline()
    made.add_component("memory", retriever)
    made.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    made.connect("memory.documents", "prompt.documents")
    return made


class TestAPipeline(AdapterContract):
    """A pipeline that ends with the prompt."""

    failure = PipelineRuntimeError

    @pytest.fixture
    def memory(self, blocking: Memory) -> Memory:
        return blocking  # the one that this component takes

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        await Remembering(memory, tolerant).record(graph, text, speaker="Ada")

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        assert isinstance(memory, Memory)
        made = pipeline(EmgasRetriever(memory, graph, tolerant=tolerant))
        inputs = {"memory": {"query": text}, "prompt": {"query": text}}
        prompts = [made.run(inputs), await made.run_async(inputs)]
        assert prompts[0] == prompts[1]
        return str(prompts[0]["prompt"]["prompt"])


def test_a_document_tells_what_the_memory_knows_of_the_turn(blocking: Memory, graph: str) -> None:
    blocking.add(FACT, graph=graph, id="t1", speaker="Ada", session="s", at=1_683_554_160_000)
    [result] = EmgasRetriever(blocking, "another").run(QUESTION, graph=graph)["documents"]
    assert (result.id, result.content, result.score and result.score > 0) == ("t1", FACT, True)
    assert result.meta == {"speaker": "Ada", "session": "s", "role": None, "at": 1_683_554_160_000, "archived": False}


def test_as_many_come_as_are_asked_for(blocking: Memory, graph: str) -> None:
    for sick in ("cat", "dog", "parrot"):
        blocking.add(f"The vet prescribed drops for the {sick}.", graph=graph)
    retriever = EmgasRetriever(blocking, graph, top_k=2)
    assert len(retriever.run("what did the vet prescribe?")["documents"]) == 2
    assert len(retriever.run("what did the vet prescribe?", top_k=1)["documents"]) == 1


def test_a_pipeline_with_an_address_is_written_down_and_read_again(address: str, blocking: Memory, graph: str) -> None:
    blocking.add(FACT, graph=graph)
    written = pipeline(EmgasRetriever(address, graph)).dumps()
    again = Pipeline.loads(written, allowed_modules=["emgas.integrations.haystack"])
    prompt = again.run({"memory": {"query": QUESTION}, "prompt": {"query": QUESTION}})["prompt"]["prompt"]
    again.get_component("memory").close()
    assert FACT in prompt


def test_a_pipeline_with_an_open_memory_says_why_it_cannot_be_written_down(blocking: Memory, graph: str) -> None:
    with pytest.raises(TypeError, match="only an address can be written down"):
        EmgasRetriever(blocking, graph).to_dict()
