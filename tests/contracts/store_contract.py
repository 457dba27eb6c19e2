"""What every backend of the `Store` seam must do (state/store/store.py)."""

from __future__ import annotations

import pytest

from state.store.keys import POSITION, count_key, event_key, event_prefix, manifest_key, u64
from state.store.store import Store


class StoreContract:
    """Inherit, and give a `store` fixture that yields an empty one."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    def test_an_unknown_key_has_no_value(self, store: Store) -> None:
        assert store.get(b"unknown") is None
        assert list(store.scan(b"", b"")) == []

    @pytest.mark.source("E35")
    def test_what_was_written_is_read_back(self, store: Store) -> None:
        store.write({b"a": b"1", b"b": b"\x00\xff"})
        assert (store.get(b"a"), store.get(b"b")) == (b"1", b"\x00\xff")

    def test_an_empty_value_is_a_value(self, store: Store) -> None:
        store.write({b"a": b""})
        assert store.get(b"a") == b""
        assert list(store.scan(b"a", b"a")) == [(b"a", b"")]

    def test_a_later_value_replaces_an_earlier_one(self, store: Store) -> None:
        store.write({b"a": b"1", b"b": b"1"})
        store.write({b"a": b"2"})
        assert list(store.scan(b"", b"")) == [(b"a", b"2"), (b"b", b"1")]

    def test_what_is_deleted_is_gone_and_what_was_not_there_may_be_deleted(self, store: Store) -> None:
        store.write({b"a": b"1", b"b": b"1"})
        store.write({b"a": None, b"c": b"2", b"unknown": None})
        assert store.get(b"a") is None
        assert list(store.scan(b"", b"")) == [(b"b", b"1"), (b"c", b"2")]
        store.write({b"a": b"3"})
        assert store.get(b"a") == b"3"

    def test_an_empty_batch_changes_nothing(self, store: Store) -> None:
        store.write({b"a": b"1"})
        store.write({})
        assert list(store.scan(b"", b"")) == [(b"a", b"1")]

    def test_a_batch_may_be_reused_after_it_was_written(self, store: Store) -> None:
        batch = {b"a": b"1"}
        store.write(batch)
        batch[b"a"] = b"2"
        batch[b"b"] = b"2"
        assert list(store.scan(b"", b"")) == [(b"a", b"1")]

    def test_a_scan_is_ordered_by_bytes(self, store: Store) -> None:
        keys = [b"k\xff", b"k", b"k\x00", b"k\x7f", b"k\x80", b"k\x00\x00", b"kk"]
        store.write(dict.fromkeys(keys, b""))
        assert [key for key, _ in store.scan(b"k", b"k")] == sorted(keys)

    def test_a_scan_stays_within_its_prefix(self, store: Store) -> None:
        store.write(dict.fromkeys([b"a", b"j\xff\xff", b"k", b"k\xff\xff", b"l"], b""))
        assert [key for key, _ in store.scan(b"k", b"k")] == [b"k", b"k\xff\xff"]

    def test_a_scan_begins_at_its_start(self, store: Store) -> None:
        store.write({b"k%d" % i: b"" for i in range(5)})
        assert [key for key, _ in store.scan(b"k", b"k3")] == [b"k3", b"k4"]
        assert [key for key, _ in store.scan(b"k", b"k22")] == [b"k3", b"k4"]

    def test_a_start_outside_the_prefix_adds_nothing(self, store: Store) -> None:
        store.write(dict.fromkeys([b"a", b"k1", b"z"], b""))
        assert [key for key, _ in store.scan(b"k", b"a")] == [b"k1"]
        assert list(store.scan(b"k", b"l")) == []

    def test_a_scan_shows_the_moment_it_was_asked_for(self, store: Store) -> None:
        store.write({b"a": b"1", b"b": b"1"})
        scan = store.scan(b"", b"")
        store.write({b"a": b"2", b"b": b"2", b"c": b"2"})
        assert list(scan) == [(b"a", b"1"), (b"b", b"1")]

    def test_events_of_a_graph_are_scanned_in_the_order_of_their_ordinals(self, store: Store) -> None:
        ordinals = [2**40, 256, 255, 1, 0, 65536]
        store.write({event_key("ada", ordinal): u64(ordinal) for ordinal in ordinals})
        results = [value for _, value in store.scan(event_prefix("ada"), event_key("ada", 255))]
        assert results == [u64(ordinal) for ordinal in (255, 256, 65536, 2**40)]

    def test_a_graph_is_not_mixed_with_one_whose_name_begins_alike(self, store: Store) -> None:
        names = ["a", "aa", "a" * 128, "b", "a:1", "A"]
        for name in names:
            store.write({event_key(name, 0): name.encode(), count_key(name): b"c", manifest_key(name): b"s"})
        store.write({POSITION: b"h"})
        for name in names:
            assert [value for _, value in store.scan(event_prefix(name), event_prefix(name))] == [name.encode()]
        assert len(list(store.scan(b"c", b"c"))) == len(names)

    def test_closing_twice_is_harmless(self, store: Store) -> None:
        store.write({b"a": b"1"})
        store.close()
        store.close()

    def test_it_counts_its_keys(self, store: Store) -> None:
        assert store.count() == 0
        store.write({b"a": b"1", b"b": b"", b"c": b"1"})
        store.write({b"a": b"2", b"c": None})
        assert store.count() == 2
