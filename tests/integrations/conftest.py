"""Adapters, in an environment that has their frameworks and of EMGAS the client alone: `./scripts/integrations`.

The memory that they use is a real one: `emgas serve`, in a process of the service's own environment.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from uuid import uuid4

import pytest

from emgas import Memory, MemoryClient
from tests.integrations.serving import served

# Frameworks that would tell somebody that they are used.
os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
}
HERE = find_spec("langchain_core") is not None
collect_ignore_glob = [] if HERE else ["test_*.py"]


def pytest_report_header() -> str | None:
    """Say loudly, wherever the frameworks are missing, what was not tested."""
    return (
        None if HERE else "ADAPTERS ARE NOT TESTED HERE: their frameworks have an environment: ./scripts/integrations"
    )


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a memory of its own, until the tests end; give its address."""
    with served(tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture(scope="session")
def keys_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a file of keys, in which "secret" opens the graph ada alone."""
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    secret = hashlib.sha256(b"secret").hexdigest()
    file.write_text(f'[[key]]\nname = "app"\nsha256 = "{secret}"\ngraphs = ["ada"]\nrights = ["read", "write"]\n')
    return str(file)


@pytest.fixture(scope="session")
def keyed_address(keys_file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a memory that wants a key."""
    with served(tmp_path_factory.mktemp("keyed"), "--keys", keys_file) as address:
        yield address


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
