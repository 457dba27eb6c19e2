"""Measure how long all graphs of a memory take to topics with another count of partitions, and each of them its turns.

    python -m bench.service.repartitioning                    1,000 graphs, 8 → 64 partitions, on a broker of its own
    python -m bench.service.repartitioning --graphs 100000 --turns 2 --broker 127.0.0.1:9092

The graphs are written to the log before the workers start: one worker of each memory.  While the command runs, some
graphs are asked again and again, wherever they are.  Then some are folded on both sides, and their digests compared.

    refused, differing, missing     must be empty or 0
    answers                         of the questions, by kind: a reply, or a failure with its code
    waited                          the longest answer, s
    cpu                             of the command and of each worker, s: where all of it shares a machine, that is
                                    what the seconds are made of
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bench.service.transfers import Place
from bench.speed.lifecycle import recorded_turns
from bench.torture.processes import one_broker
from emgas.errors import QueryFailedError
from emgas.wire import Record, partition_of
from state.events.events import UNSTAMPED, AnyEvent, Claim, GraphConfigured, encode
from state.events.memory_settings import PRESETS
from state.log_position import LogPosition, stamp
from streams.transport import select
from streams.transport.event_topic import appending

FROM, TO = 8, 64
ASKED = 3  # graphs that are asked meanwhile
COMPARED = 40  # graphs whose digests are
AT_ONCE = 2000  # records that are written together


def name(number: int) -> str:
    """Name a graph."""
    return f"graph-{number}"


def histories(graphs: int, turns: int) -> list[list[Record]]:
    """Build the logs of the old partitions, whose graphs have as many turns each."""
    writer = [_Log() for _ in range(FROM)]
    told = cycle(list(recorded_turns(2000, 1, seed=1)))
    for number in range(graphs):
        log = writer[partition_of(name(number), FROM)]
        log.add(GraphConfigured(graph=name(number), preset="default", settings=PRESETS["default"], **UNSTAMPED))
        for event in sorted(islice(told, turns), key=lambda event: event.at):
            log.add(replace(event, graph=name(number), src=None))
    return [each.records for each in writer]


class _Log:
    """The records of a partition that one writer wrote."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._position = LogPosition()
        self._link(Claim(writer="bench", partitions=FROM, nonce=""), None)

    def add(self, event: GraphConfigured | Any) -> None:
        self._link(stamp(event, self._position), event.graph.encode())

    def _link(self, event: AnyEvent, key: bytes | None) -> None:
        record = Record(len(self.records), 0, key, encode(event))
        self._position, _ = self._position.after(record.offset, event, record.value)
        self.records.append(record)


async def write(place: Place, logs: list[list[Record]]) -> None:
    """Append them to the topic `events` of a memory without workers."""
    async with appending(place.settings) as topic:
        for partition, records in enumerate(logs):
            for start in range(0, len(records), AT_ONCE):
                await topic.append(partition, records[start : start + AT_ONCE])


class Asker:
    """Asks one graph again and again, where it is."""

    def __init__(self, graph: str, here: Place, there: Place) -> None:
        self.answers: Counter[str] = Counter()
        self.waited = 0.0
        self._graph, self._memory, self._there = graph, here.memory, there.memory

    async def ask(self, done: asyncio.Event) -> None:
        """Ask until it is done, and where the graph went once an answer names the place."""
        while not done.is_set():
            began = time.monotonic()
            try:
                await self._memory.query(self._graph, "word1", timeout=60.0)
                self.answers["reply"] += 1
            except QueryFailedError as error:
                self.answers[error.code] += 1
                self._memory = self._there if error.code == "moved" else self._memory
            self.waited = max(self.waited, time.monotonic() - began)
            await asyncio.sleep(0.5)


async def measured(broker: str, directory: Path, graphs: int, turns: int) -> dict[str, Any]:
    """Write the graphs, move them all, and report."""
    kek = directory / "kek"
    kek.write_text("ab" * 32)
    tag = directory.name[-8:].lower().replace("_", "-")
    here, there = Place(broker, f"old-{tag}", FROM, directory, kek), Place(broker, f"new-{tag}", TO, directory, kek)
    async with AsyncExitStack() as running:
        await select.create(here.settings)
        await write(here, histories(graphs, turns))
        await select.create(there.settings)
        for place in (here, there):
            running.push_async_callback(place.worker.end)
            await place.worker.up(EMGAS_ENCRYPTION="off")
            await running.enter_async_context(place.memory)
            await place.memory.graphs(timeout=600.0)  # all partitions answer
        return await _moved(here, there, graphs)


async def _moved(here: Place, there: Place, graphs: int) -> dict[str, Any]:
    done = asyncio.Event()
    askers = [Asker(name(number), here, there) for number in range(min(ASKED, graphs))]
    asking = [asyncio.create_task(each.ask(done)) for each in askers]
    cpu = {"old worker": _cpu_of(here.worker.pid), "new worker": _cpu_of(there.worker.pid)}
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, output = await here.emgas(
        *("admin", "topics", "repartition", "--to", there.settings.prefix, "--partitions", str(TO), "--json")
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = {"old worker": _cpu_of(here.worker.pid) - cpu["old worker"],
           "new worker": _cpu_of(there.worker.pid) - cpu["new worker"],
           "command": after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime}  # fmt: skip
    done.set()
    await asyncio.gather(*asking)
    report: dict[str, Any] = json.loads(output) if output.startswith("{") else {"failed": output, "code": code}
    compared = [name(number) for number in range(0, graphs, max(1, graphs // COMPARED))]
    differing = [graph for graph in compared if await here.digest(graph) != await there.digest(graph)]
    arrived = set(await there.memory.graphs(timeout=600.0))
    return report | {
        "ms_per_graph": round(1000 * report.get("seconds", 0) / graphs, 2),
        "answers": dict(sum((each.answers for each in askers), Counter())),
        "waited": round(max(each.waited for each in askers), 2),
        "cpu": {who: round(seconds, 1) for who, seconds in cpu.items()},
        "compared": len(compared),
        "differing": differing,
        "missing": graphs - len(arrived),
        "left": len(await here.memory.graphs(timeout=600.0)),
    }


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def _measured_on(broker: str | None, directory: Path, graphs: int, turns: int) -> dict[str, Any]:
    async with one_broker("repartitioning", broker) as address:
        return await measured(address, directory, graphs, turns)


def main() -> int:
    """Run it; return 1 if a graph was refused, differs or is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=4, help="of each graph")
    parser.add_argument("--broker", help="host:port; by default, scripts/kafka starts one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        report = asyncio.run(_measured_on(chosen.broker, Path(directory), chosen.graphs, chosen.turns))
    print(json.dumps(report))
    return int(bool(report.get("refused", True) or report["differing"] or report["missing"]))


if __name__ == "__main__":
    sys.exit(main())
