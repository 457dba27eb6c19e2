"""Compute the resources for a number of graphs, turns and questions, from the measured costs of one worker.

    python -m bench.speed.scaling [--graphs 10000000] [--turns-per-second 100000] [--partitions 1000] …
    python -m bench.speed.scaling --measure          measure again, into bench/speed/measured.json: ten minutes

Costs of CPU and bytes are measured (measured.json says when, and how loaded the machine was).  The throughput of Kafka
and the network is assumed, because no such machine was at hand; each assumption is an option, and is printed.  Cores
are those of the machine that was measured.  One line of JSON with --json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from bench.speed.ingesting import INGESTED, sentences
from bench.speed.measuring import alone, rounded
from bench.speed.remembering import GRAPHS
from bench.speed.replaying import REPLAYED
from emgas.client.client import MemoryClient
from state.memory_budget import DEFAULT_MEMORY
from streams.settings import WorkerSettings
from streams.transport.kafka.assignor import BirthAssignor
from streams.worker.embedded_connection import EmbeddedConnection
from streams.worker.gauges import size_of

MEASURED: Final = Path(__file__).with_name("measured.json")
DAY_SECONDS: Final = 86_400
MB, GB, TB = 1e6, 1e9, 1e12


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The measured costs.

    worker_ms, extraction_ms  CPU time of a turn: of the worker itself, with a pool; of the processes of the pool
    fold_ms                   CPU time of an event that is read and folded: what a standby, a reader and a rebuild pay
    answer_ms                 CPU time of an answer from a memory of 60,000 turns
    event_bytes, turn_bytes   of a record in `events`, in `turns`
    store_bytes               on the disk, of a turn      ram_bytes  in memory, of a turn of a graph that is there
    open_ms                   CPU time of opening a graph of 100 turns that is not in memory, before it is used
    worker_mb, child_mb       resident: of a worker that holds nothing, of a process of the pool
    """

    worker_ms: float
    extraction_ms: float
    fold_ms: float
    answer_ms: float
    event_bytes: float
    turn_bytes: float
    store_bytes: float
    ram_bytes: float
    open_ms: float
    worker_mb: float
    child_mb: float


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The load, and the assumptions on the machines.

    busy            part of a core that may be used
    replicas        of a partition, that one broker of Kafka is planned to carry
    broker_mb       MB/s that one broker is planned to take in, replication included
    memory_mb       what graphs may take in the memory of a process: EMGAS_MEMORY
    cold            share of turns, and of questions, to a graph that is not in memory: who folds or answers opens it
    compression     of events in Kafka: 1.6 alone, 3.9 in batches of 8, 5.2 of 64 (bench/speed/compressing.py)
    copy_mb         MB/s at which a snapshot is fetched
    """

    graphs: int = 10_000_000
    turns_per_graph: int = 300
    turns_per_second: int = 100_000
    questions_per_second: int = 5_000
    partitions: int = 1000
    readers_per_partition: int = 1
    replication: int = 3
    busy: float = 0.6
    replicas: int = 4000
    broker_mb: float = 75.0
    memory_mb: float = DEFAULT_MEMORY / MB
    cold: float = 0.05
    compression: float = 3.9
    copy_mb: float = 100.0


def needed(cost: Measured, want: Workload) -> dict[str, Any]:
    """Compute what `want` needs at this `cost`."""
    turns, room = want.turns_per_second, 1000 * want.busy  # ms of CPU time that a core gives in a second
    opening = want.cold * cost.open_ms
    worker = cost.worker_ms + cost.fold_ms + 2 * opening  # each event is folded once more, by a standby
    workers = min(want.partitions, ceil(turns * worker / room))
    pool = ceil(turns * cost.extraction_ms / room / workers)
    following = turns * want.readers_per_partition * (cost.fold_ms + opening)
    reading = following + want.questions_per_second * (cost.answer_ms + opening)
    readers = max(want.readers_per_partition, ceil(reading / room))
    kept = want.graphs * want.turns_per_graph
    copies = 2 + want.readers_per_partition
    contents = 2 * want.partitions / workers  # partitions, own and stood by for
    graph_bytes = want.turns_per_graph * cost.ram_bytes
    read = want.graphs * want.readers_per_partition / readers  # graphs that a reader holds, in memory or not
    topics = 4 + want.readers_per_partition  # turns, events, changes, dead-letters; queries
    replicas = want.replication * (want.partitions * topics + 16)
    event_bytes = cost.event_bytes / want.compression
    taken_in = turns * (event_bytes + cost.turn_bytes) * want.replication / MB
    return {
        "one partition": {
            "turns_per_second_at_most": round(1000 / (cost.worker_ms + opening)),
            "turns_per_second_here": round(turns / want.partitions),
            "graphs": round(want.graphs / want.partitions),
            "store_gb": rounded(kept / want.partitions * cost.store_bytes / GB),
        },
        "one worker": {
            "turns_per_second_at_most": round(room / worker),
            "partitions": rounded(want.partitions / workers),
            "cores": rounded(turns * (worker + cost.extraction_ms) / room / workers),
            "extraction_processes": pool,
            "ram_gb": rounded((cost.worker_mb + pool * cost.child_mb + want.memory_mb) * MB / GB),
            "graphs": round(contents * want.graphs / want.partitions),
            "graphs_in_memory": round(want.memory_mb * MB / graph_bytes),
            "store_gb": rounded(contents * kept / want.partitions * cost.store_bytes / GB),
        },
        "one reader": {
            "questions_per_second": round(want.questions_per_second / readers),
            "ram_gb": rounded((cost.worker_mb + want.memory_mb) * MB / GB),
            "graphs": round(read),
            "graphs_in_memory": round(want.memory_mb * MB / graph_bytes),
        },
        "all": {
            "workers": workers,
            "readers": readers,
            "cores": ceil((turns * (worker + cost.extraction_ms) + reading) / room),
            "stores_tb": rounded(kept * cost.store_bytes * copies / TB),
            "events_tb": rounded(kept * event_bytes * want.replication / TB),
            "events_tb_a_day": rounded(turns * event_bytes * want.replication * DAY_SECONDS / TB),
            "turns_tb_kept_7_days": rounded(7 * turns * cost.turn_bytes * want.replication * DAY_SECONDS / TB),
            "kafka_replicas": replicas,
            "kafka_brokers": max(want.replication, ceil(replicas / want.replicas), ceil(taken_in / want.broker_mb)),
            "kafka_mb_per_second": round(taken_in),
        },
        "one partition lost": {
            "fold_anew_minutes": rounded(kept / want.partitions * cost.fold_ms / 1000 / 60),
            "from_a_snapshot_minutes": rounded(kept / want.partitions * cost.store_bytes / MB / want.copy_mb / 60),
        },
        "a rebalance": shared_out(want.partitions, workers),
    }


def shared_out(partitions: int, workers: int) -> dict[str, float]:
    """Measure how long the group's leader takes to share out so many partitions again, and what each member is sent."""
    topics = {"m.turns", "m.events", "m.queries"}
    cluster: Any = SimpleNamespace(partitions_for_topic=lambda _: set(range(partitions)))
    members = {str(number): _member(number) for number in range(workers)}
    took = 0.0
    for _ in range(2):  # the second time all of them hold something
        metadata = {name: member.metadata(topics) for name, member in members.items()}
        started = time.process_time()
        shares = members["0"].assign(cluster, metadata)
        took = time.process_time() - started
        for name, share in shares.items():
            members[name].on_assignment(share)
    sent = [
        len(share.user_data) + sum(4 * len(partitions) for _, partitions in share.assignment)
        for share in shares.values()
    ]
    return {"leader_ms": round(1000 * took), "sent_to_a_member_kb": rounded(max(sent) / 1000)}


