"""The Dockerfile installs the whole service, and only it, for an ordinary user."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
# (instruction, arguments), continued lines joined
INSTRUCTIONS = re.findall(r"^([A-Z]+) (.+)$", TEXT.replace("\\\n", " "), re.MULTILINE)
COPIED = [source for word, line in INSTRUCTIONS if word == "COPY" for source in line.split()[:-1]]


def arguments(instruction: str) -> list[str]:
    return [line for word, line in INSTRUCTIONS if word == instruction]


def test_the_base_image_is_pinned_to_a_python_that_the_project_allows() -> None:
    (base,) = arguments("FROM")
    assert re.fullmatch(r"python:3\.1[123]-slim", base)


def test_every_package_of_the_service_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert set(packages) <= set(COPIED)
    assert {project["project"]["readme"], *project["project"]["license-files"]} <= set(COPIED)


def test_the_builder_is_sent_what_is_copied_and_nothing_else() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule[1:] for rule in rules if rule.startswith("!")} == set(COPIED)
    assert [source for source in COPIED if not (ROOT / source).exists()] == []


def test_the_pinned_versions_are_installed_and_no_others() -> None:
    installs = [line for line in arguments("RUN") if "pip install" in line]
    assert installs == ["pip install -r requirements-service.txt", "pip install --no-deps ."]


def test_the_worker_runs_as_an_ordinary_user_and_gets_the_signals() -> None:
    assert arguments("USER")[-1] not in {"root", "0"}
    assert json.loads(arguments("ENTRYPOINT")[0]) == ["emgas"]  # exec form: no shell between Docker and the worker


def test_the_data_folder_is_the_users_before_it_becomes_a_volume() -> None:
    words = [word for word, _ in INSTRUCTIONS]
    owned = next(n for n, (word, line) in enumerate(INSTRUCTIONS) if word == "RUN" and "-o emgas" in line)
    assert owned < words.index("VOLUME")
    assert arguments("VOLUME") == ["/data"]
