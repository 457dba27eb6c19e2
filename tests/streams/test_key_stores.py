"""Stores of keys: the contract in memory and in files, and what only files can do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

import pytest

from emgas.wire import ProducerRecord, Record
from state.errors import KeysError, KeyStoreError
from state.partition import DueErasure
from streams.settings import WorkerSettings
from streams.transport.keys.file_keys import FileKeys
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.keys.key_store import KeyStore, MemoryKeys, destroy, give_birth
from streams.transport.keys.wrapping import Wrapping, wrapping_by
from tests.contracts.key_store_contract import KeyStoreContract, Open
from tests.support.fakes import ListReader

KEK = b"k" * 32


class TestKeysInMemory(KeyStoreContract):
    @pytest.fixture
    def open_keys(self) -> Open:
        store = MemoryKeys()

        async def opened() -> KeyStore:
            return store

        return opened

    async def test_a_store_that_was_open_sees_what_others_put_once_it_is_refreshed(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        """There is one store, and no other process."""
        key = await give_birth(keys, "ada")
        await keys.refresh()
        assert list((await open_keys()).of("ada")) == [key.id]


class TestKeysInFiles(KeyStoreContract):
    @pytest.fixture(params=[None, KEK], ids=["plain", "wrapped"])
    def open_keys(self, request: pytest.FixtureRequest, tmp_path: Path) -> Open:
        async def opened() -> KeyStore:
            return FileKeys(tmp_path, Wrapping(request.param))

        return opened


def bytes_below(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def test_what_is_destroyed_is_in_no_file_any_more(tmp_path: Path) -> None:
    keys = FileKeys(tmp_path, Wrapping())
    key = await give_birth(keys, "ada")
    root, working = key.nodes[0, 0].hex().encode(), key.working.hex().encode()
    assert root in bytes_below(tmp_path)
    (path,) = tmp_path.rglob("*.keys")
    with path.open("rb") as old:  # what was there before, under whatever name
        await destroy(keys, "ada", [DueErasure([key.id], False, [(0, 0)])])
        assert set(old.read()) == {0}
    assert root not in bytes_below(tmp_path)
    assert working not in bytes_below(tmp_path)


async def test_files_are_their_owners_alone_and_tell_no_name(tmp_path: Path) -> None:
    await give_birth(FileKeys(tmp_path / "keys", Wrapping(KEK)), "ada")
    files = [path for path in (tmp_path / "keys").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "keys", *files)} == {0}
    assert not [path for path in files if "ada" in path.name]
    assert b"ada" not in bytes_below(tmp_path)


async def test_a_process_that_died_while_it_wrote_leaves_the_key_as_it_was(tmp_path: Path) -> None:
    keys = FileKeys(tmp_path, Wrapping())
    key = await give_birth(keys, "ada")
    (path,) = tmp_path.rglob("*.keys")
    path.with_suffix(".new").write_bytes(b"half")
    assert list(FileKeys(tmp_path, Wrapping()).of("ada")) == [key.id]
    await destroy(keys, "ada", [DueErasure([key.id], True, [])])
    assert not path.with_suffix(".new").exists()


async def test_keys_that_another_kek_wrapped_or_none_names_are_refused_with_what_to_set(tmp_path: Path) -> None:
    await give_birth(FileKeys(tmp_path, Wrapping(KEK)), "ada")
    for wrong, error in ((Wrapping(), KeyStoreError), (Wrapping(b"x" * 32), KeysError)):
        with pytest.raises(error, match="EMGAS_KEK_FILE"):
            FileKeys(tmp_path, wrong).of("ada")


async def test_a_file_that_holds_something_else_is_named(tmp_path: Path) -> None:
    await give_birth(FileKeys(tmp_path, Wrapping()), "ada")
    (path,) = tmp_path.rglob("*.keys")
    path.write_bytes(b"[1]")
    with pytest.raises(KeysError, match=str(path)):
        FileKeys(tmp_path, Wrapping()).of("ada")


async def test_a_directory_that_is_not_there_is_named_and_nothing_is_destroyed_beside_it(tmp_path: Path) -> None:
    keys = FileKeys(tmp_path / "keys", Wrapping())
    assert dict(keys.of("ada")) == {}, "a memory in clear has none"
    for _ in range(2):
        with pytest.raises(KeyStoreError, match=str(tmp_path / "keys")):
            keys.check()
        with pytest.raises(KeyStoreError, match="EMGAS_GRAPH_KEYS"):
            await destroy(keys, "ada", [DueErasure(["0" * 16], True, [])])
        assert not list(tmp_path.rglob("*.keys"))
        (tmp_path / "keys").mkdir(exist_ok=True)
    await give_birth(keys, "bob")
    keys.check()


async def test_a_topic_that_holds_no_key_is_named_and_one_whose_first_opens_with_no_kek_is_refused() -> None:
    broker = Broker()
    keys = broker.opened()
    await keys.refresh()
    with pytest.raises(KeyStoreError, match="keys"):
        keys.check()
    await give_birth(keys, "ada")
    keys.check()
    with pytest.raises(KeyStoreError, match="EMGAS_KEK_FILE"):
        await KafkaKeys("keys", broker, Wrapping(b"x" * 32)).refresh()


async def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "lock").mkdir()
    with pytest.raises(KeysError, match="EMGAS_GRAPH_KEYS"):
        await give_birth(FileKeys(tmp_path / "keys", Wrapping()), "ada")


@pytest.mark.parametrize("content", [None, "too short", "ab" * 31, "zz" * 32])
def test_a_kek_that_is_none_is_refused_with_how_to_make_one(content: str | None, tmp_path: Path) -> None:
    file = tmp_path / "kek"
    if content is not None:
        file.write_text(content)
    with pytest.raises(KeysError, match="openssl rand -hex 32"):
        wrapping_by(file)


def test_encryption_on_kafka_wants_a_place_for_its_keys(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="EMGAS_KEK_FILE"):
        WorkerSettings(broker="kafka://b:9092", encryption=True)
    shared = WorkerSettings(broker="kafka://b:9092", encryption=True, graph_keys=tmp_path)
    in_topic = WorkerSettings(broker="kafka://b:9092", encryption=True, kek_file=tmp_path / "kek")
    assert (shared.keys_in_topic, in_topic.keys_in_topic) == (False, True)
    assert shared.keys_directory == tmp_path / "kafka" / "emgas"
    assert WorkerSettings(data=tmp_path).keys_directory == tmp_path / "keys" / "embedded" / "emgas"


class Broker(ListReader):
    """A topic of keys, whose clock is told."""

    def __init__(self) -> None:
        super().__init__([[]])
        self.now = 1_000_000

    async def send(self, record: ProducerRecord) -> Awaitable[None]:
        (there,) = self.records
        there.append(Record(len(there), self.now, record.key, record.value or b"", record.headers, by_broker=True))

        async def acknowledged() -> None:
            return None

        return acknowledged()

    def opened(self) -> KafkaKeys:
        return KafkaKeys("keys", self, Wrapping(KEK), self.send, compacted_ms=60_000)

    @property
    def written(self) -> int:
        return len(self.records[0])


@pytest.mark.parametrize("way", ["refused", "silent"])
async def test_a_topic_of_keys_that_takes_no_key_is_named_in_time_and_the_key_is_not_used(way: str) -> None:
    async def refused(record: ProducerRecord) -> Awaitable[None]:
        raise RuntimeError("not enough replicas")

    async def silent(record: ProducerRecord) -> Awaitable[None]:
        return asyncio.get_running_loop().create_future()

    keys = Broker().opened()
    keys.sent_by(refused if way == "refused" else silent, 0.01)
    with pytest.raises(KeyStoreError, match="topic of the keys cannot be written to: keys"):
        await give_birth(keys, "ada")
    assert not keys.of("ada")


async def test_once_a_key_is_destroyed_something_is_written_that_lets_the_broker_close_its_segment() -> None:
    broker = Broker()
    keys = broker.opened()
    await keys.refresh()
    key = await give_birth(keys, "ada")
    broker.now += 10**9
    await keys.write_on(broker.now)
    assert broker.written == 1, "nothing was replaced"
    await destroy(keys, "ada", [DueErasure([key.id], True, [])])
    await keys.write_on(broker.now + 59_999)
    assert broker.written == 2, "a segment is closed by what comes late enough alone"
    broker.now += 60_000
    other = broker.opened()  # whoever has the partition by then
    for store in (other, keys, other):
        await store.write_on(broker.now)
    assert broker.written == 3
    (left,) = other.of("ada").values()
    assert left.is_destroyed


async def test_what_was_written_too_early_by_a_clock_that_is_ahead_is_written_again() -> None:
    broker = Broker()
    keys = broker.opened()
    key = await give_birth(keys, "ada")
    await destroy(keys, "ada", [DueErasure([key.id], True, [])])
    await keys.write_on(broker.now + 10**9)
    assert broker.written == 3
    broker.now += 60_000
    await keys.write_on(broker.now)
    await keys.write_on(broker.now + 10**9)
    assert broker.written == 4


async def test_a_destroyed_key_that_a_frozen_worker_brought_back_is_destroyed_again_in_the_newest_record() -> None:
    broker = Broker()
    keys, frozen = broker.opened(), broker.opened()
    key = await give_birth(keys, "ada")
    await destroy(keys, "ada", [DueErasure([key.id], False, [(3, 4)])])
    await frozen.put(key.without([(7, 7)], b"w" * 32))
    await keys.mend()
    compacted = Broker()
    compacted.records[0].append(broker.records[0][-1])
    left = compacted.opened()
    await left.refresh()
    assert [n for n in range(9) if left.of("ada")[key.id].secret_of(n) is None] == [3, 4, 7]
    written = broker.written
    await keys.mend()
    await frozen.mend()
    assert broker.written == written, "nothing is left to mend"


async def test_what_is_read_takes_no_place_of_what_is_put_meanwhile() -> None:
    broker = Broker()
    keys = broker.opened()
    key = await give_birth(keys, "ada")
    await asyncio.gather(keys.refresh(), destroy(keys, "ada", [DueErasure([key.id], True, [])]))
    assert keys.of("ada")[key.id].is_destroyed
