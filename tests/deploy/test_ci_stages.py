"""`.ci/run`, with stages that only say so: side by side, each tried, none mixed; if one fails, the whole fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CLOSING = "==== 7 passed, 1 skipped in 8.01s ===="
# what .ci/run calls: each says its name and what it was given, and ends with the code that FAILING gives it
SAYS = """#!/usr/bin/env bash
name="$(basename "$0")"
echo "$name here: $*"
[[ $name != test ]] || echo "{closing}"
[[ " ${{FAILING:-}} " =~ \\ $name=([0-9]+)\\  ]] && exit "${{BASH_REMATCH[1]}}" || exit 0
"""
SCRIPTS = (
    "audit",
    "bench",
    "chart",
    "chromium",
    "clients",
    "image",
    "integrations",
    "notebooks",
    "page",
    "release",
    "site",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Make a clone of nothing but .ci/run and scripts that do nothing; apt-get is one of them."""
    for name in (".ci/run", "scripts/beside.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in (*(f"scripts/{name}" for name in (*SCRIPTS, "setup", "test")), "bin/apt-get"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(SAYS.format(closing=CLOSING))
        file.chmod(0o755)
    return tmp_path


def run(clone: Path, *stages: str, failing: str = "") -> subprocess.CompletedProcess[str]:
    path = f"{clone / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "FAILING": failing}
    return subprocess.run([clone / ".ci/run", *stages], env=environment, capture_output=True, text=True, timeout=120)


def test_all_stages_run_and_the_last_line_is_the_test_runners(clone: Path) -> None:
    done = run(clone)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == CLOSING
    assert "test here: --hypothesis-profile every -m \n" in done.stdout
    stages = re.findall(r"^=== (\w+)$", done.stdout, re.MULTILINE)
    assert stages == ["instructions", "image", "supply", "chart", "site", "notebooks", "integrations"]
    for name in ("audit", "release", "chart", "site", "notebooks", "integrations"):
        assert f"{name} here:" in done.stdout


@pytest.mark.parametrize("script", ["bench", "audit", "site", "notebooks", "integrations", "test"])
def test_what_fails_in_one_stage_fails_the_whole_and_hides_no_other(clone: Path, script: str) -> None:
    done = run(clone, failing=f"{script}=3")
    assert done.returncode != 0
    for name in ("chart", "site", "notebooks", "integrations", "test"):
        assert f"{name} here:" in done.stdout
    if script != "test":
        assert re.search(r"^ FAILED: \w+$", done.stdout, re.MULTILINE)


def test_a_registry_out_of_reach_is_said_and_fails_nothing(clone: Path) -> None:
    done = run(clone, failing="page=69 clients=69 integrations=69")
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    for what in ("./scripts/page", "./scripts/clients fetch", "./scripts/integrations -q"):
        assert f"NOT TRIED: {what} cannot fetch what it needs from here." in printed
    assert done.stdout.splitlines()[-1] == CLOSING


def test_one_stage_alone_and_a_stage_that_is_none(clone: Path) -> None:
    assert run(clone, "site").stdout == "site here: \n"
    assert run(clone, "site", failing="site=4").returncode == 4
    wrong = run(clone, "sites")
    assert wrong.returncode == 2
    assert "there is no stage sites: name some of gate, tests, instructions" in wrong.stderr


def test_every_stage_is_a_job() -> None:
    (others,) = re.findall(r"^beside_the_tests=\((.+)\)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    jobs = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())["jobs"]
    stages = " ".join(jobs["stage"]["strategy"]["matrix"]["stages"]).split()
    assert sorted(stages) == sorted(["tests", *others.split()])
    assert jobs["gate"]["steps"][-1]["run"] == "./.ci/run gate"


@pytest.fixture
def gate(clone: Path) -> Path:
    """Put the real scripts/test into the clone, with a pytest and checks that only say so."""
    shutil.copy(ROOT / "scripts/test", clone / "scripts/test")
    for name, says in ((".venv/bin/pytest", "test"), ("scripts/check", "$1")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(SAYS.format(closing=CLOSING).replace('name="$(basename "$0")"', f'name="{says}"'))
        (clone / name).chmod(0o755)
    return clone


@pytest.mark.parametrize(
    ("failing", "code", "last"),
    [
        ("", 0, CLOSING),
        ("types=1", 1, CLOSING),  # what is wrong is on stderr
        ("test=5", 5, CLOSING),
        ("lint=1", 1, "lint here: lint"),  # first, and then nothing is begun
    ],
)
def test_the_gate_fails_with_its_rules_its_types_or_its_tests(gate: Path, failing: str, code: int, last: str) -> None:
    environment = {**os.environ, "FAILING": failing, "EMGAS_TEST_KAFKA": "127.0.0.1:9"}
    command = [gate / "scripts/test", "-k", "decay"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, last), done.stderr
    options = "test here: -n 3 --dist loadfile --no-loadscope-reorder --hypothesis-profile gate -m not slow -k decay\n"
    assert (options in done.stdout) == (failing != "lint=1")
    assert (done.stderr == "types here: types\ntest: the types are wrong: see above\n") == (failing == "types=1")


BESIDE = """set -euo pipefail
source {beside}
trap end_stages EXIT
says() {{ echo "$1 said"; return "$2"; }}
waits() {{ sleep 600 & echo $! >"$1"; wait; }}
beside good says good 0
beside bad says bad 5
beside endless waits "$1"
joined bad || echo "code $?"
joined good
until [[ -s "$1" ]]; do :; done
"""


def test_a_stage_keeps_what_it_says_until_it_is_joined_and_ends_with_the_script(tmp_path: Path) -> None:
    command = ["bash", "-c", BESIDE.format(beside=ROOT / "scripts/beside.sh"), "bash", tmp_path / "process"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "bad said\ncode 5\ngood said\n"), done.stderr
    process = int((tmp_path / "process").read_text())
    assert _has_ended(process)


def _has_ended(process: int) -> bool:
    """Wait until a process is gone, or a zombie that nobody reaps here."""
    import psutil

    try:
        psutil.Process(process).wait(timeout=60)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    return True
