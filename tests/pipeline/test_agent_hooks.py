"""Agent programs and this memory, end to end: recorded sessions of each host, a server, and hooks as processes.

tests/pipeline/agents/ has what each host passes to its hooks (`HOST.hooks.jsonl`; `adds`: what its model has to get),
and the transcripts that Claude Code and Codex write of the same sessions.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx
import pytest

from emgas.hooks import running, spool
from emgas.hooks.hosts import HOSTS, read_input
from emgas.hooks.projects import PERSON, graph_of
from emgas.integrations.hermes import EmgasMemoryProvider
from streams.settings import WorkerSettings
from tests.support.cli import COMMAND, PATIENCE, emgas, environment
from tests.support.clocks import eventually
from tests.support.serving import address_in

SESSIONS = Path(__file__).parent / "agents"
HOOK = (sys.executable, "-c", "from emgas_service.start import main; main()", "hook")
SLOW = {"hook_seconds": "60"}  # a busy machine must not make a hook give up
TAKEN_OVER = "2"  # seconds after which a hook may send what another one left
DELIVERER = b"from emgas.hooks.delivering import main; main()"
FIRINGS = 24  # that find no server; bench/hooks.py fires a thousand


class Agent(NamedTuple):
    """A data directory, the folder of a repository, and its server's address."""

    data: Path
    project: Path
    address: str

    def fire(self, host: str, event: str, payload: dict[str, Any], **settings: str) -> Any:
        """Run a hook; return the JSON that it prints, None for nothing."""
        done = subprocess.run(
            [*HOOK, event, "--host", host],
            env=environment(self.data, **{**SLOW, **settings}),
            input=json.dumps(payload).encode(),
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        return json.loads(done.stdout) if done.stdout else None

    def turns(self, graph: str) -> list[dict[str, Any]]:
        """Return all turns of a graph."""
        response = httpx.get(f"{self.address}/v1/graphs/{graph.replace('/', '%2F')}/turns?limit=100")
        page = response.json()
        if response.status_code == 404:
            return []
        assert page["next"] is None
        return list(page["turns"])


@contextmanager
def serving(folder: Path) -> Iterator[Agent]:
    """Serve a new memory beside a repository."""
    data, project = folder / "data", folder / "shop"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:ada/shop.git\n')
    server = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0"], env=environment(data, partitions="2"), stderr=subprocess.PIPE, text=True
    )
    try:
        yield Agent(data, project, address_in(server))
    finally:
        server.terminate()
        server.wait(PATIENCE)


def recorded(host: str, project: Path) -> list[dict[str, Any]]:
    """Return what a host passed to its hooks."""
    text = (SESSIONS / f"{host}.hooks.jsonl").read_text("utf-8").replace("{project}", str(project))
    return [json.loads(line) for line in text.splitlines()]


def context_in(printed: Any) -> str:
    """Return what a model gets of what a hook prints."""
    if printed is None:
        return ""
    if set(printed) == {"additional_context"}:
        return str(printed["additional_context"])
    assert set(printed) == {"hookSpecificOutput"}
    return str(printed["hookSpecificOutput"]["additionalContext"])


def replay(agent: Agent, host: str) -> list[str]:
    """Fire what was recorded, one after the other; return what the model gets each time."""
    firings = recorded(host, agent.project)
    if host != "hermes":
        return [context_in(agent.fire(host, each["event"], each["input"])) for each in firings]
    provider, got = EmgasMemoryProvider(), []
    for each in firings:
        provider.initialize(each["input"]["session_id"])
        if each["event"] == "prefetch":
            got.append(provider.prefetch(each["input"]["query"]))
        else:
            provider.sync_turn("", each["input"]["assistant_content"])
            got.append("")
    return got


