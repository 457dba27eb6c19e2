"""What is damaged of one graph stops that graph alone: every other graph of its partition answers and accepts.

Each kind of file and row that belongs to one graph is damaged here, and each kind of record.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from emgas.errors import QueryFailedError
from emgas.messages.contents import Turns
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.turns import Erase
from replay.verify.verify import verify_partition
from state.errors import KeyStoreError, LogRewrittenError, StoreCorruptError
from state.events.events import Sealed, decode, encode
from state.store import keys
from state.store.rocksdb import RocksStore
from streams.transport.dead_letters import read_all
from streams.transport.keys.file_keys import FileKeys
from streams.worker.gauges import problems
from tests.pipeline.test_embedded import embedded
from tests.support.clocks import eventually
from tests.support.keys import OutOfReach
from tests.support.pipeline import Pipeline, a_turn, as_json
from tests.support.transports import overwrite

pytestmark = pytest.mark.asyncio
QUESTION = "the kettle"
BESIDE, ELSEWHERE = "kim", "bob"


@asynccontextmanager
async def two_graphs(directory: Path, *, encryption: bool = True, tick: float = 0.05) -> AsyncIterator[Pipeline]:
    async with embedded(directory, encryption=encryption, partitions=1, tick_seconds=tick) as pipeline:
        for number in range(3):
            for graph in ("ada", "bob"):
                await pipeline.record(graph, id=f"{graph}{number}")
        yield pipeline


async def refused(pipeline: Pipeline, graph: str = "ada") -> None:
    """See that a graph tells everybody that it is unavailable, by its name, and loses nothing."""
    with pytest.raises(QueryFailedError, match=f"graph '{graph}' is unavailable") as failure:
        await pipeline.memory.query(graph, QUESTION)
    assert failure.value.code == "unavailable"
    outcome = await pipeline.memory.record(a_turn(graph, "later"))
    assert outcome.status == "rejected"
    assert f"graph '{graph}' is unavailable" in (outcome.reason or "")
    letters = await pipeline.letters(pipeline.topics.turns, 0, outcome.position.source)
    assert [b"red kettle" in letter.value for letter in letters] == [True]
    inspection = await pipeline.memory.send(Inspect(digest=False), partition=0)
    assert list(inspection.unavailable) == [graph]


async def goes_on(pipeline: Pipeline, graph: str = "bob") -> None:
    """See that another graph of the partition answers and accepts, and that the partition did not halt."""
    before = len(pipeline.ids(graph))
    await pipeline.record(graph, id=f"more{before}")
    reply = await pipeline.memory.query(graph, QUESTION)
    assert reply.found
    assert len(pipeline.ids(graph)) == before + 1
    assert (await pipeline.memory.query(graph, QUESTION, as_of=reply.passages[0].at)).found
    assert pipeline.app.metrics.registry.get_sample_value(
        "emgas_halts_total", {"what": "partition", "error": "KeysError"}
    ) in (None, 0)
    assert not pipeline.app.ownership.halted_partitions


async def is_whole(pipeline: Pipeline, graph: str = "ada") -> None:
    """See that a graph comes back, accepts again, and is the fold of the log."""
    await eventually(lambda: not pipeline.app.ownership.writers[0].state.unavailable)
    outcome = await pipeline.record(graph, id="again")
    assert (await pipeline.memory.query(graph, QUESTION, after=outcome.position.source)).found
    assert await matches(pipeline)


async def matches(pipeline: Pipeline) -> bool:
    """Tell whether what the worker holds is the fold of its log."""
    live = await pipeline.memory.send(Inspect(), partition=0)
    verification = await verify_partition(pipeline.opening_reader(), 0, live.position.watermark, live.digest or "")
    return verification.match


def key_file(pipeline: Pipeline, graph: str) -> Path:
    return pipeline.keys._path(graph)  # type: ignore[attr-defined,no-any-return]  # noqa: SLF001 - no one else asks for the file


def flipped(value: bytes) -> bytes:
    """Return a key file in which one digit of a secret is another one."""
    at = value.index(b'"nodes"') + 20
    return value[:at] + (b"0" if value[at : at + 1] != b"0" else b"1") + value[at + 1 :]


KEY_DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda value: None,
    "empty": lambda value: b"",
    "cut off": lambda value: value[: len(value) // 2],
    "no keys": lambda value: b"[]",
    "one digit": flipped,
    "zeros": lambda value: bytes(len(value)),
}


@pytest.mark.parametrize("damage", KEY_DAMAGE.values(), ids=KEY_DAMAGE.keys())
async def test_a_key_that_is_lost_stops_its_graph_alone_until_it_is_back(
    tmp_path: Path, damage: Callable[[bytes], bytes | None]
) -> None:
    async with two_graphs(tmp_path) as pipeline:
        path = key_file(pipeline, "ada")
        whole = path.read_bytes()
        await pipeline.stop()
        damaged = damage(whole)
        path.unlink() if damaged is None else path.write_bytes(damaged)
        await pipeline.start()
        await refused(pipeline)
        await goes_on(pipeline)
        path.write_bytes(whole)
        await is_whole(pipeline)
        await goes_on(pipeline)


@pytest.mark.parametrize("way", ["absent", "empty", "unreadable"])
async def test_a_directory_of_keys_that_is_not_there_makes_the_partition_wait_and_rejects_nothing(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_graphs(tmp_path) as pipeline:
        await pipeline.stop()
        kept, aside = keys_directory(pipeline), tmp_path / "unmounted"
        if way == "unreadable":
            unreadable_directory(monkeypatch, kept)
        else:
            kept.rename(aside)
            if way == "empty":
                kept.mkdir()
        await pipeline.start()
        await eventually(lambda: pipeline.app.ownership.halted_partitions)
        halted = pipeline.app.ownership.halted_partitions[0]
        assert isinstance(halted, KeyStoreError)
        assert str(kept) in str(halted)
        assert "EMGAS_GRAPH_KEYS" in str(halted)
        graphs, topic = ("ada", "bob", "new"), pipeline.topics.turns
        for graph in graphs:
            await pipeline.produce(topic, graph.encode(), as_json(a_turn(graph, "late")), 0)
        monkeypatch.undo()
        if way == "empty":
            kept.rmdir()
        if aside.exists():
            assert not kept.exists(), "no key was born beside the volume"
            aside.rename(kept)
        writers = pipeline.app.ownership.writers
        await eventually(lambda: writers and all(pipeline.ids(graph)[-1:] == ["late"] for graph in graphs))
        assert [(await pipeline.memory.query(graph, QUESTION)).found for graph in graphs] == [True] * 3
        assert not await read_all(pipeline.transport.reader(pipeline.topics.dead_letters))
        assert not pipeline.app.ownership.writers[0].state.unavailable
        assert await matches(pipeline)


@pytest.mark.parametrize("rows_too", [False, True], ids=["a key", "a key, and rows of another graph"])
async def test_while_keys_cannot_be_read_again_only_the_graph_that_needs_one_waits(
    tmp_path: Path, *, rows_too: bool
) -> None:
    async with two_graphs(tmp_path) as pipeline:
        path = key_file(pipeline, "ada")
        whole = path.read_bytes()
        await pipeline.stop()
        path.unlink()
        await pipeline.start()
        await refused(pipeline)
        path.write_bytes(whole)
        pipeline.keys.__class__, OutOfReach.tries = OutOfReach, 0
        if rows_too:
            damage = StoreCorruptError("a page of it is damaged")
            pipeline.app.ownership.writers[0].state.set_aside("bob", damage)
            await eventually(lambda: list(pipeline.app.ownership.writers[0].state.unavailable) == ["ada"])
        await eventually(lambda: OutOfReach.tries > 2)
        await refused(pipeline)
        await goes_on(pipeline)
        pipeline.keys.__class__ = FileKeys
        await is_whole(pipeline)


async def test_no_key_is_born_while_those_of_another_partition_are_not_there(tmp_path: Path) -> None:
    """The directory that it makes would be taken for theirs, and good turns to them would be rejected."""
    async with embedded(tmp_path, encryption=True, partitions=2, tick_seconds=0.05) as pipeline:
        await pipeline.record("ada")
        beside = next(name for name in "abcdefgh" if pipeline.place(name) != pipeline.place("ada"))
        await pipeline.stop()
        kept, aside = keys_directory(pipeline), tmp_path / "unmounted"
        kept.rename(aside)
        await pipeline.start()
        await eventually(lambda: pipeline.place("ada") in pipeline.app.ownership.halted_partitions)
        for graph in (beside, "ada"):
            await pipeline.produce(
                pipeline.topics.turns, graph.encode(), as_json(a_turn(graph, "late")), pipeline.place(graph)
            )
        await eventually(lambda: isinstance(pipeline.app.ownership.waiting.get(pipeline.place(beside)), KeyStoreError))
        assert f"partition {pipeline.place(beside)}: turns wait for keys: KeyStoreError" in problems(pipeline.app)
        assert not kept.exists(), "no key was born beside the volume"
        assert (await pipeline.memory.send(Inspect(), partition=pipeline.place(beside))).graphs == 0, (
            "its partition answers meanwhile"
        )
        aside.rename(kept)
        writers = pipeline.app.ownership.writers
        await eventually(lambda: len(writers) == 2 and pipeline.ids("ada")[-1:] == pipeline.ids(beside) == ["late"])
        assert not await read_all(pipeline.transport.reader(pipeline.topics.dead_letters))


async def test_metadata_that_look_like_a_sealed_event_are_in_clear(tmp_path: Path) -> None:
    async with embedded(tmp_path, partitions=1) as pipeline:
        await pipeline.record("ada", metadata={"kind": "Sealed"})
        await pipeline.record("ada", id="behind it")
        await pipeline.record("ada", id="last", metadata={"kind": "Sealed"})
    async with embedded(tmp_path, partitions=1, encryption=True) as pipeline:
        await pipeline.record("bob")
        assert pipeline.keys.of("bob")


async def test_a_worker_that_takes_partitions_over_while_keys_cannot_be_read_halts_only_those_that_are_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with embedded(tmp_path, encryption=True, partitions=2, tick_seconds=0.05) as pipeline:
        await pipeline.record("ada")
        beside = next(name for name in "abcdefgh" if pipeline.place(name) != pipeline.place("ada"))
        await pipeline.stop()
        monkeypatch.setattr(FileKeys, "refresh", OutOfReach.refresh)
        await pipeline.start()
        await eventually(lambda: list(pipeline.app.ownership.halted_partitions) == [pipeline.place("ada")])
        await pipeline.produce(pipeline.topics.turns, b"ada", as_json(a_turn("ada", "late")), pipeline.place("ada"))
        await pipeline.record(beside)
        assert pipeline.app.halted is None
        monkeypatch.undo()
        await eventually(lambda: len(pipeline.app.ownership.writers) == 2 and pipeline.ids("ada")[-1:] == ["late"])
        assert not await read_all(pipeline.transport.reader(pipeline.topics.dead_letters))


def keys_directory(pipeline: Pipeline) -> Path:
    directory = pipeline.settings.keys_directory
    assert directory is not None
    return directory


def unreadable_directory(monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
    """Let nothing below a directory be read, as where its volume does not answer."""

    def stale(path: Any) -> None:
        if Path(path).is_relative_to(directory):
            raise OSError(errno.ESTALE, "Stale file handle")

    for module, name in ((os, "scandir"), (os, "listdir"), (Path, "read_bytes"), (Path, "is_dir")):
        monkeypatch.setattr(module, name, after(stale, getattr(module, name)))


def after(check: Callable[[Any], None], call: Callable[..., Any]) -> Callable[..., Any]:
    def checked(path: Any = ".", *more: Any, **named: Any) -> Any:
        check(path)
        return call(path, *more, **named)

    return checked


async def test_a_graph_whose_key_is_lost_for_good_is_erased_and_begins_anew(tmp_path: Path) -> None:
    async with two_graphs(tmp_path) as pipeline:
        await pipeline.stop()
        key_file(pipeline, "ada").unlink()
        await pipeline.start()
        await refused(pipeline)
        assert (await pipeline.memory.send(Erase(graph="ada", turn="ada1"))).status == "rejected", (
            "that turn cannot be found"
        )
        outcome = await pipeline.memory.send(Erase(graph="ada", whole=True))
        assert outcome.status == "accepted", outcome.reason
        await is_whole(pipeline)
        assert pipeline.ids("ada") == ["again"]
        await goes_on(pipeline)
        await pipeline.restart()
        assert pipeline.ids("ada") == ["again"]
        assert await matches(pipeline)


async def test_who_names_a_subject_cannot_erase_what_nobody_can_read(tmp_path: Path) -> None:
    async with two_graphs(tmp_path) as pipeline:
        await pipeline.stop()
        key_file(pipeline, "ada").unlink()
        await pipeline.start()
        pipeline.subject = "mallory"
        assert (await pipeline.memory.send(Erase(graph="ada", whole=True))).status == "rejected"
        pipeline.subject = None
        await refused(pipeline)


@pytest.mark.parametrize("kind", ["g", "i", "t", "e"], ids=["manifest", "index", "pages", "events"])
@pytest.mark.parametrize("way", ["unreadable", "garbage", "gone"])
async def test_rows_of_a_store_that_are_damaged_stop_their_graph_alone_and_are_mended_from_the_log(
    tmp_path: Path, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with two_graphs(tmp_path, encryption=False) as pipeline:
        for number in range(70):  # so that there are tables
            await pipeline.record("ada", id=f"t{number}")
        await pipeline.stop()
        prefix = kind.encode() + keys.count_key("ada")[1:]
        path = pipeline.settings.store_of(0)
        if way == "unreadable":
            unreadable(monkeypatch, prefix)
        else:
            rewrite(path, prefix, b"garbage" if way == "garbage" else None)
        await pipeline.start()
        await goes_on(pipeline)
        replies = await asyncio.gather(pipeline.memory.query("ada", QUESTION), return_exceptions=True)
        assert [each.code for each in replies if isinstance(each, QueryFailedError)] in ([], ["unavailable"])
        await goes_on(pipeline)
        await is_whole(pipeline)
        turns = ["ada0", "ada1", "ada2", *(f"t{number}" for number in range(70))]
        assert [each for each in pipeline.ids("ada") if each != "again"] == turns


async def test_no_good_turn_is_rejected_over_a_damaged_store(tmp_path: Path) -> None:
    """The log holds all of the graph: a turn waits until it is folded again, and for no tick."""
    async with two_graphs(tmp_path, encryption=False, tick=3600.0) as pipeline:
        await pipeline.stop()
        rewrite(pipeline.settings.store_of(0), keys.event_prefix("ada"), b"garbage")
        await pipeline.start()
        outcome = await pipeline.memory.record(a_turn("ada", "later"))
        assert (outcome.status, outcome.reason) == ("accepted", None)
        assert pipeline.ids("ada") == ["ada0", "ada1", "ada2", "later"]
        assert await matches(pipeline)


def rewrite(path: Path, prefix: bytes, value: bytes | None) -> None:
    """Write `value` over every row whose key begins so."""
    store = RocksStore(path)
    entries = [key for key, _ in store.scan(prefix, prefix)]
    assert entries
    store.write(dict.fromkeys(entries, value))
    store.close()


def unreadable(monkeypatch: pytest.MonkeyPatch, prefix: bytes) -> None:
    """Let RocksDB report damage, once, wherever a row is read whose key begins so: the log's rows replace it then."""
    get, drained, failed = RocksStore.get, RocksStore._drained, list[bytes]()  # noqa: SLF001 - what every scan reads by

    def check(key: bytes) -> None:
        if key.startswith(prefix) and not failed:
            failed.append(key)
            raise StoreCorruptError("Corruption: block checksum mismatch")

    def checked_get(self: Any, key: bytes) -> bytes | None:
        check(key)
        return get(self, key)

    def checked_scan(self: Any, prefix: bytes, start: bytes) -> list[tuple[bytes, bytes]]:
        check(start)
        return drained(self, prefix, start)

    monkeypatch.setattr(RocksStore, "get", checked_get)
    monkeypatch.setattr(RocksStore, "_drained", checked_scan)


