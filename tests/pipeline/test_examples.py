"""The programs of examples/: each runs as its first lines say, with and without a model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest

from tests.support.cli import PATIENCE, ROOT, environment


def run(data: Path, program: str, *arguments: str, stdin: str = "", **variables: str) -> str:
    """Run a program of examples/ as a user does; return what it prints."""
    env = {name: value for name, value in environment(data).items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / program), *arguments],
        env=env | {"PYTHONPATH": str(ROOT)} | variables,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Model(NamedTuple):
    """A server of OpenAI's chat completions, and what it was asked."""

    url: str
    requests: list[dict[str, Any]]


@pytest.fixture
def model() -> Iterator[Model]:
    """Serve chat completions that repeat the system message, as a real model may quote it."""
    requests: list[dict[str, Any]] = []

    class Completions(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(request)
            message = {"role": "assistant", "content": request["messages"][0]["content"]}
            body = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Completions)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Model(f"http://127.0.0.1:{server.server_port}/v1", requests)
    server.shutdown()
    thread.join()
    server.server_close()


FACT, QUESTION = "My sister Ines studies law in Porto.", "what does my sister study?"


def test_the_bot_without_a_model_answers_with_what_it_remembers(tmp_path: Path) -> None:
    first, *answer = run(tmp_path, "bot.py", "ada", stdin=f"{FACT}\n{QUESTION}\n").splitlines()
    assert first == "I will remember that."
    assert answer[-1].endswith(f"ada: {FACT}")


def test_the_bot_gives_a_model_what_it_remembers_also_in_the_next_run(tmp_path: Path, model: Model) -> None:
    variables = {"OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "any"}
    run(tmp_path, "bot.py", "ada", stdin=f"{FACT}\n")
    answer = run(tmp_path, "bot.py", "ada", stdin=f"{QUESTION}\n", **variables)
    (request,) = model.requests
    assert request["model"] == "any"
    assert FACT in request["messages"][0]["content"]
    assert request["messages"][1] == {"role": "user", "content": QUESTION}
    assert FACT in answer


def test_the_bot_of_a_channel_answers_who_asks_and_remembers_the_others(tmp_path: Path) -> None:
    channel = ROOT / "examples" / "channel.txt"
    printed = run(tmp_path, "channel.py", str(channel)).splitlines()
    asked = [line for line in printed if "asks:" in line]
    assert asked == ["Jonas asks: when is the release?", "Mei asks: who ordered the disks?"]
    for question, fact in zip(asked, ("planned for 12 June", "I ordered two disks"), strict=True):
        assert fact in printed[printed.index(question) + 1]


def test_the_bot_of_a_channel_reads_a_pipe_too(tmp_path: Path) -> None:
    text = "Mei: The code of the door is 4471.\nno turn\nAda: !ask what is the code of the door?\n"
    assert "4471" in run(tmp_path, "channel.py", "-", stdin=text)