def said(host: str, project: Path) -> list[tuple[str, str, str]]:
    """Return session, role and text of what was recorded."""
    roles, turns = {"prompt": "user", "answer": "assistant"}, []
    for each in recorded(host, project):
        fields = {"prompt": "query", "last_assistant_message": "assistant_content"}
        payload = {
            **each["input"],
            **{ours: each["input"][his] for ours, his in fields.items() if his in each["input"]},
        }
        heard = read_input(HOSTS[host], payload, each["event"])
        if heard.about in roles:
            turns.append((heard.session, roles[heard.about], heard.text))
    return turns


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Let hooks of this process, as Hermes has them, have the settings of the others."""
    monkeypatch.setenv("EMGAS_HOOK_SECONDS", SLOW["hook_seconds"])
    return monkeypatch


@pytest.mark.parametrize("host", HOSTS)
def test_a_recorded_session_is_stored_once_and_gets_what_is_known_and_nothing_else(
    host: str, tmp_path: Path, in_this_process: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path) as agent:
        in_this_process.setenv("EMGAS_DATA", str(agent.data))
        graph = PERSON if host in ("openclaw", "hermes") else graph_of(str(agent.project))
        expected = [each.get("adds", []) for each in recorded(host, agent.project)]
        got = replay(agent, host)
        for added, words in zip(got, expected, strict=True):
            assert bool(added) == bool(words), (added, words)
            assert all(word in added for word in words)
        stored = Counter((turn["session"], turn["role"], turn["text"]) for turn in agent.turns(graph))
        assert stored == Counter(said(host, agent.project))
        replay(agent, host)
        for transcript in transcripts(host, agent.project, tmp_path):
            imported = emgas(agent.data, "import", str(transcript), "--json").json
            assert imported["accepted"] == imported["rejected"] == 0
            assert imported["duplicates"] == imported["published"] > 0
        assert len(agent.turns(graph)) == stored.total()
        listed = emgas(agent.data, "hook", "log", "--limit", "1000", "--json").json["injections"]
        assert [each["host"] for each in listed] == [host] * len(listed)
        quoted = {turn for each in listed for of, turn in each["turns"] if of == graph}
        assert quoted <= {turn["id"] for turn in agent.turns(graph)}
        assert len(listed) >= sum(map(bool, expected)) > 0


def transcripts(host: str, project: Path, folder: Path) -> list[Path]:
    """Write the host's own transcripts of the recorded sessions."""
    pattern = {"claude-code": "claude-code.*-*.jsonl", "codex": "rollout-*.jsonl"}.get(host)
    written = []
    for path in sorted(SESSIONS.glob(pattern)) if pattern else []:
        written.append(folder / path.name)
        written[-1].write_text(path.read_text("utf-8").replace("{project}", str(project)), "utf-8")
    return written


def test_what_was_said_without_a_server_is_stored_once_one_runs_and_only_one_starts(tmp_path: Path) -> None:
    data, project = tmp_path / "data", tmp_path / "notes"
    project.mkdir()
    folder = data / "embedded" / "emgas" / "hooks"
    payloads = [
        {"session_id": f"s{n}", "cwd": str(project), "last_assistant_message": f"The lamp {n} is in the hall."}
        for n in range(FIRINGS)
    ]
    agent = Agent(data, project, "")
    try:
        with ThreadPoolExecutor(8) as pool:
            printed = list(pool.map(lambda payload: agent.fire("codex", "Stop", payload, partitions="1"), payloads))
        assert printed == [None] * FIRINGS
        wait_until(lambda: announced(data) is not None and not spool.waiting(folder))
        server = announced(data)
        assert server is not None
        graph = graph_of(str(project))
        stored = Agent(data, project, server["url"]).turns(graph)
        assert Counter(turn["text"] for turn in stored) == Counter(
            payload["last_assistant_message"] for payload in payloads
        )
        assert servers_of(data) == [server["pid"]]
        # killed with an answer on its way: it waits, and the next firing brings it in
        os.kill(server["pid"], signal.SIGKILL)
        wait_until(lambda: not servers_of(data))
        late = {"session_id": "late", "cwd": str(project), "last_assistant_message": "The ladder is behind the shed."}
        assert agent.fire("codex", "Stop", late, partitions="1") is None
        wait_until(lambda: (announced(data) or server)["pid"] != server["pid"] and not spool.waiting(folder))
        again = announced(data)
        assert again is not None
        texts = [turn["text"] for turn in Agent(data, project, again["url"]).turns(graph)]
        assert Counter(texts) == Counter(
            [*(payload["last_assistant_message"] for payload in payloads), late["last_assistant_message"]]
        )
    finally:
        for pid in servers_of(data):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not servers_of(data))


