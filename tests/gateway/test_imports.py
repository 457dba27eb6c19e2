"""What is told as it goes on, as server-sent events: an import, how far it is; an answer, step by step."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest

from emgas import MemoryClient
from emgas.errors import TransportError
from gateway.auth.access import IMPORT_BYTES
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from gateway.routes.imports import AHEAD, AT_ONCE_OF_ALL, LISTED
from tests.emgas.connections import MemoryConnection, Sent, accept
from tests.support.clocks import PATIENCE
from tests.support.served import serving

EXAMPLES = Path(__file__).parents[2] / "examples"
FILE = {"Content-Type": "application/octet-stream"}
Events = list[tuple[str, Any]]


@asynccontextmanager
async def served(memory: MemoryClient) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(memory) as url, httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
        yield http


async def imported(http: httpx.AsyncClient, graph_id: str, body: bytes, **query: str) -> Events:
    response = await http.post(f"/v1/graphs/{graph_id}/import", params=query, content=body, headers=FILE)
    assert response.headers["content-type"].startswith("text/event-stream"), response.text
    return message(response.text)


def message(stream: str) -> Events:
    """Read server-sent events as (event, data)."""
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in stream.strip().split("\n\n")]
    return [(block["event"], orjson.loads(block["data"])) for block in blocks]


def lines(count: int, graph_id: str = "other") -> bytes:
    turns = [{"id": f"t{n}", "graph": graph_id, "speaker": "Ada", "text": f"Kettle {n}."} for n in range(count)]
    return b"\n".join(map(orjson.dumps, turns))


async def test_an_export_is_imported_once_however_often_it_is_sent(tmp_path: Path) -> None:
    body = (EXAMPLES / "chatgpt.json").read_bytes()
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory, served(memory) as http:
        kind, first = (await imported(http, "me", body))[-1]
        assert (kind, first["accepted"], first["rejected"]) == ("done", first["published"], 0)
        assert first["published"] == (await memory.turns("me")).total > 0
        assert (await imported(http, "me", body))[-1] == (
            "done",
            {**first, "accepted": 0, "duplicates": first["accepted"]},
        )


async def test_a_zip_is_read_and_a_format_may_be_named() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(EXAMPLES / "chatgpt.json", "conversations.json")
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory, served(memory) as http:
        assert (await imported(http, "me", packed.getvalue()))[-1][0] == "done"
        csv = b"speaker,text\nAda,The kettle broke.\n"
        assert (await imported(http, "me", csv, format="csv"))[-1][1]["accepted"] == 1
        assert (await imported(http, "me", csv, name="chat.csv"))[-1][1]["accepted"] == 1


async def test_every_turn_goes_to_the_graph_of_the_path_whatever_the_file_says() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory, served(memory) as http:
        await imported(http, "ada", lines(3, "ben"))
    assert {(sent.key, orjson.loads(sent.value)["graph"]) for sent in connection.log} == {(b"ada", "ada")}


async def test_it_is_told_how_far_an_import_is() -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, served(memory) as http:
        events = await imported(http, "ada", lines(2 * AHEAD + 1))
    assert [(kind, data["accepted"]) for kind, data in events] == [
        ("progress", AHEAD),
        ("progress", 2 * AHEAD),
        ("done", 2 * AHEAD + 1),
    ]


async def test_what_cannot_be_a_turn_is_told_and_the_others_are_published() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory, served(memory) as http:
        events = await imported(http, "ada", lines(1) + b'\n{"id": "bad"}\n' + lines(3))
    assert events[0][0] == "rejected"
    assert events[0][1]["reason"].startswith("line 2: ")
    assert events[-1] == ("done", {"published": 5, "accepted": 4, "duplicates": 0, "rejected": 1})
    assert len(connection.log) == 4


async def test_a_dry_run_sends_nothing() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory, served(memory) as http:
        events = await imported(http, "ada", lines(3) + b"\nno turn\n", dry_run="true")
    assert events[-1] == ("done", {"published": 4, "accepted": 0, "duplicates": 0, "rejected": 1})
    assert connection.log == []


async def test_where_the_memory_goes_away_the_last_event_says_so() -> None:
    connection = MemoryConnection()

    def answer(sent: Sent) -> bytes:
        connection.refusal = TransportError("the broker is gone") if sent.offset >= AHEAD else None
        return accept(sent)

    connection.answer = answer
    async with MemoryClient(connection) as memory, served(memory) as http:
        kind, problem = (await imported(http, "ada", lines(4 * AHEAD)))[-1]
    assert (kind, problem["status"], problem["code"]) == ("failed", 503, "unreachable")


async def test_the_first_rejections_are_listed_and_all_are_counted() -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, served(memory) as http:
        events = await imported(http, "ada", b"{}\n" * (LISTED + 500), format="jsonl", dry_run="true")
    assert [kind for kind, _ in events].count("rejected") == LISTED
    assert events[-1][1]["rejected"] == LISTED + 500


async def test_lines_need_no_graph_for_the_path_names_it() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory, served(memory) as http:
        line = b'{"id":"t1","speaker":"Ada","text":"Tea."}'
        assert (await imported(http, "ada", line))[-1][1]["accepted"] == 1
        events = await imported(http, "ada", b'[]\n"x"\nno\n{"id":"t2"}', format="jsonl")
    assert [sent.key for sent in connection.log] == [b"ada"]
    assert [data["reason"][:7] for kind, data in events if kind == "rejected"] == [f"line {n}:" for n in (1, 2, 3, 4)]


async def test_a_key_has_one_import_at_a_time_and_the_server_a_few() -> None:
    names = [f"app{number}" for number in range(AT_ONCE_OF_ALL + 1)]
    keys = Keys([Caller(name=name, sha256=digest(name), graphs=("*",), rights=RIGHTS) for name in names])
    stops = asyncio.Event()

    async def slow(taken: asyncio.Event) -> AsyncIterator[bytes]:
        for _ in range(16):
            yield b" " * 2**20  # more than sockets hold: the server reads it
        taken.set()
        await stops.wait()
        yield lines(1)

    async with (
        MemoryClient(MemoryConnection(accept)) as memory,
        serving(memory, keys) as url,
        httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http,
        asyncio.timeout(PATIENCE),
    ):

        async def send(name: str, body: Any) -> httpx.Response:
            headers = {**FILE, "Authorization": f"Bearer {name}"}
            return await http.post("/v1/graphs/ada/import", params={"format": "jsonl"}, content=body, headers=headers)

        async def begin(name: str) -> asyncio.Task[httpx.Response]:
            taken = asyncio.Event()
            task = asyncio.create_task(send(name, slow(taken)))
            await taken.wait()
            return task

        running = [await begin(names[0])]
        refused = await send(names[0], lines(1))
        assert (refused.status_code, refused.json()["code"]) == (429, "import-running")
        assert "an import with this key is running" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 0
        assert (await send(names[1], lines(1))).status_code == 200
        running += [await begin(name) for name in names[1:-1]]
        refused = await send(names[-1], lines(1))
        assert f"{AT_ONCE_OF_ALL} imports are running" in refused.json()["detail"]
        stops.set()
        assert {done.status_code for done in await asyncio.gather(*running)} == {200}
        assert (await send(names[0], lines(1))).status_code == 200


@pytest.mark.parametrize("sent", [lines(1), lines(5000)], ids=["while it is sent", "while it is answered"])
async def test_a_client_that_hangs_up_is_no_error(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, serving(memory) as url, asyncio.timeout(PATIENCE):
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        length = len(sent) + (1 if len(sent) < 1000 else 0)
        head = f"POST /v1/graphs/ada/import HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: {FILE['Content-Type']}\r\n"
        writer.write(f"{head}Content-Length: {length}\r\n\r\n".encode() + sent)
        await writer.drain()
        if length == len(sent):
            await reader.readuntil(b"event: progress")
        writer.transport.abort()
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            while (await http.post("/v1/graphs/ada/import", content=lines(1), headers=FILE)).status_code == 429:
                pass
    assert [record.getMessage() for record in caplog.records if record.levelname in ("ERROR", "CRITICAL")] == []


@pytest.mark.parametrize(
    ("body", "query", "status", "detail"),
    [
        (b"", {}, 422, "file: is empty"),
        (b"\x1f\x8b rest", {}, 422, "is compressed by gzip"),
        (b"PK\x03\x04 rest", {}, 422, "is a ZIP that is damaged or incomplete"),
        (b"{}", {"format": "nothing"}, 422, "there is no 'nothing'"),
        (b"{}", {"timezone": "Nowhere/Land"}, 422, "timezone"),
        (b"{}", {"date_order": "ydm"}, 422, "date_order"),
        (b"{}", {"fromat": "csv"}, 422, "did you mean format?"),
    ],
)
async def test_what_cannot_be_read_at_all_is_a_problem(
    body: bytes, query: dict[str, str], status: int, detail: str
) -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, served(memory) as http:
        response = await http.post("/v1/graphs/ada/import", params=query, content=body, headers=FILE)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert detail in response.json()["detail"]


async def test_a_form_of_a_web_page_is_no_import() -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, served(memory) as http:
        for media in ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            response = await http.post("/v1/graphs/ada/import", content=lines(1), headers={"Content-Type": media})
            assert (response.status_code, response.json()["code"]) == (415, "not-json")


async def test_a_file_over_the_limit_is_refused_before_it_is_read() -> None:
    async with MemoryClient(MemoryConnection(accept)) as memory, serving(memory) as url, asyncio.timeout(PATIENCE):
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = (
            f"POST /v1/graphs/ada/import HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {IMPORT_BYTES + 1}\r\n\r\n"
        )
        writer.write(head.encode())
        assert b" 413 " in await reader.readline()
        writer.close()


async def test_an_answer_is_told_step_by_step(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory, served(memory) as http:
        for number, text in enumerate(["The red kettle whistles.", "Ada paints the kettle.", "Ada paints a harbour."]):
            await memory.record({"id": f"t{number}", "graph": "ada", "speaker": "Ada", "text": text})
        events = message((await http.get("/v1/graphs/ada/activation", params={"text": "kettle"})).text)
        reply = await memory.query("ada", "kettle", explain=True, top_concepts=100)
    kinds = [kind for kind, _ in events]
    assert kinds[-2:] == ["passages", "context"]
    assert set(kinds[:-2]) == {"round"}
    lengths = [{len(concept["path"]) for concept in data} for kind, data in events if kind == "round"]
    assert lengths == [{length} for length in sorted({len(concept.path) for concept in reply.concepts})]
    assert [passage["id"] for passage in events[-2][1]] == [passage.id for passage in reply.passages]
    assert events[-1][1]["context"] == reply.context
