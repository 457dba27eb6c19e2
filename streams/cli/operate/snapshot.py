"""`emgas admin snapshot create|list|restore`: copies of the stores, from which workers start without a full rebuild."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emgas.messages.operator import Checkpoint
from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.messages.operator import Checkpointed
    from replay.backup.manifest import Manifest
    from replay.backup.snapshots import Snapshots
    from replay.log import LogReader
    from streams.settings import WorkerSettings

app = typer.Typer(
    no_args_is_help=True, help="Create, list and restore snapshots of the stores, for fast worker starts."
)
TIMEOUT = 600.0  # seconds: a large store is hashed and copied
To = Annotated[str | None, typer.Option("--to", help="Directory or URL to write to; overrides EMGAS_SNAPSHOTS.")]
From = Annotated[str | None, typer.Option("--from", help="Directory or URL to read from; overrides EMGAS_SNAPSHOTS.")]


@app.command()
def create(to: To = None, json: output.Json = False) -> None:
    """Write a snapshot of every partition; running workers write their own."""
    from streams.transport.select import check_there  # here: --help needs none of it

    settings = output.settings()
    if not settings.is_embedded and to is not None:
        output.fail("--to works only with the embedded log: on Kafka, set EMGAS_SNAPSHOTS of the workers", output.USAGE)
    if settings.is_embedded:
        settings = _settings(to, "--to")
        with output.explained():
            check_there(settings)
        _check_writable(settings)
    taken = output.run(_create(settings))
    rows = [
        {"partition": each.position.partition, "snapshot": each.snapshot, "watermark": each.position.watermark}
        | {"bytes": each.bytes}
        for each in taken
    ]
    _tell("snapshots written", rows, json=json)
    if settings.is_embedded and not json:
        output.tell(f"If a store in {settings.home} is lost, restore it with `emgas admin snapshot restore`.")


async def _create(settings: WorkerSettings) -> list[Checkpointed]:
    async with session(settings, TIMEOUT, begins=False) as connected:
        return [
            await connected.memory.send(Checkpoint(), partition=partition)
            for partition in range(await connected.memory.partitions())
        ]


@app.command(name="list")
def list_(from_: From = None, json: output.Json = False) -> None:
    """List snapshots, the newest first.

    Exits with 3 if there is no such directory.
    """
    with output.explained():
        kept = _kept(_settings(from_, "--from"))
        if not kept.exist:
            output.fail(f"there is no directory {kept.root}: `emgas admin snapshot create` makes it", output.MISSING)
        rows = [_row(kept, partition, name) for partition in kept.partitions() for name in kept.names(partition)]
    if rows or json:
        _tell("snapshots", rows, json=json)
    else:
        output.out.print(f"there are no snapshots in {kept.root} yet", markup=False)


def _row(kept: Snapshots, partition: int, name: str) -> dict[str, Any]:
    from replay.errors import SnapshotRefusedError  # here: --help needs none of it

    try:
        manifest = kept.manifest(partition, name)
    except SnapshotRefusedError as error:
        return {"partition": partition, "snapshot": name, "problem": str(error)}
    fields = ("watermark", "graphs", "turns", "keys", "bytes", "created_at", "emgas")
    return {"partition": partition, "snapshot": name, **{field: getattr(manifest, field) for field in fields}}


@app.command()
def restore(*, from_: From = None, yes: output.Yes = False, json: output.Json = False) -> None:
    """Restore the newest valid snapshot of each partition into the data directory of a stopped worker.

    Exits with 3 if there is no snapshot, with 1 if none is valid.
    """
    settings = _settings(from_, "--from")
    output.make_sure(f"This replaces the stores in {settings.home} with snapshots", yes=yes)
    rows = output.run(_restore(settings))
    if any(row["snapshot"] for row in rows):
        _tell("restored", rows, json=json)
        return
    go_on = "nothing was changed: a worker continues with its store, or rebuilds it from the log"
    if any(row["refused"] for row in rows):
        output.fail(f"no snapshot at {settings.snapshots} can be used; {go_on}")
    output.fail(f"there is no snapshot of {settings.prefix} at {settings.snapshots}; {go_on}", output.MISSING)


async def _restore(settings: WorkerSettings) -> list[dict[str, Any]]:
    from state.store.rocksdb import check_free  # here: --help needs none of it
    from streams.transport.select import readable

    kept = _kept(settings)
    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        for partition in range(topics.partitions):
            check_free(settings.store_of(partition))
        return [await _restore_one(settings, kept, partition, log=log) for partition in range(topics.partitions)]


async def _restore_one(settings: WorkerSettings, kept: Snapshots, partition: int, *, log: LogReader) -> dict[str, Any]:
    from replay.backup.snapshots import restore as fetch  # here: --help needs none of it

    refused: list[str] = []
    store = settings.store_of(partition)
    new = store.with_name(f"{partition}.new")
    shutil.rmtree(new, ignore_errors=True)  # of a restore that was killed
    manifest: Manifest | None = await fetch(kept, partition, log, new, refused.append)
    for why in refused:
        output.warn(why)
    if manifest is not None:
        shutil.rmtree(store, ignore_errors=True)  # if killed here, the worker rebuilds or restores at its next start
        new.rename(store)
    return {
        "partition": partition,
        "snapshot": manifest.name if manifest else None,
        "watermark": manifest.watermark if manifest else None,
        "refused": refused,
    }


def _settings(place: str | None, option: str) -> WorkerSettings:
    """Return the settings with `place`, the value of `option`; exit if neither names a place for snapshots."""
    settings = output.settings()
    settings = settings if place is None else settings.model_copy(update={"snapshots": place})
    if not settings.snapshots:
        output.fail(f"give {option}, or set EMGAS_SNAPSHOTS to a directory or URL", output.USAGE)
    return settings


def _kept(settings: WorkerSettings) -> Snapshots:
    assert settings.snapshots is not None  # noqa: S101 - checked with the settings
    return opened(settings.snapshots, settings.prefix)


def opened(root: str, prefix: str) -> Snapshots:
    """Open the snapshots at `root`; exit if it cannot hold any."""
    from replay.backup.snapshots import Snapshots  # here: --help needs none of it
    from replay.errors import NoSuchPlaceError

    try:
        kept = Snapshots(root, prefix)
    except NoSuchPlaceError as error:
        output.fail(str(error), output.USAGE)
    if not kept.outlast:
        output.fail(f"{root} is lost when this command ends: choose a directory", output.USAGE)
    return kept


def _check_writable(settings: WorkerSettings) -> None:
    from replay.errors import SnapshotsUnreachableError  # here: --help needs none of it

    try:
        _kept(settings).check_writable()
    except SnapshotsUnreachableError as error:
        output.fail(str(error), output.USAGE)


def _tell(title: str, rows: list[dict[str, Any]], *, json: bool) -> None:
    if json:
        output.print_json({title.partition(" ")[0]: rows})
        return
    is_timed = any("created_at" in row for row in rows)
    shown = output.table(title, "partition#", "snapshot", "records#", "kB#", *["made"] * is_timed, "")
    for row in rows:
        made = format_utc(row["created_at"]) if "created_at" in row else ""
        size = f"{row['bytes'] / 1000:.0f}" if "bytes" in row else ""
        report = row.get("problem") or ("" if row["snapshot"] else "none")
        records = "" if row.get("watermark") is None else str(row["watermark"] + 1)
        shown.add_row(str(row["partition"]), row["snapshot"] or "", records, size, *[made] * is_timed, report)
    output.out.print(shown)
