"""Snapshots: written whole or not at all, checked before they are taken, the older one instead of a damaged one."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pytest
from fsspec.core import url_to_fs

from emgas.times import DAY_MS as DAY
from replay.backup.compressed import decompressed, is_compressed
from replay.backup.manifest import Manifest, described
from replay.backup.snapshots import Snapshots, graph_of, restore
from replay.errors import SnapshotRefusedError, SnapshotsUnreachableError
from replay.rebuild.rebuild import refold
from state.graph.graph import Graph
from state.lsm.tree import Tree
from state.partition import Partition
from state.store.rocksdb import RocksStore
from tests.support.fakes import ListReader
from tests.support.logs import LogWriter, fold, long_log, reader_of

NOW = 1_700_000_000_000


@dataclass
class World:
    """A log that grows, a store that follows it, and a place for snapshots."""

    path: Path
    kept: Snapshots
    log: LogWriter = field(default_factory=lambda: LogWriter(partitions=1))
    now: int = NOW
    refused: list[str] = field(default_factory=list)

    @property
    def reader(self) -> ListReader:
        return reader_of(self.log)

    def grow(self, turns: int = 200) -> None:
        for number in range(turns):
            self.log.turn(graph=("ada", "bob")[number % 2], concepts="coffee tea" if number % 3 else "milk")

    async def take(self) -> Manifest:
        """Let the store follow the log, and take a snapshot of it."""
        store = RocksStore(self.path / "live")
        await refold(self.reader, 0, self.log.next_offset, store)
        self.now += 60_000
        checkpoint = self.path / "checkpoint"
        store.checkpoint(checkpoint)
        store.close()
        manifest = await described(self.reader, 0, "emgas", checkpoint, self.now)
        self.kept.write(manifest, checkpoint)
        shutil.rmtree(checkpoint)
        return manifest

    async def restored(self) -> str | None:
        """Restore into a new directory; return the digest once the rest of the log is folded, None for no snapshot."""
        into = self.path / f"restored-{uuid4().hex}"
        manifest = await restore(self.kept, 0, self.reader, into, self.refused.append)
        if manifest is None:
            assert not into.exists()
            return None
        store = RocksStore(into)
        state = await refold(self.reader, 0, self.log.next_offset, store)
        digest = state.digest()
        store.close()
        return digest

    def damage(self, name: str, file: str, change: Callable[[bytes], bytes]) -> None:
        """Change a file of a snapshot, whatever file system it is on."""
        files, path = self.file(name, file)
        files.pipe_file(path, change(files.cat_file(path)))

    def lose(self, name: str, file: str) -> None:
        """Remove a file of a snapshot."""
        files, path = self.file(name, file)
        files.rm_file(path)

    def file(self, name: str, file: str) -> tuple[Any, str]:
        """Find a file of a snapshot as the layout has it: the file system that it is on, and its path."""
        files, root = url_to_fs(self.kept.root)
        return files, f"{root}/{self.kept.prefix}/0/{name}/{file}"


@pytest.fixture(params=["directory", "memory"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    root = str(tmp_path / "snapshots") if request.param == "directory" else f"memory://{uuid4().hex}"
    world = World(tmp_path, Snapshots(root, "emgas"))
    world.grow()
    yield world
    if request.param == "memory":
        fsspec.filesystem("memory").store.clear()


def flip(content: bytes) -> bytes:
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 1
    return bytes(damaged)


async def test_a_snapshot_and_the_rest_of_the_log_give_the_digest_of_the_whole(world: World) -> None:
    await world.take()
    world.grow()
    assert await world.restored() == world.log.folded().digest()
    assert world.refused == []


async def test_a_manifest_tells_what_the_snapshot_is(world: World) -> None:
    taken = await world.take()
    head = world.log.folded().position
    assert world.kept.manifest(0, taken.name) == taken
    assert world.kept.partitions() == [0]
    assert world.kept.names(0) == [taken.name]
    assert (taken.watermark, taken.chain, taken.seq) == (head.watermark, head.chain.hex(), head.seq)
    assert (taken.graphs, taken.turns, taken.partitions) == (2, 200, 1)
    assert taken.name == "0000000000000200-20231114T221420000Z"


async def test_the_newest_snapshot_is_taken(world: World) -> None:
    await world.take()
    world.grow()
    newest = await world.take()
    manifest = await restore(world.kept, 0, world.reader, world.path / "into", world.refused.append)
    assert manifest == newest


@pytest.mark.parametrize("suffix", [".sst", "manifest.json", "CURRENT", "MANIFEST", "OPTIONS"])
async def test_a_flipped_byte_is_refused_by_name_and_the_older_snapshot_used(world: World, suffix: str) -> None:
    older = await world.take()
    world.grow()
    newest = await world.take()
    file = next(name for name in (*newest.files, "manifest.json") if suffix in name)
    world.damage(newest.name, file, flip)
    assert await world.restored() == world.log.folded().digest()
    (reason,) = world.refused
    assert f"snapshot {newest.name} of partition 0" in reason
    assert file in reason or "manifest" in file
    assert older.name in world.kept.names(0)


async def test_a_missing_file_is_named(world: World) -> None:
    taken = await world.take()
    file = next(name for name in taken.files if name.endswith(".sst"))
    world.lose(taken.name, file)
    assert await world.restored() is None
    assert f"its file {file} is missing" in world.refused[0]


async def test_a_snapshot_without_a_manifest_is_none(world: World) -> None:
    taken = await world.take()
    world.lose(taken.name, "manifest.json")
    assert world.kept.names(0) == []
    assert await world.restored() is None
    assert world.refused == []


async def test_a_snapshot_of_another_log_is_refused(world: World) -> None:
    taken = await world.take()
    world.log = LogWriter(partitions=1)
    for number in range(300):
        world.log.turn(id=f"other{number}", concepts="tea")
    assert await world.restored() is None
    assert world.refused == [f"snapshot {taken.name} of partition 0: it is of another log, which holds other records"]


async def test_a_snapshot_that_the_log_has_not_reached_is_refused(world: World) -> None:
    await world.take()
    world.log.records = world.log.records[:100]
    world.log.next_offset = 100
    assert await world.restored() is None
    assert "another log" in world.refused[0]


async def test_a_snapshot_that_names_files_elsewhere_is_refused(world: World) -> None:
    taken = await world.take()
    world.damage(taken.name, "manifest.json", lambda content: content.replace(b'"CURRENT"', b'"../../CURRENT"'))
    assert await world.restored() is None
    assert "names files elsewhere" in world.refused[0]


async def test_a_snapshot_of_another_format_tells_which_version_reads_it(world: World) -> None:
    taken = await world.take()
    world.damage(taken.name, "manifest.json", lambda content: content.replace(b'"format": 2', b'"format": 9'))
    with pytest.raises(SnapshotRefusedError, match=rf"written by EMGAS {taken.emgas}, in another format"):
        world.kept.manifest(0, taken.name)


async def test_the_files_of_a_snapshot_are_compressed_and_those_of_an_older_version_are_read_as_they_are(
    world: World,
) -> None:
    taken = await world.take()
    for name in taken.files:
        files, path = world.file(taken.name, name)
        stored = files.cat_file(path)
        assert is_compressed(stored) or taken.files[name].bytes == len(stored) == 0
        world.damage(taken.name, name, lambda content: decompressed(io.BytesIO(content)).read())
    world.damage(taken.name, "manifest.json", lambda content: content.replace(b'"format": 2', b'"format": 1'))
    assert await world.restored() == world.log.folded().digest()
    assert world.refused == []


async def test_a_file_of_a_snapshot_that_is_cut_off_is_named_with_its_frame(world: World) -> None:
    taken = await world.take()
    file = next(name for name in taken.files if name.endswith(".sst"))
    world.damage(taken.name, file, lambda content: content[:-1])
    assert await world.restored() is None
    assert f"its file {file} is damaged behind 0 of " in world.refused[0]


async def test_a_snapshot_whose_graphs_this_version_cannot_read_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("state.partition.REBUILT_STORED_AFTER", 1)
    world.log.configure(graph="ada", undo_events=0)
    await world.take()
    world.grow(1000)
    taken = await world.take()  # only its packed graph still has what nobody can take back
    world.kept.retain(0, 1, world.now)

    def newer(tree: Tree, at_most: float, **more: object) -> Graph:
        raise ValueError("graph layout 99")

    monkeypatch.setattr(Tree, "graph", newer)
    assert await world.restored() is None
    assert f"snapshot {taken.name} of partition 0: the tables of graph ada are damaged, or another" in world.refused[0]


async def test_only_the_newest_are_kept(world: World) -> None:
    taken = []
    for _ in range(4):
        world.grow(10)
        taken.append((await world.take()).name)
    assert world.kept.retain(0, 3, world.now) == taken[:1]
    assert world.kept.names(0) == taken[:0:-1]
    assert world.kept.retain(0, 3, world.now) == []


async def test_one_that_was_never_finished_is_removed_after_a_day(world: World) -> None:
    taken = await world.take()
    world.lose(taken.name, "manifest.json")
    assert world.kept.retain(0, 3, world.now + DAY // 2) == []
    assert world.kept.retain(0, 3, world.now + 2 * DAY) == [taken.name]
    assert world.kept.retain(0, 3, world.now + 2 * DAY) == []


async def test_one_graph_is_loaded_from_a_snapshot_and_the_rest_of_the_log(world: World) -> None:
    taken = await world.take()
    world.grow()
    end = world.log.next_offset
    result, start = await graph_of(world.kept, 0, world.reader, "ada", end=end, refused=world.refused.append)
    assert result is not None
    assert result.digest() == world.log.folded().digests()["ada"]
    assert start == taken.watermark + 1
    assert (await graph_of(world.kept, 0, world.reader, "cyd", end=end, refused=world.refused.append)).graph is None


async def test_one_graph_at_an_offset_before_the_snapshot_comes_from_the_log(world: World) -> None:
    await world.take()
    result, start = await graph_of(world.kept, 0, world.reader, "ada", end=100, refused=world.refused.append)
    assert result is not None
    assert start == 0
    assert result.digest() == fold(world.log.records[:100]).digests()["ada"]
    assert "reaches beyond offset 100" in world.refused[0]


async def test_a_fetch_that_was_killed_leaves_nothing_in_its_place(world: World) -> None:
    taken = await world.take()
    (world.path / "into.restoring").mkdir()
    (world.path / "into.restoring" / "000009.sst").write_bytes(b"half")
    world.kept.fetch(taken, world.path / "into")
    assert sorted(path.name for path in (world.path / "into").iterdir()) == sorted(taken.files)
    assert not (world.path / "into.restoring").exists()


async def test_an_empty_store_is_nothing_to_snapshot(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "store")
    Partition(store)
    store.checkpoint(tmp_path / "checkpoint")
    store.close()
    with pytest.raises(SnapshotRefusedError, match="nothing to snapshot"):
        await described(reader_of(long_log(1)), 0, "emgas", tmp_path / "checkpoint", NOW)


def test_a_place_that_nothing_here_knows_is_told() -> None:
    with pytest.raises(SnapshotsUnreachableError, match="nothing://there is no directory and no URL"):
        Snapshots("nothing://there", "emgas")


async def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("where a directory should be")
    world = World(tmp_path, Snapshots(str(tmp_path / "file"), "emgas"))
    world.grow()
    with pytest.raises(SnapshotsUnreachableError, match="cannot use the snapshots at"):
        await world.take()