async def test_a_record_of_turns_that_is_damaged_is_a_dead_letter_and_nobody_else_notices(tmp_path: Path) -> None:
    async with two_graphs(tmp_path) as pipeline:
        offset = await pipeline.produce(pipeline.topics.turns, b"ada", b'{"kind": "turn", \xff\x00', 0)
        await goes_on(pipeline)
        await goes_on(pipeline, "ada")
        assert await pipeline.letters(pipeline.topics.turns, 0, offset)


async def test_an_encrypted_record_that_is_damaged_in_the_log_stops_who_folds_it_again_until_the_log_is_restored(
    tmp_path: Path,
) -> None:
    """The chain of hashes breaks there, as where somebody had written another log: so it halts the partition."""
    async with embedded(tmp_path, encryption=True, partitions=2, tick_seconds=0.05) as pipeline:
        for number in range(3):
            for graph in ("ada", ELSEWHERE):
                await pipeline.record(graph, id=f"t{number}")
        await pipeline.stop()
        topic, place, home = pipeline.topics.events, pipeline.place("ada"), pipeline.settings.home
        whole = [record for record in await pipeline.records(topic, place) if record.key == b"ada"][1]
        event = decode(whole.value)
        assert isinstance(event, Sealed)
        body = event.body[:-1] + bytes([event.body[-1] ^ 1])
        overwrite(home, (topic, place), whole.offset, encode(replace(event, body=body)))
        await pipeline.start()
        for graph in ("ada", ELSEWHERE):  # what is folded stays
            await pipeline.record(graph, id="more")
            assert (await pipeline.memory.query(graph, QUESTION)).found
        await pipeline.stop()
        shutil.rmtree(pipeline.settings.store_of(place))
        await pipeline.start()
        await eventually(lambda: place in pipeline.app.ownership.halted_partitions)
        assert isinstance(pipeline.app.ownership.halted_partitions[place], LogRewrittenError)
        await pipeline.lives(but=[place])
        await pipeline.produce(pipeline.topics.turns, b"ada", as_json(a_turn("ada", "late")), place)
        overwrite(home, (topic, place), whole.offset, whole.value)
        await eventually(lambda: place in pipeline.app.ownership.writers and pipeline.ids("ada")[-1:] == ["late"])
        assert pipeline.ids("ada") == ["t0", "t1", "t2", "more", "late"]
        assert not await read_all(pipeline.transport.reader(pipeline.topics.dead_letters))


