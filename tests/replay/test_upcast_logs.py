"""A log of an older schema, through everything that reads one: what is read is brought up to date, the bytes stay."""

from __future__ import annotations

import copy
import hashlib
import io
from itertools import chain

import orjson
import pytest

from emgas.wire import Record
from replay.as_of.history import history
from replay.backup import backup
from replay.backup.lines import Header
from replay.rebuild.plan import Plan
from replay.rebuild.rebuild import rebuild, refold
from replay.verify.verify import verify_partition
from state.errors import UnreadableEventError
from state.events.events import Claim, TurnRecorded, decode, encode
from state.events.upcasting import UPCASTERS, VERSION, upcast
from state.log_position import Acceptance
from state.partition import Partition
from state.store.keys import event_prefix, manifest_key
from state.store.store import MemoryStore
from tests.support.fakes import ListReader
from tests.support.golden import VERSIONS, expected, golden, values
from tests.support.logs import LogWriter, fold
from tests.support.older import STEPS, older

NEW = golden(VERSION)
OLD = [older(records) for records in NEW]
LOG = ListReader(OLD)
GRAPHS = expected(VERSION)["graphs"]


@pytest.fixture(autouse=True)
def steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for at, step in STEPS.items():
        monkeypatch.setitem(UPCASTERS, at, step)


async def folded(number: int, store: MemoryStore | None = None) -> Partition:
    return await refold(LOG, number, OLD[number][-1].offset + 1, store or MemoryStore())


def test_an_older_event_is_read_as_if_it_had_been_written_today() -> None:
    for old, new in zip(chain.from_iterable(OLD), chain.from_iterable(NEW), strict=True):
        assert old.value != new.value
        read, written = (orjson.loads(encode(decode(each.value))) for each in (old, new))
        for plain in (read, written):
            plain.pop("claim", None), plain.pop("chain", None)  # which name the bytes before
        assert read == written


async def test_an_older_log_folds_to_the_graphs_of_the_same_log_in_this_version() -> None:
    result: dict[str, str] = {}
    for number in range(len(OLD)):
        result |= (await folded(number)).digests()
    assert result == GRAPHS


async def test_the_chain_is_a_hash_over_the_bytes_in_the_log_not_over_what_they_are_read_as() -> None:
    for number, records in enumerate(OLD):
        partition, rolled = Partition(MemoryStore()), bytes(32)
        for record in records:
            if partition.fold(record.offset, record.value).acceptance is Acceptance.ACCEPTED:
                rolled = hashlib.sha256(rolled + record.value).digest()
        assert partition.position.chain == rolled == (await folded(number)).position.chain
        assert partition.position.last == hashlib.sha256(records[-1].value).digest()[:4].hex()


async def test_a_store_keeps_the_bytes_in_the_log_and_is_opened_from_them() -> None:
    for number, records in enumerate(OLD):
        store = MemoryStore()
        digest = (await folded(number, store)).digest()
        rows = [value for _, value in store.scan(b"e", b"e")]
        assert rows
        assert set(rows) <= {record.value for record in records}
        for graph in Partition(store).graphs():
            if graph.events == len(list(store.scan(prefix := event_prefix(graph.graph_id), prefix))):
                store.write({manifest_key(graph.graph_id): None})  # all from the rows
        again = Partition(store)
        assert again.digest() == digest
        for graph in again.graphs():
            for passage in graph.passages.numbers.values():
                assert again.text_of(graph, passage).text


async def test_rebuild_and_verify_read_an_older_log() -> None:
    ends = tuple(records[-1].offset + 1 for records in OLD)
    for number in range(len(OLD)):
        partition = await folded(number)
        verified = await verify_partition(LOG, number, partition.position.watermark, partition.digest())
        assert verified.match
        rebuilt = await rebuild(LOG, number, Plan("emgas", ends), MemoryStore())
        assert rebuilt.digest == partition.digest()
        for name, digest in partition.digests().items():
            one = await rebuild(LOG, number, Plan("emgas", ends, graph=name), MemoryStore())
            assert one.graphs == {name: digest}
            result = await history(LOG, number, name, ends[number])
            assert {value for _, value in result.every} <= {record.value for record in OLD[number]}


async def test_a_graph_as_of_a_time_is_the_same_from_an_older_log() -> None:
    times = sorted(event.at for event in map(decode, values(VERSION)) if isinstance(event, TurnRecorded))
    for at in times[:: len(times) // 5]:
        for number, records in enumerate(NEW):
            plan = Plan("emgas", tuple(records[-1].offset + 1 for records in NEW), at=at)
            old, new = [await rebuild(log, number, plan, MemoryStore()) for log in (LOG, ListReader(NEW))]
            assert old.graphs == new.graphs


async def test_a_worker_of_this_version_goes_on_where_an_older_one_stopped() -> None:
    partition, log = await folded(0), LogWriter()
    graph, offset = partition.graph_ids()[0], partition.position.watermark + 1
    before = partition.digests()[graph]
    claim = encode(Claim(writer="new", partitions=len(OLD), nonce="new"))
    assert partition.fold(offset, claim).acceptance is Acceptance.ACCEPTED
    turn = orjson.loads(encode(log.turn(graph=graph, id="new")))
    value = orjson.dumps({**turn, **partition.position.link, "src": partition.position.source + 1})
    assert partition.fold(offset + 1, value).acceptance is Acceptance.ACCEPTED
    mixed = [*OLD[0], Record(offset, 0, None, claim), Record(offset + 1, 0, graph.encode(), value)]
    again = await refold(ListReader([mixed]), 0, offset + 2, MemoryStore())
    assert again.digest() == partition.digest()
    assert again.digests()[graph] != before


async def test_a_backup_holds_an_older_log_byte_for_byte() -> None:
    bounds = tuple([await LOG.bounds(number) for number in range(len(OLD))])
    file = io.BytesIO()
    await backup.write(LOG, file, Header("emgas", None, bounds, "0", 0))
    file.seek(0)
    assert [stored.record.value for stored in backup.records(file)] == [
        record.value for record in chain.from_iterable(OLD)
    ]
    assert b'"type":"io.emgas.turn-recorded.v0"' in file.getvalue()


def check_pure(value: bytes) -> None:
    """Assert that an older event is read as the same one each time, and what it was read from stays as it was."""
    plain = orjson.loads(value)
    before = copy.deepcopy(plain)
    first, second = upcast(plain), upcast(plain)
    assert plain == before
    assert first == second
    assert first is not None
    assert first["v"] == VERSION


def test_upcasting_is_pure() -> None:
    for record in chain.from_iterable(OLD):
        check_pure(record.value)
    for version in VERSIONS[:-1]:
        for value in values(version):
            check_pure(value)


def test_a_step_that_does_not_raise_the_version_is_a_bug_that_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UPCASTERS, ("Claim", 0), lambda plain: plain)
    with pytest.raises(TypeError, match="from version 0 of Claim does not raise `v`"):
        decode(OLD[0][0].value)


def test_without_its_step_an_older_event_is_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(UPCASTERS, ("TurnRecorded", 0))
    partition = Partition(MemoryStore())
    with pytest.raises(UnreadableEventError, match="do not skip it"):
        fold(((record.offset, record.value) for record in OLD[0]), partition)
    assert b'"kind":"TurnRecorded"' in OLD[0][partition.position.watermark + 1].value
