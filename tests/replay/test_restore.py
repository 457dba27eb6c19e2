"""Restoring: byte for byte, as often as one likes, from wherever it was cut off; and what is refused."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from contextlib import suppress

import pytest

from emgas.importers.registry import BadLine
from emgas.messages.turns import Turn
from emgas.wire import Record
from replay.backup.backup import write
from replay.backup.lines import Header
from replay.backup.restore import Restored, restore, turns
from replay.backup.unfinished import missing, unmarked
from replay.errors import BackupDamagedError, NotRestorableError
from replay.verify.verify import Audit, verify_partition
from state.errors import LogRewrittenError
from state.events.events import Claim, TurnRecorded, decode, encode
from state.events.upcasting import VERSION
from state.log_position import Acceptance
from state.partition import Partition
from state.store.store import MemoryStore
from tests.support.builders import turn_recorded
from tests.support.fakes import ListReader
from tests.support.logs import LogWriter

NOW = 1_800_000_000_000


class Topic(ListReader):
    """The topic `events` of a memory without a worker; `lives`: how many appends it takes before it dies.

    `turns` is where the memory's own topic `turns` ends, in each partition.
    """

    def __init__(self, *partitions: list[Record], lives: int = 10**9, turns: int = 0) -> None:
        super().__init__([list(partition) for partition in partitions])
        self.lives = lives
        self.turns = turns
        self.shift = 0

    async def append(self, partition: int, records: Sequence[Record]) -> list[int]:
        if self.lives <= 0:
            raise ConnectionError
        self.lives -= 1
        existing = self.records[partition]
        start = len(existing) + self.shift
        existing += [record._replace(offset=start + at) for at, record in enumerate(records)]
        return [start + at for at in range(len(records))]

    async def sources(self, partition: int) -> int:
        return self.turns


def logged(log: LogWriter) -> list[Record]:
    return [
        Record(offset, NOW + offset, b"ada" if b'"graph"' in value else None, value) for offset, value in log.records
    ]


def small(partitions: int = 2) -> LogWriter:
    log = LogWriter(partitions=partitions)
    for number in range(3):
        log.turn(id=f"s{number}")
    return log


def other() -> LogWriter:
    log = LogWriter(partitions=2)
    for number in range(1203):  # more than two batches
        log.turn(id=f"o{number}", concepts="tea milk")
    return log


@pytest.fixture(scope="module")
def source() -> Topic:
    return Topic(logged(small()), logged(other()))


async def backup(log: ListReader, graph: str | None = None) -> bytes:
    bounds = tuple([await log.bounds(partition) for partition in range(await log.partitions())])
    file = io.BytesIO()
    await write(log, file, Header("emgas", graph, bounds, "0.1.0", NOW))
    return file.getvalue()


async def restored(raw: bytes, into: Topic) -> Restored:
    numbers = itertools.count()
    return await restore(io.BytesIO(raw), into, NOW, lambda: f"nonce-{next(numbers)}")


def without_marks(records: list[Record]) -> list[Record]:
    return [record._replace(headers=unmarked(record.headers)) for record in records]


def folded(records: list[Record]) -> Partition:
    state = Partition(MemoryStore())
    for record in records:
        assert state.fold(record.offset, record.value).acceptance is Acceptance.ACCEPTED
    return state


async def test_a_log_is_restored_byte_for_byte_and_its_sources_start_anew(source: Topic) -> None:
    target = Topic([], [])
    size = sum(map(len, source.records))
    assert await restored(await backup(source), target) == Restored(size, 0)
    for before, after in zip(source.records, target.records, strict=True):
        assert without_marks(after[:-1]) == before
        claim = decode(after[-1].value)
        assert isinstance(claim, Claim)
        assert claim.anew
        was, existing = folded(before), folded(after)
        assert was.digest() == folded(after[:-1]).digest()
        assert was.digests() == existing.digests()
        assert (was.position.source, existing.position.source) == (before[-1].offset - 1, -1)


@pytest.mark.parametrize("lives", range(1, 6))
async def test_a_restore_that_died_can_be_told_by_the_last_record_of_each_partition(source: Topic, lives: int) -> None:
    """Of two appends each partition has one record; of the six in all, the last two are claims."""
    target, raw = Topic([], [], lives=lives), await backup(source)
    with suppress(ConnectionError):
        await restored(raw, target)
    sizes = [len(partition) for partition in source.records]
    existing = [len(partition) for partition in target.records]
    assert existing[0] > 0
    lacking = [missing(partition[-1]) for partition in target.records if partition]
    assert lacking == [size - present for size, present in zip(sizes, existing, strict=True) if present]
    target.lives = 10**9
    await restored(raw, target)
    assert [without_marks(partition[:-1]) for partition in target.records] == source.records
    assert [missing(partition[-1]) for partition in target.records] == [0, 0]


async def test_a_backup_of_what_was_restored_is_the_backup_that_it_was_restored_from(source: Topic) -> None:
    target, raw = Topic([], []), await backup(source)
    await restored(raw, target)
    for partition in target.records:
        del partition[-1]  # the claim
    assert await backup(target) == raw


async def test_a_restore_again_changes_nothing(source: Topic) -> None:
    target, raw = Topic([], []), await backup(source)
    await restored(raw, target)
    before = [list(partition) for partition in target.records]
    assert await restored(raw, target) == Restored(0, sum(map(len, source.records)))
    assert target.records == before


async def test_a_restore_that_dies_anywhere_is_completed_by_the_next(source: Topic) -> None:
    raw, whole = await backup(source), Topic([], [])
    await restored(raw, whole)
    for lives in range(7):
        target = Topic([], [], lives=lives)
        with suppress(ConnectionError):
            await restored(raw, target)
        target.lives = 100
        await restored(raw, target)
        for existing, expected in zip(target.records, whole.records, strict=True):
            assert [r.value for r in existing[:-1]] == [r.value for r in expected[:-1]]
            claims = [event for r in existing if isinstance(event := decode(r.value), Claim) and event.anew]
            assert len(claims) == 1


async def test_a_turn_delivered_to_the_new_topic_is_accepted_and_verified_though_its_offset_was_there(
    source: Topic,
) -> None:
    target = Topic([], [])
    await restored(await backup(source), target)
    state = folded(target.records[0])
    event = turn_recorded(id="new", src=0, **state.position.link)
    offset = len(target.records[0])
    assert state.fold(offset, encode(event)).acceptance is Acceptance.ACCEPTED
    assert state.position.source == 0
    target.records[0].append(Record(offset, NOW, b"ada", encode(event)))
    verified = await verify_partition(target, 0, offset, state.digest())
    assert verified.match
    assert verified.audit.sources == [0, 1, 2, -1, 0]


def test_sources_that_go_back_without_a_claim_that_says_so_are_found() -> None:
    assert Audit(sources=[0, 1, -1, 0]).each_once
    assert not Audit(sources=[0, 1, 0]).each_once


async def test_an_old_log_that_goes_on_behind_its_backup_is_left_alone(source: Topic) -> None:
    raw = await backup(source)
    grown = Topic(*source.records)
    for number, log in enumerate((small(), other())):
        log.claim("its worker, started again")
        grown.records[number] = logged(log)
    before = [list(partition) for partition in grown.records]
    assert (await restored(raw, grown)).appended == 0
    assert grown.records == before


async def test_the_memory_that_was_backed_up_is_left_alone(source: Topic) -> None:
    itself = Topic(*source.records, turns=max(map(len, source.records)))
    size = sum(map(len, source.records))
    assert await restored(await backup(source), itself) == Restored(0, size)
    assert itself.records == source.records, "claimed anew, it would read its own turns again"


async def refused(raw: bytes, target: Topic, why: str, error: type[Exception] = NotRestorableError) -> None:
    before = [list(partition) for partition in target.records]
    with pytest.raises(error, match=why):
        await restored(raw, target)
    assert target.records == before, "nothing was appended"


async def test_a_damaged_backup_is_refused_before_anything_is_appended(source: Topic) -> None:
    raw = await backup(source)
    last = raw.rindex(b'"id":"o1202"')
    await refused(
        raw[:last] + b'"id":"o12O2"' + raw[last + 12 :], Topic([], []), "line 1209 is not", BackupDamagedError
    )
    await refused(raw[:-400], Topic([], []), "export again", BackupDamagedError)


async def test_what_cannot_be_this_log_is_refused_and_the_way_out_named(source: Topic) -> None:
    raw = await backup(source)
    await refused(raw, Topic([], [], []), "2 partitions and the topic has 3.*--turns")
    await refused(raw, Topic([Record(0, 0, None, b"{}")], []), "something else than the backup at offset 0.*--turns")
    await refused(raw, Topic([], [Record(7, 0, None, b"{}")]), "something else than the backup")
    await refused(await backup(source, "ada"), Topic([], []), "graph ada only.*--turns")
    gaps = [record._replace(offset=record.offset + 1) for record in source.records[0]]
    await refused(await backup(Topic(gaps, [])), Topic([], []), "gaps.*--turns")
    await refused(await backup(Topic(logged(small(4)), [])), Topic([], []), "a topic with 4 partitions, not 2.*--turns")


async def test_events_that_no_worker_could_fold_are_refused() -> None:
    newer = [*logged(small(1)), Record(4, 0, None, b'{"v":%d,"kind":"GraphErased"}' % (VERSION + 1))]
    await refused(
        await backup(Topic(newer)),
        Topic([]),
        f"offset 4 of partition 0 cannot be folded: an event of the log has schema version {VERSION + 1}",
    )
    log = small(1)
    log.chain = bytes(32)
    log.turn(id="of another history")
    with pytest.raises(LogRewrittenError):
        folded(logged(log))
    await refused(await backup(Topic(logged(log))), Topic([]), "follows another history")


async def test_a_log_to_which_somebody_else_writes_meanwhile_is_told(source: Topic) -> None:
    target = Topic([], [])
    target.shift = 1
    with pytest.raises(NotRestorableError, match="another program writes to partition 0"):
        await restored(await backup(source), target)


async def test_a_backup_gives_its_turns_back_with_their_ids_and_times(source: Topic) -> None:
    result = list(turns(io.BytesIO(await backup(source))))
    recorded = [event for part in source.records for r in part if isinstance(event := decode(r.value), TurnRecorded)]
    for turn, event in zip(result, recorded, strict=True):
        assert isinstance(turn, Turn)
        same = {"id", "graph", "speaker", "text", "session", "role", "at", "metadata"}
        assert turn.model_dump() == {name: getattr(event, name) for name in same}


async def test_a_recorded_turn_that_no_longer_is_one_is_a_bad_line() -> None:
    log = Topic([Record(0, 0, None, b'{"v":1,"kind":"TurnRecorded","id":5}'), Record(1, 0, None, b"[]")])
    (bad,) = turns(io.BytesIO(await backup(log)))
    assert isinstance(bad, BadLine)
    assert bad.number == 2
    assert "id: must be" in bad.reason


async def test_no_turn_of_a_damaged_backup_is_given(source: Topic) -> None:
    raw = await backup(source)
    with pytest.raises(BackupDamagedError):
        next(turns(io.BytesIO(raw[:-3])))
