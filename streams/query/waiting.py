"""Wait before answering a question: for the turn that it names, a graph that arrives, and the pairs of a large one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from emgas.errors import TransportError
from streams.errors import RefusedError
from streams.query.answers.context import QueryablePartition
from streams.query.scheduling import PART_FOR_A_TURN, AnswerSchedule, PendingQuestion

ARRIVAL_SECONDS = 2.0  # for a graph that moves here: it opens a moment after it left, unless its move was interrupted


class StateWaiter:
    """Waits for the state of partitions.  end_of_turns: partition → the offset behind its last turn."""

    def __init__(self, schedule: AnswerSchedule, end_of_turns: Callable[[int], Awaitable[int]]) -> None:
        self._schedule = schedule
        self._end_of_turns = end_of_turns
        self._ends: dict[int, asyncio.Task[int]] = {}  # of `turns`, being asked, by partition

    async def until_folded(self, after: int | None, partition: QueryablePartition, question: PendingQuestion) -> None:
        """Wait until the turn at offset `after` is folded.  Raises RefusedError at once if it is not in the log."""
        if after is None or partition.state.position.source >= after:
            return
        try:
            async with self._schedule.time_limit(question):
                if (end := await self._end(question.partition)) <= after:
                    raise RefusedError("not-yet", f"there is no turn {after} yet: the log of turns ends before {end}")
                await partition.until_source(after)
        except TimeoutError:
            source = partition.state.position.source
            raise RefusedError("not-yet", f"turn {after} is not folded yet, the state is at {source}") from None

    async def until_arrived(self, graph_id: str, partition: QueryablePartition, question: PendingQuestion) -> None:
        """Wait a moment for a graph that is being moved here; a copy may take long, and is not waited for."""

        def is_arriving() -> bool:
            placement = partition.state.placement(graph_id)
            return placement is not None and placement.status == "receiving" and placement.hop > 0

        if is_arriving():
            with suppress(TimeoutError):
                async with self._schedule.time_limit(question), asyncio.timeout(ARRIVAL_SECONDS):
                    await partition.until(lambda: not is_arriving())

    async def _end(self, partition: int) -> int:
        """Ask the log where the turns of a partition end, as of now or later; concurrent questions ask once."""
        before = self._ends.get(partition)
        if before is not None:  # its answer may be older than the turn that is waited for
            await asyncio.wait([before])
        if self._ends.get(partition) in (None, before):
            self._ends[partition] = asyncio.ensure_future(self._end_of_turns(partition))
        try:
            return await asyncio.shield(self._ends[partition])
        except TransportError as error:
            raise RefusedError("internal", f"the log does not tell where the turns end: {error}") from None

    async def until_pairs_loaded(self, graph_id: str, partition: QueryablePartition, question: PendingQuestion) -> None:
        """Load the pairs of a large graph that was not queried before, cooperatively.

        A question that comes again after a refusal goes on with what was loaded.
        """
        if not partition.state.prepare(graph_id):
            return
        schedule = self._schedule
        try:
            async with schedule.turn(schedule.long, question), schedule.time_limit(question, PART_FOR_A_TURN):
                while partition.state.prepare(graph_id):  # noqa: ASYNC110 - it is we who work
                    await asyncio.sleep(0)
        except TimeoutError:
            reason = "the links of this memory are being loaded, as it was not queried before: ask again"
            raise RefusedError("not-yet", reason) from None
