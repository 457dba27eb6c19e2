"""What every store of keys must do: keep them, give them to others, and lose for good what is destroyed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest_asyncio

from state.partition import DueErasure
from state.sealing.graph_key import GraphKey
from streams.transport.keys.key_store import KeyStore, destroy, give_birth

Open = Callable[[], Awaitable[KeyStore]]


class KeyStoreContract:
    """A backend gives the fixture `open_keys`: every call opens the same keys, as another process would."""

    @pytest_asyncio.fixture
    async def keys(self, open_keys: Open) -> AsyncIterator[KeyStore]:
        yield await open_keys()

    async def test_a_graph_that_was_never_encrypted_has_no_keys(self, keys: KeyStore) -> None:
        assert dict(keys.of("ada")) == {}

    async def test_a_key_that_is_born_is_there_for_whoever_opens_the_store(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        key = await give_birth(keys, "ada")
        result = (await open_keys()).of("ada")
        assert {name: each.to_bytes() for name, each in result.items()} == {key.id: key.to_bytes()}
        assert dict(keys.of("bob")) == {}

    async def test_two_keys_of_a_graph_do_not_displace_each_other(self, keys: KeyStore, open_keys: Open) -> None:
        other = await open_keys()
        born = {(await give_birth(store, "ada")).id for store in (keys, other)}
        assert set((await open_keys()).of("ada")) == born

    async def test_a_store_that_was_open_sees_what_others_put_once_it_is_refreshed(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        other = await open_keys()
        assert dict(other.of("ada")) == {}
        key = await give_birth(keys, "ada")
        await other.refresh()
        assert list(other.of("ada")) == [key.id]

    async def test_what_is_destroyed_is_gone_for_whoever_opens_the_store_and_its_name_stays(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        key, spared = await give_birth(keys, "ada"), await give_birth(keys, "bob")
        await destroy(keys, "ada", [DueErasure([key.id], True, [])])
        for store in (keys, await open_keys()):
            assert store.of("ada")[key.id].is_destroyed
            assert store.of("bob")[spared.id].to_bytes() == spared.to_bytes()

    async def test_one_event_is_destroyed_alone_and_the_working_secret_with_it(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        key = await give_birth(keys, "ada")
        await destroy(keys, "ada", [DueErasure([key.id], False, [(3, 4)])])
        for store in (keys, await open_keys()):
            left = store.of("ada")[key.id]
            assert [left.secret_of(n) for n in range(6)] == [
                None if n in (3, 4) else key.secret_of(n) for n in range(6)
            ]
            assert left.working != key.working

    async def test_destroying_again_what_is_destroyed_changes_nothing(self, keys: KeyStore, open_keys: Open) -> None:
        key = await give_birth(keys, "ada")
        due = [DueErasure([key.id, "f" * 16], False, [(3, 4)])]
        await destroy(keys, "ada", due)
        before = keys.of("ada")[key.id].to_bytes()
        other = await open_keys()
        await destroy(other, "ada", due)
        assert other.of("ada")[key.id].to_bytes() == before

    async def test_an_older_value_that_a_frozen_process_puts_late_brings_nothing_back(
        self, keys: KeyStore, open_keys: Open
    ) -> None:
        key = await give_birth(keys, "ada")
        late = key.without([(7, 7)], b"w" * 32)  # what another process was about to put when it froze
        other = await open_keys()
        await destroy(keys, "ada", [DueErasure([key.id], False, [(3, 4)])])
        await other.put(late)
        await keys.refresh()
        await other.refresh()
        for store in (keys, other, await open_keys()):
            left = store.of("ada")[key.id]
            assert [n for n in range(9) if left.secret_of(n) is None] == [3, 4, 7]

    async def test_a_key_of_many_erasures_is_kept_whole(self, keys: KeyStore, open_keys: Open) -> None:
        key = await give_birth(keys, "ada")
        await destroy(keys, "ada", [DueErasure([key.id], False, [(2 * n, 2 * n) for n in range(2000)])])
        left = GraphKey.of_bytes((await open_keys()).of("ada")[key.id].to_bytes())
        assert left.secret_of(2001) == key.secret_of(2001)
