"""A branch of a partition's log, made at once: what it has must be what the log has, whatever was undone or erased."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

from emgas.messages.rights import Grant, Revoke
from emgas.messages.turns import Turn
from emgas.wire import Record
from processors.extraction.extractor import Extractor
from replay.as_of.history import counting_events
from replay.branch import Message, messages
from replay.log import LogReader
from state.events.events import Claim, Forgotten, GraphEvent, TurnRecorded, encode
from state.log_position import stamp
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest.command_handler import CommandHandler
from streams.ingest.verbs.deciding import HandlerContext

ONLY = 0  # partition of the branch


class Branch:
    """A memory of its own, that takes messages one by one."""

    def __init__(self, extractor: Extractor, now: int) -> None:
        self.state = Partition(MemoryStore())
        self.state.fold(0, encode(Claim(writer="branch", partitions=1, nonce="0" * 32)))
        context = HandlerContext(partitions=1, extractor=extractor, skew_ms=0, preset="default", now=lambda: now)
        self._handler = CommandHandler(self.state, ONLY, context)
        self._now = now
        self._taken = 0

    def take(self, message: Message) -> str:
        """Take a message as a worker does; return why it is rejected, "" if it is not."""
        arrival = Record(self._taken, self._now, message.graph.encode(), message.model_dump_json().encode())
        self._taken += 1
        decision = self._handler.decide(arrival, message)
        for event in decision.events:
            self.state.fold(self.state.position.watermark + 1, encode(stamp(event, self.state.position)))
        self._handler.folded()
        return decision.reason or "" if decision.status == "rejected" else ""


async def unlike(log: LogReader, live: Partition, extractor: Extractor) -> list[str]:
    """Branch partition 0 of a log whose fold is `live`; return how the branch differs."""
    events = [event async for event in counting_events(log, 0)]
    latest = max((event.at for event in events if isinstance(event, TurnRecorded)), default=0)

    async def counting() -> AsyncIterator[GraphEvent]:
        for event in events:
            yield event

    branch, complaints = Branch(extractor, latest), list[str]()
    async for each in messages(counting()):
        why = branch.take(each.message)
        if why and isinstance(each.message, Turn | Grant | Revoke):
            complaints.append(f"{each.message.kind} {each.message.id} of {each.message.graph} is rejected: {why}")
    return [*complaints, *_differing(events, live, branch.state)]


def _differing(events: Sequence[GraphEvent], live: Partition, branch: Partition) -> Iterator[str]:
    for graph_id in sorted({event.graph for event in events}):
        here, there = live.graph(graph_id), branch.graph(graph_id)
        if there is None or here is None:
            continue
        if here.access != there.access:
            yield f"{graph_id} grants {there.access} there, {here.access} here"
        forgotten = {
            turn for event in events if isinstance(event, Forgotten) and event.graph == graph_id for turn in event.turns
        }
        back = sorted(forgotten & there.passages.numbers.keys() - here.passages.numbers.keys())
        turn_ids = {event.id for event in events if isinstance(event, TurnRecorded) and event.graph == graph_id}
        missing = sorted(turn for turn in turn_ids if there.passages.knows(turn) is None)
        if back or missing:
            yield f"{graph_id} holds the forgotten turns {back} there, and lacks {missing}"
