"""The faults of a run: what happens to broker, network, disks, clocks and processes, each by chance, each with an end.

A fault is cancelled when chaos ends; what it leaves behind that no one but an operator can mend is mended then
(`Run.heal`).  `planned` draws which come, and when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Protocol

from bench.simulation.broker import Broker
from bench.simulation.clients import Client
from bench.simulation.group import Group
from bench.simulation.worker import Machine, Process
from emgas.limits import TRANSPORT_BYTES
from emgas.times import DAY_MS
from emgas.wire import ProducerRecord
from streams.settings import WorkerSettings
from streams.transport.failpoints import Step

FIRST, LAST = 1.5, 22.0  # seconds of a run between which faults begin
MOST = 6  # of one run
GARBAGE = (b"", b"garbage", b'{"kind":"TurnRecorded","v":1}', b"\xff" * 40, b"[" * 3000, b'{"kind":"Claim"}')


class FaultyRun(Protocol):
    """The parts of a run that a fault may use (world.py)."""

    chance: Random
    settings: WorkerSettings
    broker: Broker
    group: Group
    client: Client
    machines: list[Machine]
    ahead_ms: int
    tail_lost: bool

    @property
    def alive(self) -> list[Process]:
        """The processes that live."""

    def note(self, what: str) -> None:
        """Write a line of the trace."""

    def skip_garbage(self) -> None:
        """Skip unreadable records, as an operator does."""


def planned(chance: Random) -> list[tuple[float, str]]:
    """Draw the faults of a run: (second, name), in order.

    What concerns keeping (keeping_faults.py) is drawn beside them.
    """
    names = sorted(KINDS)
    if chance.random() < 0.5:  # what loses the log's tail and what loses unread turns do not go together: both lose
        names = [name for name in names if name != "events tail lost"]
    else:
        names = [name for name in names if name not in {"turns made anew", "turns expired"}]
    count = chance.randint(1, MOST)
    return sorted((chance.uniform(FIRST, LAST), chance.choice(names)) for _ in range(count))


def _some(run: FaultyRun) -> Process | None:
    """Choose a process that lives."""
    return run.chance.choice(run.alive) if run.alive else None


def _partition(run: FaultyRun) -> int:
    return run.chance.randrange(run.settings.partitions)


async def _while(run: FaultyRun, shortest: float, longest: float) -> None:
    await asyncio.sleep(run.chance.uniform(shortest, longest))


# processes


async def crash(run: FaultyRun) -> None:
    """Kill -9; at once, or at some moment soon."""
    await _while(run, 0.0, 0.05)
    if process := _some(run):
        run.note(f"{process.name} is killed")
        process.kill()


async def crash_at_step(run: FaultyRun) -> None:
    """Kill -9 at some passage of a step of the worker's work."""
    if process := _some(run):
        process.fatal_step = run.chance.choice(list(Step))
        process.passages_left = run.chance.randint(1, 12)
        run.note(f"{process.name} is killed at {process.fatal_step.value} number {process.passages_left}")


async def power_cut(run: FaultyRun) -> None:
    """Kill -9, and what was written last to the disk is gone."""
    if process := _some(run):
        process.kill()
        writes = run.chance.randint(1, 6)
        run.note(f"{process.name} loses power, and {writes} writes")
        process.machine.disk.cut_power(writes)


async def stop(run: FaultyRun) -> None:
    """SIGTERM."""
    if process := _some(run):
        run.note(f"{process.name} is stopped")
        await process.stop()


async def zombie(run: FaultyRun) -> None:
    """Cut a worker off from the group while it goes on working."""
    if process := _some(run):
        run.note(f"{process.name} hears nothing of the group")
        process.is_deaf = True
        run.group.storm()
        try:
            await _while(run, 5.0, 20.0)
        finally:
            process.is_deaf = False


async def freeze(run: FaultyRun) -> None:
    """SIGSTOP, as the network sees it: nothing comes of a process, nothing comes to it, and the group misses it."""
    if process := _some(run):
        run.note(f"{process.name} freezes")
        process.is_deaf = True
        process.link.open.clear()
        run.group.storm()
        try:
            await _while(run, 1.0, 15.0)
        finally:
            process.link.open.set()
            process.is_deaf = False


async def storm(run: FaultyRun) -> None:
    """Share the partitions again, several times."""
    for _ in range(run.chance.randint(2, 6)):
        run.group.storm()
        await _while(run, 0.1, 2.0)


