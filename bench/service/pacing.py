"""Measure bytes and CPU time of a turn at 1, 10 and 300 turns a second, compressed and not, on a local broker.

    python -m bench.service.pacing --cluster default [--rates 1,10,300] [--json]

    events, turns   bytes of a turn in the broker's segments of these topics, one copy
    worker_ms       CPU time of a turn in the worker, without what it takes while nothing comes
    broker_ms       the same of the broker
    batch           turns in a batch of `events`, on average

The turns are those of `emgas demo`, in 30 graphs that take turns, each at another place of the conversation.  Each rate
and codec has topics and a worker of its own, which has had some turns before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil

ROOT: Final = Path(__file__).parents[2]
CLUSTERS: Final = ROOT / ".cache" / "kafka" / "clusters"
CONVERSATION: Final = ROOT / "streams/cli/memory/demo_data/conversation.jsonl"
RATES: Final = {1: 60, 10: 300, 300: 6000}  # turns a second: how many turns
PROGRAMS: Final = {"zstd": "streams.cli.main", "plain": "bench.service.uncompressed"}
GRAPHS: Final = 30
WARMING: Final = 300  # turns beforehand
IDLE_SECONDS: Final = 15.0  # in which idle processes are measured
PATIENCE: Final = 120.0
BATCH_HEADER: Final = 61  # bytes before the records of a batch, format 2
RECORDS_AT: Final = slice(57, 61)  # their count
LENGTH_AT: Final = slice(8, 12)  # bytes of the batch behind this field


@contextmanager
def _worker(codec: str, environment: dict[str, str]) -> Iterator[psutil.Process]:
    with subprocess.Popen([sys.executable, "-m", PROGRAMS[codec], "worker"], env=environment, cwd=ROOT) as process:
        yield psutil.Process(process.pid)
        process.terminate()


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _batches(folder: Path, topic: str) -> tuple[int, int, int]:
    """Count bytes, batches and records of a topic in the broker's segments."""
    size, batches, records = 0, 0, 0
    for file in folder.glob(f"{topic}-*/*.log"):
        content, at = file.read_bytes(), 0
        while at + BATCH_HEADER <= len(content):
            header = content[at : at + BATCH_HEADER]
            length = 12 + int.from_bytes(header[LENGTH_AT])
            size, batches, records = size + length, batches + 1, records + int.from_bytes(header[RECORDS_AT])
            at += length
    return size, batches, records


def _lines(number: int) -> Iterator[dict[str, Any]]:
    """Yield so many turns."""
    conversation = [json.loads(line) for line in CONVERSATION.read_bytes().splitlines()]
    for at in range(number):
        round_, graph = divmod(at, GRAPHS)
        line = conversation[(round_ + 2 * graph) % len(conversation)]
        yield {**line, "id": f"turn-{at}", "graph": f"graph-{graph}", "session": f"session-{round_ // 15}"}


async def _published(memory: Any, turns: list[dict[str, Any]], rate: float) -> None:
    """Publish turns at a rate, and wait until all are accepted."""
    began, sent = time.monotonic(), list[asyncio.Task[Any]]()
    for number, turn in enumerate(turns):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        sent.append(asyncio.create_task(memory.record(turn)))
    outcomes = await asyncio.gather(*sent)
    assert all(outcome.status == "accepted" for outcome in outcomes)


async def _measured(codec: str, rate: int, cluster: Path, prefix: str, worker: psutil.Process) -> dict[str, Any]:
    from emgas.client.client import MemoryClient  # only now: the codec is set
    from emgas.messages.operator import Inspect

    node = json.loads((cluster / "cluster.json").read_text())["nodes"][0]
    broker, data = psutil.Process(node["pid"]), cluster / "node-1" / "data"
    async with MemoryClient(f"kafka://127.0.0.1:{node['port']}", prefix=prefix, timeout=PATIENCE) as memory:
        for partition in range(await memory.partitions()):
            await memory.send(Inspect(), partition=partition)  # answered once the worker owns it
        turns = list(_lines(WARMING + RATES[rate]))
        await _published(memory, turns[:WARMING], 100.0)
        idle = [_used(each) for each in (worker, broker)]
        await asyncio.sleep(IDLE_SECONDS)
        idle = [(_used(each) - before) / IDLE_SECONDS for each, before in zip((worker, broker), idle, strict=True)]
        stored = {name: _batches(data, f"{prefix}.{name}") for name in ("events", "turns")}
        began, before = time.monotonic(), [_used(each) for each in (worker, broker)]
        await _published(memory, turns[WARMING:], rate)
        took, count = time.monotonic() - began, RATES[rate]
        used = zip((worker, broker), before, idle, strict=True)
        spent = [_used(each) - then - took * rest for each, then, rest in used]
        after = {name: _batches(data, f"{prefix}.{name}") for name in stored}
    size, batches, records = (now - then for now, then in zip(after["events"], stored["events"], strict=True))
    return {
        "rate": rate,
        "codec": codec,
        "events": round(size / count),
        "turns": round((after["turns"][0] - stored["turns"][0]) / count),
        "batch": round(records / batches, 1),
        "worker_ms": round(1000 * spent[0] / count, 2),
        "broker_ms": round(1000 * spent[1] / count, 2),
        "turns_per_second": round(count / took, 1),
    }


def _row(codec: str, rate: int, cluster: Path) -> dict[str, Any]:
    """Measure one rate, with topics and a worker of its own."""
    port = json.loads((cluster / "cluster.json").read_text())["nodes"][0]["port"]
    prefix = f"pace-{os.getpid()}-{codec}-{rate}"
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as home:
        ours = {"EMGAS_BROKER": f"kafka://127.0.0.1:{port}", "EMGAS_PREFIX": prefix, "EMGAS_DATA": home}
        environment = {**os.environ, **ours, "EMGAS_LOG_LEVEL": "ERROR"}
        create = [sys.executable, "-m", PROGRAMS[codec], "admin", "topics", "create", "--partitions", "4"]
        subprocess.run(create, env=environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        with _worker(codec, environment) as worker:
            return asyncio.run(_measured(codec, rate, cluster, prefix, worker))


def main() -> None:
    """Measure, and print; each codec in a process of its own, as clients compress, too."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", default="default", help="of scripts/kafka, with one broker")
    parser.add_argument("--rates", default=",".join(map(str, RATES)), help="only these, with commas between")
    parser.add_argument("--codec", choices=tuple(PROGRAMS), help="only this one")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    if chosen.codec is None:
        for codec in PROGRAMS:
            subprocess.run([sys.executable, "-m", __spec__.name, *sys.argv[1:], "--codec", codec], cwd=ROOT, check=True)
        return
    if chosen.codec == "plain":
        from bench.service.uncompressed import without_compression

        without_compression()
    for rate in map(int, chosen.rates.split(",")):
        row = _row(chosen.codec, rate, CLUSTERS / chosen.cluster)
        print(json.dumps(row) if chosen.json else "  ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
