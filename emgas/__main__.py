"""`python -m emgas`: the command `emgas`, if its service is installed."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path


def main() -> None:
    """Run the command, whatever files are in the working directory."""
    here, clone = Path.cwd(), Path(__file__).parents[1]
    if here != clone:  # else what lies here is EMGAS itself
        sys.path[:] = [path for path in sys.path if path and Path(path) != here]  # a `state.py` there is not ours
    for entry in entry_points(group="console_scripts", name="emgas"):
        entry.load()()
        return
    sys.exit("error: only the client is installed: install EMGAS itself to have the command")


if __name__ == "__main__":
    main()