def _member(number: int) -> Any:
    tables = SimpleNamespace(data={}, changelog_topics={"m.events"})
    names = ("on_assignment_start", "on_assignment_completed", "on_assignment_error")
    sensors = SimpleNamespace(**dict.fromkeys(names, lambda *_: None))
    conf = SimpleNamespace(canonical_url=f"http://worker-{number}:6066")
    app = SimpleNamespace(tables=tables, conf=conf, tracer=None, sensors=sensors)
    return BirthAssignor(cast(Any, app), replicas=1)


async def _bytes(home: Path, graphs: int = 40, turns: int = 100) -> dict[str, float]:
    """Measure what a turn takes in the topics and in a store."""
    changes = {"broker": None, "data": home, "embedder": None, "extraction_processes": 0, "partitions": 1}
    settings = WorkerSettings().model_copy(update=changes)
    connection = EmbeddedConnection(settings)
    turns_list = list(sentences(turns))
    async with MemoryClient(connection, timeout=120.0) as memory:
        for number in range(graphs):
            async for _ in memory.publish_many(
                [each.model_copy(update={"graph": f"g{number}"}) for each in turns_list]
            ):
                pass
        reader = connection.app._reader  # noqa: SLF001 - only this reads its topics
        sizes = {}
        for topic in (settings.topics.events, settings.topics.turns):
            records = [r async for batch in reader(topic).read(0, 0, 10**9) for r in batch]
            written = sum(len(r.value) + sum(len(name) + len(text) for name, text in r.headers) for r in records)
            sizes[topic] = written / (graphs * turns)
    return {
        "event_bytes": round(sizes[settings.topics.events]),
        "turn_bytes": round(sizes[settings.topics.turns]),
        "store_bytes": round(size_of(settings.store_of(0)) / (graphs * turns)),
    }


