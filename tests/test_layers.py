"""The layers: imports point down, each library is met in one place, and what is pure stays pure.

emgas ← state ← processors ← replay ← streams
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("emgas", "state", "processors", "replay", "streams")
FILES = sorted(path.relative_to(ROOT).as_posix() for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
MOST_LINES = 300

HOMES = {  # library: where it may be imported (a file, or a folder with "/")
    "faust": ("streams/",),
    "mode": ("streams/",),
    "aiokafka": ("streams/", "emgas/kafka.py"),
    "rocksdict": ("state/rocks_store.py",),
    "yake": ("processors/concepts.py",),
}

# No clock, no I/O, no randomness: what is below streams is a function of its arguments.  The client, the importers, the
# schema generator, the disk, and what keeps files in a place that it is handed, are not.
IMPURE_FILES = (
    "streams/",
    "emgas/addresses.py",
    "emgas/client.py",
    "emgas/exchange.py",
    "emgas/kafka.py",
    "emgas/formats/",
    "emgas/schema/",
    "replay/plan.py",
    "replay/snapshots.py",
    "state/rocks_store.py",
)
IMPURE_MODULES = {"time", "random", "os", "socket", "secrets", "uuid", "subprocess", "sqlite3", "tempfile", "shutil"}
IMPURE_MODULES |= {"logging", "structlog"}
IMPURE_NAMES = {"open", "input", "print"}
IMPURE_ATTRIBUTES = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "np.random"}
IMPURE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every module that is imported anywhere in `tree`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." if node.level else node.module or ""


def complaints(file: str, source: str) -> Iterator[str]:
    """Yield what breaks a rule in `file` (its path from the root)."""
    tree = ast.parse(source)
    if not ast.get_docstring(tree):
        yield "does not open with a docstring"
    if source.count("\n") > MOST_LINES:
        yield f"has more than {MOST_LINES} lines"
    for module in imported(tree):
        yield from _misplaced(file, module)
    if not file.startswith(IMPURE_FILES):
        yield from _impure(tree)


def _misplaced(file: str, module: str) -> Iterator[str]:
    top, own = module.partition(".")[0], file.partition("/")[0]
    if module == ".":
        yield "imports relatively"
    elif top == "tests" or (top in LAYERS and LAYERS.index(top) > LAYERS.index(own)):
        yield f"imports {module}, which lies above {own}"
    elif top in HOMES and not file.startswith(HOMES[top]):
        yield f"imports {module}, which belongs in {' or '.join(HOMES[top])}"


def _impure(tree: ast.AST) -> Iterator[str]:
    yield from (f"imports {module}" for module in imported(tree) if module.partition(".")[0] in IMPURE_MODULES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in IMPURE_NAMES:
            yield f"uses {node.id}"
        elif isinstance(node, ast.Attribute) and (
            node.attr in IMPURE_METHODS or ast.unparse(node).endswith(tuple(IMPURE_ATTRIBUTES))
        ):
            yield f"uses {ast.unparse(node)}"


@pytest.mark.parametrize("file", FILES)
def test_every_file_keeps_the_rules(file: str) -> None:
    assert list(complaints(file, (ROOT / file).read_text())) == []


def test_every_layer_was_looked_at() -> None:
    assert {file.partition("/")[0] for file in FILES} == set(LAYERS)


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("state/graph.py", "from processors.recall import recall", "imports processors.recall, which lies above state"),
        ("emgas/client.py", "import streams.app", "imports streams.app, which lies above emgas"),
        ("replay/diff.py", "def f():\n    import streams", "imports streams, which lies above replay"),
        ("streams/app.py", "from tests.support import logs", "imports tests.support, which lies above streams"),
        ("state/graph.py", "from .decay import decayed", "imports relatively"),
        ("replay/log.py", "from aiokafka.errors import KafkaError", "which belongs in streams/ or emgas/kafka.py"),
        ("emgas/kafka.py", "from mode import Service", "which belongs in streams/"),
        ("state/partition.py", "import rocksdict", "which belongs in state/rocks_store.py"),
        ("streams/app.py", "import yake", "which belongs in processors/concepts.py"),
        ("state/decay.py", "from time import time", "imports time"),
        ("processors/recall.py", "import random", "imports random"),
        ("state/graph.py", "import os\nos.environ['A']", "imports os"),
        ("state/graph.py", "import numpy as np\nnp.random.default_rng()", "uses np.random"),
        ("processors/marks.py", "import datetime\ndatetime.datetime.now()", "uses datetime.datetime.now"),
        ("processors/marks.py", "from datetime import date\ndate.today()", "uses date.today"),
        ("processors/language.py", "words = open('words')", "uses open"),
        ("processors/language.py", "words = PATH.read_text()", "uses PATH.read_text"),
        ("state/graph.py", "\n" * MOST_LINES, "has more than 300 lines"),
    ],
)
def test_a_file_that_breaks_a_rule_is_told(file: str, line: str, complaint: str) -> None:
    (told,) = complaints(file, f'"""What it is."""\n{line}')
    assert complaint in told


def test_a_file_without_a_docstring_is_told() -> None:
    assert list(complaints("state/graph.py", "import math")) == ["does not open with a docstring"]


def test_a_file_that_keeps_the_rules_is_left_alone() -> None:
    source = '"""What it is."""\nimport time\nimport faust\nfrom state.graph import Graph\nprint(time.time())'
    assert list(complaints("streams/app.py", source)) == []
