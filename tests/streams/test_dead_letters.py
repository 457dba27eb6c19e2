"""Dead letters are read back with where they came from and why, oldest first."""

from __future__ import annotations

from emgas.wire import Record
from streams.transport.dead_letters import DeadLetter, read_all
from streams.transport.sender import error_headers
from tests.support.fakes import ListReader


async def test_letters_of_all_partitions_are_read_oldest_first() -> None:
    rejected = error_headers("emgas.turns", 1, 42, "is no JSON: größer")
    refused = error_headers("emgas.turns", -1, -1, "line 3: is too long")
    log = ListReader(
        [
            [Record(7, 300, b"ada", b"{", (("own", b"1"), *rejected)), Record(8, 400, None, b"", ())],
            [],
            [Record(0, 100, None, b"\xff", refused)],
        ]
    )
    assert await read_all(log) == [
        DeadLetter("2:0", "emgas.turns", "line 3: is too long", 100, None, b"\xff"),
        DeadLetter("0:7", "emgas.turns/1@42", "is no JSON: größer", 300, b"ada", b"{"),
        DeadLetter("0:8", "?", "", 400, None, b""),
    ]


async def test_where_nothing_was_refused_there_is_nothing_to_read() -> None:
    assert await read_all(ListReader([[], []])) == []