# the network


async def _next_sends(run: FaultyRun, fate: str) -> None:
    if process := _some(run):
        fates = [fate if run.chance.random() < 0.6 else "" for _ in range(run.chance.randint(1, 5))]
        run.note(f"{process.name}'s next records to the log: {fates}")
        process.link.next_sends.extend(fates)


async def lost_acks(run: FaultyRun) -> None:
    """Write records, and acknowledge none."""
    await _next_sends(run, "lost ack")


async def lost_sends(run: FaultyRun) -> None:
    """Refuse some records of a batch, and write later ones."""
    await _next_sends(run, "lost send")


async def late_sends(run: FaultyRun) -> None:
    """Refuse records that arrive all the same, much later."""
    await _next_sends(run, "late")


async def sent_twice(run: FaultyRun) -> None:
    """Deliver records twice."""
    await _next_sends(run, "twice")


async def slow_network(run: FaultyRun) -> None:
    """Slow everything down a hundred times."""
    if process := _some(run):
        process.link.slowness = run.chance.choice([20.0, 100.0, 400.0])
        run.note(f"{process.name} is slower by {process.link.slowness:.0f}")
        try:
            await _while(run, 2.0, 15.0)
        finally:
            process.link.slowness = 1.0


async def broker_away(run: FaultyRun) -> None:
    """Cut all processes off from the broker."""
    processes = run.alive
    for process in processes:
        process.link.open.clear()
    try:
        await _while(run, 1.0, 20.0)
    finally:
        for process in processes:
            process.link.open.set()


async def failing_reads(run: FaultyRun) -> None:
    """Break connections while something is read."""
    if process := _some(run):
        process.link.failing = run.chance.choice([0.05, 0.3, 1.0])
        run.note(f"{process.name}: of its reads, {process.link.failing} fail")
        try:
            await _while(run, 1.0, 10.0)
        finally:
            process.link.failing = 0.0


# the broker


async def old_end(run: FaultyRun) -> None:
    """Report an old end of a partition of `events` for a while, as a new leader may (KIP-207)."""
    log = run.broker.log(run.settings.topics.events, _partition(run))
    log.leader += 1
    log.shown = max(0, log.end - run.chance.randint(1, 4))
    try:
        await _while(run, 0.5, 5.0)
    finally:
        log.shown = None


async def events_tail_lost(run: FaultyRun) -> None:
    """Lose acknowledged events at the end of a partition: an unclean election."""
    partition = _partition(run)
    log = run.broker.log(run.settings.topics.events, partition)
    lost = min(log.end, run.chance.randint(1, 4))
    run.tail_lost = True
    run.note(f"events[{partition}] loses its last {lost} records")
    del log.stored[log.end - lost :]
    run.broker.tell()
    log.leader += 1
    for process in run.alive:  # their next fetch is out of range, before the log has grown again
        process.see_end(partition)


async def turns_anew(run: FaultyRun) -> None:
    """Delete the topic turns, and make it again; clients go on."""
    name, client = run.settings.topics.turns, run.client
    if name not in run.broker.topics:  # deleted already, by a fault that is not over
        return
    plan_of_topic = run.broker.delete(name)
    if run.chance.random() < 0.5:
        await _while(run, 0.0, 8.0)
    if name not in run.broker.topics:
        run.broker.create(plan_of_topic)
    for _ in range(run.chance.choice([0, 5, 40])):
        client.say()


async def turns_expired(run: FaultyRun) -> None:
    """Expire turns before any worker has read them."""
    topic = run.broker.topics.get(run.settings.topics.turns)
    if topic is None:
        return
    partition = _partition(run)
    for _ in range(run.chance.randint(1, 12)):
        run.client.say(run.client.graphs[2 * partition])
    log = topic.logs[partition]
    log.start = max(log.start, log.end - run.chance.choice([0, 1, 5]))
    run.note(f"turns[{partition}] begins at {log.start}")
    run.broker.tell()


async def no_replies(run: FaultyRun) -> None:
    """Delete the topic replies for a while."""
    await _gone(run, run.settings.topics.replies)


async def no_dead_letters(run: FaultyRun) -> None:
    """Delete the topic dead-letters for a while."""
    await _gone(run, run.settings.topics.dead_letters)


