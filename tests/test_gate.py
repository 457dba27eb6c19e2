"""The gate: what a test may cost there, how many examples a property tries, and which tests a change touches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.changed_tests import touched
from tests.support.cli import ROOT

COSTLY = """
import time
import pytest

def use(seconds, really=time.process_time):
    time.process_time = lambda: really() + seconds

def test_cheap(): use(8)
def test_costly(): use(8 + 17)
@pytest.mark.slow
def test_slow(): use(25 + 50)
@pytest.mark.slow
def test_too_slow(): use(75 + 91)
"""
PROPERTIES = """
from collections import Counter
from hypothesis import given, settings, strategies as st

tried = Counter()

@given(st.integers())
def test_plain(number): tried["plain"] += 1

class TestOfAClass:
    @settings(max_examples=500)
    @given(st.integers())
    def test_many(self, number): tried["many"] += 1

@settings(max_examples=5)
@given(st.integers())
def test_few(number): tried["few"] += 1

def test_told(): print("tried", *(tried[name] for name in ("plain", "many", "few")))
"""


def run(folder: Path, tests: str, *arguments: str) -> str:
    """Run pytest over a file of these tests, with the hooks of ours; return what it prints."""
    (folder / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (folder / "test_it.py").write_text(tests)
    markers = "markers=slow\nkafka"
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", folder]
    done = subprocess.run([*command, "-o", markers, *arguments, folder], capture_output=True, text=True, cwd=folder)
    return done.stdout


def test_a_test_over_its_budget_of_cpu_time_fails_and_is_told_what_to_do(tmp_path: Path) -> None:
    printed = run(tmp_path, COSTLY, "-rfp", "--hypothesis-profile", "gate")
    assert "PASSED test_it.py::test_cheap" in printed
    assert "PASSED test_it.py::test_slow" in printed
    assert "it took 17.0 s of CPU time, and its budget is 16 s (tests/conftest.py): make it cheaper" in printed
    assert "it took 91.0 s of CPU time, and its budget is 90 s" in printed
    assert "2 failed, 2 passed" in printed
    assert "1 failed, 3 passed" in run(tmp_path, COSTLY, "--hypothesis-profile", "every")  # more examples cost more
    assert "4 passed" in run(tmp_path, COSTLY, "--hypothesis-profile", "hunt")


@pytest.mark.parametrize(("profile", "examples"), [("gate", "20 20 5"), ("every", "100 500 5")])
def test_the_gate_caps_the_examples_of_each_property(tmp_path: Path, profile: str, examples: str) -> None:
    assert f"tried {examples}\n" in run(tmp_path, PROPERTIES, "--hypothesis-profile", profile)


def test_files_with_tests_that_wait_or_are_slow_come_first_where_files_are_shared_out(tmp_path: Path) -> None:
    tests = {"quick": "def test_1(): pass", "quicker": "def test_1(): pass\ndef test_2(): pass"}
    tests |= {name: f"import pytest\n@pytest.mark.{name}\n{tests['quick']}" for name in ("slow", "kafka")}
    tests["kafka"] += "\n" + tests["quicker"]
    for name, text in tests.items():
        (tmp_path / f"test_a_{name}.py").write_text(text)
    printed = run(tmp_path, "", "-n", "1", "--dist", "loadfile", "--no-loadscope-reorder", "-v")
    ran = [line.split("test_a_")[1] for line in printed.splitlines() if "PASSED" in line]
    assert list(dict.fromkeys(each.partition(".")[0] for each in ran)) == ["slow", "kafka", "quicker", "quick"]


ARROWS = {
    "state/decay.py": set[str](),
    "state/graph.py": {"state/decay.py"},
    "streams/ingest.py": {"state/graph.py"},
    "streams/worker.py": {"streams/ingest.py"},
    "tests/support/graphs.py": {"state/graph.py"},
    "tests/state/test_decay.py": {"state/decay.py"},
    "tests/state/test_graph.py": {"tests/support/graphs.py"},
    "tests/streams/test_worker.py": {"streams/worker.py"},
    "state/far.py": set[str](),
    "state/less_far.py": {"state/far.py"},
    "state/near.py": {"state/less_far.py"},
    "tests/state/test_near.py": {"state/near.py"},
    "streams/cli/dead_letters.py": set[str](),  # loaded when it is called
    "tests/deploy/test_image.py": set[str](),
    "tests/test_layers.py": set[str](),
}


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("state/decay.py", ["test_layers", "test_decay", "test_graph"]),
        ("streams/worker.py", ["test_layers", "test_worker"]),
        ("tests/support/graphs.py", ["test_graph", "test_layers"]),
        ("tests/state/test_graph.py", ["test_graph", "test_layers"]),
        ("state/far.py", ["test_layers", "test_near"]),
        ("streams/cli/dead_letters.py", ["test_layers", "test_commands"]),
        ("Dockerfile", ["test_layers", "test_image"]),
        ("docs/no-test-names-it.md", ["test_layers"]),
    ],
)
def test_a_change_touches_what_imports_it_over_few_files_or_names_it_and_the_nearest_comes_first(
    changed: str, tests: list[str]
) -> None:
    texts = {
        "tests/deploy/test_image.py": '(ROOT / "./Dockerfile").read_text()',
        "tests/cli/test_commands.py": 'emgas_here(memory, "dead-letters", "list")',
    }
    assert [Path(path).stem for path in touched([changed], ARROWS, texts)] == tests


def test_what_a_change_touches_is_found_in_this_house() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scripts.changed_tests", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tests_run = run.stdout.split()
    assert {"tests/test_docs.py", "tests/test_layers.py"} <= {*tests_run}
    assert all((ROOT / path).is_file() for path in tests_run)
    assert "./scripts/test runs them all" in run.stderr
