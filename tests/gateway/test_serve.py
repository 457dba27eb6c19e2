"""`emgas serve` as an operator starts it: a process of its own, and others that find the memory through it."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from emgas import Memory
from emgas.errors import DataDirectoryInUseError, TransportError
from gateway.auth.new_keys import digest
from tests.support.cli import COMMAND, PATIENCE, emgas, environment
from tests.support.serving import address_in

PARTITIONS = "2"
EVERYWHERE = "0.0.0.0"  # noqa: S104  (asked for, and refused)
TURN = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The vet prescribed ear drops."}


@contextmanager
def serve(data: Path, *options: str, **settings: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `emgas serve` on a free port until the block ends; give its address and its process."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *options],
        env=environment(data, partitions=PARTITIONS, **settings),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield address_in(process), process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_two_processes_share_a_memory_that_is_served(tmp_path: Path) -> None:
    with serve(tmp_path) as (address, process):
        announcement = tmp_path / "embedded" / "emgas" / "server.json"
        assert stat.S_IMODE(announcement.stat().st_mode) == 0o600
        assert json.loads(announcement.read_text()) == {"url": address, "pid": process.pid, "key": None}
        (tmp_path / "chat.jsonl").write_text(json.dumps(TURN) + "\n")
        assert emgas(tmp_path, "publish", str(tmp_path / "chat.jsonl"), "--json").json["accepted"] == 1
        with Memory(f"embedded:{tmp_path}", graph="ada", timeout=PATIENCE) as memory:
            assert "ear drops" in memory.search("what did the vet prescribe?").context
        with Memory(address, graph="ada", timeout=PATIENCE) as memory:
            assert memory.describe().turns == 1
        process.terminate()
        assert process.wait(PATIENCE) == 0
        assert not announcement.exists()
    run = emgas(tmp_path, "query", "ada", "what did the vet prescribe?", "--json")
    assert "ear drops" in run.json["context"]


def test_a_bad_line_of_an_import_is_reported_and_the_others_are_stored_through_a_server(tmp_path: Path) -> None:
    with serve(tmp_path):
        (tmp_path / "chat.jsonl").write_text('{"graph": "ada"}\n' + json.dumps(TURN) + "\n")
        run = emgas(tmp_path, "import", str(tmp_path / "chat.jsonl"), "--json")
    assert "rejected line 1: `id`, `speaker` and `text` are missing" in run.err
    assert {name: run.json[name] for name in ("published", "accepted", "rejected")} == {
        "published": 2, "accepted": 1, "rejected": 1,
    }  # fmt: skip


def test_the_memory_of_the_prefix_that_commands_are_told_is_served(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(json.dumps(TURN) + "\n")
    published = emgas(tmp_path, "publish", str(tmp_path / "chat.jsonl"), "--json", prefix="other")
    assert published.json["accepted"] == 1
    with serve(tmp_path, prefix="other") as (address, _), Memory(address, graph="ada", timeout=PATIENCE) as memory:
        assert memory.describe().turns == 1


def test_who_shares_a_served_memory_needs_no_key_of_his_own_but_everybody_else_does(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(f'[[key]]\nname = "app"\nsha256 = "{digest("secret")}"\ngraphs = ["ada"]\nrights = ["read"]\n')
    with serve(tmp_path, "--keys", str(keys)) as (address, _):
        with Memory(f"embedded:{tmp_path}", graph="ben", timeout=PATIENCE) as memory:
            assert memory.add("Tea is served.").status == "accepted"
        with pytest.raises(TransportError, match="Authorization: Bearer"):
            Memory(address).open()
        with Memory(address, key="secret", timeout=PATIENCE) as memory:
            assert not memory.search("what?", graph="ada").found
            with pytest.raises(TransportError, match="does not belong to this graph"):
                memory.search("what?", graph="ben")
            with pytest.raises(TransportError, match="lacks the right to write"):
                memory.add("Tea is served.", graph="ada")


def test_a_memory_in_use_names_its_owner_and_what_lets_others_in(tmp_path: Path) -> None:
    with (
        Memory(f"embedded:{tmp_path}"),
        pytest.raises(DataDirectoryInUseError, match=rf"process {os.getpid()} .* start `emgas serve`"),
    ):
        Memory(f"embedded:{tmp_path}").open()


def test_what_a_killed_server_left_does_not_mislead(tmp_path: Path) -> None:
    with serve(tmp_path) as (address, process):
        process.kill()
        process.wait()
    assert (tmp_path / "embedded" / "emgas" / "server.json").exists()
    with Memory(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        assert memory.add("Tea is served.", graph="ada").status == "accepted"
        with pytest.raises(DataDirectoryInUseError, match=f"{address} should serve it, but"):
            Memory(f"embedded:{tmp_path}").open()


def test_a_server_is_alive_ready_and_measured(tmp_path: Path) -> None:
    with serve(tmp_path) as (address, _), httpx.Client(base_url=address) as http:
        assert http.get("/healthz").text == "ok"
        assert http.get("/readyz").text == "ready"
        turn = {name: value for name, value in TURN.items() if name != "graph"}
        assert http.post("/v1/graphs/secret-name/turns", json=turn).status_code == 201
        message = http.get("/metrics").text
        assert 'route="/v1/graphs/{graph}/turns",status="201"' in message
        assert "secret-name" not in message
        for name in ("emgas_graphs", "emgas_lag_turns", "emgas_answers_total"):
            assert f"# TYPE {name}" in message or f"# TYPE {name.removesuffix('_total')}" in message, name


def test_nothing_beyond_loopback_is_served_without_keys(tmp_path: Path) -> None:
    run = emgas(tmp_path, "serve", "--host", EVERYWHERE, "--port", "0", code=2)
    assert "0.0.0.0 is not loopback, and there are no keys: give --keys FILE" in run.err


def test_an_address_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with serve(tmp_path) as (address, _):
        run = emgas(tmp_path / "other", "serve", "--port", address.rpartition(":")[2], code=2)
        assert "cannot listen: Address already in use; give another --host or --port" in run.err


def test_a_model_that_is_no_address_is_refused_before_anything_is_served(tmp_path: Path) -> None:
    run = emgas(tmp_path, "serve", "--model", "llama3.2", "--port", "0", code=2)
    assert "--model llama3.2: write the address of its API, as http://localhost:11434/v1" in run.err


def test_a_bad_file_of_keys_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('[[key]]\nname = "a"\n')
    run = emgas(tmp_path, "serve", "--keys", str(tmp_path / "keys.toml"), code=2)
    assert "each [[key]] needs its sha256" in run.err


def test_a_new_key_is_printed_with_its_entry(tmp_path: Path) -> None:
    run = emgas(tmp_path, "serve", "--new-key", "app")
    key = re.search(r": (emgas_\S+)", run.out)
    assert key is not None
    assert f'sha256 = "{digest(key[1])}"' in run.out


def test_a_first_start_makes_a_key_for_any_address_and_a_second_keeps_it(tmp_path: Path) -> None:
    keys, printed = tmp_path / "keys.toml", list[str]()
    for _ in range(2):
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", "--host", EVERYWHERE, "--keys", str(keys), "--create-keys"],
            env=environment(tmp_path / "data", partitions=PARTITIONS),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        address = address_in(process)
        assert httpx.get(f"{address}/v1/graphs").status_code == 401
        process.terminate()
        assert process.stdout is not None
        printed.append(process.stdout.read())
        assert process.wait(PATIENCE) == 0
    key = re.match(r"your key, shown once: (emgas_\S+)", printed[0])
    assert key is not None
    assert printed[1] == ""
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    with serve(tmp_path / "data", "--keys", str(keys)) as (address, _):
        assert httpx.get(f"{address}/v1/graphs", headers={"Authorization": f"Bearer {key[1]}"}).json()["graphs"] == []


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["mcp", "--help"], ["themes", "--help"]])
def test_a_command_that_serves_nothing_imports_nothing_of_the_web(arguments: list[str]) -> None:
    source = f"""
import sys
sys.argv = ["emgas", *{arguments}]
from streams.cli.main import app
try:
    app()
except SystemExit:
    pass
print([name for name in ("fastapi", "mcp", "uvicorn", "starlette", "httpx2") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.splitlines()[-1] == "[]", done


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_without_the_extra_a_command_says_what_to_install(command: str, tmp_path: Path) -> None:
    source = f"""
import sys
sys.modules["fastapi"] = None  # as if it were not installed
sys.argv = ["emgas", "{command}"]
from streams.cli.main import app
app()
"""
    run = [sys.executable, "-c", source]
    done = subprocess.run(run, env=environment(tmp_path), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1
    assert done.stderr == f"error: `emgas {command}` is not installed: pip install 'emgas[serve]'\n"
