"""Measure a rebuild: partitions of an embedded log, folded again into RocksDB.  No worker.

    python -m bench.speed.rebuild                               1,000,000 turns of 1,000 graphs
    python -m bench.speed.rebuild --events 20000 --graphs 20    quickly
    python -m bench.speed.rebuild --log DIR                     keep the log there, and take it from there the next time
    python -m bench.speed.rebuild --partitions 4 --jobs 2       in two processes, on all cores, with digests

Turns are those of lifecycle.py: about 9 concepts and 735 bytes each, the graphs interleaved by time.  Reported, of one
partition: the rebuild as `emgas replay rebuild` does it (reading the log, the fold, RocksDB, its background threads, on
one core), its digest beside that of a fold event by event with a worker's flushes, and how long it takes to get one
graph.  CPU time is what the process used, on whichever core; on a machine that others use, wall time says more about
them.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import resource
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from bench.speed.lifecycle import recorded_turns
from emgas.wire import ProducerRecord
from replay.rebuild.plan import Plan
from replay.rebuild.rebuild import refold
from state.events.events import UNSTAMPED, AnyEvent, Claim, GraphConfigured, encode
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.log_position import LogPosition, stamp
from state.partition import Partition
from state.store.rocksdb import RocksStore
from streams.recovery.parallel_rebuild import combined, rebuild_all
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan

TOPIC = "emgas.events"
LIVE_FLUSH = 64  # events


def events(turns: int, graphs: int) -> Iterator[bytes]:
    """Yield the records of one partition: a claim, the graphs' births, and their turns."""
    head, offset = LogPosition(), -1

    def linked(event: AnyEvent) -> bytes:
        nonlocal head, offset
        value, offset = encode(event), offset + 1
        head, _ = head.after(offset, event, value)
        return value

    yield linked(Claim(writer="bench", partitions=1, nonce=""))
    for number in range(graphs):
        settings = PRESETS["default"]
        born = GraphConfigured(graph=f"graph-{number}", preset="default", settings=settings, **UNSTAMPED)
        yield linked(stamp(born, head))
    for event in recorded_turns(turns, graphs, seed=1):
        yield linked(stamp(event, head))


def write(directory: Path, values: Iterable[bytes], *more: Iterable[bytes]) -> None:
    """Append the records to the log of `directory`: a partition, and further ones."""
    log = EmbeddedLog(directory)
    log.create_topic(TopicPlan(TOPIC, 1 + len(more), FOR_EVER, 1 << 20))
    for partition, records in enumerate((values, *more)):
        left = iter(records)
        while batch := [ProducerRecord(TOPIC, None, value, (), partition, 0) for value in islice(left, 1000)]:
            log.append(batch)
    log.close()


@contextmanager
def timed(what: str, count: int = 1) -> Iterator[None]:
    """Print how long it took, by the clock and of the CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rates = f", {count / wall:,.0f}/s by the clock, {count / cpu:,.0f}/s of CPU time" if count > 1 else ""
    print(f"{what:32}{wall:9.3f} s, {cpu:9.3f} s of CPU{rates}", flush=True)


def rebuilt(log: ReadOnlyLog, count: int, directory: Path) -> str:
    """Rebuild `count` events into `directory` and return the digest."""
    with timed(f"rebuild of {count:,} events", count):
        state = asyncio.run(refold(EmbeddedReader(log, TOPIC), 0, count, RocksStore(directory / "0", bulk=True)))
    with timed("its digest", count):
        digest = state.digest()
    print(f"{'resident':32}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.0f} MB at most")
    with timed("closing the store"):
        state.close()
    return digest


def folded_one_by_one(log: ReadOnlyLog, count: int, directory: Path) -> str:
    """Fold as a worker does, and return the digest."""
    state, at = Partition(RocksStore(directory / "live")), 0
    with timed("the same, event by event", count):
        while records := log.read(TOPIC, 0, at, min(LIVE_FLUSH, count - at)):
            for record in records:
                state.fold(record.offset, record.value or b"")
            state.flush()
            at = records[-1].offset + 1
    digest = state.digest()
    state.close()
    return digest


def settings_of(data: Path) -> WorkerSettings:
    """Return the settings of a memory whose log is embedded in `data`."""
    return WorkerSettings().model_copy(update={"broker": None, "data": data, "prefix": "emgas"})


def in_parallel(data: Path, count: int, partitions: int, *, jobs: int) -> None:
    """Print how long all partitions take in so many processes, with their digests; CPU time is that of all."""
    settings = settings_of(data)
    plan = Plan("emgas", (count // partitions,) * partitions)
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="emgas-bench-", dir=data) as home:
        digests = [each.digest for each in rebuild_all(settings, plan, Path(home), jobs)]
    wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rates = f"{count / wall:,.0f}/s by the clock, {count / cpu:,.0f}/s of CPU time"
    print(f"{f'all, {jobs} processes':32}{wall:9.3f} s, {cpu:9.3f} s of CPU, {rates}, digest {combined(digests)}")
    print(f"{'resident, a process':32}{after.ru_maxrss / 1024:9.0f} MB at most")


def state_of(path: Path) -> Partition:
    """Open the partition whose store lies at `path`."""
    return Partition(RocksStore(path))


def get_one(directory: Path) -> None:
    """Print how long one graph takes: of the rebuilt store, and of a snapshot's bytes."""
    state = state_of(directory / "0")
    with timed("one graph out of the store"):
        graph = state.graph("graph-0")
    assert graph is not None
    packed = graph.pack()
    with timed(f"of a snapshot, {len(packed) / 1e6:.1f} MB"):
        unpacked = Graph.unpack(packed)
    with timed("and ready for a question"):
        unpacked.view()
    assert unpacked.digest() == graph.digest()
    state.close()


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--graphs", type=int, default=1000)
    arguments.add_argument("--log", type=Path, help="where the log is kept")
    arguments.add_argument("--core", type=int, default=0, help="of the machine: the only one that is used")
    arguments.add_argument("--no-live", action="store_true", help="do not fold event by event as well")
    arguments.add_argument("--partitions", type=int, default=1, help="among which events and graphs are divided")
    arguments.add_argument("--jobs", type=int, default=1, help="processes; with several nothing else is measured")
    options = arguments.parse_args()
    gc.freeze()
    if options.log is not None:
        options.log.mkdir(parents=True, exist_ok=True)
    share = options.events // options.partitions, options.graphs // options.partitions
    with tempfile.TemporaryDirectory(prefix="emgas-bench-", dir=options.log) as home:
        data = options.log or Path(home)
        place = settings_of(data).home
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "log.sqlite3").exists():
            with timed("writing the log", options.events):
                write(place, *(events(*share) for _ in range(options.partitions)))
        if options.jobs > 1:
            in_parallel(data, sum(share) * options.partitions, options.partitions, jobs=options.jobs)
            return
        os.sched_setaffinity(0, {options.core})
        log = ReadOnlyLog(place)
        count = min(sum(share) + 1, log.bounds(TOPIC, 0)[1])
        digest = rebuilt(log, count, Path(home))
        get_one(Path(home))
        if not options.no_live:
            print(f"digests equal: {digest == folded_one_by_one(log, count, Path(home))}")
        log.close()


if __name__ == "__main__":
    main()