async def _gone(run: FaultyRun, name: str) -> None:
    if name not in run.broker.topics:
        return
    plan_of_topic = run.broker.delete(name)
    try:
        await _while(run, 2.0, 15.0)
    finally:
        if name not in run.broker.topics:
            run.broker.create(plan_of_topic)


# records


async def garbage(run: FaultyRun) -> None:
    """Write garbage to events, as a stranger; an operator skips it, at once or much later."""
    partition, value = _partition(run), run.chance.choice(GARBAGE)
    run.broker.append(ProducerRecord(run.settings.topics.events, None, value, (), partition), "stranger")
    run.note(f"garbage in events[{partition}]: {value[:20]!r}")
    await _while(run, 0.0, 60.0)
    run.skip_garbage()


async def copied(run: FaultyRun) -> None:
    """Write again to events what lies there, as a stranger."""
    partition = _partition(run)
    records = run.broker.log(run.settings.topics.events, partition).stored
    data = [each.record for each in records if b'"kind":"Claim"' not in each.record.value]
    for record in run.chance.choices(data, k=3) if data else ():
        again = ProducerRecord(run.settings.topics.events, record.key, record.value, record.headers, partition)
        run.broker.append(again, "stranger")


async def large_records(run: FaultyRun) -> None:
    """Publish records that are too large, one of them so that its dead letter must be cut."""
    run.client.say_much()
    run.client.say_much(TRANSPORT_BYTES + run.chance.choice([0, 4 * 2**20]))


async def hostile_headers(run: FaultyRun) -> None:
    """Publish headers that mean harm."""
    for _ in range(4):
        run.client.be_hostile()


async def flood(run: FaultyRun) -> None:
    """Ask many questions, most of them for turns that are far away."""
    for _ in range(40):
        run.client.ask(after=run.chance.choice([0, 10**6, 10**6]))


async def many_turns(run: FaultyRun) -> None:
    """Publish many turns at once."""
    for _ in range(60):
        run.client.say()


async def poisoned(run: FaultyRun) -> None:
    """Publish texts at which extraction fails."""
    for _ in range(5):
        run.client.say_poison()


# disks and clocks


async def disk_full(run: FaultyRun) -> None:
    """Fill a disk for a while."""
    machine = run.chance.choice(run.machines)
    run.note(f"the disk of {machine.name} is full")
    machine.disk.is_full = True
    try:
        await _while(run, 0.5, 10.0)
    finally:
        machine.disk.is_full = False


async def damaged_store(run: FaultyRun) -> None:
    """Damage a store, be it open or not."""
    machine, partition = run.chance.choice(run.machines), _partition(run)
    kind = run.chance.choice(["open", "block"])
    if machine.disk.damage(partition, kind):
        run.note(f"the store of partition {partition} on {machine.name} is damaged: {kind}")
        if run.chance.random() < 0.5 and machine.process is not None:
            machine.process.kill()


async def clock_jump(run: FaultyRun) -> None:
    """Move a worker's clock, and move it back after a while."""
    machine = run.chance.choice(run.machines)
    machine.ahead_ms = run.chance.choice([-DAY_MS, DAY_MS, 15_000, -15_000])
    run.ahead_ms = max(run.ahead_ms, machine.ahead_ms)
    run.note(f"the clock of {machine.name} is {machine.ahead_ms} ms ahead")
    await _while(run, 1.0, 40.0)  # if this is cancelled, the clock stays wrong: healing does not reset it
    machine.ahead_ms = 0


KINDS: dict[str, Callable[[FaultyRun], Awaitable[None]]] = {
    "crash": crash,
    "crash at a step": crash_at_step,
    "power cut": power_cut,
    "stop": stop,
    "zombie": zombie,
    "freeze": freeze,
    "rebalance storm": storm,
    "lost acks": lost_acks,
    "lost sends": lost_sends,
    "late sends": late_sends,
    "sent twice": sent_twice,
    "slow network": slow_network,
    "broker away": broker_away,
    "failing reads": failing_reads,
    "old end": old_end,
    "events tail lost": events_tail_lost,
    "turns made anew": turns_anew,
    "turns expired": turns_expired,
    "no replies": no_replies,
    "no dead letters": no_dead_letters,
    "garbage": garbage,
    "copied events": copied,
    "large records": large_records,
    "hostile headers": hostile_headers,
    "flood of questions": flood,
    "burst of turns": many_turns,
    "poisoned texts": poisoned,
    "disk full": disk_full,
    "damaged store": damaged_store,
    "clock jump": clock_jump,
}
