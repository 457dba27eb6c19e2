"""Lists of graphs: no page, cursor or forged cursor names a graph that the key may not read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as some

from emgas import MemoryClient
from emgas.errors import QueryFailedError
from emgas.messages.rights import Grant
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from tests.support.served import serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

OPEN = ("ada", "ada2", "adam", "ben", "team-a", "team-b", "zoe")
GRANTED = "team-granted"  # grants the key `team` the right to read
CLOSED = ("ada-closed", "team-closed")  # grant somebody else everything
WRITE_ONLY = "team-write"  # grants the key `team` the right to write
NAMES = (*OPEN, GRANTED, *CLOSED, WRITE_ONLY)
RWF = RIGHTS - {"admin"}
SEEN = {
    "operator": sorted(NAMES),
    "narrow": ["ben"],
    "team": ["team-a", "team-b", GRANTED],
    "everywhere": sorted(OPEN),
    "nowhere": [],
}
KEYS = [
    Caller(name="operator", sha256=digest("operator"), graphs=("*",), rights=RIGHTS),
    Caller(name="narrow", sha256=digest("narrow"), graphs=("ben",), rights=RWF),
    Caller(name="team", sha256=digest("team"), graphs=("team-*",), rights=RWF),
    Caller(name="everywhere", sha256=digest("everywhere"), graphs=("*",), rights=RWF),
    Caller(name="solo", sha256=digest("solo"), graphs=("solo",), rights=RWF),
    Caller(name="nowhere", sha256=digest("nowhere"), graphs=(), rights=RWF),
]


@dataclass
class Door:
    """A gateway before a memory with all these graphs."""

    http: httpx.AsyncClient
    partitions: int

    async def page(self, key: str, partition: int, **options: str | int) -> httpx.Response:
        """Ask a partition for a page of its list, as any client may write it."""
        message = {"kind": "list", **options}
        path = f"/v1/records/queries?partition={partition}"
        response = await self.http.post(path, json=message, headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == 200, response.text
        assert "graphs" in response.json(), response.text
        return response

    async def get(self, key: str, path: str) -> httpx.Response:
        return await self.http.get(path, headers={"Authorization": f"Bearer {key}"})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    address = f"embedded:{tmp_path_factory.mktemp('listings')}"
    async with (
        MemoryClient(address) as memory,
        serving(memory, Keys(KEYS)) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as http,
    ):
        for name in NAMES:
            turn = {"graph": name, "id": "t1", "speaker": "Ada", "text": "The kettle broke."}
            assert (await memory.record(turn)).status == "accepted"
        await memory.send(Grant(graph=GRANTED, subject="team", rights=["read"]))
        await memory.send(Grant(graph=WRITE_ONLY, subject="team", rights=["write"]))
        for name in CLOSED:
            await memory.send(Grant(graph=name, subject="somebody-else", rights=sorted(RIGHTS)))
        yield Door(http, await memory.partitions())


def hidden(key: str) -> list[str]:
    """List the names that a key must not learn; those that begin one that it sees cannot be told apart from it."""
    return [name for name in NAMES if not any(name in seen for seen in SEEN[key])]


@pytest.mark.parametrize("key", SEEN)
async def test_a_walk_through_all_pages_shows_the_readable_graphs_and_no_other_name(door: Door, key: str) -> None:
    shown = list[str]()
    for partition in range(door.partitions):
        page = await door.page(key, partition, limit=1)
        while True:
            assert not [name for name in hidden(key) if name in page.text]
            shown += page.json()["graphs"]
            after = page.json()["next"]
            if after is None:
                break
            page = await door.page(key, partition, limit=1, after=after)
    assert sorted(shown) == SEEN[key]


@given(
    some.sampled_from(sorted(SEEN)),
    some.integers(0, 63),
    some.integers(1, 3),
    some.text("abdemntz-12\x00~", max_size=6),
)
async def test_no_forged_cursor_tells_a_name(door: Door, key: str, partition: int, limit: int, after: str) -> None:
    page = await door.page(key, partition % door.partitions, limit=limit, after=after)
    assert not [name for name in hidden(key) if name in page.text]
    names, cursor = page.json()["graphs"], page.json()["next"]
    assert set(names) <= set(SEEN[key])
    assert cursor is None or cursor == names[-1], "a cursor tells what its page shows, and nothing else"


@pytest.mark.parametrize("key", SEEN)
async def test_graphs_and_entities_list_what_the_key_may_read(door: Door, key: str) -> None:
    entities = await door.get(key, "/v1/entities/")
    assert entities.status_code == 200, entities.text
    assert [each["name"] for each in entities.json()["results"]] == SEEN[key]
    assert entities.json()["count"] == len(SEEN[key])
    names = list[str]()
    page = await door.get(key, "/v1/graphs?limit=2")
    while page.json()["next"] is not None:
        names += page.json()["graphs"]
        page = await door.get(key, f"/v1/graphs?limit=2&after={page.json()['next']}")
    assert names + page.json()["graphs"] == SEEN[key]


async def test_a_graph_that_is_revoked_or_unavailable_once_it_is_listed_is_left_out(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe = MemoryClient.describe

    async def described(memory: MemoryClient, graph: str, **options: Any) -> Any:
        if graph in ("team-a", GRANTED):
            code = "forbidden" if graph == GRANTED else "unavailable"
            raise QueryFailedError(code, f"graph {graph!r} is not to be read any more")
        if graph == "zoe":
            raise QueryFailedError("overloaded", "ask again")
        return await describe(memory, graph, **options)

    monkeypatch.setattr(MemoryClient, "describe", described)
    page = await door.get("team", "/v1/entities/")
    assert page.status_code == 200, page.text
    assert ([each["name"] for each in page.json()["results"]], page.json()["count"]) == (["team-b"], 1)
    assert (await door.get("everywhere", "/v1/entities/")).status_code == 429, "of any other failure the list tells"


async def test_what_a_key_opens_is_the_keys_alone_to_say(door: Door) -> None:
    for key, status in (("narrow", 422), ("operator", 200)):
        message, path = {"kind": "list", "patterns": ["ad*"]}, "/v1/records/queries?partition=0"
        response = await door.http.post(path, json=message, headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == status, response.text


async def test_a_graph_is_listed_from_its_grant_on_and_no_longer_than_until_it_is_revoked(door: Door) -> None:
    headers, steps = (
        {"Authorization": "Bearer operator"},
        [
            ("grant", {"subject": "another", "rights": ["read"]}, []),
            ("grant", {"subject": "solo", "rights": ["read"]}, ["solo"]),
            ("revoke", {"subject": "solo", "rights": ["read"]}, []),
            ("undo", {"first": 4, "last": 4}, ["solo"]),
        ],
    )
    for verb, body, seen in [("turns", {"id": "t1", "speaker": "Ada", "text": "Hello."}, ["solo"]), *steps]:
        response = await door.http.post(f"/v1/graphs/solo/{verb}", json=body, headers=headers)
        assert response.is_success, response.text
        assert (await door.get("solo", "/v1/graphs")).json()["graphs"] == seen
