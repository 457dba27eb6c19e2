"""Put all layers of a wheel into one package, `emgas_service`, so that it is safe to install beside any program.

In the repository, and in an editable install, an import path is a file path: state/graph/graph.py is state.graph.graph.
`state`, `streams` and `replay` are names that any program may have for itself, so a wheel must not own them: there the
file is emgas_service/state/graph/graph.py, and whatever imports or names it says so.

    from state.graph import view              →  from emgas_service.state.graph import view
    "streams.cli.memory.demo_worker"          →  "emgas_service.streams.cli.memory.demo_worker"
    import state.graph                        the build fails: the name that it binds would change
    f"state.graph.{name}"                     the build fails: the name is known only at run time

Only these places change, found by their position in the syntax tree; every line keeps its number.  The entry points,
which are in HOME in the repository already, are rewritten likewise.  emgas/ is not changed: that name is ours.

The explorer is not in the repository: it is built before (scripts/page).  If it cannot be built, for example without a
network, the build warns and leaves it out, unless EMGAS_REQUIRE_PAGE=1: everything else works.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HOME = "emgas_service"
LAYERS = ("state", "processors", "replay", "streams", "lab", "gateway", "evaluation")
DOTTED = re.compile(rf"(?:{'|'.join(LAYERS)})(?:\.[A-Za-z_]\w*)+(?::\w+)?")  # a module, or an object in one
QUOTES = "\"'"


class UnmovableError(Exception):
    """A line cannot be rewritten with the same meaning.  Write it as the message proposes."""


class PageNotBuiltError(Exception):
    """The explorer, which this wheel needs, is not built.  Run scripts/page to see why."""


def files(root: Path) -> Iterator[Path]:
    """Yield every file (relative to `root`) that a wheel holds under HOME, of the layers that are there."""
    for top in (*LAYERS, HOME):
        for path in sorted((root / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
                yield path.relative_to(root)


def destination(file: Path) -> Path:
    """Place a file of the repository in the wheel."""
    return file if file.parts[0] == HOME else Path(HOME) / file


def moved(source: str, root: Path) -> str:
    """Put HOME before every layer that `source` imports or names in a string.

    Raises UnmovableError, with the line, for what cannot be rewritten.
    """
    lines = source.splitlines(keepends=True)
    for line, column in sorted(_places(ast.parse(source), lines, root), reverse=True):
        raw = lines[line - 1].encode()
        lines[line - 1] = (raw[:column] + f"{HOME}.".encode() + raw[column:]).decode()
    return "".join(lines)


def _places(tree: ast.AST, lines: list[str], root: Path) -> Iterator[tuple[int, int]]:
    """Yield (line from 1, column in bytes) of each layer's name that needs HOME in front."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _layer(node.module or "") and not node.level:
            yield _checked(lines, node.lineno, node.col_offset + len("from "), str(node.module), root)
        elif isinstance(node, ast.Import):
            for name in (alias.name for alias in node.names if _layer(alias.name)):
                raise UnmovableError(f"line {node.lineno}: write `from {name} import …` instead of `import {name}`")
        elif isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.Constant) and re.match(rf"(?:{'|'.join(LAYERS)})\.", str(part.value)):
                    raise UnmovableError(f"line {node.lineno}: write the module's name without f")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _names_a_module(node.value, root):
            column = node.col_offset + 1
            if lines[node.lineno - 1].encode()[column - 1 : column].decode() not in QUOTES:
                raise UnmovableError(f"line {node.lineno}: write {node.value!r} as a plain string")
            yield _checked(lines, node.lineno, column, node.value, root)


def _layer(module: str) -> bool:
    return module.partition(".")[0] in LAYERS


def _names_a_module(text: str, root: Path) -> bool:
    """Return whether `text` names something in a layer; "replay.md" only looks like it."""
    if not DOTTED.fullmatch(text):
        return False
    first, second = re.split(r"[.:]", text)[:2]
    return (root / first / second).is_dir() or (root / first / f"{second}.py").is_file()


def _checked(lines: list[str], line: int, column: int, text: str, root: Path) -> tuple[int, int]:
    """Return the place if `text` stands there in one piece, and what it names will be in the wheel."""
    if not lines[line - 1].encode()[column:].startswith(text.encode()):
        raise UnmovableError(f"line {line}: write {text} on one line, after one space")
    if not (root / text.partition(".")[0]).is_dir():
        raise UnmovableError(f"line {line}: {text} is not here: leave this file out as well")
    return line, column


class MoveLayers(BuildHookInterface[Any]):
    """Called by hatchling, for every build; what the repository holds is only read."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the layers as a wheel holds them into a temporary folder, and have that folder packed."""
        if self.target_name != "wheel" or version == "editable":
            return
        self.made = Path(tempfile.mkdtemp())
        root = Path(self.root)
        self._build_page(root)
        for file in files(root):
            place = self.made / destination(file)
            place.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".py":
                place.write_text(_moved_file(file, root), "utf-8")
            else:
                shutil.copyfile(root / file, place)
        build_data["force_include"][str(self.made / HOME)] = HOME

    def _build_page(self, root: Path) -> None:
        """Build the explorer if its sources are there: a part of the repository, as in the image, lacks them."""
        script, built = root / "scripts" / "page", root / "gateway" / "static" / "index.html"
        if script.exists() and (root / "page").exists():
            failed = subprocess.run([sys.executable, script], check=False).returncode
            if failed and built.exists():
                built.unlink()  # it was made of other sources
        if not built.exists() and (root / "gateway").exists():
            if os.environ.get("EMGAS_REQUIRE_PAGE") == "1":
                raise PageNotBuiltError("the explorer is not built: run ./scripts/page, which says why")
            self.app.display_warning("THE EXPLORER IS NOT IN THIS WHEEL: it could not be built (./scripts/page).")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if hasattr(self, "made"):
            shutil.rmtree(self.made)


def _moved_file(file: Path, root: Path) -> str:
    try:
        return moved((root / file).read_text("utf-8"), root)
    except UnmovableError as error:
        raise UnmovableError(f"{file}, {error}") from error
