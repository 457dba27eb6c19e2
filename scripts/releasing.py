"""The files of a release, the same bytes each time: wheels, an MCP bundle, an SBOM, and their sums.

    ./scripts/release            build everything twice from the last commit, compare, and write dist/
    ./scripts/release handshake  start `emgas mcp` from the wheel in dist/ by uvx, list its tools, and print times

The wheels hold the explorer if ./scripts/page has built it.  A bundle (.mcpb) is a ZIP that a desktop assistant
installs: it holds the wheel, and its host fetches the dependencies with uv.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from processors.recall.context.context import tokens

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WHEELS = {"emgas": ".", "emgas-client": "emgas"}  # project → its folder
SERVER = """\"\"\"Run the memory as an MCP server: what `emgas mcp` does.\"\"\"

import sys

from emgas_service.start import main

sys.argv = ["emgas", "mcp", *sys.argv[1:]]
main()
"""
QUESTIONS = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "handshake", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)  # fmt: skip


def project(root: Path = ROOT) -> dict[str, Any]:
    """Read the table `project` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def epoch() -> str:
    """Return the time of the last commit, s: all files of a release bear it."""
    return subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def checkout(into: Path) -> Path:
    """Write the last commit into a new folder, with the explorer as it is built here, and without its sources."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(into, filter="data")
    shutil.rmtree(into / "page", ignore_errors=True)
    if (built := ROOT / "gateway" / "static").exists():
        shutil.copytree(built, into / "gateway" / "static", dirs_exist_ok=True)
    return into


def build_wheels(source: Path, into: Path) -> list[Path]:
    """Build the wheels of a checkout.  Exits with what hatchling says if one fails."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch()}
    for folder in WHEELS.values():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
        done = subprocess.run(command, cwd=source / folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"release: {folder} cannot be built: {done.stderr}")
    return sorted(into.glob("*.whl"))


def manifest(root: Path = ROOT) -> dict[str, Any]:
    """Return the manifest of the MCP bundle (manifest version 0.4, server type uv)."""
    facts = project(root)
    return {
        "manifest_version": "0.4",
        "name": facts["name"],
        "display_name": "EMGAS",
        "version": facts["version"],
        "description": facts["description"],
        "author": {"name": "The EMGAS authors"},
        "license": facts["license"],
        "keywords": facts["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "src/server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "src/server.py"],
                "env": {"EMGAS_DATA": "${user_config.data}"},
            },
        },
        "tools_generated": True,
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": facts["requires-python"]}},
        "user_config": {
            "data": {
                "type": "directory",
                "title": "Memory",
                "description": "Where the memory is kept",
                "default": "${HOME}/.emgas",
                "required": False,
            }
        },
    }


def bundle(wheel: Path, into: Path) -> Path:
    """Write the MCP bundle of a wheel."""
    facts = project()
    needs = f"""[project]
name = "emgas-bundle"
version = "{facts["version"]}"
requires-python = "{facts["requires-python"]}"
dependencies = ["emgas[serve]"]

[tool.uv.sources]
emgas = {{ path = "{wheel.name}" }}
"""
    files = {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "manifest.json": json.dumps(manifest(), indent=2).encode() + b"\n",
        "pyproject.toml": needs.encode(),
        "src/server.py": SERVER.encode(),
        wheel.name: wheel.read_bytes(),
    }
    made = into / f"emgas-{facts['version']}.mcpb"
    stamp = time.gmtime(int(epoch()))[:6]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, content)
    return made


def build(into: Path) -> dict[str, str]:
    """Build all files of a release into a new folder; return the sha256 of each by its name."""
    into.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        wheels = build_wheels(checkout(Path(folder, "source")), into)
    (service,) = (wheel for wheel in wheels if wheel.name.startswith("emgas-"))
    bundle(service, into)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(into.iterdir())}


def differences(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """List the files that differ between two builds."""
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def handshake(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, int, int]:
    """Start an MCP server and list its tools; return the seconds that took, and how many tools and tokens there are."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(environment)) as server:
        assert server.stdin is not None  # noqa: S101 - they are pipes
        assert server.stdout is not None  # noqa: S101
        for question in QUESTIONS:
            server.stdin.write(json.dumps(question).encode() + b"\n")
            server.stdin.flush()
            if "id" in question:
                answer = json.loads(server.stdout.readline())
        seconds = time.perf_counter() - started
        server.stdin.close()
        server.wait(60)
    tools = answer["result"]["tools"]
    return seconds, len(tools), tokens(json.dumps(tools, ensure_ascii=False))


def by_uvx(wheel: Path, uvx: str, cache: Path, data: Path) -> tuple[float, int, int]:
    """Shake hands with the wheel as uvx starts it, from a cache of its own."""
    command = [uvx, "--from", f"emgas[serve] @ {wheel.resolve().as_uri()}", "emgas", "mcp"]
    return handshake(command, {**os.environ, "UV_CACHE_DIR": str(cache), "EMGAS_DATA": str(data)})


def shake() -> None:
    """Print how long a cold and a warm handshake take, and what the tools cost."""
    uvx = shutil.which("uvx")
    if uvx is None:
        sys.exit("release: THE HANDSHAKE WAS NOT TRIED: there is no uvx here (pip install uv)")
    wheel = next(DIST.glob("emgas-*.whl"), None)
    if wheel is None:
        sys.exit("release: there is no wheel in dist/: run ./scripts/release first")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cold", "warm"):
            seconds, tools, size = by_uvx(wheel, uvx, Path(folder, "cache"), Path(folder, "data"))
            print(f"{name}: {seconds:.1f} s to list {tools} tools, of {size} tokens")


def main() -> None:
    """Build a release twice, and write it to dist/ if both are the same."""
    if sys.argv[1:] == ["handshake"]:
        shake()
        return
    with tempfile.TemporaryDirectory() as folder:
        sums, again = build(Path(folder, "one")), build(Path(folder, "two"))
        if differ := differences(sums, again):
            sys.exit(f"release: two builds differ in {', '.join(differ)}")
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(Path(folder, "one"), DIST)
    (DIST / "SHA256SUMS").write_text("".join(f"{value}  {name}\n" for name, value in sums.items()))
    subprocess.run([ROOT / "scripts" / "sbom", DIST / "sbom.json"], cwd=ROOT, check=True)
    print("".join(f"{value}  {name}\n" for name, value in sums.items()), end="")
    print("two builds with the same sums: see dist/")


if __name__ == "__main__":
    main()
