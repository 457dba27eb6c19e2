"""LangGraph: a graph whose node asks the store, and random batches that must end as in a store without a memory."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, Item, ListNamespacesOp, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from emgas import Memory, MemoryClient
from emgas.errors import InvalidMessageError
from emgas.integrations.graph_names import graph_for
from emgas.integrations.langgraph import EmgasStore
from tests.integrations.adapter_contract import FACT, QUESTION, AdapterContract


async def looking(state: MessagesState, runtime: Runtime[str]) -> dict[str, Any]:
    """Stand for a model: answer with the question, and with what the store has for it."""
    assert runtime.store is not None
    question = str(state["messages"][-1].content)
    matches = await runtime.store.asearch((runtime.context, "memories"), query=question)
    return {"messages": [("ai", "\n".join([question, *(item.value["text"] for item in matches)]))]}


class TestAGraph(AdapterContract):
    """A node that recalls."""

    @pytest.fixture(autouse=True)
    def _items(self) -> None:
        self.items = InMemoryStore()

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        store = EmgasStore(self.items, memory, tolerant=tolerant)
        await store.aput((graph, "memories"), uuid4().hex, {"text": text})

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        store = EmgasStore(self.items, memory, tolerant=tolerant)
        if not self.items.list_namespaces(prefix=(graph,)):  # nothing is asked where nothing is kept
            self.items.put((graph, "memories"), "first", {"text": "Hello."})
        compiled = StateGraph(MessagesState, context_schema=str).add_node(looking).add_edge(START, "looking")
        answer = await compiled.compile(store=store).ainvoke({"messages": [("user", text)]}, context=graph)
        return str(answer["messages"][-1].content)

    async def test_what_no_turn_can_hold_is_remembered_as_far_as_it_can_be(
        self, memory: Memory | MemoryClient, graph: str
    ) -> None:
        await self.say(memory, graph, "Nothing in particular. " * 400 + FACT)
        await self.say(memory, graph, "The kettle\0 is blue.")
        assert FACT in await self.ask(memory, graph, QUESTION)
        assert "The kettle\0 is blue." in await self.ask(
            memory, graph, "which colour is the kettle?"
        )  # items are whole


KEYS, WORDS = st.sampled_from("xyz"), st.sampled_from(["tea", "coffee", ""])
NAMESPACES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple)
VALUES = st.fixed_dictionaries({"n": st.integers(0, 3), "text": WORDS})
OPS = st.one_of(
    st.builds(PutOp, NAMESPACES, KEYS, st.none() | VALUES),
    st.builds(GetOp, NAMESPACES, KEYS),
    st.builds(
        SearchOp,
        NAMESPACES,
        st.none() | st.just({"n": {"$gte": 2}}),
        st.integers(1, 3),
        st.integers(0, 2),
        query=st.none(),
    ),
    st.builds(ListNamespacesOp, st.none(), st.none() | st.integers(1, 2), st.integers(1, 9)),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(OPS, min_size=1, max_size=4), max_size=5))
def test_without_a_question_it_is_the_store_that_it_stands_around(blocking: Memory, batches: list[list[Op]]) -> None:
    plain, remembering = InMemoryStore(), EmgasStore(InMemoryStore(), blocking)
    for batch in batches:
        for op in batch:  # that store also lists a namespace from which somebody only read; ours reads before it writes
            if isinstance(op, PutOp):
                plain.get(op.namespace, op.key)
        assert comparable(remembering.batch(batch)) == comparable(plain.batch(batch))


def comparable(results: list[Any]) -> list[Any]:
    """Leave out of results when they were written."""
    if isinstance(results, list):
        return [comparable(each) for each in results]
    return (results.namespace, results.key, results.value) if isinstance(results, Item) else results


def texts(store: EmgasStore, *prefix: str, query: str, **more: Any) -> list[str]:
    return [item.value["text"] for item in store.search(prefix, query=query, **more)]


@pytest.fixture
def store(blocking: Memory) -> EmgasStore:
    return EmgasStore(InMemoryStore(), blocking)


def test_a_question_is_asked_of_every_namespace_below_and_of_no_other(store: EmgasStore, graph: str) -> None:
    for user in ("ada", "ben"):
        store.put((graph, user, "pets"), "vet", {"text": f"The vet knows {user}."})
    store.put((f"{graph}x", "cyd"), "vet", {"text": "The vet knows cyd."})
    assert sorted(texts(store, graph, query="vet")) == ["The vet knows ada.", "The vet knows ben."]
    assert texts(store, graph, "ben", query="vet") == ["The vet knows ben."]
    assert len(texts(store, graph, query="vet", limit=1)) == 1
    assert len(texts(store, graph, query="vet", limit=5, offset=1)) == 1
    assert all(item.score is not None and item.score > 0 for item in store.search((graph,), query="vet"))


def test_what_is_overwritten_or_deleted_is_not_found_and_what_comes_back_is(store: EmgasStore, graph: str) -> None:
    drops, pills = {"text": "The vet prescribed drops."}, {"text": "The vet prescribed pills."}
    for value in (drops, pills, drops):
        store.put((graph,), "vet", value)
        assert texts(store, graph, query="vet") == [value["text"]]
    store.delete((graph,), "vet")
    assert texts(store, graph, query="vet") == []
    store.put((graph,), "vet", drops)
    assert texts(store, graph, query="vet") == ["The vet prescribed drops."]


def test_what_somebody_changed_past_the_memory_is_not_shown(store: EmgasStore, blocking: Memory, graph: str) -> None:
    items = InMemoryStore()
    around = EmgasStore(items, blocking)
    around.put((graph,), "vet", {"text": "The vet prescribed drops."})
    items.put((graph,), "vet", {"text": "The vet prescribed pills."})
    assert texts(around, graph, query="vet") == []


def test_a_filter_and_the_paths_of_an_index_are_kept(store: EmgasStore, graph: str) -> None:
    store.put((graph,), "1", {"text": "The vet is kind.", "n": 1})
    store.put((graph,), "2", {"text": "The vet is late.", "n": 2})
    store.put((graph,), "3", {"text": "The vet is dear.", "n": 3}, index=False)
    store.put(
        (graph,), "4", {"text": "The vet is far.", "n": 4, "about": {"who": ["the dentist"]}}, index=["about.who"]
    )
    assert sorted(texts(store, graph, query="vet")) == ["The vet is kind.", "The vet is late."]
    assert texts(store, graph, query="vet", filter={"n": {"$gte": 2}}) == ["The vet is late."]
    assert texts(store, graph, query="dentist") == ["The vet is far."]


def test_what_has_faded_is_still_found(store: EmgasStore, blocking: Memory, graph: str) -> None:
    """A store promises to keep: a graph that archives all it can at once loses nothing."""
    blocking.configure(
        graph=graph_for(graph), half_life=1, prune_below=1.0, decay_every=1, grace=0, episode_life=1, idle=1
    )
    store.put((graph,), "vet", {"text": "The vet prescribed drops."})
    store.put((graph,), "tea", {"text": "Tea is served at four."})
    assert blocking.describe(graph_for(graph)).archived == 1
    assert texts(store, graph, query="what did the vet prescribe?") == ["The vet prescribed drops."]


def test_a_key_that_could_not_be_found_again_is_refused_before_anything_is_written(
    store: EmgasStore, graph: str
) -> None:
    with pytest.raises(InvalidMessageError, match="index=False"):
        store.put((graph,), "k" * 300, {"text": "x"})
    assert store.get((graph,), "k" * 300) is None
    store.put((graph,), "k" * 300, {"text": "x"}, index=False)
    assert store.get((graph,), "k" * 300) is not None
