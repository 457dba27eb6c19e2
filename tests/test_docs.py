"""The pages name files, anchors, commands and imports that exist: a page that rots fails here."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.core import TyperGroup

from emgas.messages.filters import Filter
from emgas.messages.queries import Query
from emgas.messages.requests import FailureCode
from emgas.messages.settings.modes import Mode
from processors.recall.ranking.weights import FEATURES, FLOW_EDGES
from state.events.events import KINDS
from streams.cli.main import Commands, app
from tests.support.cli import commands
from tests.test_layers import ORDER

ROOT = Path(__file__).resolve().parent.parent
USER_PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))
DEVELOPER_PAGES = (
    "bench/README.md", "bench/simulation/README.md", "clients/README.md", "clients/python/README.md",
    "evaluation/COMPARISON.md",
    "evaluation/README.md", "lab/README.md", "state/lsm/README.md",
)  # fmt: skip
ROOT_PAGES = [path.name for path in ROOT.glob("*.md")]
PAGES = sorted([*ROOT_PAGES, *USER_PAGES, "docs/zh/tutorial.md", *DEVELOPER_PAGES])
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
    names = [
        one or other
        for one, other in NAMED.findall("`state/graph/graph.py`, `./scripts/test`, `pyproject.toml`, `a/b`")
    ]
    assert names == ["state/graph/graph.py", "scripts/test", "pyproject.toml"]
    assert "state/events/sessions.py" in named("docs/extending.md")


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
    groups = {" ".join(command.split()[:n]) for command in COMMANDS for n in (2, 3)}
    former = {*Commands.aliases, "publish"} if page == "CHANGELOG.md" else set()
    typed = re.findall(r"(?:^|`)(emgas [a-z][a-z-]*(?: [a-z][a-z-]*)?(?: [a-z][a-z-]*)?)", text(page), re.MULTILINE)
    unknown = {line for line in typed if line.split()[1] not in former and not is_command(line, groups)}
    assert unknown == set()


OPTIONS = {
    " ".join(("emgas", *words)): {
        "--help",
        *(name for each in command.params for name in (*each.opts, *each.secondary_opts)),
    }
    for words, command in commands()
}
EXAMPLE = "--your-setting"  # of a page that says how to add one


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_every_option_of_a_command_on_a_page_is_one(page: str) -> None:
    typed = re.findall(r"^(?:\$ )?(emgas .*)$", text(page), re.MULTILINE) + re.findall(r"`(emgas [^`]*)`", text(page))
    assert {f"{command} {option}" for command, option in unknown_options(typed)} == set()


def unknown_options(typed: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (command, option) of each option in typed lines that its command does not have."""
    for line in typed:
        words = re.sub(r'"[^"]*"', "…", line).partition(" #")[0].partition(" | ")[0].split()
        command = next((" ".join(words[:n]) for n in (4, 3, 2) if " ".join(words[:n]) in OPTIONS), None)
        options = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)} - {EXAMPLE}
        yield from ((command, option) for option in sorted(options) if command and option not in OPTIONS[command])


def test_an_option_that_a_command_lacks_is_found_on_a_page() -> None:
    assert [*unknown_options(["emgas query ada --mode path --explain  # --top", 'emgas query ada "--mode"'])] == [
        ("emgas query", "--mode")
    ]


def is_command(line: str, groups: set[str]) -> bool:
    """Check whether a typed line begins with a command; after a group, its subcommand must follow."""
    words = line.split()
    start = next((" ".join(words[:n]) for n in (4, 3, 2) if " ".join(words[:n]) in COMMANDS), None)
    return start is not None or line in groups


def test_a_command_that_is_none_is_found_on_a_page() -> None:
    groups = {" ".join(command.split()[:n]) for command in COMMANDS for n in (2, 3)}
    assert is_command("emgas query ada", groups)
    assert is_command("emgas look themes", groups)
    assert is_command("emgas admin", groups)
    assert not is_command("emgas themes ada", groups)
    assert not is_command("emgas look kettles", groups)


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


ROW = re.compile(r"^\| `([\w-]+)` \|", re.MULTILINE)
CONSTANT = re.compile(r"`([A-Z][A-Z_]+)`")


def test_the_tables_of_features_have_those_of_the_code() -> None:
    assert ROW.findall(section("evaluation/README.md", "Features of a turn")) == [*FEATURES]
    assert ROW.findall(section("docs/recall.md", "Edges")) == ["match", *FLOW_EDGES]


