"""What is installed owns the names emgas and emgas_service, and works beside a program that has all the others."""

from __future__ import annotations

import ast
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from hatch_build import LAYERS, UnmovableError, moved
from tests.deploy.wheels import ROOT, Environment, built
from tests.support.browser import required

pytestmark = pytest.mark.slow

PAGE = ROOT / "gateway" / "static" / "index.html"
DECOYS = (*LAYERS, "bench", "tests", "scripts")
TURN = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The vet prescribed ear drops.", "at": 1_683_554_160_000}
PROGRAM = """
import asyncio, state
from emgas import MemoryClient, Turn

async def main():
    async with MemoryClient("embedded:memory") as memory:
        there = await memory.publish(Turn(id="t2", graph="ben", speaker="Ben", text="The kettle broke."))
        print((await memory.query("ben", "what broke?", after=there)).context)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_with_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel once the page is there: another test may build the page while these run."""
    if not PAGE.exists():
        required("no page was built with the wheel, for want of a network")
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment") / "venv", wheel)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a folder with a program's own modules, named like our layers; each says so when it is imported."""
    for name in DECOYS:
        (tmp_path / f"{name}.py").write_text(f"print('own {name}')\n")
    (tmp_path / "chat.jsonl").write_text(json.dumps(TURN) + "\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_owns_two_names(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"emgas", "emgas_service"}


def test_a_wheel_holds_the_explorer_and_the_licences_of_what_is_in_it(wheel_with_page: Path) -> None:
    parts = {name for name in names(wheel_with_page) if name.startswith("emgas_service/gateway/static/")}
    assert {name.rpartition(".")[2] for name in parts} == {"html", "js", "css", "md"}
    assert not any("page/src" in name or "node_modules" in name for name in names(wheel_with_page))
    licenses = zipfile.ZipFile(wheel_with_page).read("emgas_service/gateway/static/page/licenses.md").decode()
    assert "## sigma - " in licenses
    assert "## graphology - " in licenses


def test_a_wheel_holds_every_file_of_the_layers_and_no_project_file(wheel: Path) -> None:
    tracked = subprocess.run(["git", "ls-files", *LAYERS], cwd=ROOT, capture_output=True, text=True, check=True)
    here = {f"emgas_service/{name}" for name in tracked.stdout.splitlines()}
    assert "emgas_service/streams/cli/memory/demo_data/conversation.jsonl" in here, "data, too"
    assert here <= names(wheel)
    assert "emgas/py.typed" in names(wheel)
    assert not [name for name in names(wheel) if name.endswith("pyproject.toml") or "__pycache__" in name]
    assert [name for name in names(wheel) if name.endswith("/LICENSE")] == [
        f"emgas-{version()}.dist-info/licenses/LICENSE"
    ]


def test_nothing_in_a_wheel_imports_a_layer_by_its_old_name(wheel: Path) -> None:
    packed = zipfile.ZipFile(wheel)
    imported = {
        node.module.partition(".")[0]
        for name in names(wheel)
        if name.endswith(".py")
        for node in ast.walk(ast.parse(packed.read(name)))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert {"emgas", "emgas_service", "numpy"} <= imported
    assert not imported & set(LAYERS)


def test_the_client_has_a_wheel_of_its_own_with_its_package_alone(tmp_path: Path) -> None:
    results = names(built(ROOT / "emgas", tmp_path))
    assert {name.partition("/")[0] for name in results if ".dist-info" not in name} == {"emgas"}
    assert {"emgas/client/client.py", "emgas/py.typed"} <= results
    assert [name for name in results if name.endswith("/LICENSE")] == [
        f"emgas_client-{version()}.dist-info/licenses/LICENSE"
    ]
    assert (ROOT / "emgas/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not [name for name in results if name.endswith("pyproject.toml")]


def test_turns_are_published_asked_and_rebuilt_beside_a_program_with_the_same_names(
    installed: Environment, project: Path
) -> None:
    memory = {"EMGAS_DATA": str(project / "memory"), "EMGAS_PARTITIONS": "4"}
    published = installed.run("emgas", "publish", "chat.jsonl", cwd=project, **memory)
    assert (published.returncode, "own" in published.stdout) == (0, False), published.stderr
    run = installed.run("emgas", "query", "ada", "what did the vet prescribe?", "--json", cwd=project, **memory)
    assert "ear drops" in json.loads(run.stdout.splitlines()[-1])["context"], run.stderr
    rebuilt = installed.run("emgas", "replay", "rebuild", "--into", "copy", "--jobs", "2", cwd=project, **memory)
    assert (rebuilt.returncode, "own" in rebuilt.stdout) == (0, False), rebuilt.stderr


def test_the_demo_runs_beside_a_program_with_the_same_names(installed: Environment, project: Path) -> None:
    run = installed.run("emgas", "demo", "--json", cwd=project)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1])["match"] is True


def test_a_program_imports_its_own_modules_and_holds_a_memory(installed: Environment, project: Path) -> None:
    run = installed.run("python", "program.py", cwd=project)
    assert run.stdout.startswith("own state\n"), run.stderr
    assert "The kettle broke." in run.stdout
    assert "own s" not in run.stdout.removeprefix("own state\n")


def test_recall_can_be_measured_where_evaluation_is_installed(installed: Environment, project: Path) -> None:
    run = installed.run("emgas", "eval", "--help", cwd=project)
    assert run.returncode == 0, run.stderr


def test_an_extractor_may_be_named_as_in_the_repository(installed: Environment, project: Path) -> None:
    named = "processors.extraction.yake_extractor.YakeExtractor"
    run = installed.run(
        "emgas", "publish", "chat.jsonl", cwd=project, EMGAS_DATA=str(project / "memory"), EMGAS_EXTRACTOR=named
    )
    assert run.returncode == 0, run.stderr


def test_a_client_of_another_version_is_told_instead_of_run(installed: Environment, project: Path) -> None:
    other = project / "emgas_client-0.0.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.4\nName: emgas-client\nVersion: 0.0.1\n")
    run = installed.run("emgas", "--help", cwd=project)
    assert run.returncode == 1
    assert "emgas-client 0.0.1 are installed over each other" in run.stderr
    (other / "METADATA").write_text(f"Metadata-Version: 2.4\nName: emgas-client\nVersion: {version()}\n")
    assert installed.run("emgas", "--help", cwd=project).returncode == 0


