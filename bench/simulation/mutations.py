"""Switch off one protection of the code at a time: a good simulation then reports a violation.

`without(name)` runs its block on the real code without that protection, as if a bug had removed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from emgas.messages.transfer import Receive
from emgas.wire import Record
from processors.lifecycle.windows import next_alarm
from replay import branch
from state.errors import UnreadableEventError
from state.events.events import UNSTAMPED, GraphReceived
from state.log_position import Acceptance, LogPosition, fingerprint
from state.partition import Folded, Partition
from state.sealing.graph_key import GraphKey
from streams.ingest import change_feed, command_handler, partition_writer, source
from streams.ingest.change_feed import ChangeFeed
from streams.ingest.command_handler import MAY_PASS, CommandHandler
from streams.ingest.partition_writer import PartitionWriter, ProducedLog
from streams.ingest.turn_processor import TurnProcessor
from streams.ingest.turns import TurnDecider, rejected
from streams.ingest.verbs import DECIDERS, transfer, undo
from streams.ingest.verbs.deciding import HandlerContext
from streams.ingest.window_timer import WindowTimer
from streams.query.handler import QueryHandler
from streams.query.redelivery import Redelivery
from streams.query.reinforcement import Reinforcement
from streams.query.scheduling import PendingQuestion
from streams.query.waiting import StateWaiter
from streams.recovery import partition_folds
from streams.recovery.partition_folds import Partitions
from streams.transport import sender
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.sender import MessageSender
from streams.worker import ownership
from streams.worker.ownership import Ownership

Patch = tuple[Any, str, Any]
FOREVER_MS = 10**15


def _named_at_once(model: Any, kind: str, event: Any, names: Any, **fields: Any) -> Iterator[Any]:
    """Write one request for an event, however many names it has."""
    yield model.model_validate(
        {"kind": kind, "id": f"branch/{kind}/{event.seq}", "graph": event.graph, **names, **fields}
    )


async def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _judged(**ignored: bool) -> Callable[..., Acceptance]:
    """Make the fold's rule without some of its parts."""
    real = LogPosition.acceptance_of

    def acceptance_of(self: LogPosition, offset: int, event: Any) -> Acceptance:
        from msgspec.structs import replace

        if ignored.get("epoch"):
            event = replace(event, epoch=self.epoch, claim=self.claim)
        if ignored.get("seq"):
            event = replace(event, seq=self.seq + 1)
        if ignored.get("chain"):
            event = replace(event, chain=self.link["chain"])
        return real(self, offset, event)

    return acceptance_of


