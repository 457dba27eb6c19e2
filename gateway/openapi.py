"""The OpenAPI 3.1 document of the gateway: `python -m gateway.openapi` writes it beside this file, `--check` compares.

It is generated from the routes and messages, and committed for people who generate clients from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import orjson

from emgas.client.client import MemoryClient
from gateway.app import application

FILE = Path(__file__).with_name("openapi.json")


def generate() -> bytes:
    """Return the document as the file holds it."""
    app, _ = application(MemoryClient)
    return orjson.dumps(app.openapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def main() -> int:
    """Write the file, or compare it; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gateway.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        FILE.write_bytes(generate())
        return 0
    return int(not FILE.exists() or FILE.read_bytes() != generate())


if __name__ == "__main__":
    raise SystemExit(main())
