"""Ask an advisor about recorded turns in the background: no turn and no query waits for it.

    a partition's writer appended   ──on_appended──▶  jobs wait  ──▶  tasks, from the state as it is then
                                                                 │ the advisor (streams/plugins/advisor_client.py)
    the command Advice in `turns`   ◀── what fits is sent  ◀─────┘

Advice is a command like any other: the partition's writer, whichever it is by then, decides on it and records it.  A
replay asks no advisor.  If the advisor fails, the job is tried again, TRIES times at most, after a pause that doubles;
then it is dropped, and counted.  Waiting jobs are lost with the worker: `emgas change advise` asks again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from emgas.logs import logger
from emgas.messages.advice import Advice
from processors.advice.advisor import AdviceContent, AdviceError, Task, advice
from processors.advice.material import LONG, AdvisorJob, What, task_of
from processors.extraction.extractor import Extractor
from state.events.events import (
    ConsolidationWindowClosed,
    DataEvent,
    GraphEvent,
    MemoryConsolidated,
    SessionEnded,
    TurnRecorded,
)
from state.partition import Partition
from state.sealing.keyring import Keyring
from streams.ingest.partition_writer import AppendedEvent
from streams.ingest.verbs.advice import AdviceDecider
from streams.plugins.advisor_client import BATCH, AdvisorClient, OverBudgetError

log = logger("advisor")
WAITING: Final = 256  # jobs; the oldest is given up for one more
TRIES: Final = 3  # of a job
PAUSE, LONGEST_PAUSE = 5.0, 600.0  # seconds after a failure, doubled with each


@dataclass(frozen=True, kw_only=True)
class AdvisorWorkerContext:
    """The services of a worker that its advisor's worker uses.

    client     asks the advisor                  wants    the kinds of jobs to do without a request
    state_of   the fold of a partition that is owned, None for others
    send       sends a command to `turns`        count    counts (kind, what became of it)
    keys       of encrypted graphs: no advisor is asked about those
    sleep      waits so many seconds
    """

    client: AdvisorClient
    wants: frozenset[str]
    state_of: Callable[[int], Partition | None]
    send: Callable[[Advice], Awaitable[None]]
    extractor: Extractor
    keys: Keyring
    count: Callable[[str, str], object]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class AdvisorWorker:
    """The jobs that wait, and the one task that does them."""

    def __init__(self, context: AdvisorWorkerContext) -> None:
        self._context = context
        self._jobs: dict[tuple[int, AdvisorJob], int] = {}  # (partition, job) → tries so far
        self._news = asyncio.Event()
        self._failures = 0

    @property
    def waiting(self) -> int:
        """Count the jobs that wait."""
        return len(self._jobs)

    def on_appended(self, partition: int, appended: Iterable[AppendedEvent]) -> None:
        """Note what an advisor may be asked about what was appended."""
        state = self._context.state_of(partition)
        for each in appended:
            if state is not None and isinstance(each.event, GraphEvent) and _is_received(state, each.event.graph):
                continue  # an advisor was asked where the graph came from
            for job in _jobs_of(each.event, self._context.wants):
                self._put(partition, job)

    def _put(self, partition: int, job: AdvisorJob, tries: int = 0) -> None:
        self._jobs.setdefault((partition, job), tries)
        while len(self._jobs) > WAITING:
            oldest = next(iter(self._jobs))
            del self._jobs[oldest]
            self._context.count(oldest[1].what, "dropped")
        self._news.set()

    async def run(self) -> None:
        """Work until cancelled; no error of an advisor or a job ends it."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._jobs:
                await self._process_batch()

    async def _process_batch(self) -> None:
        """Process the oldest jobs of one kind."""
        what = next(iter(self._jobs))[1].what
        chosen = [each for each in self._jobs if each[1].what == what][:BATCH]
        taken = [(partition, job, self._jobs.pop((partition, job))) for partition, job in chosen]
        ready = [(one, task) for one in taken if (task := self._task(one[0], one[1])) is not None]
        if not ready:
            await asyncio.sleep(0)
            return
        try:
            answers = await self._context.client.ask([task for _, task in ready])
        except AdviceError as error:
            await self._failed([one for one, _ in ready], error)
            return
        self._failures = 0
        for (partition, job, _), answer in zip((one for one, _ in ready), answers, strict=True):
            if answer is not None:
                await self._send(partition, job, answer)

    def _task(self, partition: int, job: AdvisorJob) -> Task | None:
        state = self._context.state_of(partition)
        if state is None or self._context.keys.of(job.graph):
            return None
        try:
            graph = state.graph(job.graph)
            return None if graph is None or not graph.settings.recording else task_of(graph, state.text_of, job)
        except Exception:  # the store may be gone by now: that must not end this task
            log.warning("nothing can be asked", graph=job.graph, what=job.what, exc_info=True)
            return None

    async def _failed(self, jobs: Sequence[tuple[int, AdvisorJob, int]], error: AdviceError) -> None:
        """Keep what may do better later, and pause."""
        is_budget = isinstance(error, OverBudgetError)
        for partition, job, tries in jobs:
            if error.again and (is_budget or tries + 1 < TRIES):
                self._put(partition, job, tries + (not is_budget))
        if isinstance(error, OverBudgetError):
            pause = error.seconds
        else:
            pause = min(PAUSE * 2.0**self._failures, LONGEST_PAUSE)
            self._failures = min(self._failures + 1, 20)
        log.warning("no advice", why=str(error), pause=round(pause))
        await self._context.sleep(pause)

    async def _send(self, partition: int, job: AdvisorJob, answer: AdviceContent) -> None:
        """Send advice that fits to the writer, which checks it again."""
        context = self._context
        try:
            by = context.client.name
            command = advice(job.graph, by, _advice_id(job, by, answer), answer)
            state = context.state_of(partition)
            if state is None:
                context.count(job.what, "dropped")
                return
            why = AdviceDecider(state, context.extractor, context.keys).rejection(command)
            if why is not None:
                context.count(job.what, "unfit")
                log.info("advice does not fit", graph=job.graph, what=job.what, why=why)
                return
            await context.send(command)
        except ValidationError:
            context.count(job.what, "unfit")
        except Exception as error:  # noqa: BLE001 - a log that is out of reach: the advice alone is lost
            context.count(job.what, "unsent")
            log.warning("advice was not recorded", graph=job.graph, what=job.what, error=type(error).__name__)
        else:
            context.count(job.what, "sent")


def _is_received(state: Partition, graph_id: str) -> bool:
    placement = state.placement(graph_id)
    return placement is not None and not placement.accepts


def _jobs_of(event: DataEvent, wants: frozenset[str]) -> Iterator[AdvisorJob]:
    """Yield what an advisor may be asked about an event."""
    jobs: list[tuple[What, str]] = []
    match event:
        case SessionEnded():
            jobs = [("summarise", event.session)]
        case ConsolidationWindowClosed():
            living = [change.id for change in event.topics if change.change != "died"]
            jobs = [(what, topic) for topic in living for what in ("name", "rate")]
        case MemoryConsolidated():
            jobs = [("rewrite", event.id)] if event.text else []
        case TurnRecorded():
            jobs = [("judge", event.id), *([("split", event.id)] if len(event.text) >= LONG else ())]
        case _:
            return
    yield from (AdvisorJob(what, event.graph, about) for what, about in jobs if what in wants)


def _advice_id(job: AdvisorJob, by: str, answer: AdviceContent) -> str:
    """Compute the id of a piece of advice from its content: the same advice has the same id."""
    return f"advice/{hashlib.sha256(repr((job, by, answer)).encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
