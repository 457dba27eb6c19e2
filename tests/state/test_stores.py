"""Both stores keep one contract; RocksDB also survives kill -9, and damage to its files is never silent."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from emgas.errors import DataDirectoryInUseError, EmgasError
from state.errors import StoreCorruptError, WrongLayoutError
from state.store import rocksdb
from state.store.keys import LAYOUT, LAYOUT_KEY, POSITION, of_u64, u64
from state.store.rocksdb import RocksStore
from state.store.store import Batch, MemoryStore, Store
from tests.contracts.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestRocksStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = RocksStore(tmp_path / "deep" / "store")
        yield store
        store.close()


@pytest.fixture
def rocks(tmp_path: Path) -> Iterator[RocksStore]:
    store = RocksStore(tmp_path / "store")
    yield store
    store.close()


def test_a_checkpoint_holds_what_was_held_and_nothing_later(rocks: RocksStore, tmp_path: Path) -> None:
    rocks.write({b"a": b"1", b"b": b"1"})
    rocks.checkpoint(tmp_path / "deep" / "checkpoint")
    rocks.write({b"a": b"2", b"b": None, b"c": b"2"})
    copy = RocksStore(tmp_path / "deep" / "checkpoint", read_only=True)
    assert list(copy.scan(b"", b"")) == [(b"a", b"1"), (b"b", b"1")]
    assert copy.count() == 2
    copy.close()


def test_reading_a_checkpoint_does_not_change_its_files(rocks: RocksStore, tmp_path: Path) -> None:
    rocks.write({b"k%d" % number: b"v" * 100 for number in range(500)})
    rocks.checkpoint(tmp_path / "checkpoint")
    before = {path.name: path.read_bytes() for path in (tmp_path / "checkpoint").iterdir()}
    copy = RocksStore(tmp_path / "checkpoint", read_only=True)
    assert copy.count() == 500
    copy.close()
    assert {path.name: path.read_bytes() for path in (tmp_path / "checkpoint").iterdir()} == before


def test_a_checkpoint_over_something_is_refused(rocks: RocksStore, tmp_path: Path) -> None:
    rocks.write({b"a": b"1"})
    rocks.checkpoint(tmp_path / "checkpoint")
    with pytest.raises(Exception, match="exists"):
        rocks.checkpoint(tmp_path / "checkpoint")


def test_a_store_is_read_beside_its_writer_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "store")
    store.write({b"a": b"1"})
    beside = RocksStore(tmp_path / "store", read_only=True)
    store.write({b"a": b"2"})
    assert beside.get(b"a") == b"1"
    beside.close()
    store.close()


def test_reading_a_store_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(StoreCorruptError, match="no store"):
        RocksStore(tmp_path / "store", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bulk", [False, True])
def test_a_store_names_its_layout_from_its_first_position_on(tmp_path: Path, bulk: bool) -> None:
    store = RocksStore(tmp_path / "store", bulk=bulk)
    store.write({b"a": b"1"})
    assert store.get(LAYOUT_KEY) is None
    store.write({POSITION: b"{}"})
    assert store.get(LAYOUT_KEY) == u64(LAYOUT)
    store.close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_another_layout_is_refused_and_let_go_of(tmp_path: Path, read_only: bool) -> None:
    store = RocksStore(tmp_path / "store")
    store.write({POSITION: b"{}"})
    store.write({LAYOUT_KEY: u64(LAYOUT + 1)})
    store.close()
    with pytest.raises(WrongLayoutError, match=f"layout {LAYOUT + 1}.*remove that directory"):
        RocksStore(tmp_path / "store", read_only=read_only)
    rocksdb.check_free(tmp_path / "store")


def test_a_store_that_something_was_folded_into_and_that_names_no_layout_is_refused(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "store")
    store.write({POSITION: b"{}"})
    store.write({LAYOUT_KEY: None})
    store.close()
    with pytest.raises(WrongLayoutError, match=r"has no layout.*remove that directory"):
        RocksStore(tmp_path / "store")


class TestRocksStoreFilledInBulk(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = RocksStore(tmp_path / "deep" / "store", bulk=True)
        yield store
        store.close()


class BothStores(RuleBasedStateMachine):
    """RocksDB and the dict give the same answers, whatever is written, and also after closing and opening."""

    keys = st.binary(max_size=3).filter(lambda key: key not in (POSITION, LAYOUT_KEY)) | st.sampled_from(
        [b"k", b"k\xff", b"k\xff\xff"]
    )

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name) / "store"
        self.model, self.rocks = MemoryStore(), RocksStore(self.path)

    @rule(batch=st.dictionaries(keys, st.none() | st.binary(max_size=5), max_size=5))
    def write(self, batch: Batch) -> None:
        self.model.write(batch)
        self.rocks.write(batch)

    @rule(key=keys)
    def get(self, key: bytes) -> None:
        assert self.rocks.get(key) == self.model.get(key)

    @rule(prefix=keys, start=keys)
    def scan(self, prefix: bytes, start: bytes) -> None:
        assert list(self.rocks.scan(prefix, start)) == list(self.model.scan(prefix, start))

    @rule()
    def reopen(self) -> None:
        self.rocks.close()
        self.rocks = RocksStore(self.path)

    @invariant()
    def holds_the_same(self) -> None:
        assert list(self.rocks.scan(b"", b"")) == list(self.model.scan(b"", b""))

    def teardown(self) -> None:
        self.rocks.close()
        self.directory.cleanup()


TestBothStores = BothStores.TestCase
TestBothStores.settings = settings(max_examples=15, stateful_step_count=12)


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


OPEN = """
import sys, pathlib, emgas.errors
from state.store.rocksdb import RocksStore
try:
    RocksStore(pathlib.Path(sys.argv[1]))