def measure() -> dict[str, Any]:
    """Measure everything again."""
    ingest, memory = alone("ingest", INGESTED, 0), alone("memory", GRAPHS // 10, 0)
    replay, grown = alone("replay", REPLAYED, 0), alone("growth", 60_000, 20)
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        sizes = asyncio.run(_bytes(Path(directory)))
    pooled = ingest["processes"]["2"]
    cost = {
        "worker_ms": pooled["worker_ms"],
        "extraction_ms": pooled["extraction_ms"],
        "fold_ms": rounded(1000 / replay["events_per_second"]),
        "answer_ms": grown["recall_warm_ms"],
        **sizes,
        "ram_bytes": memory["bytes_per_turn_in_ram"],
        "open_ms": memory["open_ms"],
        "worker_mb": 150.0,
        "child_mb": 160.0,
    }
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return {"measured": day, "load": round(os.getloadavg()[0], 1), "cost": cost}


def format_plan(sections: Mapping[str, Mapping[str, Any]], cost: Measured, want: Workload) -> str:
    """Lay it out as tables of Markdown."""
    lines = []
    for title, figures in ({"measured": asdict(cost), "wanted": asdict(want)} | dict(sections)).items():
        lines += ["", f"| {title} | |", "|---|---|"]
        lines += [f"| {name.replace('_', ' ')} | {value:,} |" for name, value in figures.items()]
    return "\n".join(lines[1:])


def main() -> None:
    """Compute, and print one JSON object or tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure again")
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    for name, default in asdict(Workload()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    options = vars(parser.parse_args())
    if options.pop("measure"):
        again = json.loads(MEASURED.read_text("utf-8")) | measure()  # what compressing.py measured stays
        MEASURED.write_text(json.dumps(again, indent=1) + "\n", encoding="utf-8")
    as_json, cost = options.pop("json"), Measured(**json.loads(MEASURED.read_text("utf-8"))["cost"])
    want = Workload(**options)
    plan = needed(cost, want)
    print(json.dumps(plan) if as_json else format_plan(plan, cost, want))


if __name__ == "__main__":
    main()