def test_the_table_of_retrievers_has_every_mode() -> None:
    listed = ROW.findall(section("lab/README.md", "Retrievers"))
    assert sorted([*listed, "inject"]) == sorted(get_args(Mode))  # inject is the default retriever with a threshold


def test_the_tables_of_the_wire_have_every_failure_and_every_field_of_a_filter() -> None:
    failures = section("docs/wire.md", "Ask a question").partition("| failure code |")[2]
    assert sorted(first_cells(failures)) == sorted(get_args(FailureCode))
    options, _, filters = section("docs/wire.md", "Fields of a query").partition("| field of `only` |")
    assert sorted(first_cells(filters)) == sorted(Filter.model_fields)
    assert first_cells(options) <= set(Query.model_fields)


def first_cells(table: str) -> set[str]:
    """Return the names in backticks in the first column of tables."""
    cells = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}


def section(page: str, title: str) -> str:
    """Return the text of a page below a heading of the second level."""
    return text(page).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_constants_that_the_page_on_recall_names_are_in_the_code() -> None:
    named = set(CONSTANT.findall(text("evaluation/README.md"))) - {"EMGAS_EMBEDDER"}
    sources = "\n".join(text(file) for folder in ("processors", "evaluation") for file in trees(folder))
    assert {name for name in named if not re.search(rf"^{name}(?:: \w+)? = ", sources, re.MULTILINE)} == set()
    assert "DENSITY" in named


def drawn(layer: str) -> list[set[str]]:
    """Read the order of a layer's rooms from ARCHITECTURE.md: groups between bars."""
    match = re.search(rf"^{layer} +([^←\n]+\|.*)$", text("ARCHITECTURE.md"), re.MULTILINE)
    assert match, f"{layer} is not drawn"
    return [set(group.split()) for group in match[1].split("|")]


@pytest.mark.parametrize("layer", [layer for layer in ORDER if layer and "/" not in layer])
def test_the_order_of_rooms_is_drawn_as_it_is_tested(layer: str) -> None:
    assert drawn(layer) == [set(group) for group in ORDER[layer]]


# Plain English: phrases that make a reader read a sentence twice.  Write instead: permanently, again, any client,
# reports, automatically …

PHRASES = ("for ever", "anew", "whoever", "what is told", "is told", "of which", "somebody", "nobody", "it is found",
           "lies in", "by itself")  # fmt: skip
AVOIDED = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b".replace(" ", r"\s+"), re.IGNORECASE)
PLAIN = tuple(page for page in PAGES if page != "CHANGELOG.md")
PRODUCT = (
    "emgas", "state", "processors", "replay", "streams", "lab", "gateway", "evaluation", "bench", "emgas_service",
)  # fmt: skip
# What is left in each place.  Lower a number when you rewrite some of them; none may rise.
AT_MOST_IN_DOCSTRINGS = {"state": 3, "processors": 1}  # fmt: skip
REPORTING = {"fail", "warn", "doubt", "warning", "error"}  # functions and log methods that tell a user of a problem


@cache
def trees(folder: str) -> dict[str, ast.Module]:
    """Parse the tracked modules of a folder."""
    listed = subprocess.run(["git", "ls-files", f"{folder}/*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {file: ast.parse(text(file)) for file in listed.stdout.split() if (ROOT / file).exists()}


def phrases(texts: Iterable[str]) -> list[str]:
    return [phrase for each in texts for phrase in AVOIDED.findall(each)]


def docstrings(folder: str) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for tree in trees(folder).values():
        yield from (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, documented))


def error_messages(folder: str) -> Iterator[str]:
    """Yield "file:line: message" for each text that an error is made of, or that a function reports as a problem."""
    for file, tree in trees(folder).items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func).split(".")[-1]
            if not (name.endswith(("Error", "Exception")) or name in REPORTING):
                continue
            parts = (each.value for each in ast.walk(call) if isinstance(each, ast.Constant))
            yield from (f"{file}:{call.lineno}: {part}" for part in parts if isinstance(part, str))


def help_texts(group: Any = None) -> Iterator[str]:
    """Yield the help of `emgas`, of its commands and of their options."""
    group = typer.main.get_command(app) if group is None else group
    yield from (str(part) for part in (group.help, *(getattr(each, "help", "") for each in group.params)) if part)
    for name in group.list_commands(None) if isinstance(group, TyperGroup) else ():
        yield from help_texts(group.get_command(None, name))


