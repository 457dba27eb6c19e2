"""Gathers the pages of the documentation site: docs/ and the pages of the repository, with the reference generated.

Links that lead out of docs/ are turned: to another page of the site, or to a copy of the file in files/.
"""

import json
import os
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
PAGES = {
    "README.md": "index.md",
    "README.zh.md": "zh/index.md",
    "docs/README.md": "docs.md",
    "bench/README.md": "developers/benchmarks.md",
    "bench/simulation/README.md": "developers/simulation.md",
    "clients/README.md": "developers/messages.md",
    "clients/python/README.md": "developers/adapters.md",
    "evaluation/COMPARISON.md": "developers/comparison.md",
    "evaluation/README.md": "developers/evaluation.md",
    "lab/README.md": "developers/lab.md",
    "state/lsm/README.md": "developers/storage.md",
    **{f"{name}.md": f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")},
}
HERO = """---
hide: [navigation, toc]
---

<div class="hero" markdown>

# Long-term memory for conversational AI, without an LLM call

A question activates its concepts. Activation spreads to the old messages that answer it,
in milliseconds, with the reasons.

[A bot in ten minutes](tutorial.md){ .md-button .md-button--primary }
[Recipes](how-to.md){ .md-button } [中文](zh/tutorial.md){ .md-button }

![A question activates its concepts, activation spreads, and the matching turns light up](explorer-ask.png)

</div>

=== "Python"

    ```python
    from emgas import Memory

    with Memory(graph="ada") as memory:
        memory.add("My dentist is Dr Mora.", speaker="Ada")
        print(memory.search("who looks after my teeth?").context)
    ```

=== "Claude"

    ```sh
    claude mcp add memory -- emgas mcp --graph me
    ```

=== "HTTP"

    ```sh
    emgas serve
    curl -s localhost:8088/v1/graphs/ada/query -H 'Content-Type: application/json' \\
      -d '{"text": "who looks after my teeth?"}'
    ```

- **No LLM call**, no GPU, and a local log or Kafka.
- **Explained**: every answer says why each message was found.
- **Replayable**: each graph can be rebuilt from its log, as of any moment.

[All pages](docs.md)
"""
CLIENT = """# The Python client

::: emgas.client.client.MemoryClient

::: emgas.client.sync.Memory

::: emgas.messages.turns

::: emgas.messages.queries

::: emgas.messages.filters

::: emgas.errors
"""


def turned(text: str, page: Path, place: Path, to: Path) -> str:
    """Turn the links of a page of the repository to where the site has what they lead to; `place` is its own place."""

    def link(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve().relative_to(ROOT)
        return f"{match[1]}{os.path.relpath(placed(target, to), place.parent)}{match[3] or ''}{match[4]}"

    return LINK.sub(link, text)


def placed(target: Path, to: Path) -> str:
    """Return the site page for a file of the repository; copy a file that has none."""
    if str(target) in PAGES:
        return PAGES[str(target)]
    if target.parts[0] == "docs":
        return target.relative_to("docs").as_posix()
    copy = to / "files" / target
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
    pages = [*PAGES, *(page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md")))]
    for page in (Path(name) for name in dict.fromkeys(pages)):
        place = Path(placed(page, to))
        (to / place).parent.mkdir(parents=True, exist_ok=True)
        text = (
            HERO if place.name == "index.md" and place.parent == Path() else (ROOT / page).read_text(encoding="utf-8")
        )
        (to / place).write_text(text if text is HERO else turned(text, ROOT / page, place, to), encoding="utf-8")
    for picture in (path for path in (ROOT / "docs").iterdir() if path.is_file() and path.suffix != ".md"):
        shutil.copyfile(picture, to / picture.name)
    (to / "style.css").write_text(STYLE, encoding="utf-8")
    placed(Path("gateway/openapi.json"), to)
    for name, text in {"client.md": CLIENT, "http.md": http(), "cli.md": cli()}.items():
        (to / "reference" / name).write_text(text, encoding="utf-8")


STYLE = """
.hero { text-align: center; }
.hero h1 { font-size: 2.2em; font-weight: 700; max-width: 24em; margin: 0.6em auto 0.4em; }
.hero p { font-size: 1.1em; }
.hero img { border-radius: 12px; box-shadow: 0 8px 32px rgb(0 0 0 / 25%); max-width: min(100%, 52rem); }
"""


if __name__ == "__main__":
    gather(Path(sys.argv[1]).resolve())
