"""What a process of `emgas serve` says, read with the standard library alone, as the adapters have to."""

from __future__ import annotations

import re
import subprocess
import threading
from collections import deque
from typing import IO


def address_in(server: subprocess.Popen[str]) -> str:
    """Return the address, which it says first; read what it says later, or a full pipe would hold it up."""
    assert server.stderr is not None
    line = server.stderr.readline()
    match = re.match(r"serving on (http://\S+)", line)
    if match is None:
        server.kill()  # it might say nothing more, and never end
        raise AssertionError(line + server.stderr.read())
    threading.Thread(target=read_on, args=(server.stderr,), daemon=True).start()
    return match[1]


def read_on(pipe: IO[str]) -> None:
    """Read until the other end closes."""
    with pipe:
        deque(pipe, maxlen=0)
