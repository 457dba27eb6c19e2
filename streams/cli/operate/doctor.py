"""`emgas doctor`: check that everything a memory needs is there, and count what it holds."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from emgas.errors import EmgasError, NoMemoryError, QueryFailedError
from emgas.messages.operator import Inspect
from emgas.times import DAY_MS
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from streams.settings import WorkerSettings
    from streams.transport.topic_plan import TopicDescription

KEPT = ("zstd", "producer")  # how a broker may store what comes: ours is compressed by zstd
MEMORY = "memory"  # the check that fails where nothing was ever stored
LEAST_FREE = 0.1  # of the disk
COUNTED = {"graphs": "graph", "turns": "turn", "concepts": "concept", "pairs": "pair", "topics": "theme"}  # field: noun
SUMMED = (*COUNTED, "forgotten")  # fields, over all partitions


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    ok: bool
    detail: str


@dataclass
class Findings:
    """All checks, and what the memory holds."""

    transport: str
    checks: list[Check] = field(default_factory=list)
    holds: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, detail: str, *, ok: bool) -> None:
        self.checks.append(Check(name, ok, detail))

    @property
    def lacks_only_memory(self) -> bool:
        """Whether nothing is wrong but that there is no memory yet."""
        return [check.name for check in self.checks if not check.ok] == [MEMORY]

    def described(self) -> dict[str, Any]:
        counts = {name: self.holds[name] for name in SUMMED}
        ok = all(check.ok for check in self.checks)
        return {"ok": ok, "transport": self.transport, **counts, "checks": [asdict(check) for check in self.checks]}


def doctor(json: output.Json = False) -> None:
    """Diagnose an installation: check settings, disk, broker, topics and workers.

    Exits with 1 if a check fails, with 3 if there is no memory yet.
    """
    settings = output.settings()
    findings = output.run(_examine(settings))
    described = findings.described()
    if json:
        output.print_json(described)
    else:
        _show(findings, described)
    if not described["ok"]:
        raise typer.Exit(output.MISSING if findings.lacks_only_memory else output.FAILURE)


async def _examine(settings: WorkerSettings) -> Findings:
    findings = Findings("embedded" if settings.is_embedded else "kafka")
    _examine_disk(settings.home, findings)
    _examine_plugin("extractor", lambda: _extractor(settings), findings)
    _examine_plugin("embedder", lambda: _embedder(settings), findings)
    try:
        await _examine_memory(settings, findings)
    except NoMemoryError as error:
        findings.add(MEMORY, str(error), ok=False)
    except EmgasError as error:
        findings.add("transport", str(error), ok=False)
    return findings


async def _examine_memory(settings: WorkerSettings, findings: Findings) -> None:
    """Check what is stored.  Raises NoMemoryError before anything is created."""
    from streams.transport import select  # here: --help needs none of it

    if settings.is_embedded:
        select.check_there(settings)
    else:
        await _examine_topics(settings, findings)
        await _examine_roles(settings, findings)
    await examine_keys(settings, findings)
    await _examine_partitions(settings, findings)
    await _examine_log(settings, findings)


def _examine_disk(home: Path, findings: Findings) -> None:
    there = next(path for path in (home, *home.parents) if path.exists())
    detail = str(home) if there == home else f"{home}, which is created when you store something"
    findings.add("data directory", detail, ok=os.access(there, os.W_OK))
    usage = shutil.disk_usage(there)
    findings.add("disk", f"{usage.free / 2**30:.1f} GiB free", ok=usage.free > LEAST_FREE * usage.total)


def _examine_plugin(name: str, load: Callable[[], str], findings: Findings) -> None:
    """Load a plugin as a worker would; `load` returns its version."""
    try:
        findings.add(name, load(), ok=True)
    except EmgasError as error:
        findings.add(name, str(error), ok=False)


def _extractor(settings: WorkerSettings) -> str:
    from streams.plugins import extractors  # here: --help needs none of it

    return extractors.load(settings.extractor, settings.language, settings.own_words).version


def _embedder(settings: WorkerSettings) -> str:
    from processors.recall.ranking.dense import model_name  # here: --help needs none of it
    from streams.plugins import embedders

    embedder = embedders.chosen(settings.embedder, settings.data)
    return "none" if embedder is None else model_name(embedder)


async def _examine_topics(settings: WorkerSettings, findings: Findings) -> None:
    from streams.transport import select  # here: --help needs none of it
    from streams.transport.topic_plan import FOR_EVER

    described = {topic.name: topic for topic in await select.describe(settings)}
    events = described[settings.topics.events]
    kept = events.config.get("retention.ms") == str(FOR_EVER) and events.config.get("cleanup.policy") == "delete"
    findings.add("events kept permanently", ", ".join(f"{k}={v}" for k, v in sorted(events.config.items())), ok=kept)
    _examine_size(settings, described, findings)
    counts = {described[name].partitions for name in (settings.topics.turns, events.name)}
    queries = described[settings.topics.queries].partitions
    findings.add("partitions agree", str(sorted(counts)), ok=len(counts) == 1)
    readers, rest = divmod(queries, events.partitions)
    report = f"{readers} of each partition ({queries} of queries, {events.partitions} of events)"
    findings.add("readers that may answer", report, ok=rest == 0)


def _examine_size(settings: WorkerSettings, described: Mapping[str, TopicDescription], findings: Findings) -> None:
    """Check that what is written is compressed, and that old segments go into remote storage if they are to."""
    kept = {name: topic.config.get("compression.type", KEPT[0]) for name, topic in described.items()}
    plain = [
        f"{name}: compression.type is {value}, should be zstd" for name, value in kept.items() if value not in KEPT
    ]
    findings.add("topics keep what is compressed", "; ".join(plain) or "zstd", ok=not plain)
    config = described[settings.topics.events].config
    is_near = config.get("remote.storage.enable") != "true" or config.get("local.retention.ms") != str(
        settings.local_ms
    )
    if settings.tiered:
        wants = f"remote.storage.enable=true, local.retention.ms={settings.local_ms}"
        findings.add(
            "the log is tiered", f"{settings.topics.events} should have {wants}" if is_near else wants, ok=not is_near
        )


async def _examine_roles(settings: WorkerSettings, findings: Findings) -> None:
    """Check that workers fold turns, that workers answer, and that no query is answered twice."""
    from streams.transport import select  # here: --help needs none of it

    try:
        members = await select.members(settings)
    except EmgasError as error:
        findings.add("workers", f"cannot list the consumer groups: {error}", ok=True)
        return
    assert members is not None  # noqa: S101 - only the embedded log has no groups
    report = f"{members.all} that do all, {members.writer} that write, {members.reader} that read"
    if not members.folding:
        findings.add("workers", f"{report}: no worker folds turns; start `emgas worker`", ok=False)
    elif not members.answering:
        findings.add("workers", f"{report}: no worker answers queries; start `emgas worker --role reader`", ok=False)
    elif members.all and members.reader:
        do = "start the workers with --role writer, or stop the readers"
        findings.add("workers", f"{report}: each query is answered twice; {do}", ok=False)
    else:
        findings.add("workers", report, ok=True)


async def examine_keys(settings: WorkerSettings, findings: Findings) -> None:
    """Check that the keys can be read, and that Kafka keeps no plain text for longer than promised."""
    from streams.transport import select  # here: --help needs none of it
    from streams.transport.select import readable
    from streams.transport.topic_plan import FOR_EVER, differences

    if not settings.encryption:
        findings.add("encryption", "off: new graphs cannot be erased permanently", ok=True)
        return
    async with readable(settings):
        place = settings.topics.keys if settings.keys_in_topic else settings.keys_directory
        findings.add("encryption", f"on, keys in {place}: never put them into the same backup as the data", ok=True)
    if settings.is_embedded:
        return
    names, most = settings.topics, settings.erased_within_days * DAY_MS
    in_clear = (names.turns, names.queries, names.replies, names.dead_letters)
    described = await select.describe(settings)
    kept = {topic.name: int(topic.config.get("retention.ms", FOR_EVER)) for topic in described}
    late = [name for name in in_clear if not 0 <= kept[name] <= most]
    report = f"{', '.join(late)}: set retention.ms to at most {most}" if late else "every topic that holds plain text"
    findings.add(f"erased within {settings.erased_within_days} days", report, ok=not late)
    planned = {topic.name: topic for topic in select.planned(settings)}
    for topic in (topic for topic in described if topic.name == names.keys):
        others = differences(topic, planned[topic.name])
        report = "; ".join(others) or f"within {settings.keys_compacted_seconds:g} s, and what the broker needs"
        findings.add("destroyed keys are compacted", report, ok=not others)


async def _examine_partitions(settings: WorkerSettings, findings: Findings) -> None:
    """Count what every partition holds, and report halted ones with the message of their owner."""
    async with session(settings) as connected:
        count, halted = await connected.memory.partitions(), 0
        for partition in range(count):
            try:
                inspection = await connected.memory.send(Inspect(digest=False), partition=partition)
            except QueryFailedError as error:
                halted += 1
                findings.add(f"partition {partition} answers", error.message, ok=False)
                continue
            for name in SUMMED:
                findings.holds[name] += getattr(inspection, name)
            for graph, why in inspection.unavailable.items():
                findings.add(f"graph {graph} is available", why, ok=False)
        findings.add("every partition answers", f"{count - halted} of {count} partitions", ok=not halted)


async def _examine_log(settings: WorkerSettings, findings: Findings) -> None:
    """Check that the log begins at offset 0: if a store is lost too, missing records cannot be recovered."""
    from streams.transport.select import readable  # here: --help needs none of it

    async with readable(settings) as topics:
        events = topics.reader(settings.topics.events)
        starts = {partition: (await events.bounds(partition))[0] for partition in range(topics.partitions)}
    if missing := {partition: start for partition, start in starts.items() if start > 0}:
        report = ", ".join(f"partition {partition} begins at offset {start}" for partition, start in missing.items())
        do = "set retention.ms=-1, take snapshots while the stores still exist, and restore the log from a backup"
        findings.add("the log is whole", f"{report}: {do}", ok=False)
    else:
        findings.add("the log is whole", f"{topics.partitions} partitions begin at offset 0", ok=True)


def _show(findings: Findings, described: dict[str, Any]) -> None:
    rows = output.table(f"EMGAS on {findings.transport}", "check", "ok", "detail")
    for check in findings.checks:
        rows.add_row(check.name, "[green]yes[/]" if check.ok else "[bold red]NO[/]", check.detail)
    output.out.print(rows)
    if findings.lacks_only_memory:
        return
    counts = [output.counted(described[name], noun) for name, noun in COUNTED.items()]
    output.out.print(", ".join([*counts, f"{described['forgotten']} forgotten"]))
