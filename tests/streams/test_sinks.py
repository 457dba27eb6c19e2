"""Concepts and links as they change, in a database: each change once, whatever dies; SQLite and a real PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from emgas import Turn
from emgas.errors import InvalidMessageError
from replay.graph_rows import COLUMNS, KEYS, Changes, GraphRows, changes, rows_of
from replay.sinking import PartitionSink, Sink, SinkError, SinkPosition
from streams.plugins import sinks
from tests.pipeline.test_embedded import embedded
from tests.support.cli import ROOT
from tests.support.clocks import PATIENCE
from tests.support.logs import LogWriter, reader_of
from tests.support.postgres import postgres
from tests.support.weeks import talk

Table = dict[tuple[Any, ...], tuple[Any, ...]]


def a_log() -> LogWriter:
    """Write a log in which concepts come, are linked, are forgotten and taken back."""
    log = LogWriter(partitions=1)
    for number, words in enumerate(("cat vet", "vet drops", "cat drops mites", "kettle tea", "tea cat")):
        log.turn(id=f"t{number}", text=f"text {number}", concepts=words, session="main")
    log.turn(graph="ben", id="b1", text="hello", concepts="chess rook")
    return log


def rows_in(log: LogWriter) -> dict[str, Table]:
    """Fold the whole log; give the rows that a sink of it must hold."""
    state = log.folded()
    result: dict[str, Table] = {table: {} for table in KEYS}
    for name in state.graph_ids():
        rows = rows_of(state.graph(name))
        for table in KEYS:
            result[table] |= {(name, *key): values for key, values in getattr(rows, table).items()}
    return result


class SinkContract:
    """What every database must do."""

    url: str

    async def tables(self) -> dict[str, Table]:
        """Read all rows of source "emgas"."""
        raise NotImplementedError

    async def opened(self) -> Sink:
        """Open the sink for source "emgas"."""
        return await sinks.opened(self.url, "emgas")

    @pytest_asyncio.fixture
    async def sink(self) -> AsyncIterator[Sink]:
        opened = await self.opened()
        yield opened
        await opened.close()

    @pytest.mark.source("E36")
    async def test_a_sink_holds_what_the_log_folds_to(self, sink: Sink) -> None:
        log = a_log()
        await caught_up(log, sink)
        assert await self.tables() == rows_in(log)
        log.forget(concepts=["vet"], turns=["t1"])
        log.turn(id="t9", text="more", concepts="tea biscuit", session="main")
        await caught_up(log, sink)
        assert await self.tables() == rows_in(log)
        assert all(key[1] != "vet" for key in (await self.tables())["concepts"])

    @pytest.mark.source("E36")
    async def test_a_sink_that_dies_anywhere_goes_on_there_and_nothing_is_lost_or_doubled(self, sink: Sink) -> None:
        log, chance = a_log(), random.Random(7)
        done = 0
        while True:
            dying = Dying(sink, chance.randrange(3))
            try:
                done += await caught_up(log, dying, batch=1 + chance.randrange(2))
                break
            except DiedError:
                continue
        assert await self.tables() == rows_in(log)

    async def test_whoever_starts_again_writes_nothing_twice(self, sink: Sink) -> None:
        log = a_log()
        assert await caught_up(log, sink) > 0
        assert await caught_up(log, sink) == 0

    async def test_of_two_that_write_one_is_refused(self, sink: Sink) -> None:
        log = a_log()
        first, second = (PartitionSink(reader_of(log), 0, sink) for _ in range(2))
        async for _ in second.catch_up():
            pass
        log.turn(id="t7", text="late", concepts="tea")
        await caught_up(log, sink)
        log.turn(id="t8", text="later", concepts="tea")
        second._log = reader_of(log)  # noqa: SLF001 - the same log, grown
        with pytest.raises(SinkError, match="another sink"):
            async for _ in second.catch_up():
                pass
        assert first is not second
        await caught_up(log, sink)
        assert await self.tables() == rows_in(log)

    async def test_a_sink_of_another_log_is_not_written(self, sink: Sink) -> None:
        await caught_up(a_log(), sink)
        other = LogWriter(partitions=1)
        for number in range(9):
            other.turn(id=f"o{number}", text=f"other {number}", concepts="moon")
        with pytest.raises(SinkError, match="another"):
            await caught_up(other, sink)
        short = LogWriter(partitions=1)
        with pytest.raises(SinkError, match="another"):
            await caught_up(short, sink)

    async def test_a_row_that_is_refused_takes_the_whole_transaction_with_it(self, sink: Sink) -> None:
        log = a_log()
        await caught_up(log, sink)
        before, at = await self.tables(), await sink.position(0)
        assert at is not None
        wrong = [Changes("ada", "links", [("a", "b", 1), ("a", "b")], [])]  # the second lacks a column
        with pytest.raises(Exception, match=r"."):
            await sink.write(0, at, SinkPosition(at.next_offset + 1, "x"), wrong)
        assert (await self.tables(), await sink.position(0)) == (before, at)


class DiedError(Exception):
    """The process ended."""


class Dying:
    """A sink whose process dies around its n-th transaction: before it, or right after, before anybody knows."""

    def __init__(self, sink: Sink, left: int) -> None:
        self._sink, self._left = sink, left

    async def position(self, partition: int) -> SinkPosition | None:
        return await self._sink.position(partition)

    async def write(
        self, partition: int, before: SinkPosition | None, after: SinkPosition, changed: Sequence[Changes]
    ) -> None:
        self._left -= 1
        if self._left == 0:
            raise DiedError
        await self._sink.write(partition, before, after, changed)
        if self._left == -1:
            raise DiedError

    async def close(self) -> None:
        pass


async def caught_up(log: LogWriter, sink: Sink, batch: int = 3) -> int:
    return sum([rows async for rows in PartitionSink(reader_of(log), 0, sink, batch).catch_up()])


def select(table: str) -> str:
    columns = ("graph", *KEYS[table], *COLUMNS[table])
    return f"SELECT {', '.join(columns)} FROM emgas_{table} WHERE source = 'emgas'"  # noqa: S608 - names of our own


def keyed(table: str, rows: Sequence[Sequence[Any]]) -> Table:
    keys = 1 + len(KEYS[table])
    result = {tuple(row[:keys]): tuple(row[keys:]) for row in rows}
    assert len(result) == len(rows)
    return result


class TestSqlite(SinkContract):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        self.url = f"sqlite://{tmp_path}/sink.db"

    async def tables(self) -> dict[str, Table]:
        return tables_in(Path(self.url.removeprefix("sqlite://")))


def left(file: Path, word: bytes = b"kryptonite") -> int:
    """Count a word in all that SQLite keeps on disk for a database: the file, its write-ahead log, its journal."""
    return sum(each.read_bytes().count(word) for each in file.parent.glob(f"{file.name}*"))


def words(name: str, count: int = 400) -> Changes:
    """Put many concepts, of different lengths: pages split, and merge when some go."""
    chance = random.Random(3)
    kinds = COLUMNS["concepts"].values()
    filled = [tuple("" if kind is str else chance.randrange(2**40) for kind in kinds) for _ in range(count)]
    ids = [f"{name}{number}{'-long' * chance.randrange(40)}" for number in range(count)]
    return Changes("ada", "concepts", [(id, id, *row[1:]) for id, row in zip(ids, filled, strict=True)], [])


def gone(changed: Changes) -> Changes:
    return changed._replace(put=[], gone=[(row[0],) for row in changed.put])


AT = [SinkPosition(number, "chain") for number in range(9)]


async def test_no_byte_of_what_is_forgotten_is_left_in_a_file_of_sqlite(tmp_path: Path) -> None:
    file = tmp_path / "sink.db"
    sink = await sinks.opened(f"sqlite://{file}", "emgas")
    kept, secret = words("kettle"), words("kryptonite")
    mixed = [row for pair in zip(kept.put, secret.put, strict=True) for row in pair]
    await sink.write(0, None, AT[1], [kept._replace(put=mixed)])
    assert left(file)
    half = secret._replace(put=secret.put[:200]), secret._replace(put=secret.put[200:])
    await sink.write(0, AT[1], AT[2], [gone(half[0])])
    await sink.write(0, AT[2], AT[3], [gone(half[1])])
    assert left(file) == 0, "while the sink has it open"
    assert left(file, b"kettle399")
    await sink.close()


async def test_a_row_that_is_written_over_leaves_nothing_of_what_it_said(tmp_path: Path) -> None:
    file = tmp_path / "sink.db"
    sink = await sinks.opened(f"sqlite://{file}", "emgas")
    text = words("kettle", 50)
    named = [(row[0], "kryptonite", *row[2:]) for row in text.put]
    await sink.write(0, None, AT[1], [text._replace(put=named)])
    await sink.write(0, AT[1], AT[2], [text])
    assert left(file) == 0
    await sink.close()


async def test_what_an_earlier_version_left_in_the_file_goes_when_the_sink_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "sink.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA secure_delete = OFF")  # as most builds of SQLite have it; Debian's has not
        for table in sinks.tables():
            database.execute(table)
        rows = [("emgas", "ada", *row) for row in words("kryptonite").put]
        database.executemany(sinks.put("concepts", "?"), rows)
        database.commit()
        database.execute("DELETE FROM emgas_concepts")
        database.commit()
    assert left(file)
    await (await sinks.opened(f"sqlite://{file}", "emgas")).close()
    assert left(file) == 0


async def test_a_reader_that_stays_in_the_past_holds_up_no_row_and_the_bytes_go_once_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "sink.db"
    sink = await sinks.opened(f"sqlite://{file}", "emgas")
    secret = words("kryptonite")
    await sink.write(0, None, AT[1], [secret])
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM emgas_concepts").fetchone() == (400,)
        await sink.write(0, AT[1], AT[2], [gone(secret)])
        assert reader.execute("SELECT count(*) FROM emgas_concepts").fetchone() == (400,)
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM emgas_concepts").fetchone() == (0,)
    await sink.write(0, AT[2], AT[3], [])
    assert left(file) == 0
    await sink.close()


def tables_in(file: Path) -> dict[str, Table]:
    database = sqlite3.connect(file)
    try:
        return {table: keyed(table, database.execute(select(table)).fetchall()) for table in KEYS}
    finally:
        database.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with postgres() as url:
        yield url


class TestPostgres(SinkContract):
    @pytest_asyncio.fixture(autouse=True)
    async def _database(self, server: str) -> None:
        self.url = server
        await self._run("DROP TABLE IF EXISTS emgas_positions, emgas_concepts, emgas_links, emgas_themes")

    async def _run(self, command: str) -> list[Any]:
        import asyncpg

        connection = await asyncpg.connect(self.url)
        try:
            result: list[Any] = await connection.fetch(command)
            return result
        finally:
            await connection.close()

    async def tables(self) -> dict[str, Table]:
        return {table: keyed(table, [tuple(row) for row in await self._run(select(table))]) for table in KEYS}

    async def test_a_database_that_does_not_answer_is_told_and_holds_up_nothing(
        self, sink: Sink, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import asyncpg

        monkeypatch.setattr(sinks, "ANSWER_SECONDS", 0.2)
        impatient, other = await self.opened(), await asyncpg.connect(self.url)
        try:
            async with other.transaction():
                await other.execute("LOCK TABLE emgas_positions IN ACCESS EXCLUSIVE MODE")
                with pytest.raises(SinkError, match=r"did not answer within 0\.2 s"):
                    await impatient.position(0)
                with pytest.raises(SinkError, match="TimeoutError"):
                    await impatient.write(0, None, AT[1], [])
        finally:
            await impatient.close()
            await other.close()
        await sink.write(0, None, AT[1], [])
        assert await sink.position(0) == AT[1]


def test_what_changed_is_what_differs() -> None:
    one = GraphRows(links={("a", "b"): (1,), ("a", "c"): (1,)})
    two = GraphRows(links={("a", "b"): (2,), ("b", "c"): (1,)})
    (changed,) = changes("ada", one, two)
    assert (changed.table, sorted(changed.put), changed.gone) == ("links", [("a", "b", 2), ("b", "c", 1)], [("a", "c")])
    assert changes("ada", one, one) == []


async def test_a_sink_is_named_by_what_it_is() -> None:
    with pytest.raises(InvalidMessageError, match="sqlite://PATH"):
        await sinks.opened("mysql://there", "emgas")


@pytest.mark.source("E36")
async def test_a_sink_killed_again_and_again_while_turns_come_ends_with_what_the_memory_holds(tmp_path: Path) -> None:
    file = tmp_path / "sink.db"
    chance = random.Random(11)
    async with embedded(tmp_path / "data") as pipeline:
        environment = os.environ | {"EMGAS_DATA": str(tmp_path / "data"), "EMGAS_PREFIX": "test"}
        command = [sys.executable, "-m", "streams.cli.main", "sink", f"sqlite://{file}", "--batch", "3"]
        await pipeline.memory.configure("ada", "forgetful", least_turns=2)
        turns: list[Turn] = talk(["ada", "ben"], weeks=4)
        for number in range(4):
            process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.DEVNULL
            )
            start = positions(file)
            for turn in turns[number * 24 : (number + 1) * 24]:
                await pipeline.memory.record(turn)
            async with asyncio.timeout(PATIENCE):
                while positions(file) <= start + chance.randrange(6):
                    await asyncio.sleep(0.01)
                    assert process.returncode is None
            process.send_signal(signal.SIGKILL)
            await process.wait()
        done = await asyncio.to_thread(subprocess.run, [*command, "--once"], cwd=ROOT, env=environment, check=False)
        assert done.returncode == 0
        contents = {name: rows_of(pipeline.graph(name)) for name in ("ada", "ben")}
    database = sqlite3.connect(file)
    for table in KEYS:
        result = keyed(table, database.execute(select(table).replace("'emgas'", "'test'")).fetchall())
        assert result == {(name, *key): row for name in contents for key, row in getattr(contents[name], table).items()}
    database.close()


def positions(file: Path) -> int:
    """Add up how far the partitions of a sink are; 0 before it is made."""
    if not file.exists():
        return 0
    database = sqlite3.connect(file, timeout=30)
    try:
        return int(database.execute("SELECT coalesce(sum(next_offset), 0) FROM emgas_positions").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()
