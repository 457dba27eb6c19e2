"""`emgas serve`, in a process of the service's own environment: the tests' own has of EMGAS the client alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.serving import address_in

PATIENCE = 120.0  # seconds; only a hanging server ever takes them
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def served(data: Path, *options: str, **settings: str) -> Iterator[str]:
    """Serve a memory until the block ends; give its address."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
    ours = {"EMGAS_DATA": str(data), "EMGAS_PARTITIONS": "2", **settings}
    command = [ROOT / ".venv/bin/emgas", "serve", "--port", "0", *options]
    server = subprocess.Popen(command, env=others | ours, stderr=subprocess.PIPE, text=True)
    try:
        yield address_in(server)
    finally:
        server.terminate()
        server.wait(PATIENCE)
