"""What graphs take of a log: each accepted event once, by graph, by tenant, and from a time on."""

from __future__ import annotations

import asyncio

from emgas.wire import Record
from replay.usage import Usage, by_prefix, total, usage
from tests.support.fakes import ListReader
from tests.support.logs import LogWriter

NOW = 1_800_000_000_000


def test_each_accepted_event_counts_once_and_a_record_twice_is_one() -> None:
    log = LogWriter(partitions=1)
    for number in range(3):
        log.turn(id=f"t{number}")
    records = [Record(offset, NOW + offset, b"ada", value) for offset, value in log.records]
    again = records[-1]._replace(offset=len(records))
    counts = asyncio.run(usage(ListReader([[*records, again]]), 0))
    (graph,) = counts
    accepted = [record for record in records if b'"graph"' in record.value]
    assert counts[graph].turns == 3
    assert counts[graph].events == len(accepted)
    assert counts[graph].bytes == sum(len(record.value) + 3 for record in accepted)
    later = asyncio.run(usage(ListReader([records]), 0, since=records[-1].timestamp))
    assert later[graph].turns == 1


def test_graphs_of_a_tenant_are_added_up() -> None:
    counts = {"acme/ada": Usage(1, 2, 3, 4), "acme/bob": Usage(1, 1, 1, 1), "solo": Usage(1, 5, 6, 7)}
    assert by_prefix(counts, "/") == {"acme": Usage(2, 3, 4, 5), "solo": Usage(1, 5, 6, 7)}
    assert total(counts.values()) == Usage(3, 8, 10, 12)