except emgas.errors.DataDirectoryInUseError as error:
    print(error)
"""


def test_a_second_process_is_told_what_to_do(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "store")
    second = run(OPEN, tmp_path / "store")
    assert str(tmp_path / "store") in second.stdout
    assert "stop it, or give this one its own EMGAS_DATA" in second.stdout
    store.write({b"still": b"works"})
    store.close()
    assert run(OPEN, tmp_path / "store").stdout == ""


def test_a_second_opening_in_one_process_is_refused_too(tmp_path: Path) -> None:
    store = RocksStore(tmp_path / "store")
    with pytest.raises(DataDirectoryInUseError):
        RocksStore(tmp_path / "store")
    store.close()
    RocksStore(tmp_path / "store").close()


BATCH = 50

WRITER = """
import sys, pathlib
from state.store import rocksdb
from state.store.keys import u64
rocksdb._BULK_BUFFER_BYTES = 1 << 16
store = rocksdb.RocksStore(pathlib.Path(sys.argv[1]), bulk=sys.argv[3:] == ["bulk"])
last = store.get(b"last")
n = int.from_bytes(last, "big") + 1 if last else 0
while True:
    rows = {b"r" + u64(n) + bytes([i]): u64(n) * 20 for i in range(int(sys.argv[2]))}
    store.write({**rows, b"last": u64(n)})
    print(n, flush=True)
    n += 1
"""


def test_killing_the_writer_leaves_whole_batches_and_none_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    seeded = random.Random(4)
    for _ in range(4):
        acked = kill_after(seeded.randrange(1, 400), tmp_path)
        store = RocksStore(tmp_path)
        last = of_u64(store.get(b"last") or b"")
        assert last >= acked
        assert is_prefix(store)
        store.close()


def test_killing_who_fills_a_store_in_bulk_leaves_whole_batches(tmp_path: Path) -> None:
    seeded, last = random.Random(5), 0
    for _ in range(4):
        kill_after(seeded.randrange(200, 900), tmp_path, "bulk")
        store = RocksStore(tmp_path)
        assert is_prefix(store)
        last = of_u64(store.get(b"last") or u64(0))
        store.close()
    assert last > 0, "something had been kept"


def kill_after(acks: int, path: Path, *how: str) -> int:
    """Start a writer, kill -9 it once it acknowledged so many batches; return the last one it acknowledged."""
    command = [sys.executable, "-c", WRITER, path, str(BATCH), *how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(acks):
            assert child.stdout.readline(), "the writer died by itself"
        child.kill()
        rest = child.stdout.read()
    return int(rest.rpartition("\n")[0].rpartition("\n")[2] or acks - 1)


def is_prefix(store: Store) -> bool:
    """Whether the store holds exactly the whole batches 0 … `last`."""
    last = store.get(b"last")
    rows = [(of_u64(key[1:9]), key[9], value) for key, value in store.scan(b"r", b"r")]
    batches = of_u64(last) + 1 if last else 0
    return rows == [(n, i, u64(n) * 20) for n in range(batches) for i in range(BATCH)]


def unflushed(path: Path, batches: int) -> Path:
    """Return a copy of a store's files as a killed process leaves them: all in the write-ahead log."""
    store = RocksStore(path / "open")
    for n in range(batches):
        store.write({**{b"r" + u64(n) + bytes([i]): u64(n) * 20 for i in range(BATCH)}, b"last": u64(n)})
    shutil.copytree(path / "open", path / "killed")
    store.close()
    return path / "killed"