def version() -> str:
    from emgas import __version__

    return __version__


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from state.graph import view", "from emgas_service.state.graph import view"),
        ("from state import errors", "from emgas_service.state import errors"),
        ("    from replay.log import x", "    from emgas_service.replay.log import x"),
        ("é = 'streams.cli.main:main'", "é = 'emgas_service.streams.cli.main:main'"),
        ("from emgas import Turn", "from emgas import Turn"),
        ("from statements import x", "from statements import x"),
        ("page = 'replay.md'", "page = 'replay.md'"),
        ("told = 'the state.graph of it'", "told = 'the state.graph of it'"),
    ],
)
def test_imports_and_names_of_modules_move_and_nothing_else(line: str, message: str) -> None:
    source = "if True:\n" + line if line.startswith(" ") else line
    assert moved(source, ROOT).removeprefix("if True:\n") == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = 1\nimport state.graph", "line 2: write `from state.graph import …`"),
        ("import numpy, streams", "write `from streams import …`"),
        ("name = f'state.graph.{x}'", "without f"),
        ("name = 'state.' 'graph'", "on one line"),
        ("name = r'state.graph'", "as a plain string"),
        ("name = '''state.graph'''", "on one line"),
        ("from  state.graph import view", "after one space"),
    ],
)
def test_what_cannot_move_fails_the_build(line: str, message: str) -> None:
    with pytest.raises(UnmovableError, match=message):
        moved(line, ROOT)


def test_a_file_of_what_is_not_there_fails_the_build(tmp_path: Path) -> None:
    with pytest.raises(UnmovableError, match=r"evaluation.command is not here: leave this file out"):
        moved("from evaluation.command import evaluate", tmp_path)
