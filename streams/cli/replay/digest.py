"""`emgas replay digest`: one digest per graph; two digests are equal exactly if the graphs are."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.shared import output

if TYPE_CHECKING:
    from replay.rebuild.plan import Plan
    from state.sealing.keyring import Keyring
    from streams.settings import WorkerSettings


def digest(
    offline: Annotated[bool, typer.Option("--offline", help="Compute from the log, without the live state.")] = False,
    json: output.Json = False,
) -> None:
    """Print the SHA-256 of every graph, to check whether two memories are equal."""
    settings = output.settings()
    graphs = _offline(settings) if offline else output.run(_live(settings))
    if json:
        output.print_json({"graphs": graphs})
        return
    rows = output.table("digests", "graph", "sha256")
    for graph, sha256 in graphs.items():
        rows.add_row(graph, sha256)
    output.out.print(rows)


async def _live(settings: WorkerSettings) -> dict[str, str]:
    from streams.cli.shared.live_state import live  # here: --help needs none of it
    from streams.transport.select import readable

    async with readable(settings) as topics, live(settings, topics.keys) as there:
        log, result = topics.reader(settings.topics.events), dict[str, str]()
        for partition in range(topics.partitions):
            result |= await there.digests(partition, log)
    return dict(sorted(result.items()))


def _offline(settings: WorkerSettings) -> dict[str, str]:
    from state.partition import Partition  # here: --help needs none of it
    from state.store.rocksdb import RocksStore
    from streams.recovery.parallel_rebuild import rebuild_all

    plan, keys = output.run(_planned(settings))
    with tempfile.TemporaryDirectory(prefix="emgas-digest-") as directory, output.explained():
        rebuild_all(settings, plan, Path(directory), os.cpu_count() or 1)
        result: dict[str, str] = {}
        for partition in range(len(plan.ends)):
            with closing(RocksStore(Path(directory) / str(partition), read_only=True)) as store:
                result |= Partition(store, graph_keys=keys).digests()
    return dict(sorted(result.items()))


async def _planned(settings: WorkerSettings) -> tuple[Plan, Keyring]:
    from replay.rebuild.plan import planned  # here: --help needs none of it
    from streams.transport.select import readable

    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        plan = await planned(log, settings.prefix, topics.partitions, None, at=None, offset=None)
        return plan, topics.keys
