"""The Dockerfile, followed by hand: what it copies is copied, what it installs is installed, and then the command runs.

No container engine is needed for that.  What only an engine can do (users, volumes, signals) is read from the file.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.deploy.wheels import ROOT, Environment, built

pytestmark = pytest.mark.slow

TEXT = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
# (instruction, arguments), continued lines joined, of both stages
EVERY = re.findall(r"^([A-Z]+) (.+)$", TEXT.replace("\\\n", " "), re.MULTILINE)
LAST = max(n for n, (word, _) in enumerate(EVERY) if word == "FROM")
INSTRUCTIONS = EVERY[LAST:]
COPIES = [line.replace("--from=page /page/", "").split() for word, line in INSTRUCTIONS if word == "COPY"]
IGNORED = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]


def arguments(instruction: str) -> list[str]:
    return [line for word, line in INSTRUCTIONS if word == instruction]


def test_the_builder_is_sent_only_what_is_named() -> None:
    assert IGNORED[0] == "*"
    assert all(line.startswith(("!", "**/")) for line in IGNORED[1:])


def sent(path: Path) -> bool:
    """Whether .dockerignore lets a file go to the builder: it is named there, or lies in a folder that is."""
    allowed = {line[1:] for line in IGNORED if line.startswith("!")}
    relative = path.relative_to(ROOT)
    return bool(allowed & {str(relative), *map(str, relative.parents)}) and "__pycache__" not in path.parts


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the working directory of the image as it is when the project is installed."""
    work = tmp_path_factory.mktemp("image")
    for *sources, target in COPIES:
        for source in sources:
            here = ROOT / source
            files = [path for path in (here.rglob("*") if here.is_dir() else [here]) if path.is_file() and sent(path)]
            assert files, f"the builder is sent nothing of {source}"
            for file in files:
                inside = file.relative_to(here) if here.is_dir() else Path(here.name)
                (work / target / inside).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, work / target / inside)
    return work


@pytest.fixture(scope="module")
def installed(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("installed")
    return Environment(folder / "venv", built(image, folder / "wheel"))


def test_what_is_copied_can_be_installed_and_remembers_and_answers(installed: Environment, tmp_path: Path) -> None:
    run = installed.run("emgas", "demo", "--json", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout.splitlines()[-1])["match"] is True
    assert installed.run(*json.loads(arguments("ENTRYPOINT")[0]), "worker", "--help", cwd=tmp_path).returncode == 0


def test_the_explorer_is_built_from_what_the_builder_is_sent() -> None:
    first = [line.split() for word, line in EVERY[:LAST] if word == "COPY"]
    assert first == [["gateway", "gateway"], ["page", "page"], ["scripts/page", "scripts/page"]]
    assert all(sent(path) for path in (ROOT / "page" / "package-lock.json", ROOT / "scripts" / "page"))
    assert ("RUN", "python3 scripts/page") in EVERY[:LAST]
    assert ["gateway", "gateway"] in COPIES


def test_without_a_command_the_image_serves_and_makes_a_key() -> None:
    words = json.loads(arguments("CMD")[0])
    assert words[0] == "serve"
    assert "--create-keys" in words
    assert words[words.index("--host") + 1] == "0.0.0.0"  # noqa: S104 - with a key
    assert Path(words[words.index("--keys") + 1]).parent == Path(arguments("VOLUME")[0])


def test_evaluation_is_not_in_the_image_and_the_command_says_so_as_of_any_unknown_one(
    installed: Environment, image: Path, tmp_path: Path
) -> None:
    assert not (image / "evaluation").exists()
    run = installed.run("emgas", "eval", "talk.json", cwd=tmp_path)
    assert run.returncode == 2
    assert "No such command 'eval'" in run.stderr


def test_the_pinned_requirements_bring_all_that_the_copied_files_import(image: Path) -> None:
    """Only of what is imported at once: an extra, as the ONNX runtime or an adapter, is where somebody asks for it."""
    at_once = [
        file for file in image.rglob("*.py") if file.name != "hatch_build.py" and "integrations" not in file.parts
    ]
    imported = {name for file in at_once for name in of_module(file)}
    third_party = imported - sys.stdlib_module_names - {path.stem for path in image.iterdir()}
    distributions = packages_distributions()
    pinned = set(re.findall(r"^([\w-]+)==", (image / "requirements-service.txt").read_text(), re.MULTILINE))
    assert {"faust", "numpy", "rocksdict"} <= third_party
    missing = {
        name
        for name in third_party
        if not {re.sub(r"[-_.]+", "-", each).lower() for each in distributions.get(name, ())} & pinned
    }
    assert missing == set()


def of_module(file: Path) -> set[str]:
    """Return the top-level names that a module imports when it is imported."""
    results: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            results |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            results.add(node.module.partition(".")[0])
    return results


def test_only_pinned_versions_are_installed() -> None:
    installs = [line.partition("pip install ")[2] for line in arguments("RUN") if "pip install" in line]
    assert all(line.startswith(("-r requirements-service.txt", "--no-deps ")) for line in installs)


def test_the_base_image_is_pinned_to_a_python_that_the_project_allows() -> None:
    assert [line for word, line in EVERY if word == "FROM"] == ["${BASE} AS page", "${BASE}"]
    base, *_ = (line for word, line in EVERY if word == "ARG")
    assert re.fullmatch(r"BASE=python:3\.1[1234]-slim", base)


def test_the_worker_runs_as_an_ordinary_user_who_owns_the_volume() -> None:
    user = arguments("USER")[-1]
    assert user not in {"root", "0"}
    (volume,) = arguments("VOLUME")
    words = [word for word, _ in INSTRUCTIONS]
    owned = next(n for n, (word, line) in enumerate(INSTRUCTIONS) if word == "RUN" and f"-o {user} " in line)
    assert volume in INSTRUCTIONS[owned][1]
    assert owned < words.index("USER") < words.index("VOLUME"), "a new volume takes over the owner of the folder"
