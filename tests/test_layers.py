"""The house: imports point down, rooms stand in their order, each library is met in one place, what is pure stays pure.

emgas ← state ← processors ← replay ← streams ← gateway, lab ← evaluation ← bench, emgas_service (the gateway
imports `emgas` alone), and within a layer as ORDER has it: a room may import those to its left.  ARCHITECTURE.md draws
both; `scripts/house` prints what is measured.
"""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from scripts.import_graph import LAYERS, folders, house, imported, imports

ROOT = Path(__file__).resolve().parent.parent
# Rooms of each folder from the ground up; what stands in one group imports nothing of that group.
ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "": (
        ("emgas",), ("state",), ("processors",), ("replay",), ("streams",), ("gateway", "lab"), ("evaluation",),
        ("bench", "emgas_service"),
    ),
    "emgas": (
        ("limits", "locks", "wire", "masking", "redaction"), ("errors", "logs", "hooks", "pieces"), ("times",),
        ("messages",), ("schema", "validation"), ("client", "importers"), ("integrations", "__main__"),
    ),
    "state": (
        ("errors", "arrays", "memory_budget"), ("events",), ("graph", "log_position", "sealing", "erasure", "store"),
        ("retraction", "standing"), ("lsm",), ("partition",),
    ),
    "state/graph": (
        ("canonical_bytes", "tables"), ("counting", "deadlines", "expiry_queue", "turn_index"), ("graph_tables",),
        ("codec", "turn_counting", "view"), ("graph",), ("pieces",),
    ),
    "state/lsm": (
        ("frame_of_reference", "record_types"), ("graph_writer", "page_format"), ("lazy_columns",),
        ("graph_reader", "table"), ("compaction",), ("tree",), ("graph_pages",), ("inspection",),
    ),
    "processors/recall": (("context", "ranking"), ("retrieval",), ("answer",), ("reports",)),
    "processors": (("association", "text"), ("dates", "lexicon", "lifecycle"), ("extraction",), ("recall", "advice")),
    "replay": (
        ("errors", "log", "diff", "graph_export", "graph_rows", "branch"), ("skipped_records",), ("accepted_events",),
        ("as_of", "event_list", "sinking", "transfer", "usage"), ("rebuild",), ("verify", "backup"),
    ),
    "streams": (
        ("errors", "settings", "plugins"), ("transport",), ("recovery", "ingest"), ("query",),
        ("worker",), ("cli",),
    ),
    "gateway": (
        ("http",), ("auth",), ("routes",), ("doors",), ("app",), ("openapi", "serve"), ("commands",),
    ),
    "streams/ingest": (
        ("sealing", "slices", "verbs"), ("partition_writer", "turns"), ("change_feed", "command_handler", "source"),
        ("window_timer",), ("turn_processor",),
    ),
    "lab": (
        ("gates", "guidance", "preset_sources", "windows"), ("masks", "retrievers"), ("rerankers",), ("catalogue",),
    ),
    "streams/cli": (("shared",), ("operate",), ("replay",), ("exchange", "memory"), ("groups",), ("main",)),
}  # fmt: skip
ALONE = {"gateway": {"emgas", "gateway"}}  # layer: the only ones that it may import, though more lie below it
MOST_MODULES = 20  # in one folder: more of them are no longer surveyed
LISTS = {"emgas/importers"}  # folders of one module for each format: you look one up in a list, however long it is
MOST_ROOMS = {
    "processors": (8, 13),
    "processors/recall": (6, 9),
    "state": (14, 34),
    "state/graph": (15, 34),
    "state/lsm": (12, 22),
    "gateway": (9, 22),
    "streams": (10, 20),
    "streams/ingest": (10, 18),
}  # folder: at most so many rooms, so many arrows
ARROWS = imports(ROOT)
FILES = sorted(ARROWS)
# Classes that stand for two things; give new ones a name of their own.  Each framework has its EmgasRetriever.
SHARED_NAMES = {"EmgasRetriever", "Mention", "Named", "Place", "Word"}

