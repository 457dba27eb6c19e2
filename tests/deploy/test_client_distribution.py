"""emgas/pyproject.toml ships the client alone; what it says must stay true of the package beside it."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVICE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CLIENT = tomllib.loads((ROOT / "emgas/pyproject.toml").read_text(encoding="utf-8"))["project"]

LOADED_BY_ITS_HOST = {"hermes": "agent"}  # an adapter that a program loads: that has the package already
OTHERWISE_NAMED = {  # what is imported: the distribution that brings it
    "agent_framework": "agent-framework-core",
    "agents": "openai-agents",
    "google": "google-adk",
    "haystack": "haystack-ai",
    "langchain_core": "langchain-core",
    "langgraph": "langgraph-checkpoint",
    "llama_index": "llama-index-core",
    "opentelemetry": "opentelemetry-api",
    "pydantic_ai": "pydantic-ai-slim",
    "pydantic_core": "pydantic",
}


def imported(file: Path) -> set[str]:
    """Return the top-level names of all absolute imports."""
    results: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            results |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            results.add(node.module.partition(".")[0])
    return results


def test_the_client_asks_for_the_versions_that_the_service_asks_for() -> None:
    assert set(CLIENT["dependencies"]) <= set(SERVICE["dependencies"])
    for extra, needed in CLIENT["optional-dependencies"].items():
        assert set(needed) <= set(SERVICE["optional-dependencies"][extra])
    assert CLIENT["requires-python"] == SERVICE["requires-python"]


def test_the_client_declares_all_that_it_imports() -> None:
    files = sorted((ROOT / "emgas").rglob("*.py"))
    third_party = set.union(*map(imported, files)) - sys.stdlib_module_names - {"emgas", *LOADED_BY_ITS_HOST.values()}
    assert third_party
    declared = [*CLIENT["dependencies"], *chain.from_iterable(CLIENT["optional-dependencies"].values())]
    distributions = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in declared}
    assert {OTHERWISE_NAMED.get(name, name) for name in third_party} <= distributions


def test_every_adapter_has_an_extra_of_its_name_and_imports_what_it_brings() -> None:
    adapters = {path.stem.replace("_", "-"): path for path in (ROOT / "emgas/integrations").glob("*.py")}
    extras = CLIENT["optional-dependencies"]
    for name in adapters.keys() - {"--init--", "graph-names", "remembering", *LOADED_BY_ITS_HOST}:
        brought = {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in extras[name]}
        assert brought <= {OTHERWISE_NAMED.get(module, module) for module in imported(adapters[name])}


def test_the_client_has_the_version_of_the_service() -> None:
    source = (ROOT / "emgas/__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{SERVICE["version"]}"' in source
