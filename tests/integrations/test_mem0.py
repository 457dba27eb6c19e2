"""mem0's own client against the gateway: what was written for mem0 keeps its memory here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": mkdtemp()}  # read where it is imported

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import MemoryError as Mem0Error
from mem0.exceptions import MemoryNotFoundError, ValidationError

from emgas import Memory
from tests.integrations.adapter_contract import FACT, QUESTION

ADA: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a kind vet."},
    {"role": "user", "content": FACT},
    {"role": "assistant", "content": "Poor Biscuit! Give them twice a day."},
]


@pytest.fixture
def client(address: str) -> Iterator[MemoryClient]:
    client = MemoryClient(api_key="any, where no key is wanted", host=address)
    yield client
    client.client.close()


def mine(graph: str, **more: Any) -> dict[str, Any]:
    return {"filters": {"user_id": graph}, **more}


def test_what_was_added_is_searched_listed_and_got_again(client: MemoryClient, graph: str, blocking: Memory) -> None:
    added = client.add(ADA, user_id=graph, metadata={"mood": "worried"})
    assert [each["event"] for each in added["results"]] == ["ADD", "ADD"], "what the system says is no memory"
    results = client.search(QUESTION, **mine(graph))["results"]
    assert results[0]["memory"] == FACT
    assert (results[0]["user_id"], results[0]["metadata"]) == (graph, {"mood": "worried"})
    assert client.get(results[0]["id"]) == {**results[0], "score": None}
    listed = client.get_all(**mine(graph))
    assert (listed["count"], [each["memory"] for each in listed["results"]]) == (2, [ADA[2]["content"], FACT])
    history = client.history(results[0]["id"])
    assert [(each["event"], each["new_memory"]) for each in history] == [("ADD", FACT)]
    assert [turn.role for turn in blocking.turns(graph=graph).turns] == ["user", "assistant"], "turns as any other"


def test_a_text_or_one_message_or_parts_will_do(client: MemoryClient, graph: str) -> None:
    client.add(FACT, user_id=graph)
    client.add({"role": "user", "content": "The kettle is blue."}, user_id=graph)
    client.add([{"role": "user", "content": [{"type": "text", "text": "The lid is red."}]}], filters={"user_id": graph})
    assert client.get_all(**mine(graph))["count"] == 3
    assert client.search("which colour is the lid?", **mine(graph))["results"][0]["memory"] == "The lid is red."


def test_users_are_islands(client: MemoryClient, graph: str) -> None:
    client.add(ADA, user_id=graph)
    assert client.search(QUESTION, **mine(f"{graph}-other"))["results"] == []
    assert client.get_all(**mine(f"{graph}-other")) == {"count": 0, "next": None, "previous": None, "results": []}


def test_agents_apps_and_runs_beside_a_user_part_his_memories(client: MemoryClient, graph: str) -> None:
    client.add("The kettle is blue.", user_id=graph, agent_id="cook")
    client.add("The kettle is red.", user_id=graph, agent_id="smith", run_id="one")
    both = client.get_all(**mine(graph))
    assert both["count"] == 2
    smiths = client.get_all(filters={"AND": [{"user_id": graph}, {"agent_id": "smith"}]})["results"]
    assert [(each["memory"], each["agent_id"], each["run_id"]) for each in smiths] == [
        ("The kettle is red.", "smith", "one")
    ]
    run = client.search("kettle", filters={"user_id": graph, "run_id": "one"})["results"]
    assert [each["memory"] for each in run] == ["The kettle is red."]
    cooks = client.search("kettle", filters={"user_id": graph, "agent_id": "cook"})["results"]
    assert [each["memory"] for each in cooks] == ["The kettle is blue."]
    client.client.delete("/v1/memories/", params={"user_id": graph, "agent_id": "cook"}).raise_for_status()
    assert [each["memory"] for each in client.get_all(**mine(graph))["results"]] == ["The kettle is red."]


def test_who_is_no_user_has_a_memory_of_its_own(client: MemoryClient, graph: str) -> None:
    client.add("The kettle is blue.", agent_id=graph)
    results = client.search("kettle", filters={"agent_id": graph})["results"]
    assert [(each["agent_id"], each["user_id"]) for each in results] == [(graph, None)]
    entities = {(each["type"], each["name"]): each for each in client.users()["results"]}
    assert entities["agent", graph]["total_memories"] == 1
    client.delete_users(agent_id=graph)
    assert client.search("kettle", filters={"agent_id": graph})["results"] == []


def test_times_are_kept_and_asked_for(client: MemoryClient, graph: str) -> None:
    for day, colour in ((8, "blue"), (9, "red"), (10, "green")):
        client.add(f"The kettle is {colour}.", user_id=graph, timestamp=1_683_504_000 + (day - 8) * 86_400 + 3600)
    listed = client.get_all(**mine(graph, start_date="2023-05-09", end_date="2023-05-09"))
    assert [each["memory"] for each in listed["results"]] == ["The kettle is red."]
    assert listed["results"][0]["created_at"] == "2023-05-09T01:00:00.000+00:00"
    late = {"AND": [{"user_id": graph}, {"created_at": {"gte": "2023-05-10"}}]}
    assert [each["memory"] for each in client.search("kettle", filters=late)["results"]] == ["The kettle is green."]


def test_a_list_comes_in_pages(client: MemoryClient, graph: str) -> None:
    client.add([{"role": "user", "content": f"Remark number {number}."} for number in range(5)], user_id=graph)
    pages = [client.get_all(**mine(graph, page=page, page_size=2)) for page in (1, 2, 3)]
    assert [[each["memory"][-2] for each in page["results"]] for page in pages] == [["4", "3"], ["2", "1"], ["0"]]
    assert [page["count"] for page in pages] == [5, 5, 5]
    assert [page["next"] is None for page in pages] == [False, False, True]


def test_as_many_as_wanted_come_back_and_none_below_a_threshold(client: MemoryClient, graph: str) -> None:
    client.add([{"role": "user", "content": f"The kettle has dent {number}."} for number in range(9)], user_id=graph)
    scores = [each["score"] for each in client.search("kettle", **mine(graph, top_k=4))["results"]]
    assert len(scores) == 4
    assert client.search("kettle", **mine(graph, threshold=max(scores) + 1))["results"] == []


def test_what_is_deleted_is_gone(client: MemoryClient, graph: str) -> None:
    client.add(ADA, user_id=graph)
    results = client.search(QUESTION, **mine(graph))["results"][0]["id"]
    client.delete(results)
    with pytest.raises(MemoryNotFoundError):
        client.get(results)
    with pytest.raises(MemoryNotFoundError):
        client.delete(results)
    client.delete_all(user_id=graph)
    assert client.get_all(**mine(graph))["count"] == 0


def test_a_memory_with_an_expiration_date_tells_it(client: MemoryClient, graph: str) -> None:
    client.add("Tea is served.", user_id=graph, expiration_date="2130-01-31")
    assert [each["expiration_date"] for each in client.get_all(**mine(graph))["results"]] == ["2130-01-31"]


def test_what_it_cannot_do_is_refused_with_what_to_do(client: MemoryClient, graph: str) -> None:
    with pytest.raises(ValidationError, match="expiration_date"):
        client.add("Tea is served.", user_id=graph, expiration_date="soon")
    with pytest.raises(ValidationError, match="user_id: is missing"):
        client.add("Tea is served.")
    with pytest.raises(ValidationError, match="filters: give user_id"):
        client.search("tea", filters={"OR": [{"user_id": "ada"}, {"user_id": "ben"}]})
    client.add("Tea is served.", user_id=graph)
    with pytest.raises(Mem0Error):
        client.update(client.get_all(**mine(graph))["results"][0]["id"], text="Coffee is served.")


def test_a_name_may_be_any(client: MemoryClient, graph: str) -> None:
    name = f"{graph} Zoë~%7E|张伟/x?&=#"
    client.add(FACT, user_id=name)
    results = client.search(QUESTION, **mine(name))["results"][0]
    assert client.get(results["id"])["user_id"] == name
    client.delete_users(user_id=name)
    assert client.get_all(**mine(name))["count"] == 0


async def test_their_client_for_event_loops_will_do(address: str, graph: str) -> None:
    client = AsyncMemoryClient(api_key="any", host=address)
    await client.add(ADA, user_id=graph)
    assert (await client.search(QUESTION, **mine(graph)))["results"][0]["memory"] == FACT


def test_a_wrong_key_is_told(tmp_path: Path, keyed_address: str) -> None:
    with pytest.raises(ValueError, match="this key is unknown"):
        MemoryClient(api_key="wrong", host=keyed_address)
    client = MemoryClient(api_key="secret", host=keyed_address)
    client.add(FACT, user_id="ada")
    with pytest.raises(Exception, match="does not belong to this graph"):
        client.add(FACT, user_id="ben")
