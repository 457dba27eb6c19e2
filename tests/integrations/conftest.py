"""Adapters, in an environment that has their frameworks and of EMGAS the client alone: `./scripts/integrations`.

The memory that they use is a real one: `emgas serve`, in a process of the service's own environment.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from emgas import Memory, MemoryClient

# Frameworks that would tell somebody that they are used.
os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
}
HERE = find_spec("langchain_core") is not None
collect_ignore_glob = [] if HERE else ["test_*.py"]
PATIENCE = 120.0  # seconds; only a hanging server ever takes them
ROOT = Path(__file__).resolve().parents[2]


def pytest_report_header() -> str | None:
    """Say loudly, wherever the frameworks are missing, what was not tested."""
    return (
        None if HERE else "ADAPTERS ARE NOT TESTED HERE: their frameworks have an environment: ./scripts/integrations"
    )


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a memory of its own, until the tests end; give its address."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
    ours = {"EMGAS_DATA": str(tmp_path_factory.mktemp("data")), "EMGAS_PARTITIONS": "2"}
    command = [ROOT / ".venv/bin/emgas", "serve", "--port", "0"]
    server = subprocess.Popen(command, env=others | ours, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        found = re.match(r"serving on (http://\S+)", line)
        assert found, line + server.stderr.read()
        yield found[1]
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)


@pytest.fixture(params=["Memory", "MemoryClient"])
async def memory(request: pytest.FixtureRequest, address: str) -> AsyncIterator[Memory | MemoryClient]:
    """Give an open memory of either kind, as an adapter is handed it."""
    if request.param == "Memory":
        with Memory(address) as blocking:
            yield blocking
    else:
        async with MemoryClient(address) as client:
            yield client


@pytest.fixture
def blocking(address: str) -> Iterator[Memory]:
    """Give an open Memory, for what is called without an event loop."""
    with Memory(address) as memory:
        yield memory


@pytest.fixture
def closed(address: str) -> Memory:
    """Give a memory on which every call fails."""
    return Memory(address)


@pytest.fixture
def graph() -> str:
    """Name a graph that no other test has ever used."""
    return f"test-{uuid4().hex[:12]}"
