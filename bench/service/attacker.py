"""Measure the service that others get from a server under attack: one `emgas serve`, on loopback.

Each attack is held open while an honest client asks; then it ends.  Of each are told the slowest honest answer, ms, the
most CPU time that the server took until one was there, ms (which a busy machine does not change), the most memory that
it took, MB, and its open files before and after.  Every attack is bounded in size and ends with this process.

    silent peers     1,500 connections that say nothing; half of a header; half of a body
    empty objects    a file of 40 MB of {} to import, with dry_run
    junk tokens      40 with invented keys, while the issuer's server hangs
    unread answers   50 event streams that are not read
    deep JSON        a megabyte of [ to each kind of route
    ZIP bombs        a member of 1 GB; a list of a million files
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from gateway.http.connections import raise_descriptors

SILENT = 1500
EMPTY_BYTES = 40 * 1000 * 1000
TOKENS = 40
STREAMS = 50
OWN_FILES = 32
KEY = "attacker-bench"
FILE = "application/octet-stream"
HONEST = b'{"text":"what did the vet prescribe?"}'
Attack = Callable[["Target"], Any]


class Took(NamedTuple):
    """The cost of an answer: time, and CPU time of the server, ms."""

    ms: float
    cpu_ms: float


@dataclass
class Target:
    """A server under attack, on loopback."""

    port: int
    process: psutil.Process
    peers: list[socket.socket] = field(default_factory=list)

    def request(self, path: str, body: bytes, media: str = "application/json", key: str = KEY) -> bytes:
        """Write a whole request."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\nContent-Type: {media}\r\n"
        return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body

    async def exchange(self, sent: bytes) -> bytes:
        """Send a request, and read the answer to its end; as far as it comes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(sent)
            await writer.drain()
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def honest(self) -> Took:
        """Ask as an honest client does; return what the answer took.  Raises RuntimeError without one."""
        started, worked = time.perf_counter(), self.cpu_ms()
        answer = await self.exchange(self.request("/v1/graphs/ada/query", HONEST))
        if not answer.startswith(b"HTTP/1.1 200 "):
            raise RuntimeError(f"an honest question was answered {answer[:100]!r}")
        return Took((time.perf_counter() - started) * 1000, self.cpu_ms() - worked)

    def flood(self, sent: bytes, count: int) -> None:
        """Open connections, send on each, and leave them as they are."""
        for _ in range(count):
            peer = socket.create_connection(("127.0.0.1", self.port))
            self.peers.append(peer)
            peer.sendall(sent)

    def let_go(self) -> None:
        """Close what is held."""
        while self.peers:
            self.peers.pop().close()

    def files(self) -> int:
        """Count the server's open files."""
        return self.process.num_fds()

    def cpu_ms(self) -> float:
        """Read how much CPU time the server has taken, ms."""
        times = self.process.cpu_times()
        return float(times.user + times.system) * 1000

    def resident_mb(self) -> float:
        """Read how much memory the server takes, MB."""
        return float(self.process.memory_info().rss / 1e6)


def silent(sent: bytes, count: int = SILENT) -> Attack:
    """Make the attack of peers that send this and then nothing."""

    @asynccontextmanager
    async def attack(target: Target) -> AsyncIterator[Callable[[], bool]]:
        await asyncio.to_thread(target.flood, sent, count)
        yield lambda: True
        target.let_go()

    return attack


def whole(*requests: Callable[[Target], bytes]) -> Attack:
    """Make the attack of requests that are sent at once; it is over once all are answered."""

    @asynccontextmanager
    async def attack(target: Target) -> AsyncIterator[Callable[[], bool]]:
        running = [asyncio.create_task(target.exchange(request(target))) for request in requests]
        try:
            yield lambda: all(task.done() for task in running)
        finally:
            for task in running:
                task.cancel()
            await asyncio.wait(running)

    return attack


def imported(body: Callable[[], bytes], **query: str) -> Callable[[Target], bytes]:
    """Make the request of an import."""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    return lambda target: target.request(f"/v1/graphs/ada/import?{words}", body(), FILE)


