"""The garbage collector leaves alone what stays while a worker runs, and no longer."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from emgas.client.client import MemoryClient
from streams.settings import WorkerSettings
from streams.worker.embedded_connection import EmbeddedConnection
from streams.worker.service import passing_over_what_stays


class Cyclic:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.asyncio
async def test_what_lives_when_a_memory_opens_is_passed_over_until_it_closes(tmp_path: Path) -> None:
    gc.unfreeze()  # what a memory of another test may have had frozen
    settings = WorkerSettings().model_copy(update={"broker": None, "data": tmp_path})
    async with MemoryClient(EmbeddedConnection(settings)):
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects(generation=2)) < gc.get_freeze_count()
    assert gc.get_freeze_count() == 0


def test_what_becomes_garbage_meanwhile_is_found_once_the_block_has_ended() -> None:
    kept = Cyclic()
    alive = weakref.ref(kept)
    with passing_over_what_stays():
        del kept
        gc.collect()
        assert alive() is not None, "it was passed over"
    gc.collect()
    assert alive() is None


def test_what_comes_and_goes_in_the_block_is_found_there() -> None:
    with passing_over_what_stays():
        alive = weakref.ref(Cyclic())
        gc.collect()
        assert alive() is None
