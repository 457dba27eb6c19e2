"""The keys of a store: whatever graphs are called, no key of one is a key of another, and the name is read back."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from state.store.keys import COUNTS, count_key, event_key, event_prefix, graph_of, manifest_key

names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=128)


@given(names)
@example("a" * 128)
@example("🐈" * 128)
@example("🐈" * 63 + "ab")
@example("🐈" * 63 + "abc")
def test_a_name_is_read_back_from_its_key(name: str) -> None:
    assert count_key(name).startswith(COUNTS)
    assert graph_of(count_key(name)) == name


@given(names, names)
@example("🐈" * 128, "🐈" * 127)
def test_no_graphs_keys_begin_with_anothers(one: str, other: str) -> None:
    if one != other:
        assert not event_key(one, 0).startswith(event_prefix(other))
        assert manifest_key(one) != manifest_key(other)


def test_a_short_ascii_name_has_the_key_that_it_always_had() -> None:
    assert count_key("ada") == b"c\x03ada"