PICTURED = re.compile(r"!\[([^]]*)\]\((?:docs/)?(explorer-[\w-]+)\.png\)")


@pytest.mark.parametrize("page", [page for page in PAGES if PICTURED.search(text(page))])
def test_a_picture_of_a_page_is_taken_by_the_script_and_described(page: str) -> None:
    script = text("scripts/pictures")
    for described, name in PICTURED.findall(text(page)):
        assert f'Picture("{name}", ' in script
        assert described


def test_the_chinese_readme_shows_the_question_that_it_describes_in_chinese() -> None:
    ((described, name),) = PICTURED.findall(text("README.zh.md"))
    language, do = re.findall(rf'Picture\("{name}", "\w+", "(\w+)", (\w+)\)', text("scripts/pictures"))[0]
    question = re.findall(rf"def {do}\(.*?ask\(visit, \"(.+?)\"\)", text("scripts/pictures"), re.DOTALL)[0]
    assert language == "zh"
    assert question in described


def test_the_docs_are_few_and_short() -> None:
    assert len(USER_PAGES) <= 16
    assert sum(len(text(page).split()) for page in USER_PAGES) <= 35_000
    assert len(text("README.md").splitlines()) <= 95
    assert (ROOT / "README.md").stat().st_size <= 6_000


def prose(page: str) -> str:
    """Return the sentences of a page: without code, tables, headings and addresses."""
    plain = re.sub(r"^```.*?^```|<!--.*?-->", "", text(page), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in plain.splitlines() if not line.startswith(("|", "#", "[!", "["))]
    return re.sub(r"`[^`]*`|\]\([^)]*\)|[\[\]*]", " ", "\n".join(lines))


def syllables(word: str) -> int:
    """Count the syllables of an English word, roughly: groups of vowels, without a silent e."""
    groups = len(re.findall(r"[aeiouy]+", word.lower()))
    silent = word.lower().endswith("e") and not word.lower().endswith(("le", "ee")) and groups > 1
    return max(1, groups - silent)


def grade(sentences: str) -> float:
    """Return the Flesch-Kincaid grade of a text."""
    words = re.findall(r"[A-Za-z][A-Za-z'-]*", sentences)
    ends = len(re.findall(r"[.!?](?:\s|$)", sentences))
    return 0.39 * len(words) / ends + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/README.md", "docs/faq.md"])
def test_a_page_for_newcomers_is_easy_to_read(page: str) -> None:
    assert grade(prose(page)) <= 9


def test_the_grade_tells_easy_sentences_from_hard_ones() -> None:
    assert grade("The cat sat on the mat. It was warm.") < 3
    assert grade("Associative consolidation of heterogeneous representations necessitates computationally intensive "
                 "reorganisation of interdependent hierarchical structures.") > 20  # fmt: skip


@pytest.mark.parametrize("page", PLAIN)
def test_a_page_is_in_plain_english(page: str) -> None:
    assert phrases([text(page)]) == []


def test_the_help_of_every_command_is_in_plain_english() -> None:
    texts = list(help_texts())
    assert len(texts) > 300
    assert [each for each in texts if AVOIDED.search(each)] == []


@pytest.mark.parametrize("folder", PRODUCT)
def test_error_messages_are_in_plain_english(folder: str) -> None:
    assert [each for each in error_messages(folder) if AVOIDED.search(each)] == []


@pytest.mark.parametrize("folder", PRODUCT)
def test_docstrings_get_no_more_of_the_phrases_to_avoid(folder: str) -> None:
    assert len(phrases(docstrings(folder))) <= AT_MOST_IN_DOCSTRINGS.get(folder, 0), "write plainly; see PHRASES"


def test_phrases_to_avoid_are_found_in_a_message_that_is_raised_or_reported() -> None:
    source = (
        'def f():\n    """Nobody."""\n    raise ValueError(f"{1} anew")\noutput.fail("by\\nitself")\nshow("nobody")'
    )
    trees_of = {"x.py": ast.parse(source)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.test_docs.trees", lambda _: trees_of)
        assert sorted(phrases(error_messages("x"))) == ["anew", "by\nitself"]
        assert phrases(docstrings("x")) == ["Nobody"]
