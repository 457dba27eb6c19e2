"""What a command imports next to a server: only its own messages, and nothing of a worker."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import COMMAND, PATIENCE, environment
from tests.support.serving import address_in

SCRIPT = """
import contextlib, io, json, sys
from emgas_service.start import main
sys.argv = ["emgas", *sys.argv[1:]]
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    main()
print(json.dumps([printed.getvalue(), sorted(sys.modules)]))
"""
WORKER = ("faust", "aiokafka", "aiohttp", "numpy", "networkx", "rocksdict", "yake", "rjieba", "fastapi", "cryptography")
OURS = ("emgas", "streams", "state", "processors", "replay", "lab", "gateway", "emgas_service")
MOST = 60  # modules of ours


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    data = tmp_path_factory.mktemp("served")
    server = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0"], env=environment(data, partitions="2"), stderr=subprocess.PIPE, text=True
    )
    try:
        address_in(server)
        yield data
    finally:
        server.terminate()
        server.wait(PATIENCE)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("add ada --at 2026-05-04T09:00 -- My dentist is Dr Mora.", "stored in ada"),
        ("query ada dentist", "My dentist is Dr Mora."),
        ("turns ada", "My dentist is Dr Mora."),
        ("who ada", "dentist: Dr Mora (turn "),
        ("who ada", "…, since 2026-05-04 09:00)"),  # a long turn id is shortened
    ],
)
def test_a_command_next_to_a_server_imports_few_modules(served: Path, command: str, output: str) -> None:
    name, _, text = command.partition(" -- ")
    arguments = [*name.split(), *([text] if text else [])]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=environment(served, partitions="2"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    printed, modules = json.loads(done.stdout)
    assert output in printed
    assert [module for module in WORKER if module in modules] == []
    assert "emgas.messages.topics" not in modules
    ours = [module for module in modules if module.partition(".")[0] in OURS]
    assert len(ours) <= MOST, ours