HOMES = {  # library: where it may be imported (a file, or a folder with "/")
    "faust": ("streams/",),
    "mode": ("streams/",),
    "aiokafka": (
        "streams/",
        "emgas/client/kafka.py",
        "emgas/client/lenient_records.py",
        "bench/torture/",
        "bench/simulation/",
        "bench/speed/compressing.py",
    ),
    "cramjam": ("emgas/client/lenient_records.py", "replay/backup/compressed.py"),
    "fcntl": ("emgas/locks.py",),
    "msvcrt": ("emgas/locks.py",),
    "prometheus_client": ("streams/worker/", "gateway/"),
    "opentelemetry": ("emgas/client/traces.py", "streams/worker/traces.py"),
    "cryptography": ("state/sealing/cipher.py", "streams/transport/keys/wrapping.py"),
    "rocksdict": ("state/store/rocksdb.py",),
    "yake": ("processors/extraction/yake_extractor.py",),
    "asyncpg": ("streams/plugins/sinks.py",),
    "httpx2": ("emgas/client/http.py", "gateway/doors/chat.py"),
    "agent_framework": ("emgas/integrations/agent_framework.py",),
    "agents": ("emgas/integrations/openai_agents.py",),
    "google": ("emgas/integrations/google_adk.py",),
    "haystack": ("emgas/integrations/haystack.py",),
    "langchain_core": ("emgas/integrations/langchain.py",),
    "langgraph": ("emgas/integrations/langgraph.py",),
    "llama_index": ("emgas/integrations/llama_index.py",),
    "pydantic_ai": ("emgas/integrations/pydantic_ai.py",),
    **dict.fromkeys(("fastapi", "starlette", "uvicorn", "mcp", "mcp_types", "jwt"), ("gateway/",)),
}

# No clock, no I/O, no randomness: what is below streams is a function of its arguments.  The client, the importers, the
# schema generator, the disk, and what keeps files in a place that it is handed, are not; nor is the reader of the words
# that lie beside the code: they are part of the program, read once as it is imported, and the same for everybody.
IMPURE_FILES = (
    "bench/",
    "evaluation/__main__.py",
    "evaluation/command.py",
    "evaluation/measures/dialogre.py",
    "evaluation/fit_known.py",
    "evaluation/folders.py",
    "evaluation/logged_memory.py",
    "evaluation/tune_command.py",
    "streams/",
    "gateway/",
    "emgas/client/connect.py",
    "emgas/client/client.py",
    "emgas/client/request_reply.py",
    "emgas/client/kafka.py",
    "emgas/client/http.py",
    "emgas/client/sync.py",
    "emgas/client/security.py",
    "emgas/client/traces.py",
    "emgas/hooks/",
    "emgas/importers/",
    "emgas/integrations/",
    "emgas/locks.py",
    "emgas/logs.py",
    "emgas/schema/",
    "emgas_service/start.py",
    "evaluation/year/__main__.py",
    "processors/text/tables.py",
    "replay/rebuild/plan.py",
    "replay/backup/snapshots.py",
    "state/store/rocksdb.py",
)
IMPURE_MODULES = {"time", "random", "os", "socket", "secrets", "uuid", "subprocess", "sqlite3", "tempfile", "shutil"}
IMPURE_MODULES |= {"logging", "structlog"}
IMPURE_NAMES = {"open", "input", "print"}
IMPURE_ATTRIBUTES = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "np.random"}
IMPURE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}


def complaints(file: str, source: str) -> Iterator[str]:
    """Yield what breaks a rule in `file` (its path from the root)."""
    tree = ast.parse(source)
    if not ast.get_docstring(tree):
        yield "does not open with a docstring"
    if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
        yield "imports relatively"
    tops = dict.fromkeys(module.partition(".")[0] for module in imported(source))
    yield from (complaint for top in tops for complaint in _misplaced(file, top))
    if not file.startswith(IMPURE_FILES):
        yield from (f"imports {top}" for top in tops if top in IMPURE_MODULES)
        yield from _impure(tree)


def _misplaced(file: str, top: str) -> Iterator[str]:
    own = file.partition("/")[0]
    if top == "tests" or (top in LAYERS and LAYERS.index(top) > LAYERS.index(own)):
        yield f"imports {top}, which lies above {own}"
    elif top in LAYERS and top not in ALONE.get(own, LAYERS):
        yield f"imports {top}: {own} knows {' and '.join(sorted(ALONE[own] - {own}))} alone"
    elif top in HOMES and not file.startswith(HOMES[top]):
        yield f"imports {top}, which belongs in {' or '.join(HOMES[top])}"


