"""What EMGAS logs while a block runs, as a list of what each line would tell."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def capture_logs() -> Iterator[list[dict[str, Any]]]:
    """Collect what is logged below "emgas": `event`, `log_level`, `exc_info` and the facts of each record."""
    entries: list[dict[str, Any]] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            level = record.levelname.lower()
            entry = {"event": record.sentence, "log_level": level, "exc_info": record.exc_info}  # type: ignore[attr-defined]
            entries.append({**record.facts, **entry})  # type: ignore[attr-defined]

    ours, collector = logging.getLogger("emgas"), Collector()
    before = ours.level
    ours.setLevel(logging.DEBUG)
    ours.addHandler(collector)
    try:
        yield entries
    finally:
        ours.removeHandler(collector)
        ours.setLevel(before)
