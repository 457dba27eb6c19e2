"""`run(seed)`: one seed, one run, the same each time; what the worker says goes into the trace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from bench.simulation.clock import StuckError, VirtualLoop
from bench.simulation.worker import passing, task_of_process
from bench.simulation.world import RunResult, SimulatedRun
from streams.transport import failpoints


def run(seed: int, *, keeps: bool = False, moves: bool = False) -> RunResult:
    """Run the world of `seed`, and look what held.  `keeps`, `moves`: as world.py's SimulatedRun has them."""
    loop = VirtualLoop(Random(f"loop {seed}"))
    loop.set_task_factory(task_of_process)  # type: ignore[arg-type]  # makes what a loop makes
    loop.set_exception_handler(lambda _, context: None)  # of tasks of killed processes
    asyncio.set_event_loop(loop)
    here = SimulatedRun(seed, loop, keeps, moves)
    try:
        with _traced(here), _failing():
            loop.run_until_complete(here.go())
    except StuckError as error:
        here.complaints.append(f"live: {error}")
    finally:
        _close(loop)
    return RunResult(
        seed=seed,
        complaints=here.complaints,
        trace=here.trace,
        steps=here.steps,
        faults=here.operations,
        turns=len(here.client.ledger.sent),
        questions=len(here.client.ledger.questions),
        halts=here.halts,
        live_after=here.live_after,
    )


def _close(loop: VirtualLoop) -> None:
    """Close the event loop and everything of the run."""
    asyncio.set_event_loop(None)
    loop.close()


@contextmanager
def _failing() -> Iterator[None]:
    """Stop simulated processes at the failpoints that they pass, while the block runs."""
    before, failpoints._passing = failpoints._passing, passing  # noqa: SLF001 - what EMGAS_FAIL_AT sets
    try:
        yield
    finally:
        failpoints._passing = before  # noqa: SLF001


@contextmanager
def _traced(here: SimulatedRun) -> Iterator[None]:
    """Put what the workers log into the trace, for as long as the block lasts."""
    logger, handlers = logging.getLogger("emgas"), _RunTrace(here)
    before = logger.level, logger.propagate
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    logger.addHandler(handlers)
    try:
        yield
    finally:
        logger.removeHandler(handlers)
        logger.level, logger.propagate = before


class _RunTrace(logging.Handler):
    """A handler that writes into a run's trace."""

    def __init__(self, here: SimulatedRun) -> None:
        super().__init__()
        self._here = here

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        line = f"  {record.levelname.lower()} {record.getMessage()[:400]}"
        self._here.note(line if error is None else f"{line} {error!r}")