def kill_hook_at_once(_: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill a hook while it starts."""
    hook.kill()


def kill_hook_once_kept(data: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill a hook as soon as its message is in the spool."""
    wait_until(lambda: kept_by(data, hook) or hook.poll() is not None)
    hook.kill()


def kill_server_once_kept(data: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill the server once the hook's message is in the spool: before the server has it, or while it stores it."""
    wait_until(lambda: kept_by(data, hook) or hook.poll() is not None)
    kill_servers(data)


def kill_both_once_kept(data: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill server and hook, as a machine does that both of them run on."""
    kill_server_once_kept(data, hook)
    hook.kill()


def kill_deliverer(data: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill what sends the spool, and the server that it may be starting, once the hook has ended."""
    hook.wait(PATIENCE)
    for pid in processes_of(data, DELIVERER):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    kill_servers(data)


def spare(_: Path, hook: subprocess.Popen[bytes]) -> None:
    """Kill nothing."""
    hook.wait(PATIENCE)


def kill_servers(data: Path) -> None:
    for pid in servers_of(data):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kept_by(data: Path, hook: subprocess.Popen[bytes]) -> bool:
    """Check whether the message of a hook is in the spool, by the process in the name of its file."""
    waiting = spool.waiting(data / "embedded" / "emgas" / "hooks")
    return any(file.name.split("-")[1] == str(hook.pid) for file in waiting)


def start_server(data: Path, payload: dict[str, str]) -> None:
    """Fire a hook until a server has what it and all hooks before it said: the same answer is one turn.

    A hook that follows another takes over what it left only after its time is up.
    """
    hook = start_hook(data, payload)

    def delivered() -> bool:
        nonlocal hook
        if hook.poll() is not None and not is_delivered(data) and not processes_of(data, DELIVERER):
            assert hook.returncode == 0
            hook = start_hook(data, payload)
        return hook.poll() is not None and is_delivered(data)

    wait_until(delivered)
    assert hook.returncode == 0


def is_delivered(data: Path) -> bool:
    """Check whether a server runs, and has all messages."""
    server, folder = announced(data), data / "embedded" / "emgas" / "hooks"
    return server is not None and server["pid"] in servers_of(data) and not spool.waiting(folder)


WITH_SERVER = (kill_hook_once_kept, kill_server_once_kept, kill_both_once_kept)  # a server must run for these
HARMS = (kill_hook_at_once, kill_hook_once_kept, kill_server_once_kept, kill_both_once_kept, kill_deliverer, spare)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_kill_9_of_hooks_servers_and_deliverers_loses_nothing_that_was_said_and_doubles_nothing(
    seed: int, tmp_path: Path
) -> None:
    chance, data, project = random.Random(seed), tmp_path / "data", tmp_path / "notes"
    project.mkdir()
    harms = [*HARMS, *HARMS]
    chance.shuffle(harms)
    said, may_be_said = set[tuple[str, str]](), set[tuple[str, str]]()

    def answer(text: str, number: int) -> tuple[tuple[str, str], dict[str, str]]:
        session = f"s{number % 3}"
        return (session, text), {"session_id": session, "cwd": str(project), "last_assistant_message": text}

    try:
        for number, harm in enumerate(harms):
            if harm in WITH_SERVER:
                turn, payload = answer(f"The ladder stands at window {number}.", number)
                start_server(data, payload)
                said.add(turn)
            turn, payload = answer(f"Part {number} of the roof leaks.", number)
            hook = start_hook(data, payload)
            harm(data, hook)
            hook.wait(PATIENCE)
            (said if hook.returncode == 0 or kept_by(data, hook) else may_be_said).add(turn)
        turn, payload = answer("The roof is repaired.", 0)
        start_server(data, payload)
        server = announced(data)
        assert server is not None
        turns = Agent(data, project, server["url"]).turns(graph_of(str(project)))
        stored = Counter((turn["session"], turn["text"]) for turn in turns)
        assert max(stored.values()) == 1
        assert said | {turn} <= stored.keys() <= said | may_be_said | {turn}
        assert len(said) > len(may_be_said)
    finally:
        kill_servers(data)
        wait_until(lambda: not servers_of(data))


def start_hook(data: Path, payload: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a hook that an answer fires, and hand it its JSON."""
    hook = subprocess.Popen(
        [*HOOK, "Stop", "--host", "codex"],
        env=environment(data, hook_seconds=TAKEN_OVER, partitions="1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert hook.stdin is not None
    with suppress(BrokenPipeError):
        hook.stdin.write(json.dumps(payload).encode())
        hook.stdin.close()
    return hook


def wait_until(condition: Callable[[], object]) -> None:
    """Return once a condition holds."""
    asyncio.run(eventually(condition))


def announced(data: Path) -> dict[str, Any] | None:
    """Return what the server of a memory announces."""
    try:
        return dict(json.loads((data / "embedded" / "emgas" / "server.json").read_text()))
    except (OSError, ValueError):
        return None


def servers_of(data: Path) -> list[int]:
    """List the processes that serve a memory."""
    return processes_of(data, b"serve")


def processes_of(data: Path, word: bytes) -> list[int]:
    """List the processes of a data directory, by their environment, that have a word in their command."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if word in words and f"EMGAS_DATA={data}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


def test_a_hook_prints_nothing_and_succeeds_whatever_it_gets(tmp_path: Path) -> None:
    settings = {"hook_start": "0"}
    for words, stdin in (
        (["UserPromptSubmit"], b"no json"),
        (["UserPromptSubmit"], b"[]"),
        (["UserPromptSubmit", "--host", "unknown"], b"{}"),
        (["UserPromptSubmit", "--host"], b"{}"),
        (["NoEvent"], b"{}"),
        (["UserPromptSubmit"], b'{"prompt": 5, "session_id": null, "cwd": ["x"]}'),
        (["UserPromptSubmit"], b'{"prompt": "\\ud800", "session_id": "s", "cwd": "/nowhere"}'),
    ):
        done = subprocess.run(
            [*HOOK, *words], env=environment(tmp_path, **SLOW, **settings), input=stdin, capture_output=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), (words, stdin)
    assert (tmp_path / "embedded" / "emgas" / "hooks" / "hook.log").stat().st_size > 0


def test_a_hook_gives_up_in_time_before_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        agent = Agent(tmp_path, tmp_path, url)
        payload = {"session_id": "s", "cwd": "/tmp/x", "prompt": "My key is sk-ant-api03-" + "a1B2" * 12}
        assert (
            agent.fire("codex", "UserPromptSubmit", payload, hook_url=url, hook_seconds="0.3", hook_start="0") is None
        )
    (kept,) = spool.waiting(tmp_path / "embedded" / "emgas" / "hooks")
    assert "[secret: anthropic key]" in kept.read_text()
    assert "a1B2" not in kept.read_text()


def test_the_command_of_a_hook_loads_no_heavy_library(tmp_path: Path) -> None:
    code = "import sys; from emgas_service.start import main; main(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, "hook", "Stop"],
        env=environment(tmp_path, hook_start="0", **SLOW),
        input=b'{"session_id": "s", "last_assistant_message": "Done."}',
        capture_output=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.decode().split()}
    assert "emgas" in loaded
    assert loaded.isdisjoint({"pydantic", "numpy", "faust", "typer", "httpx2", "http", "asyncio", "email", "ssl"})


def test_hooks_look_for_the_data_where_the_service_keeps_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("EMGAS_DATA", "EMGAS_PREFIX", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert running.home() == WorkerSettings().home
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("EMGAS_PREFIX", "other")
    assert running.home() == WorkerSettings().home == tmp_path / "emgas" / "embedded" / "other"
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "mine"))
    assert running.home() == WorkerSettings().home


# A shell has its background jobs ignore SIGINT, and these tests may be one.
HEARS_CTRL_C = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


def test_a_session_that_is_followed_is_published_while_it_is_written(tmp_path: Path) -> None:
    source = (SESSIONS / "claude-code.5f0c1d1e-8a51-4c59-9f0e-2b6f1a7c0001.jsonl").read_text("utf-8").splitlines(True)
    folder = tmp_path / "projects" / "-home-ada-shop"
    folder.mkdir(parents=True)
    log = folder / "session.jsonl"
    half = (
        next(number for number, line in enumerate(source) if '"end_turn"' in line and '"isSidechain": false' in line)
        + 1
    )
    with serving(tmp_path) as agent:
        arguments = ["import", str(tmp_path / "projects"), "--follow", "--graph", "shop"]
        command = [sys.executable, "-c", HEARS_CTRL_C, *COMMAND, *arguments]
        printed = tmp_path / "printed"
        with printed.open("w") as out:
            follower = subprocess.Popen(command, env=environment(agent.data), stdout=out)
        try:
            log.write_text("".join(source[:half])[:-5])  # a line that is half written
            with log.open("a") as file:
                wait_until(lambda: len(agent.turns("shop")) == 1)
                file.write("".join(source[:half])[-5:])
            wait_until(lambda: len(agent.turns("shop")) == 2)
            with log.open("a") as file:
                file.write("".join(source[half:]))
            wait_until(lambda: len(agent.turns("shop")) == 4)
            wait_until(lambda: len(printed.read_text("utf-8").splitlines()) == 4)
        finally:
            follower.send_signal(signal.SIGINT)
            code = follower.wait(PATIENCE)
        assert code == 0
