"""Faults of disks: stores that are damaged or gone, and disks that are full."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from bench.torture.kinds import kind
from bench.torture.processes import WorkerProcess
from bench.torture.scene import Scene

DISK = "48m"


@kind("store damaged")
async def store_damaged(scene: Scene) -> AsyncIterator[None]:
    """Kill a worker, and change tables, the MANIFEST, CURRENT or the write-ahead log of its stores."""
    worker = scene.a_worker()
    await worker.down()
    what = scene.random.choice(["*.sst", "MANIFEST-*", "CURRENT", "*.log"])
    for file in worker.home.glob(f"kafka/torture/partitions/[0-9]/{what}"):
        _damage(file, scene)
    await worker.up()
    yield


def _damage(file: Path, scene: Scene) -> None:
    """Cut a file, or change some of its bytes."""
    content = bytearray(file.read_bytes())
    if not content or scene.random.random() < 0.3:
        file.write_bytes(content[: len(content) // 2])
        return
    for _ in range(8):
        content[scene.random.randrange(len(content))] ^= 0xFF
    file.write_bytes(content)


@kind("stores lost")
async def stores_lost(scene: Scene) -> AsyncIterator[None]:
    """Replace the disk of a worker by an empty one; damage the snapshots at random."""
    worker = scene.a_worker()
    await worker.down()
    shutil.rmtree(worker.home / "kafka", ignore_errors=True)
    if scene.random.random() < 0.5:
        for file in scene.directory.glob("snapshots/torture/*/*/*.sst"):
            _damage(file, scene)
    await worker.up()
    yield


@kind("files may not grow")
async def files_may_not_grow(scene: Scene) -> AsyncIterator[None]:
    """Fail the writes of a worker, as a quota does, until it is started again."""
    worker = scene.a_worker()
    worker.limit_files(4096)
    yield
    await worker.down()
    await worker.up()
    yield


@kind("disk full")
async def disk_full(scene: Scene) -> AsyncIterator[None]:
    """Leave no room on a worker's disk, for its next lives either; make room later."""
    worker = scene.a_worker()
    await worker.down()
    async with asyncio.timeout(60):
        await _on_a_disk_of_its_own(worker)
    try:
        await worker.up()
        yield
        balloon = worker.home / "balloon"
        with suppress(OSError), balloon.open("wb") as file:  # the worker itself may have filled it
            while True:
                file.write(bytes(65536))
                file.flush()
        yield
        balloon.unlink(missing_ok=True)
        yield
    finally:  # also if no worker recovers: the disk would stay full, and mounted
        await worker.down()
        await _run("umount", str(worker.home))
        await worker.up()
    yield


def may_mount() -> bool:
    """Return whether this process can mount a file system for `disk full`."""
    return os.geteuid() == 0 and shutil.which("mount") is not None


async def _on_a_disk_of_its_own(worker: WorkerProcess) -> None:
    """Mount a small disk over the data directory of a worker: what lies beneath comes back with `umount`."""
    worker.home.mkdir(exist_ok=True)
    await _run("mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(worker.home))


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0, command
