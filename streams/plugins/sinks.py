"""Databases that rows of graphs go to: SQLite, and PostgreSQL (the extra `postgres`).  See replay/sinking.py.

    sqlite://PATH                     a file; made where it is not there
    postgresql://[user@]host/name     a database that is there; the password comes from PGPASSWORD or ~/.pgpass

    emgas_positions   source, partition ▸ next_offset, chain            source: the prefix of the memory's topics
    emgas_concepts    source, graph, id ▸ …      emgas_links    source, graph, a, b ▸ together
    emgas_themes      source, graph, id ▸ …      columns: replay/graph_rows.py

Rows and position are written in one transaction, which begins by moving the position on from where this sink left it:
of two that write at once, one is refused.

Forgotten content must leave the files as well.  SQLite overwrites what it deletes (secure_delete), its write-ahead log
is emptied behind each transaction, and a file is written over when it is opened: an earlier version may have left rows
in it.  PostgreSQL keeps the bytes of dead rows until VACUUM, which is its operator's (docs/operations.md).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from emgas.errors import InvalidMessageError, NotInstalledError
from replay.graph_rows import COLUMNS, KEYS, Changes
from replay.sinking import ANOTHER, Sink, SinkError, SinkPosition

BUSY_MS: Final = 30_000  # until another program must have let go of a file
ANSWER_SECONDS: Final = 60.0  # until a server must have answered
TYPES: Final = {str: "TEXT", int: "BIGINT"}
POSITIONS: Final = (
    "CREATE TABLE IF NOT EXISTS emgas_positions (source TEXT NOT NULL, partition BIGINT NOT NULL, "
    "next_offset BIGINT NOT NULL, chain TEXT NOT NULL, PRIMARY KEY (source, partition))"
)


async def opened(url: str, source: str) -> Sink:
    """Open the sink at `url`, with its tables.  Raises InvalidMessageError, NotInstalledError, SinkError."""
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return SqliteSink(Path(url.removeprefix("sqlite://")), source)
    if scheme in ("postgresql", "postgres"):
        return await PostgresSink.opened(url, source)
    raise InvalidMessageError(
        "a sink is sqlite://PATH, postgresql://[user@]host/database or kafka://host:port[/prefix]"
    )


def tables() -> list[str]:
    """Write what makes the tables, in the SQL of both."""
    made = [POSITIONS]
    for table, columns in COLUMNS.items():
        keys = ("source", "graph", *KEYS[table])
        listed = [f"{key} TEXT NOT NULL" for key in keys] + [f"{name} {TYPES[kind]}" for name, kind in columns.items()]
        made.append(f"CREATE TABLE IF NOT EXISTS emgas_{table} ({', '.join(listed)}, PRIMARY KEY ({', '.join(keys)}))")
    return made


def put(table: str, mark: str) -> str:
    """Write what puts a row.  mark: of a parameter, ? or $ with its number."""
    keys, columns = ("source", "graph", *KEYS[table]), tuple(COLUMNS[table])
    names = ", ".join((*keys, *columns))
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns)
    values = _marks(len(keys) + len(columns), mark)
    return (
        f"INSERT INTO emgas_{table} ({names}) VALUES ({values}) ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changed}"  # noqa: S608 - names of our own
    )


def remove(table: str, mark: str) -> str:
    """Write what removes a row."""
    keys = ("source", "graph", *KEYS[table])
    where = " AND ".join(
        f"{key} = {value}" for key, value in zip(keys, _marks(len(keys), mark).split(", "), strict=True)
    )
    return f"DELETE FROM emgas_{table} WHERE {where}"  # noqa: S608 - as above


def _marks(count: int, mark: str) -> str:
    return ", ".join(mark if mark == "?" else f"{mark}{number}" for number in range(1, count + 1))


class SqliteSink:
    """A file of SQLite's."""

    def __init__(self, path: Path, source: str) -> None:
        """Open the file, with its tables.  Raises SinkError."""
        self._source = source
        try:
            self._database = sqlite3.connect(path.expanduser(), isolation_level=None, timeout=BUSY_MS / 1000)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA secure_delete = ON")
            for table in tables():
                self._database.execute(table)
            self._database.execute("VACUUM")
            self._empty_the_log()
        except sqlite3.Error as error:
            raise SinkError(f"cannot use {path} as a sink: {error}") from error

    async def position(self, partition: int) -> SinkPosition | None:
        row = self._database.execute(
            "SELECT next_offset, chain FROM emgas_positions WHERE source = ? AND partition = ?",
            (self._source, partition),
        ).fetchone()
        return None if row is None else SinkPosition(*row)

    async def write(
        self, partition: int, before: SinkPosition | None, after: SinkPosition, changed: Sequence[Changes]
    ) -> None:
        database = self._database
        try:
            database.execute("BEGIN IMMEDIATE")
            try:
                if await self.position(partition) != before:
                    raise SinkError(ANOTHER)
                database.execute(
                    "INSERT INTO emgas_positions VALUES (?, ?, ?, ?) ON CONFLICT (source, partition) "
                    "DO UPDATE SET next_offset = excluded.next_offset, chain = excluded.chain",
                    (self._source, partition, *after),
                )
                for each in changed:
                    there = (self._source, each.graph)
                    database.executemany(remove(each.table, "?"), [(*there, *key) for key in each.gone])
                    database.executemany(put(each.table, "?"), [(*there, *row) for row in each.put])
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
            self._empty_the_log()
        except sqlite3.Error as error:
            raise SinkError(f"the sink refuses rows: {error}") from error

    def _empty_the_log(self) -> None:
        """Move what was written into the file; while a reader holds an older state, the next one does."""
        self._database.execute("PRAGMA busy_timeout = 0")  # rows go on: a reader may stay for hours
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._database.execute(f"PRAGMA busy_timeout = {BUSY_MS}")

    async def close(self) -> None:
        self._database.close()


