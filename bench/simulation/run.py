"""`run(seed)`: one seed, one run, the same each time; what the worker says goes into the trace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import structlog

from bench.simulation.clock import StuckError, VirtualLoop
from bench.simulation.worker import passing, task_of_process
from bench.simulation.world import Result, Run
from streams.transport import failpoints

TOLD = {"warning", "error", "critical", "exception"}


def run(seed: int) -> Result:
    """Run the world of `seed`, and look what held."""
    loop = VirtualLoop(Random(f"loop {seed}"))
    loop.set_task_factory(task_of_process)  # type: ignore[arg-type]  # makes what a loop makes
    loop.set_exception_handler(lambda _, context: None)  # of tasks of killed processes
    asyncio.set_event_loop(loop)
    here = Run(seed, loop)
    try:
        with _traced(here), _failing():
            loop.run_until_complete(here.go())
    except StuckError as error:
        here.complaints.append(f"live: {error}")
    finally:
        _close(loop)
    return Result(
        seed=seed,
        complaints=here.complaints,
        trace=here.trace,
        steps=here.steps,
        faults=here.given,
        turns=len(here.client.ledger.sent),
        questions=len(here.client.ledger.asked),
        halts=here.halts,
        live_after=here.live_after,
    )


def _close(loop: VirtualLoop) -> None:
    """Let nothing of the run outlive it."""
    asyncio.set_event_loop(None)
    loop.close()


@contextmanager
def _failing() -> Iterator[None]:
    """Let processes die at the steps that the worker names, for as long as the block lasts."""
    before, failpoints._passing = failpoints._passing, passing  # noqa: SLF001 - what EMGAS_FAIL_AT sets
    try:
        yield
    finally:
        failpoints._passing = before  # noqa: SLF001


@contextmanager
def _traced(here: Run) -> Iterator[None]:
    """Put what the workers log into the trace, for as long as the block lasts."""
    before = structlog.get_config()

    def keep(_: Any, level: str, event: dict[str, Any]) -> Any:
        if level in TOLD:
            error = event.pop("exc_info", None)
            told = " ".join(f"{name}={str(value)[:300]}" for name, value in event.items() if name != "event")
            here.note(f"  {level} {event['event']} {told}" + (f" {error!r}" if error not in {None, True} else ""))
        raise structlog.DropEvent

    structlog.configure(processors=[keep], wrapper_class=structlog.BoundLogger, cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)