async def _sent_only(self: ProducedLog, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
    """Append without waiting for an acknowledgement: guess the offsets."""
    _, end = await self.bounds(partition)
    sending = asyncio.ensure_future(self._send_all(partition, records))
    sending.add_done_callback(lambda done: done.cancelled() or done.exception())
    self.__dict__["sending"] = sending  # kept alive
    await asyncio.sleep(0)  # all are handed over
    return list(range(end, end + len(records)))


async def _claimed_by_nobody(self: PartitionWriter, **claim: Any) -> None:
    """Go on under the claim of the owner before."""
    if self.state.position.epoch < 0:
        await _REAL_CLAIM(self, **claim)
    self._epoch = self.state.position.epoch


_REAL_CLAIM = PartitionWriter.claim
_REAL_FOLD = Partition.fold
_REAL_LOAD = Partition._load  # noqa: SLF001 - as a bug has it


def _counted_as_it_opens(self: Partition, graph_id: str) -> Any:
    """Take a graph up, and count those of its turns that a key still opens."""
    graph = _REAL_LOAD(self, graph_id)
    if graph is not None:
        self._counted[graph_id] = graph.turns
    return graph


async def _settled_in_turn(self: Ownership) -> None:
    """Wait for one partition after the other, and let the others go on meanwhile."""
    going_on = [self.processors[partition] for partition in self.processors.keys() - self.halted_partitions.keys()]
    for lock in [*(processor.working for processor in going_on), *(timer.lock for timer in self.timers.values())]:
        async with lock:
            pass


def _fold_over(self: Partition, offset: int, value: bytes) -> Folded:
    """Fold, and pass over what no one can read."""
    try:
        return _REAL_FOLD(self, offset, value)
    except UnreadableEventError:
        from msgspec.structs import replace

        self.position = replace(self.position, watermark=offset)
        return Folded(None, Acceptance.GAP)  # type: ignore[arg-type]  # of no event


async def _claimed_by_place(writer: PartitionWriter, turns: Any, id_of_turns: source.TopicId) -> None:
    """Claim, and take any topic `turns` for the one that was read."""
    await writer.claim(source_topic=writer.state.position.source_topic or await id_of_turns() or "")


def _all_at_once(self: TurnProcessor, deliveries: list[Any]) -> list[list[Any]]:
    """Take what is delivered for what comes next."""
    return [deliveries]


def _time_of_day(self: Reinforcement, graph_id: str, question: PendingQuestion) -> int:
    """Take the worker's clock for any graph's."""
    return self._context.worker.now_ms()


def _wall_age(self: QueryHandler, record: Record) -> float:
    return float(self._context.worker.now_ms() - record.timestamp)


async def _everything(self: ChangeFeed, position: LogPosition, batch: Any) -> Any:
    """Take all that can be read for accepted."""
    from replay.accepted_events import decoded

    result = []
    for each in batch:
        record, event = await decoded(self._events, self._partition, each)
        position, _ = position.after(record.offset, event, record.value, is_last=False)
        result.append((record.offset, event, record.value))
    return position, result


async def _caught_up(self: ChangeFeed, watermark: Any) -> None:
    self.caught_up = True


def _decided_at_first(self: CommandHandler, arrival: Record, command: Any) -> Any:
    """Decide without a second try."""
    try:
        return self._tried(arrival, command)
    except MAY_PASS:
        raise
    except Exception as error:  # noqa: BLE001 - whatever fails
        return rejected(arrival, command, str(error))


async def _folded_unseen(self: PartitionWriter, offset: int, value: bytes) -> None:
    """Fold an event of our own, whatever becomes of it."""
    await self._catch_up(offset)
    self.state.fold(offset, value)


def _acknowledged_at_once(self: Redelivery, partition: int, acknowledge: Callable[[], object]) -> Callable[[], None]:
    """Take a question for answered when it comes."""
    acknowledge()
    return lambda: None


def _looked_at_all(self: WindowTimer, graph_id: str) -> None:
    """Set the alarm of any graph, even one that a tick cannot change."""
    graph = self._state.graph(graph_id)
    if graph is not None:
        self._alarms[graph_id] = next_alarm(graph)


def _dropped(self: TurnProcessor) -> None:
    """Forget what waits, and nothing else."""
    while not self._queue.empty():
        self._queue.get_nowait()


def _decided_once(self: CommandHandler, arrival: Record, command: Any) -> Any:
    return self._tried(arrival, command)


def _unsearched(self: CommandHandler, arrival: Record) -> Record:
    """Keep a record as it came."""
    return arrival


def _completed_unseen(request: Any, graph: Any, context: Any) -> Any:
    """Take what is here of a graph for all of it once the last message comes."""
    if request.events or graph is None:
        return transfer.receive(request, graph, context)
    fields = {"graph": request.graph, "origin": request.origin, "events": graph.events, "src": context.source}
    return [GraphReceived(**fields, complete=True, **UNSTAMPED)]


def _opened_when_checked(request: Any, graph: Any, context: Any) -> Any:
    """Let a graph live once all of it is here, whether it has left the other memory or not."""
    decided = transfer.receive(request, graph, context) if request.events or request.opens else None
    return _completed_unseen(request, graph, context) if decided is None else decided


def _kept_whole(record: Record) -> int:
    return 0


def _always(*_: Any, **__: Any) -> bool:
    return True


async def _check_nothing(self: Partitions, partition: int) -> None:
    """Take any store for one of this log."""


async def _assign_unchecked(self: Partitions, partitions: set[int]) -> None:
    """Open what is not open yet, and take what is for a fold of this log."""
    for partition in list(self.broken):
        self._discard(partition)
    for partition in set(self.open) - partitions:
        self._close(partition)
    for partition in partitions - set(self.open):
        await self._take_up(partition)


async def _last_alone(log: Any, partition: int, head: LogPosition) -> bool:
    """Compare only the last folded record, and ignore later claims of other writers."""
    records = [
        record async for batch in log.read(partition, max(head.watermark, 0), head.watermark + 1) for record in batch
    ]
    return head.watermark < 0 or [fingerprint(record.value) for record in records] == [head.last]


def _behind(self: Partitions, partition: int, watermark: int, offset: int) -> bool:
    return offset > watermark


_UNWATCHED: list[Patch] = [(Partitions, "check", _check_nothing)]  # else what it mends is not missed
WITHOUT: dict[str, list[Patch]] = {  # each with what happens without it
    # a turn whose id is known is recorded again
    "known turn ids": [(TurnDecider, "_existing_text", lambda self, turn, graph: None)],
    # the fold takes events of an older claim
    "epoch fence": [(LogPosition, "acceptance_of", _judged(epoch=True))],
    # the fold takes events in any order
    "sequence": [(LogPosition, "acceptance_of", _judged(seq=True))],
    # a new owner goes on under the claim before
    "claim": [(PartitionWriter, "claim", _claimed_by_nobody)],
    # a worker does not look whether it was fenced
    "fencing oneself": [
        (PartitionWriter, "_fold_own", _folded_unseen),
        (PartitionWriter, "_check_owned", lambda self: None),
    ],
    # what others wrote is not folded before an own event
    "catching up": [(PartitionWriter, "_catch_up", _nothing)],
    # a log that shows an old end is believed
    "old end noticed": [(PartitionWriter, "_check_shown", _nothing)],
    # appends count before they are acknowledged
    "ack wait": [(ProducedLog, "append", _sent_only)],
    # an owner goes on behind what the log lost, a store is compared with one record
    "log still the same": [
        (partition_writer, "check_same", lambda head, record: None),
        (partition_folds, "folded_from", _last_alone),
        *_UNWATCHED,
    ],
    # an owner does not read the record before its own, by a new route or for a claim
    "record before read back": [(PartitionWriter, "_check_there", _nothing)],
    # a delivered turn counts as the next one
    "turns in order": [(TurnProcessor, "_consecutive", _all_at_once)],
    # a partition that is given up keeps its place in the queue
    "room given back": [(TurnProcessor, "drop", _dropped)],
    # turns that were not delivered are not read
    "holes filled": [(TurnProcessor, "_fill", _nothing)],
    # expired turns are skipped without an event
    "lost turns told": [(source, "record_loss", _nothing)],
    # `turns` is known by its name alone
    "topic id": [(source, "claim", _claimed_by_place), (source, "is_claimed", _always)],
    # recovery folds over records that it did not get
    "only the next record": [(Partitions, "_is_next", _behind)],
    # any store counts as a store of this log
    "store checked": [(Partitions, "_check", _check_nothing), *_UNWATCHED],
    # a store that does not match the log is not set aside
    "store set aside": [(Partitions, "_set_aside", lambda self, partition, why: None)],
    # unreadable records are skipped without an operator
    "garbage halts": [(Partition, "fold", _fold_over)],
    # any halt ends the worker
    "halting alone": [(ownership, "halts_alone", lambda error: False)],
    # a store that stays open over a rebalance is not compared, and a claim reads nothing back
    "open stores checked": [
        (Partitions, "hold", _assign_unchecked),
        (PartitionWriter, "_check_there", _nothing),
        *_UNWATCHED,
    ],
    # a record's key need not be its graph
    "keys checked": [(command_handler, "check_place", lambda *state, partitions: None)],
    # a second failure at one record is raised
    "one record, one outcome": [(CommandHandler, "decide", _decided_once)],
    # a record that fails once is rejected
    "second try": [(CommandHandler, "decide", _decided_at_first)],
    # no dead letter is written
    "dead letters": [(MessageSender, "dead_letter", _nothing)],
    # dead letters are written whole
    "dead letters cut": [(sender, "_size", _kept_whole), (CommandHandler, "redacted", _unsearched)],
    # no outcome is sent
    "outcomes told": [(TurnProcessor, "_send_outcome", lambda self, decision: None)],
    # partitions that are given up finish one after the other
    "finished together": [(Ownership, "_settle", _settled_in_turn)],
    # senders of turns over which a partition failed get no outcome
    "failed turns told": [(TurnProcessor, "take_over", lambda self, failed: None)],
    # a turn may be said at any time in the future
    "clock clamped": [(HandlerContext, "present", lambda self, arrival: FOREVER_MS)],
    # a question tells an imported graph the time of day
    "asked in its own time": [(Reinforcement, "_time_of", _time_of_day)],
    # a tick loads graphs that are not in memory
    "ticks for live graphs": [(WindowTimer, "look_at", _looked_at_all)],
    # `after` is not waited for
    "waiting for a turn": [(StateWaiter, "until_folded", _nothing)],
    # a question counts as read when it arrives
    "questions told": [(Redelivery, "hold", _acknowledged_at_once)],
    # a question that may have been answered reinforces again
    "reinforced once": [(Redelivery, "may_be_again", lambda self, partition, offset: False)],
    # the worker's clock decides how old a question is
    "age by the log's clock": [(QueryHandler, "_age", _wall_age)],
    # a new owner does not send changes that the one before did not
    "changes caught up": [(ChangeFeed, "catch_up", _caught_up)],
    # changes of events that do not count are sent
    "changes judged": [(ChangeFeed, "_accepted", _everything)],
    # a header may hold any number of digits
    "headers bounded": [(change_feed, "_offset", int)],
    # a new owner counts only turns that a key still opens
    "turns counted as stored": [(Partition, "_load", _counted_as_it_opens)],
    # an older value of a key, from a frozen worker, replaces the newer one
    "keys stay destroyed": [(GraphKey, "meet", lambda self, other: other), (KafkaKeys, "mend", KafkaKeys.refresh)],
    # a subject that may only forget can undo grants and settings
    "rights to undo": [(undo, "holds", _always)],
    # a branch sends all names of an event in one message
    "names split": [(branch, "_naming", _named_at_once)],
    # a graph that is leaving, has left or is incomplete takes turns
    "moved graphs fenced": [(command_handler, "check_here", lambda command, placement: None)],
    # a graph is complete once its last message comes
    "all of it received": [(command_handler, "DECIDERS", {**DECIDERS, Receive: _completed_unseen})],
    # a graph opens in its new memory before it has left the old one
    "opened once it left": [(command_handler, "DECIDERS", {**DECIDERS, Receive: _opened_when_checked})],
}
KEEPING = {
    "turns counted as stored",
    "keys stay destroyed",
    "rights to undo",
    "names split",
}  # only runs with erasures and rights can detect these
# only runs in which graphs move can detect these
MOVING = {"moved graphs fenced", "all of it received", "opened once it left"}


@contextmanager
def without(name: str) -> Iterator[None]:
    """Switch a protection off for as long as the block lasts; "" for none.  Raises KeyError."""
    with ExitStack() as stack:
        for owner, attribute, value in WITHOUT[name] if name else ():
            stack.callback(setattr, owner, attribute, getattr(owner, attribute))
            setattr(owner, attribute, value)
        yield
