"""`python -m emgas.schema` writes the schema files; with `--check` it only compares, and exits 1 if they are stale."""

from __future__ import annotations

import argparse

from emgas.schema import FOLDER, stale, write


def main() -> int:
    """Write or compare the schema files; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m emgas.schema", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        write()
        print(f"wrote {FOLDER}")
        return 0
    names = stale()
    if names:
        print(f"stale: {', '.join(names)}; run `python -m emgas.schema`")
    return 1 if names else 0


if __name__ == "__main__":
    raise SystemExit(main())
