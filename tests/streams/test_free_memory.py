"""Memory that was freed goes back to the system."""

from __future__ import annotations

import numpy as np
import pytest

from streams.worker.free_memory import GROWN, FreeMemory, resident

BLOCK = 64_000  # bytes: glibc maps none of these alone
BLOCKS = 4 * GROWN // BLOCK


def test_what_was_freed_between_blocks_that_stay_goes_back_once_the_process_has_grown() -> None:
    memory = FreeMemory()
    if not memory.can_go_back:
        pytest.skip("the C library has no malloc_trim")
    memory.look()
    before = resident()
    blocks = [np.ones(BLOCK, np.int8) for _ in range(BLOCKS)]
    grown = resident() - before
    assert grown > 3 * GROWN
    stay = blocks[::16]
    del blocks
    memory.look()
    assert resident() - before < grown / 2
    assert all(block.all() for block in stay)