async def test_an_encrypted_record_that_is_damaged_in_a_store_stops_its_graph_alone(tmp_path: Path) -> None:
    async with two_graphs(tmp_path) as pipeline:
        head = await pipeline.memory.send(Inspect(digest=False), partition=0)
        await pipeline.stop()
        records = await pipeline.records(pipeline.topics.events, 0)
        mine = [record for record in records if isinstance(decode(record.value), Sealed) and record.key == b"ada"]
        state = pipeline.settings.store_of(0)
        event = decode(mine[-1].value)
        assert isinstance(event, Sealed)
        rewrite_last(state, encode(event).replace(b'"body":"', b'"body":"AAAA'))
        await pipeline.start()
        await refused(pipeline)
        await goes_on(pipeline)
        assert (
            await pipeline.memory.send(Inspect(digest=False), partition=0)
        ).position.watermark > head.position.watermark


def rewrite_last(path: Path, value: bytes) -> None:
    """Write `value` over the last event of "ada": as a fold keeps what lay damaged in the log."""
    store = RocksStore(path)
    prefix = keys.event_prefix("ada")
    *_, (last, _) = store.scan(prefix, prefix)
    store.write({last: value})
    store.close()


@asynccontextmanager
async def two_partitions(directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    """Give a pipeline of two partitions: "ada" has tables, "kim" lies beside it, "bob" in the other one."""
    async with embedded(directory, partitions=2, tick_seconds=0.05, **changes) as pipeline:
        assert pipeline.place("ada") == pipeline.place(BESIDE) != pipeline.place(ELSEWHERE)
        for graph in (BESIDE, ELSEWHERE):
            await pipeline.record(graph, id="t0")
        for number in range(70):  # their words differ, so that blocks of RocksDB are filled
            words = " ".join(sha256(f"{number} {word}".encode()).hexdigest() for word in range(12))
            await pipeline.record("ada", id=f"t{number}", text=f"The kettle {words}")
        yield pipeline


async def test_a_damaged_snapshot_is_passed_over_for_an_older_one_or_the_log_and_other_partitions_are_restored(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with two_partitions(tmp_path / "data", encryption=True, snapshots=str(tmp_path / "kept")) as pipeline:
        mine, other = pipeline.place("ada"), pipeline.place(ELSEWHERE)
        older, good = [
            (await pipeline.memory.send(Checkpoint(), partition=partition)).snapshot for partition in (mine, other)
        ]
        await pipeline.record("ada", id="between")
        newest = (await pipeline.memory.send(Checkpoint(), partition=mine)).snapshot
        digests = pipeline.digests()
        for damaged, restored in ((newest, older), (older, None)):
            await pipeline.stop()
            flip(next((tmp_path / "kept" / pipeline.settings.prefix / str(mine) / damaged).glob("*.sst")))
            for partition in range(2):
                shutil.rmtree(pipeline.settings.store_of(partition))
            caplog.clear()
            caplog.set_level(logging.INFO, "emgas")
            await pipeline.start()
            assert pipeline.digests() == digests
            messages = [record.getMessage() for record in caplog.records]
            assert any(damaged in line for line in messages if "snapshot refused" in line)
            named = [name for name in (newest, older, good) for line in messages if "restored" in line and name in line]
            assert named == ([restored, good] if restored else [good])
            for graph in ("ada", BESIDE, ELSEWHERE):
                assert (await pipeline.memory.query(graph, QUESTION)).found


def flip(path: Path) -> None:
    """Flip a bit of a file in every block but the first and the last ones."""
    value = bytearray(path.read_bytes())
    for at in range(len(value) // 3, len(value) * 3 // 4, 1024):
        value[at] ^= 1
    path.write_bytes(value)


@pytest.mark.parametrize("kind", ["t", "e"], ids=["pages", "events"])
async def test_flipped_bytes_in_a_file_of_rocksdb_concern_their_graph_alone_and_are_mended_from_the_log(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with two_partitions(tmp_path) as pipeline:
        place, digests = pipeline.place("ada"), pipeline.digests()
        await pipeline.stop()
        for path in apart(pipeline.settings.store_of(place), kind.encode() + keys.count_key("ada")[1:]):
            flip(path)
        await pipeline.start()
        writers = pipeline.app.ownership.writers
        before = writers[place]
        reading = [pipeline.memory.turns(graph, limit=70) for graph in ("ada", BESIDE, ELSEWHERE)]
        ada, *others = await asyncio.gather(*reading, return_exceptions=True)
        assert isinstance(ada, QueryFailedError)
        assert ada.code == "unavailable"
        assert [isinstance(each, Turns) and each.total for each in others] == [1, 1]
        assert "Corruption: block checksum mismatch" in caplog.text
        await eventually(lambda: not writers[place].state.unavailable)
        assert writers[place] is before, "the partition did not halt"
        assert (await pipeline.memory.turns("ada")).total == 70
        assert pipeline.digests() == digests
        assert all(each.match for each in await pipeline.verified())
        await pipeline.restart()
        assert pipeline.digests() == digests, "the damage is not met again"


def apart(path: Path, prefix: bytes) -> list[Path]:
    """Bring the rows that begin so into a file of their own, as a flush may; return it."""
    store = RocksStore(path)
    rows = dict(store.scan(prefix, prefix))
    assert rows
    store.close()
    before = set(path.glob("*.sst"))
    store = RocksStore(path)
    store.write(rows)
    store.close()  # flushes: these rows and no others
    files = sorted(set(path.glob("*.sst")) - before)
    assert files
    return files
