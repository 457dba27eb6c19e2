"""One extraction process: `python -m …extraction_child`, started and used by extraction_pool.py, by frames over pipes.

    in    (extractor, language, words), then lists of Said       out   the extractor's version, then what they contain

A frame is its length, 4 bytes, and a pickle: both ends are ours, of one installation.  The process ends when nothing
can come any more, so it does not outlive its parent, however that ends; signals that are meant for a whole group do not
end it before.  The output of libraries goes to stderr.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO, Final

from processors.extraction.extractor import Extraction, Extractor, Utterance
from streams.plugins import extractors

LENGTH: Final = struct.Struct(">I")
NICER: Final = 5  # than who asks: an answer comes before what is read ahead


def framed(message: Any) -> bytes:
    """Write a frame."""
    value = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(value)) + value


def extracted(extractor: Extractor, turns: Sequence[Utterance]) -> list[Extraction | None]:
    """Extract from each; None where that fails: the worker tries it again, and sees why."""
    return [_extracted(extractor, turn) for turn in turns]


def _extracted(extractor: Extractor, turn: Utterance) -> Extraction | None:
    try:
        return extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at)
    except Exception:  # noqa: BLE001 - of any class: extractors are plugins
        return None


def _read(file: BinaryIO) -> Any:
    """Read a frame.  Raises EOFError when there is none any more."""
    head = file.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    value = file.read(LENGTH.unpack(head)[0])
    return pickle.loads(value)  # noqa: S301 - our parent wrote it


def _give_way() -> None:
    """Lower the priority of this process where the system supports it: answers come first."""
    os.nice(NICER)
    if hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def main() -> None:
    """Serve until stdin ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _give_way()
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        extractor = extractors.load(*_read(requests))
        gc.freeze()  # what was loaded stays: the collector need not look through it
        answer: Any = extractor.version
        while True:
            answers.write(framed(answer))
            answers.flush()
            answer = extracted(extractor, _read(requests))
    except (EOFError, BrokenPipeError):
        os._exit(0)


if __name__ == "__main__":
    main()