def _impure(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in IMPURE_NAMES:
            yield f"uses {node.id}"
        elif isinstance(node, ast.Attribute) and (
            node.attr in IMPURE_METHODS or ast.unparse(node).endswith(tuple(IMPURE_ATTRIBUTES))
        ):
            yield f"uses {ast.unparse(node)}"


def disorder(folder: str, arrows: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield each room of `folder` that has no place in ORDER, and each import from a room to one not below it."""
    level = {room: number for number, rooms in enumerate(ORDER[folder]) for room in rooms}
    names = {room: room.removesuffix(".py") for room in arrows}
    yield from (
        f"{room} has no place in the order of {folder or 'layers'}" for room in arrows if names[room] not in level
    )
    for room, others in arrows.items():
        for other in others:
            if level.get(names[other], -1) >= level.get(names[room], -1):
                yield f"{room} imports {other}, which does not lie below it"


@pytest.mark.source("M1")
@pytest.mark.parametrize("folder", ORDER)
def test_rooms_import_only_what_lies_below_them(folder: str) -> None:
    assert list(disorder(folder, house(ARROWS, folder).arrows)) == []


@pytest.mark.parametrize("folder", ["", *folders(ARROWS)])
def test_no_rooms_import_each_other_in_a_circle(folder: str) -> None:
    assert house(ARROWS, folder).circles == []


@pytest.mark.parametrize("folder", folders(ARROWS))
def test_a_folder_has_at_most_twenty_modules(folder: str) -> None:
    modules = [file for file in FILES if file.rpartition("/")[0] == folder and not file.endswith("__init__.py")]
    assert len(modules) <= MOST_MODULES or folder in LISTS


@pytest.mark.parametrize("folder", MOST_ROOMS)
def test_a_layer_stays_easy_to_survey(folder: str) -> None:
    figures = house(ARROWS, folder)
    rooms, arrows = MOST_ROOMS[folder]
    assert len(figures.arrows) <= rooms
    assert figures.count <= arrows


def test_no_two_classes_have_one_name() -> None:
    files = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path)
    assert {name for name, places in files.items() if len(places) > 1} <= SHARED_NAMES


def test_a_room_out_of_order_is_told() -> None:
    assert list(disorder("replay", {"log.py": {"rebuild"}, "rebuild": set(), "attic": set()})) == [
        "attic has no place in the order of replay",
        "log.py imports rebuild, which does not lie below it",
    ]


def test_a_circle_is_found_through_any_number_of_rooms() -> None:
    files = {
        "a/x.py": {"b/x.py"},
        "b/x.py": {"c/x.py"},
        "c/x.py": {"a/y.py"},
        "a/y.py": set[str](),
        "d/x.py": {"a/x.py"},
    }
    assert house(files).circles == [["a", "b", "c"]]
    assert house(files).floors == {"a": 1, "b": 1, "c": 1, "d": 2}


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collect nothing meanwhile: CPython up to 3.11.8 fails to make a tree if a finaliser makes one (gh-106905)."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("file", FILES)
def test_every_file_keeps_the_rules(file: str) -> None:
    assert list(complaints(file, (ROOT / file).read_text())) == []


def test_every_layer_was_looked_at() -> None:
    assert {file.partition("/")[0] for file in FILES} == set(LAYERS)


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        (
            "state/graph/graph.py",
            "from processors.recall import recall",
            "imports processors, which lies above state",
        ),
        ("emgas/client/client.py", "import streams.app", "imports streams, which lies above emgas"),
        ("replay/diff.py", "def f():\n    import streams", "imports streams, which lies above replay"),
        ("streams/worker/app.py", "from tests.support import logs", "imports tests, which lies above streams"),
        ("state/graph/graph.py", "from .decay import decayed", "imports relatively"),
        (
            "replay/log.py",
            "from aiokafka.errors import KafkaError",
            "which belongs in streams/ or emgas/client/kafka.py or emgas/client/lenient_records.py",
        ),
        ("emgas/client/kafka.py", "from mode import Service", "which belongs in streams/"),
        ("state/partition.py", "import rocksdict", "which belongs in state/store/rocksdb.py"),
        ("streams/worker/app.py", "import yake", "which belongs in processors/extraction/yake_extractor.py"),
        ("gateway/app.py", "from streams.settings import WorkerSettings", "imports streams: gateway knows emgas alone"),
        ("streams/cli/main.py", "import uvicorn", "which belongs in gateway/"),
        ("emgas/client/connect.py", "import httpx2", "which belongs in emgas/client/http.py"),
        ("state/graph/tables/decay.py", "from time import time", "imports time"),
        ("processors/recall/retrieval/recall.py", "import random", "imports random"),
        ("state/graph/graph.py", "import os\nos.environ['A']", "imports os"),
        ("state/graph/graph.py", "import numpy as np\nnp.random.default_rng()", "uses np.random"),
        ("processors/extraction/tags.py", "import datetime\ndatetime.datetime.now()", "uses datetime.datetime.now"),
        ("processors/extraction/tags.py", "from datetime import date\ndate.today()", "uses date.today"),
        ("processors/text/language.py", "words = open('words')", "uses open"),
        ("processors/text/language.py", "words = PATH.read_text()", "uses PATH.read_text"),
    ],
)
def test_a_file_that_breaks_a_rule_is_told(file: str, line: str, complaint: str) -> None:
    (complaint_list,) = complaints(file, f'"""What it is."""\n{line}')
    assert complaint in complaint_list


def test_a_file_without_a_docstring_is_told() -> None:
    assert list(complaints("state/graph/graph.py", "import math")) == ["does not open with a docstring"]


def test_a_file_that_keeps_the_rules_is_left_alone() -> None:
    source = '"""What it is."""\nimport time\nimport faust\nfrom state.graph import Graph\nprint(time.time())'
    assert list(complaints("streams/worker/app.py", source)) == []
