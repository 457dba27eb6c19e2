"""MCP's own programs try the server: the Inspector with what our pages tell people to paste, and conformance tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.auth.new_keys import digest
from tests.clients.test_foreign_clients import NOT_HERE, ROOT
from tests.gateway.test_serve import serve
from tests.support.cli import PATIENCE

pytestmark = pytest.mark.skipif(os.environ.get("EMGAS_TEST_CLIENTS") != "1", reason=NOT_HERE)
SNIPPET = re.compile(r"^```json\n(\{\"(?:mcpServers|servers)\".*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    (page, json.loads(text))
    for page in ("docs/how-to.md",)
    for text in SNIPPET.findall((ROOT / page).read_text("utf-8"))
]
SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"]
KEY = "emgas_of_a_test"


def program(*arguments: str, home: Path) -> str:
    """Run one of MCP's programs; give what it printed."""
    done = subprocess.run(
        [ROOT / "scripts/clients", "mcp", *arguments],
        env={**os.environ, "HOME": str(home), "MCP_INSPECTOR_SECRET_STORE": "memory"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def of(snippet: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Give the servers that a snippet names, of those that are started (`command`) or reached (`url`)."""
    return [server for servers in snippet.values() for server in servers.values() if kind in server]


def call_tool(config: dict[str, Any], home: Path, tool: str, argument: str) -> Any:
    """Call a tool of the one server of a config; return its one text, and JSON as what it says."""
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"memory": config}}))
    chosen = ["--config", str(home / "mcp.json"), "--server", "memory"]
    called = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", argument]
    (block,) = json.loads(program("mcp-inspector", "--cli", *chosen, *called, home=home))["content"]
    return block["text"] if tool == "recall" else json.loads(block["text"])


def test_the_pages_have_a_snippet_of_each_kind_for_each_program() -> None:
    kinds = {
        (page, key, kind)
        for page, clients in SNIPPETS
        for key in clients
        for kind in ("command", "url")
        if of(clients, kind)
    }
    assert kinds >= {("docs/how-to.md", key, kind) for key in ("mcpServers", "servers") for kind in ("command", "url")}


@pytest.mark.parametrize("snippet", [clients for _, clients in SNIPPETS if of(clients, "command")])
def test_what_is_pasted_starts_a_memory_that_answers(snippet: dict[str, Any], tmp_path: Path) -> None:
    [server] = of(snippet, "command")
    assert server["command"] == "emgas"
    emgas = str(Path(sys.executable).with_name("emgas"))  # as the pages say: its full path, where it is not found
    config = {**server, "command": emgas, "env": {"EMGAS_DATA": str(tmp_path / "data"), "EMGAS_PARTITIONS": "2"}}
    assert call_tool(config, tmp_path, "remember", "text=The vet prescribed ear drops.")["status"] == "accepted"
    assert "ear drops" in call_tool(config, tmp_path, "recall", "question=what did the vet prescribe?")


def test_what_is_pasted_reaches_a_memory_that_is_served(tmp_path: Path) -> None:
    rights = f'[[key]]\nname = "app"\nsha256 = "{digest(KEY)}"\ngraphs = ["*"]\nrights = ["read", "write"]\n'
    (tmp_path / "keys.toml").write_text(rights)
    with serve(tmp_path / "data", "--keys", str(tmp_path / "keys.toml")) as (address, _):
        for server in [server for _, clients in SNIPPETS for server in of(clients, "url")]:
            pasted = json.dumps(server, ensure_ascii=False)
            config = json.loads(pasted.replace("http://127.0.0.1:8088", address).replace("emgas_…", KEY))
            config = {"type": "streamable-http", **config} if "type" not in config else config
            assert call_tool(config, tmp_path, "themes", "graph=nobody")["turns"] == 0


def test_mcps_own_tests_of_a_server_pass(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as (address, _):
        for scenario in SCENARIOS:
            output = program("conformance", "server", "--url", f"{address}/mcp", "--scenario", scenario, home=tmp_path)
            assert re.search(r"Passed: [1-9]\d*/\d+, 0 failed", output), output
