"""Gathers the pages of the documentation site: docs/ and the pages of the repository, with the reference generated.

Links that lead out of docs/ are turned: to another page of the site, or to a copy of the file in files/.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import typer  # noqa: E402
from typer.core import TyperGroup  # noqa: E402

from streams.cli.main import app  # noqa: E402

LINK = re.compile(r"(\]\()((?!https?:|#)[^)#\s]+)(#[^)]*)?(\))")
OF_ROOT = {"README.md": "start.md", **{name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")}}
OF_ROOT["SECURITY.md"] = "SECURITY.md"
CLIENT = """# The Python client

::: emgas.client.client.MemoryClient

::: emgas.client.sync.Memory

::: emgas.messages.turns

::: emgas.messages.queries

::: emgas.messages.filters

::: emgas.errors
"""


def turned(text: str, page: Path, to: Path) -> str:
    """Turn the links of a page of the repository to where the site has what they lead to."""

    def link(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve().relative_to(ROOT)
        return f"{match[1]}{placed(target, to)}{match[3] or ''}{match[4]}"

    return LINK.sub(link, text)


def placed(target: Path, to: Path) -> str:
    """Name the page of the site that a file of the repository has become; or copy it."""
    if str(target) in OF_ROOT:
        return OF_ROOT[str(target)]
    if target.parts[0] == "docs":
        return target.relative_to("docs").as_posix()
    copy = to / "files" / target
    copy.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / target
    copy = copy / "README.txt" if source.is_dir() else copy
    copy.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        copy.write_text("\n".join(sorted(path.name for path in source.iterdir())))
    else:
        shutil.copyfile(source, copy)
    return copy.relative_to(to).as_posix()


def commands(group: Any, path: str = "emgas") -> Iterator[tuple[str, Any]]:
    """Yield every command that does something, with its words."""
    if not isinstance(group, TyperGroup):
        yield path, group
        return
    for name in group.list_commands(None):  # type: ignore[arg-type]
        yield from commands(group.get_command(None, name), f"{path} {name}")  # type: ignore[arg-type]


def cli() -> str:
    """Write the reference of the commands."""
    parts = ["# The commands", "Before any of them: `--broker`, `--data`, `--config`, `--version`."]
    for words, command in commands(typer.main.get_command(app)):
        parts += [f"## {words}", command.help or "", "| | |\n|---|---|"]
        for each in command.params:
            names = ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts)) or f"`{each.name}`"
            parts[-1] += f"\n| {names} | {(getattr(each, 'help', None) or '').replace('|', chr(92) + '|')} |"
    return "\n\n".join(parts) + "\n"


def http() -> str:
    """Write the reference of the routes."""
    document = json.loads((ROOT / "gateway" / "openapi.json").read_text(encoding="utf-8"))
    parts = [
        "# HTTP",
        "All of it: [openapi.json](../files/gateway/openapi.json); a server has it at `/docs`.",
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts += [f"## {method.upper()} {path}", operation.get("description", operation.get("summary", ""))]
            rows = [f"| {status} | {answer['description']} |" for status, answer in operation["responses"].items()]
            parts.append("\n".join(["| status | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def gather(to: Path) -> None:
    """Write all pages into `to`, which is emptied."""
    shutil.rmtree(to, ignore_errors=True)
    (to / "reference").mkdir(parents=True)
    for page in sorted((ROOT / "docs").rglob("*")):
        place = to / page.relative_to(ROOT / "docs")
        if page.suffix == ".md":
            place.write_text(turned(page.read_text(encoding="utf-8"), page, to), encoding="utf-8")
        elif page.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, place)
    for name, place in OF_ROOT.items():
        page = ROOT / name
        (to / place).write_text(turned(page.read_text(encoding="utf-8"), page, to), encoding="utf-8")
    placed(Path("gateway/openapi.json"), to)
    for name, text in {"client.md": CLIENT, "http.md": http(), "cli.md": cli()}.items():
        (to / "reference" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    gather(Path(sys.argv[1]).resolve())
