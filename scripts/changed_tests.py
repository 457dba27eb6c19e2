"""Print the test files that a change touches, the nearest first: `scripts/check changed` runs them.

    python -m scripts.changed_tests [BRANCH]    since this branch left BRANCH (origin/main); committed or not

A test file is touched when it changed, or reaches what changed over STEPS imports at most (or over as few as any test
does); those in tests/contracts and tests/support are not counted.  So a change of the log's reader runs its tests and
those of its readers, not those of the whole house above it: they are the gate's.  A file that nothing imports (a page,
a script, data; a command or an importer, which is loaded when it is named) touches the tests that name it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.import_graph import LAYERS, Arrows, imports

ROOT = Path(__file__).resolve().parent.parent
SHARED = ("tests/contracts/", "tests/support/")
ALWAYS = ("tests/test_docs.py", "tests/test_layers.py")  # they read every file, and take seconds
STEPS = 2  # one to three minutes of tests, whichever file changes


def changed(base: str = "origin/main") -> set[str]:
    """Collect the files that differ from where this branch left `base`, and those that git does not know yet."""
    (fork,) = _git("merge-base", base, "HEAD")
    return {*_git("diff", "--name-only", fork), *_git("ls-files", "--others", "--exclude-standard")}


def touched(files: Iterable[str], arrows: Arrows, texts: dict[str, str], steps: int = STEPS) -> list[str]:
    """List the test files that reach one of `files`, the nearest first.

    arrows  file → the files that it imports
    texts   test file → its source, searched for names of what is no module
    """
    importers = _importers(arrows)
    near = {path: 0 for path in ALWAYS if path in arrows}
    for file in files:
        reached = (_reaching(file, importers) if file in arrows else {}) or _naming(file, texts)
        most = max(steps, min(reached.values(), default=0))  # what none reaches in a few steps, the nearest test tries
        for path, distance in reached.items():
            if distance <= most:
                near[path] = min(distance, near.get(path, distance))
    return sorted(near, key=lambda path: (near[path], path))


def _git(*arguments: str) -> list[str]:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def _importers(arrows: Arrows) -> Arrows:
    importers: Arrows = {}
    for path, targets in arrows.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    return importers


def _reaching(file: str, importers: Arrows) -> dict[str, int]:
    """Map each test file that reaches `file` to the imports between, those of SHARED not counted."""
    distances, left = {file: 0}, [file]
    while left:  # a file is visited again if a shorter path to it turns up
        path = left.pop()
        further = distances[path] + (not path.startswith(SHARED))
        for other in importers.get(path, ()):
            if further < distances.get(other, further + 1):
                distances[other] = further
                left.append(other)
    return {path: distance for path, distance in distances.items() if _is_test(path)}


def _naming(file: str, texts: dict[str, str]) -> dict[str, int]:
    """Map each test file that names `file` to 1: its path, or in quotes its name, or the command that it is."""
    path = Path(file)
    command = path.stem.strip("_").replace("_", "-") if path.suffix == ".py" else path.name
    names = [file, f'"{path.name}"', f'"{command}"'] if path.suffix else [file]
    return {test: 1 for test, text in texts.items() if any(name in text for name in names)}


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def main() -> None:
    """Print what is touched, one a line; on stderr how many files of tests there are besides."""
    arrows = imports(ROOT, (*LAYERS, "tests"))
    tests = sorted(filter(_is_test, arrows))
    tests_touched = touched(changed(*sys.argv[1:]), arrows, {path: (ROOT / path).read_text("utf-8") for path in tests})
    print(f"changed: {len(tests_touched)} of {len(tests)} test files; ./scripts/test runs them all", file=sys.stderr)
    print("\n".join(tests_touched))


if __name__ == "__main__":
    main()
