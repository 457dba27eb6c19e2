"""The house, measured: who imports whom, as rooms, arrows, floors and circles.  `scripts/house` prints it as a table.

    room    a file or a folder that lies directly in a folder            arrow   one room imports another, however often
    floor   one above the highest room that it imports; 1 is the ground  circle  rooms that import each other in a loop

Only imports count, read from the text; nothing is executed.  A package's `__init__.py` that only hands names on, or
only says what lives there, is no room.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LAYERS = (
    "emgas",
    "state",
    "processors",
    "replay",
    "streams",
    "lab",
    "gateway",
    "evaluation",
    "bench",
    "emgas_service",
)

Arrows = dict[str, set[str]]


@dataclass(frozen=True)
class House:
    """The rooms of one folder.

    arrows   room → the rooms of the same folder that it imports
    floors   room → its floor; rooms of a circle share one
    circles  rooms that import each other, sorted
    """

    arrows: Arrows
    floors: dict[str, int]
    circles: list[list[str]]

    @property
    def count(self) -> int:
        """Count the arrows."""
        return sum(map(len, self.arrows.values()))


def imports(root: Path, layers: Iterable[str] = LAYERS) -> Arrows:
    """Map each of our files (path from `root`, with "/") to the files of ours that it imports, wherever in the file."""
    files = {_module(path): path for path in _files(root, layers)}
    return {
        path: {files[name] for name in imported((root / path).read_text()) if name in files} - {path}
        for path in files.values()
    }


def imported(source: str) -> Iterator[str]:
    """Yield every dotted name that may be a module imported by `source`; of `from a import b` both `a` and `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def house(files: Arrows, folder: str = "") -> House:
    """Fold imports between files into those between the rooms of `folder` ("" is the repository)."""
    prefix = f"{folder}/" if folder else ""
    arrows: Arrows = {}
    for path, targets in files.items():
        room = _room(path, prefix)
        if room is not None:
            arrows.setdefault(room, set()).update(
                other for target in targets if (other := _room(target, prefix)) not in (None, room)
            )
    circles = [sorted(loop) for loop in _loops(arrows) if len(loop) > 1]
    return House(arrows, _floors(arrows), sorted(circles))


def folders(files: Arrows) -> list[str]:
    """List the folders that hold files of ours, the outermost first."""
    parents = {str(parent) for path in files for parent in Path(path).parents if str(parent) != "."}
    return sorted(parents, key=lambda folder: (folder.count("/"), folder))


def _files(root: Path, layers: Iterable[str]) -> Iterator[str]:
    for layer in layers:
        yield from sorted(path.relative_to(root).as_posix() for path in (root / layer).rglob("*.py"))


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _room(path: str, prefix: str) -> str | None:
    """Return the room of a file: the first part of its path below `prefix`, None outside and for `__init__.py`."""
    if not path.startswith(prefix):
        return None
    room = path.removeprefix(prefix).partition("/")[0]
    return None if room == "__init__.py" else room


def _reach(arrows: Arrows, start: str) -> set[str]:
    reached: set[str] = set()
    left = [start]
    while left:
        new = arrows.get(left.pop(), set()) - reached
        reached |= new
        left.extend(new)
    return reached


def _loops(arrows: Arrows) -> list[frozenset[str]]:
    """Partition the rooms into sets that reach each other (a room alone, mostly)."""
    reach = {room: _reach(arrows, room) for room in arrows}
    loops = {
        frozenset({room, *(other for other in reach[room] if other in reach and room in reach[other])})
        for room in arrows
    }
    return sorted(loops, key=sorted)


def _floors(arrows: Arrows) -> dict[str, int]:
    loop_of = {room: loop for loop in _loops(arrows) for room in loop}
    floors: dict[frozenset[str], int] = {}

    def floor(loop: frozenset[str]) -> int:
        if loop not in floors:
            below = {loop_of[target] for room in loop for target in arrows[room]} - {loop}
            floors[loop] = 1 + max(map(floor, below), default=0)
        return floors[loop]

    return {room: floor(loop_of[room]) for room in arrows}