def empty_objects() -> bytes:
    """Write 40 MB of an array of empty objects."""
    return b"[" + b"{}," * (EMPTY_BYTES // 3) + b"{}]"


def zip_bomb() -> bytes:
    """Pack a member of 1 GB of blanks."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        for _ in range(64):
            file.write(b" " * 2**24)
    return packed.getvalue()


def long_list() -> bytes:
    """Write a ZIP of a list of a million files alone."""
    one = b"PK\x01\x02" + bytes(24) + b"\x01\x00" + bytes(16) + b"a"
    count = 1_000_000
    end = b"PK\x05\x06" + bytes(4) + b"\xff\xff\xff\xff" + (count * len(one)).to_bytes(4, "little") + bytes(6)
    return b"PK\x03\x04" + one * count + end


def junk_token(number: int) -> str:
    """Invent a token with a key that no one has."""
    parts = ({"alg": "RS256", "kid": f"junk{number}"}, {"sub": "x"}, {"no": "signature"})
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)


DEEP = b"[" * 1_000_000
ROUTES = ("turns", "query", "forget", "settings")
ATTACKS: dict[str, Attack] = {
    "silent peers": silent(b""),
    "half a header": silent(b"GET /healthz HTTP/1.1\r\nHost: a"),
    "half a body": silent(
        b"POST /v1/graphs/ada/query HTTP/1.1\r\nHost: a\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    ),
    "empty objects": whole(imported(empty_objects, dry_run="true", format="chatgpt")),
    "junk tokens": whole(
        *(lambda target, n=n: target.request("/v1/graphs/ada/query", HONEST, key=junk_token(n)) for n in range(TOKENS))
    ),
    "unread answers": silent(
        b"GET /v1/graphs/ada/activation?text=vet HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer attacker-bench\r\n\r\n",
        STREAMS,
    ),
    "deep JSON": whole(
        imported(lambda: DEEP, format="chatgpt"),
        *(lambda target, route=route: target.request(f"/v1/graphs/ada/{route}", DEEP) for route in ROUTES),
        lambda target: target.request("/v1/chat/completions", DEEP),
        lambda target: target.request("/mcp", DEEP),
        lambda target: target.request("/v1/records/turns?key=ada", DEEP),
    ),
    "ZIP bomb": whole(imported(zip_bomb)),
    "ZIP that lists a million files": whole(imported(long_list)),
}


async def attacked(target: Target, attack: Attack, questions: int) -> dict[str, float]:
    """Ask at least so many honest questions, until the attack is over; measure them and the server.

    Silent peers are held on until the server has let go of them: it must not need them to leave.
    """
    before, most = target.files(), target.resident_mb()
    answers = list[Took]()
    async with attack(target) as is_over:
        while len(answers) < questions or not is_over():
            answers.append(await target.honest())
            most = max(most, target.resident_mb())
        if target.peers:
            await released(target, before)
    await released(target, before)
    slowest, most_cpu = (round(max(column), 1) for column in zip(*answers, strict=True))
    return {"slowest_ms": slowest, "most_cpu_ms": most_cpu, "most_mb": round(most, 1), "files_before": before}


def started(command: list[str]) -> subprocess.Popen[str]:
    """Start a process whose words can be read."""
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Target]:
    """Run `emgas serve` with a key, and an issuer whose server hangs; yield it with a graph to query."""
    with socket.create_server(("127.0.0.1", 0)) as hangs:  # accepts nothing: what connects waits
        keys = folder / "keys.toml"
        keys.write_text(
            f'[[key]]\nname = "honest"\nsha256 = "{sha256(KEY.encode()).hexdigest()}"\ngraphs = ["*"]\n'
            'rights = ["read", "write", "forget", "admin"]\n'
            f'[oidc]\nissuer = "https://login.example"\naudience = "emgas"\n'
            f'jwks = "http://127.0.0.1:{hangs.getsockname()[1]}/jwks.json"\n'
        )
        command = [sys.executable, "-m", "streams.cli.main", "--data", str(folder / "data"), "serve", "--port", "0"]
        process = started([*command, "--keys", str(keys)])
        try:
            assert process.stderr is not None
            line = await asyncio.to_thread(process.stderr.readline)
            threading.Thread(target=deque, args=(process.stderr, 0), daemon=True).start()
            target = Target(int(line.split()[2].rpartition(":")[2]), psutil.Process(process.pid))
            turn = b'{"id":"t1","speaker":"Ada","text":"The vet prescribed ear drops."}'
            await target.exchange(target.request("/v1/graphs/ada/turns", turn))
            yield target
            target.let_go()
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 60)


async def released(target: Target, files: int) -> None:
    """Return once the server has about as many files open as before: its memory may have opened a few."""
    while target.files() > files + OWN_FILES:  # noqa: ASYNC110 - no event tells what another process has open
        await asyncio.sleep(0.05)


async def main() -> None:
    """Attack in every way, one after the other."""
    raise_descriptors()
    with tempfile.TemporaryDirectory() as folder:
        async with served(Path(folder)) as target:
            await target.honest()
            for name, attack in ATTACKS.items():
                result = await asyncio.wait_for(attacked(target, attack, questions=50), 120)
                print(f"{name:32} {result} after: {target.files()} files", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
