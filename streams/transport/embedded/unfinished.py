"""Mark an incomplete branch, so that no program opens it as a memory.

    <directory>/unfinished-branch     what it is a branch of; there while `emgas replay branch` fills the directory

A branch lacks graphs until its command is done, and does not record which.  So until then, only the process that fills
it opens it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from emgas.errors import TransportError

MARK: Final = "unfinished-branch"
_filled_here: set[Path] = set()  # directories that this process fills: it alone may open them


@contextmanager
def filling(directory: Path, source: str) -> Iterator[None]:
    """Mark a directory as an unfinished branch of `source`, until the block ends without an error."""
    directory = _resolved(directory)
    (directory / MARK).write_text(source, encoding="utf-8")
    _filled_here.add(directory)
    try:
        yield
    finally:
        _filled_here.discard(directory)
    (directory / MARK).unlink()


def is_unfinished(directory: Path) -> bool:
    """Return whether the directory is a branch that is not all there."""
    return (_resolved(directory) / MARK).exists()


def check_finished(directory: Path) -> None:
    """Raise TransportError where the directory is a branch that is not all there."""
    directory = _resolved(directory)
    mark = directory / MARK
    if directory in _filled_here or not mark.exists():
        return
    raise TransportError(
        f"{directory} is an unfinished branch of {mark.read_text(encoding='utf-8')}: `emgas replay branch` stopped "
        "before everything was in it. Run that command again to finish it, or remove the directory."
    )


def _resolved(directory: Path) -> Path:
    return directory.expanduser().resolve()