def longest(path: Path, suffix: str) -> Path:
    return max(path.glob(f"*{suffix}"), key=lambda file: file.stat().st_size)


def cut(wal: Path) -> None:
    wal.write_bytes(wal.read_bytes()[: wal.stat().st_size * 2 // 3])


def flip_middle(wal: Path) -> None:
    flip(wal, wal.stat().st_size // 2)


def flip(file: Path, at: int) -> None:
    damaged = bytearray(file.read_bytes())
    damaged[at] ^= 1 << at % 8
    file.write_bytes(damaged)


@pytest.mark.parametrize("damage", [cut, flip_middle, Path.unlink])
def test_a_damaged_write_ahead_log_rewinds_to_whole_batches(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    killed = unflushed(tmp_path, batches=60)
    damage(longest(killed, ".log"))
    store = RocksStore(killed)
    assert of_u64(store.get(b"last") or u64(0)) < 59
    assert is_prefix(store)
    store.close()


ROWS = {b"k" + u64(i): random.Random(i).randbytes(40) for i in range(3000)}


@pytest.fixture(scope="module")
def in_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a closed store whose rows lie in a table file (SST)."""
    path = tmp_path_factory.mktemp("tables") / "block-store"  # a path with "lock" in it, to lead the wording astray
    store = RocksStore(path)
    store.write(ROWS)
    store.close()
    return path


def outcomes(path: Path) -> Iterator[str]:
    """Yield what became of opening and reading everything twice: by scan, by key."""
    try:
        store = RocksStore(path)
    except StoreCorruptError as error:
        yield str(error)
        return
    for read in (lambda: dict(store.scan(b"k", b"k")), lambda: {key: store.get(key) for key in ROWS}):
        try:
            assert read() == ROWS, "the damage went unnoticed"
            yield "whole"
        except StoreCorruptError as error:
            yield str(error)
    store.close()


def test_a_flipped_bit_in_a_table_is_never_a_silent_short_scan(in_tables: Path, tmp_path: Path) -> None:
    size = longest(in_tables, ".sst").stat().st_size
    for at in random.Random(23).sample(range(size), 12):
        copy = tmp_path / f"block-{at}"
        shutil.copytree(in_tables, copy)
        flip(longest(copy, ".sst"), at)
        for outcome in outcomes(copy):
            assert outcome == "whole" or "Remove that directory and start again" in outcome


def test_damage_in_the_middle_of_a_table_stops_both_ways_of_reading(in_tables: Path, tmp_path: Path) -> None:
    shutil.copytree(in_tables, tmp_path / "store")
    table = longest(tmp_path / "store", ".sst")
    flip(table, table.stat().st_size // 2)
    assert ["is damaged" in outcome for outcome in outcomes(tmp_path / "store")] == [True, True]


@pytest.mark.parametrize("lost", ["MANIFEST-*", "*.sst"])
def test_a_lost_file_is_damage(in_tables: Path, tmp_path: Path, lost: str) -> None:
    shutil.copytree(in_tables, tmp_path / "store")
    for file in (tmp_path / "store").glob(lost):
        file.unlink()
    assert "is damaged" in next(outcomes(tmp_path / "store"))


def test_a_store_that_reported_damage_still_lets_go_of_its_lock(in_tables: Path, tmp_path: Path) -> None:
    shutil.copytree(in_tables, tmp_path / "store")
    table = longest(tmp_path / "store", ".sst")
    flip(table, table.stat().st_size // 2)
    store = RocksStore(tmp_path / "store")
    with pytest.raises(StoreCorruptError) as caught:
        store.scan(b"k", b"k")
    store.close()
    RocksStore(tmp_path / "store").close()
    assert caught.value  # lives on, and with it the frames of its traceback


def test_another_disk_error_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("a file, where a directory should be")
    with pytest.raises(Exception, match=r"exists|Not a directory|mkdir") as caught:
        RocksStore(tmp_path / "lock")
    assert not isinstance(caught.value, EmgasError)
