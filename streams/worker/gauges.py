"""Gauges that a scrape reads from a worker: positions, queues, stores, the disk.

Of each partition that is owned, or followed by a reader, by its number:

    emgas_lag_turns                   end of `turns` - source - 1: turns that wait; missing while the broker is silent
    emgas_source_offset               of `turns`, the last one accounted for        emgas_watermark_offset   of `events`
    emgas_last_fold_timestamp_seconds the last append that was folded               emgas_queued_turns       read ahead
    emgas_graphs, emgas_held_turns    what is remembered                            emgas_store_bytes        on the disk
    emgas_partition_halted            1: it cannot go on
    emgas_unavailable_graphs          that cannot be read: a key is missing, or what is stored of them is damaged
    and how its graphs hang together  graph_gauges.py

Of the worker: emgas_owned_partitions, emgas_ready, emgas_answering_questions, emgas_unacknowledged_answers,
emgas_disk_free_bytes, emgas_disk_size_bytes, emgas_build_info{version,role}, and process_* of prometheus_client.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from faust.types import TP
from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from emgas import __version__
from streams.settings import WorkerSettings
from streams.worker.answering_app import AnsweringApp
from streams.worker.graph_gauges import GraphGauges

LAG_SECONDS = 2.0  # a scrape does not wait longer for a broker
Values = Mapping[int, float]  # by partition


class WorkerGauges(Collector):
    """Collects what the module's docstring lists.  `look` before a scrape: the log's ends are asked for there."""

    def __init__(self, settings: WorkerSettings, app: AnsweringApp) -> None:
        self._settings = settings
        self._app = app
        self._ends: dict[int, int] = {}
        self._graphs = GraphGauges()
        app.metrics.registry.register(self)
        ProcessCollector(registry=app.metrics.registry)

    async def look(self) -> None:
        """Ask where `turns` ends, of each owned partition; measure some of the graphs in memory."""
        partitions = self._app.ownership.queryable.items()
        self._graphs.look((number, graph) for number, each in partitions for graph in each.state.graphs_in_memory())
        topic = self._settings.topics.turns
        sources = [TP(topic, partition) for partition in self._app.ownership.queryable]
        self._ends = {}
        if sources:
            with suppress(Exception):  # a broker that does not answer must not hide what the worker itself knows
                ends = await asyncio.wait_for(self._app.consumer.highwaters(*sources), LAG_SECONDS)
                self._ends = {tp.partition: end for tp, end in ends.items()}

    def collect(self) -> Iterator[Metric]:
        for name, description, values in (*self._of_partitions(), *self._graphs.values()):
            family = GaugeMetricFamily(f"emgas_{name}", description, labels=["partition"])
            for partition, value in sorted(values.items()):
                family.add_metric([str(partition)], value)
            yield family
        for name, description, value in self._of_worker():
            yield GaugeMetricFamily(f"emgas_{name}", description, value=value)
        yield InfoMetricFamily("emgas_build", "What runs.", value={"version": __version__, "role": self._app.role})

    def _of_partitions(self) -> Iterable[tuple[str, str, Values]]:
        ownership = self._app.ownership
        positions = {partition: writer.state.position for partition, writer in ownership.queryable.items()}
        lag = {p: max(0, self._ends[p] - at.source - 1) for p, at in positions.items() if p in self._ends}
        halted = ownership.halted_partitions
        stores = {p: size_of(self._settings.store_of(p)) for p in positions}
        folds = {p: at for p, at in self._app.metrics.last_folds.items() if p in positions}
        return (
            ("lag_turns", "Turns that are in the log and not yet folded.", lag),
            ("source_offset", "The last turn accounted for.", {p: at.source for p, at in positions.items()}),
            ("watermark_offset", "The last event folded.", {p: at.watermark for p, at in positions.items()}),
            ("last_fold_timestamp_seconds", "When the last append was folded.", folds),
            ("queued_turns", "Turns read ahead.", ownership.queued),
            ("graphs", "Graphs remembered.", {p: at.graphs for p, at in positions.items()}),
            ("held_turns", "Turns remembered, each id once.", {p: at.turns for p, at in positions.items()}),
            ("store_bytes", "Size of the store on the disk.", stores),
            ("unavailable_graphs", "Graphs that cannot be read; `emgas doctor` names them.", _unavailable(self._app)),
            ("partition_halted", "1: cannot go on.", {**dict.fromkeys(positions, 0), **dict.fromkeys(halted, 1)}),
        )

    def _of_worker(self) -> Iterable[tuple[str, str, float]]:
        disk = shutil.disk_usage(self._settings.home)
        app = self._app
        return (
            ("owned_partitions", "Partitions that this worker has claimed, or follows.", len(app.ownership.queryable)),
            ("ready", "1: all that is owned is folded to its claim.", not problems(app)),
            ("answering_questions", "Questions that wait for an answer.", app.answering),
            ("unacknowledged_answers", "Answers that the log has not acknowledged.", app.unacknowledged),
            ("disk_free_bytes", "Free where the stores lie.", disk.free),
            ("disk_size_bytes", "Size of the disk where the stores lie.", disk.total),
        )


def problems(app: AnsweringApp) -> list[str]:
    """List why the worker is not ready; nothing, when every owned partition is folded to its claim.

    Errors are named by their class: their text may name a graph, and is in the worker's log.
    """
    if app.halted is not None:
        return [f"the worker has halted: {type(app.halted).__name__}"]
    halted = sorted(app.ownership.halted_partitions.items())
    problems = [f"partition {partition} has halted: {type(why).__name__}" for partition, why in halted]
    waiting = sorted(app.ownership.waiting.items())
    problems += [f"partition {partition}: turns wait for keys: {type(why).__name__}" for partition, why in waiting]
    if not app.ready.is_set():
        problems.append("partitions are being assigned, recovered or claimed")
    return problems + [f"partition {partition} was claimed by another worker" for partition in app.ownership.lost]


def _unavailable(app: AnsweringApp) -> Values:
    return {partition: len(writer.state.unavailable) for partition, writer in app.ownership.queryable.items()}


def unavailable(app: AnsweringApp) -> list[str]:
    """Report how many graphs of each partition cannot be read; the worker's log and `emgas doctor` name them."""
    counts = sorted((partition, int(count)) for partition, count in _unavailable(app).items() if count)
    return [f"partition {partition}: unavailable graphs: {count} (`emgas doctor`)" for partition, count in counts]


def size_of(folder: Path) -> int:
    """Add up the files of a store, which may come and go meanwhile."""
    size = 0
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                size += entry.stat().st_size
    return size
