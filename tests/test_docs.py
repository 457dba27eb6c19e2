"""The pages name files, anchors, commands and imports that exist: a page that rots fails here."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from state.events.events import KINDS
from tests.support.cli import commands
from tests.test_layers import ORDER

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# In backticks, in a table or in prose: what looks like a file or folder of ours.
ADAPTER = "emgas.integrations."  # tests/integrations runs their examples, where their frameworks are
TOPS = "emgas|state|processors|replay|streams|gateway|evaluation|bench|tests|scripts|docs|emgas_service|\\.ci|\\.github"
NAMED = re.compile(rf"`\.?/?((?:{TOPS})/[\w./*-]*)`|`([\w-]+\.(?:toml|lock|txt|yml))`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = {"plan.json"}  # what a command writes


@cache
def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(page: str) -> set[str]:
    """Name the headings of a page as GitHub does."""
    titles = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text(page), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def named(page: str) -> list[str]:
    return [one or other for one, other in NAMED.findall(text(page))]


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])  # which tells of what was
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    missing = [name for name in named(page) if name not in ELSEWHERE and not list(ROOT.glob(name.rstrip("/")))]
    assert missing == []


def test_the_search_for_names_finds_them() -> None:
    found = [
        one or other
        for one, other in NAMED.findall("`state/graph/graph.py`, `./scripts/test`, `pyproject.toml`, `a/b`")
    ]
    assert found == ["state/graph/graph.py", "scripts/test", "pyproject.toml"]
    assert "state/events/events.py" in named("docs/extending.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    broken = []
    for target, anchor in LINK.findall(text(page)):
        file = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        if not file.exists() or (anchor and anchor not in anchors(file.relative_to(ROOT).as_posix())):
            broken.append(f"{target}#{anchor}")
    assert broken == []


def imported() -> Iterator[tuple[str, str, str]]:
    """Yield (page, module, name) of every import from a layer in the pages' examples."""
    for page in PAGES:
        for block in BLOCK.findall(text(page)):
            source = (
                block
                if "await" not in block
                else f"async def example():\n{re.sub('^', '    ', block, flags=re.MULTILINE)}"
            )
            for node in ast.walk(ast.parse(source)):
                if not isinstance(node, ast.ImportFrom) or str(node.module).startswith(ADAPTER):
                    continue
                if re.match(rf"(?:{TOPS})\b", node.module or ""):
                    yield from ((page, str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize(("page", "module", "name"), sorted(set(imported())))
def test_every_import_of_an_example_can_be_made(page: str, module: str, name: str) -> None:
    assert hasattr(import_module(module), name)


COMMANDS = {" ".join(("emgas", *words)) for words, _ in commands()}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_is_on_a_page(command: str) -> None:
    assert [page for page in PAGES if re.search(rf"\b{re.escape(command)}\b", text(page))]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_on_a_page_is_one(page: str) -> None:
    known = COMMANDS | {"emgas replay", "emgas topics", "emgas snapshot", "emgas dead-letters"}
    typed = re.findall(
        r"(?:^|`)(emgas [a-z][a-z-]*(?: (?:create|describe|list|show|restore|[a-z]+))?)", text(page), re.MULTILINE
    )
    unknown = {line for line in typed if line not in known and " ".join(line.split()[:2]) not in known}
    assert unknown == set()


def test_every_kind_of_event_is_in_the_list_that_the_table_of_topics_points_to() -> None:
    (row,) = re.findall(r"^\| `emgas\.events` .*$", text("ARCHITECTURE.md"), re.MULTILINE)
    assert "(docs/replay.md#the-events-of-the-log)" in row
    listed = re.findall(r"`([A-Z]\w+)`", text("docs/replay.md").partition("<!-- events:")[2])
    assert sorted(listed) == sorted(kind.__name__ for kind in KINDS), "run scripts/docs"


def test_the_pages_are_all_in_the_index() -> None:
    tracked = subprocess.run(["git", "ls-files", "docs/*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    index = text("docs/README.md")
    assert [
        name for name in tracked.stdout.split() if f"({Path(name).name})" not in index and name != "docs/README.md"
    ] == []


def drawn(layer: str) -> list[set[str]]:
    """Read the order of a layer's rooms from ARCHITECTURE.md: groups between bars."""
    found = re.search(rf"^{layer} +([^←\n]+\|.*)$", text("ARCHITECTURE.md"), re.MULTILINE)
    assert found, f"{layer} is not drawn"
    return [set(group.split()) for group in found[1].split("|")]


@pytest.mark.parametrize("layer", [layer for layer in ORDER if layer and "/" not in layer])
def test_the_order_of_rooms_is_drawn_as_it_is_tested(layer: str) -> None:
    assert drawn(layer) == [set(group) for group in ORDER[layer]]
