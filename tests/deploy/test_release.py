"""A release is the same twice, its bundle and registry entry are whole, and the wheel shakes hands as MCP server."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
import warnings
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from scripts import releasing
from tests.deploy.wheels import ROOT, Environment

pytestmark = pytest.mark.slow

# What the documents of both formats require (MCPB manifest 0.4; MCP registry 2025-12-11), as far as we use it.
MANIFEST = {
    "type": "object",
    "required": ["manifest_version", "name", "version", "description", "author", "server"],
    "properties": {
        "manifest_version": {"const": "0.4"},
        "author": {"type": "object", "required": ["name"]},
        "server": {
            "type": "object",
            "required": ["type", "entry_point"],
            "properties": {"type": {"enum": ["python", "node", "binary", "uv"]}},
        },
    },
}
REGISTRY = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "description": {"maxLength": 100},
        "packages": {"items": {"required": ["registryType", "identifier", "version", "transport"]}},
    },
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("release") / "one"
    releasing.build(into)
    return into


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    return next(release.glob("emgas-*.whl"))


def test_two_builds_in_two_folders_have_the_same_bytes(release: Path, tmp_path: Path) -> None:
    again = releasing.build(tmp_path / "two")
    first = {path.name: path.read_bytes() for path in release.iterdir()}
    assert set(first) == set(again)
    assert len(first) == 3
    assert [name for name, content in first.items() if content != (tmp_path / "two" / name).read_bytes()] == []


def test_a_difference_between_two_builds_is_named() -> None:
    assert releasing.differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == ["b", "c"]


def test_a_bundle_holds_the_wheel_its_manifest_and_what_uv_needs(release: Path, wheel: Path) -> None:
    (path,) = release.glob("*.mcpb")
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
        manifest = json.loads(packed.read("manifest.json"))
        needs = tomllib.loads(packed.read("pyproject.toml").decode())
        assert packed.read(wheel.name) == wheel.read_bytes()
    jsonschema.validate(manifest, MANIFEST)
    assert manifest["server"]["entry_point"] in names
    assert manifest["version"] == releasing.project()["version"]
    assert needs["tool"]["uv"]["sources"]["emgas"]["path"] in names


def test_the_registry_entry_names_this_version_and_the_readme_names_the_entry() -> None:
    entry = json.loads((ROOT / "server.json").read_text())
    jsonschema.validate(entry, REGISTRY)
    version = releasing.project()["version"]
    (package,) = entry["packages"]
    assert (entry["version"], package["version"]) == (version, version)
    assert package["runtimeArguments"][0]["value"] == f"emgas[serve]=={version}"
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text(), "the registry looks for it in the package"


def test_the_wheel_shakes_hands_and_lists_its_tools(wheel: Path, tmp_path: Path) -> None:
    installed = Environment(tmp_path / "venv", wheel)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
    command = [str(installed.python.with_name("emgas")), "mcp"]
    _, tools, tokens = releasing.handshake(command, {**inherited, "EMGAS_DATA": str(tmp_path / "data")})
    assert tools >= 5
    assert 0 < tokens < 6000, "an assistant pays for them in each conversation"


def test_the_wheel_shakes_hands_as_uvx_starts_it(wheel: Path, tmp_path: Path) -> None:
    uvx = shutil.which("uvx")
    if uvx is None or os.environ.get("EMGAS_TEST_UVX") != "1":
        reason = "THE WHEEL WAS NOT STARTED BY UVX: install uv, and set EMGAS_TEST_UVX=1; it fetches all dependencies"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    _, tools, _ = releasing.by_uvx(wheel, uvx, tmp_path / "cache", tmp_path / "data")
    assert tools >= 5


def test_the_workflow_of_a_release_builds_it_twice_attests_it_and_publishes_without_a_password() -> None:
    flow: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    jobs = flow["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert any(step.get("run", "").startswith("./scripts/release") for step in steps)
    used = {step["uses"].partition("@")[0] for step in steps if "uses" in step}
    assert {"actions/attest-build-provenance", "actions/attest-sbom", "pypa/gh-action-pypi-publish"} <= used
    assert jobs["publish"]["permissions"]["id-token"] == "write"
    assert "password" not in json.dumps(jobs["publish"])