class PostgresSink:
    """A database of PostgreSQL's."""

    def __init__(self, connection: Any, source: str) -> None:
        """Write by an open connection of asyncpg's."""
        self._connection = connection
        self._source = source

    @classmethod
    async def opened(cls, url: str, source: str) -> PostgresSink:
        """Connect; make the tables where they are not there.  Raises NotInstalledError, SinkError."""
        try:
            import asyncpg  # here: only who has such a sink needs it
        except ImportError as error:
            raise NotInstalledError("this sink needs asyncpg: pip install 'emgas[postgres]'") from error
        try:
            connection = await asyncpg.connect(url, timeout=30, command_timeout=ANSWER_SECONDS)
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock(7302018)")  # of two that begin at once
                for table in tables():
                    await connection.execute(table)
        except (OSError, ValueError, TimeoutError, asyncpg.PostgresError) as error:
            raise SinkError(f"cannot use this database as a sink ({type(error).__name__})") from error
        return cls(connection, source)

    async def position(self, partition: int) -> SinkPosition | None:
        try:
            return await self._position(partition, "")
        except TimeoutError as error:
            raise SinkError(
                f"the database did not answer within {ANSWER_SECONDS:g} s: is it stopped or locked?"
            ) from error

    async def _position(self, partition: int, lock: str) -> SinkPosition | None:
        select = "SELECT next_offset, chain FROM emgas_positions WHERE source = $1 AND partition = $2"
        row = await self._connection.fetchrow(f"{select}{lock}", self._source, partition)
        return None if row is None else SinkPosition(*row)

    async def write(
        self, partition: int, before: SinkPosition | None, after: SinkPosition, changed: Sequence[Changes]
    ) -> None:
        import asyncpg  # it is there: `opened` has used it

        try:
            async with self._connection.transaction():
                if await self._position(partition, " FOR UPDATE") != before:
                    raise SinkError(ANOTHER)
                # without a row there is none to lock: the second of two that begin at once fails at the key
                await self._connection.execute(
                    "INSERT INTO emgas_positions VALUES ($1, $2, $3, $4)"
                    if before is None
                    else "UPDATE emgas_positions SET next_offset = $3, chain = $4 WHERE source = $1 AND partition = $2",
                    self._source, partition, *after,
                )  # fmt: skip
                for each in changed:
                    there = (self._source, each.graph)
                    await self._connection.executemany(remove(each.table, "$"), [(*there, *key) for key in each.gone])
                    await self._connection.executemany(put(each.table, "$"), [(*there, *row) for row in each.put])
        except asyncpg.UniqueViolationError as error:
            raise SinkError(ANOTHER) from error
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise SinkError(f"the sink refuses rows ({type(error).__name__})") from error

    async def close(self) -> None:
        with suppress(TimeoutError):  # asyncpg has cut the connection then; what was to be written is committed
            await self._connection.close(timeout=ANSWER_SECONDS)
