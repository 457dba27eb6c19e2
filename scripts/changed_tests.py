"""Print the test files that a change touches, the nearest first: `scripts/check changed` runs them.

    python -m scripts.changed_tests [BRANCH]    since this branch left BRANCH (origin/main); committed or not

A test file is touched when it changed, or reaches what changed over STEPS imports at most; those in tests/contracts and
tests/support are not counted.  So a change of the log's reader runs its tests and those of its readers, not those of
the whole house above it: they are the gate's.  A file that nothing imports (a page, a script, data) touches the tests
that name it.
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
    reached = _distances(files, arrows)
    near = {path: steps_to for path, steps_to in reached.items() if _is_test(path) and steps_to <= steps}
    unknown = [path for path in files if path not in arrows]
    for path, text in texts.items():
        if any(_names(text, other) for other in unknown):
            near.setdefault(path, 1)
    near |= {path: 0 for path in ALWAYS if path in arrows}
    return sorted(near, key=lambda path: (near[path], path))


def _git(*arguments: str) -> list[str]:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def _distances(files: Iterable[str], arrows: Arrows) -> dict[str, int]:
    """Map each file that reaches one of `files` to the imports between, those out of tests' own rooms not counted."""
    importers: dict[str, set[str]] = {}
    for path, targets in arrows.items():
        for target in targets:
            importers.setdefault(target, set()).add(path)
    found = dict.fromkeys((path for path in files if path in arrows), 0)
    left = list(found)
    while left:  # a file comes again when a shorter way to it is found
        path = left.pop()
        further = found[path] + (0 if path.startswith(SHARED) else 1)
        for other in importers.get(path, ()):
            if further < found.get(other, further + 1):
                found[other] = further
                left.append(other)
    return found


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def _names(text: str, path: str) -> bool:
    """Whether a test names a file: by its path, or, where that is joined of parts, by its last part in quotes."""
    name = Path(path).name
    return path in text or ("." in name and f'"{name}"' in text)


def main() -> None:
    """Print what is touched, one a line; on stderr how many files of tests there are besides."""
    arrows = imports(ROOT, (*LAYERS, "tests"))
    tests = sorted(filter(_is_test, arrows))
    found = touched(changed(*sys.argv[1:]), arrows, {path: (ROOT / path).read_text("utf-8") for path in tests})
    print(f"changed: {len(found)} of {len(tests)} test files; ./scripts/test runs them all", file=sys.stderr)
    print("\n".join(found))


if __name__ == "__main__":
    main()
