"""Texts that lie in one are found as in a list of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.graph.tables import strings
from state.graph.tables.strings import Places, Strings

text = st.text("ab\0é咖", max_size=3)


def joined(listed: list[str], parts: int = 1) -> Strings:
    """Lay texts one behind the other, in so many parts."""
    each = [listed[place * len(listed) // parts : (place + 1) * len(listed) // parts] for place in range(parts)]
    return Strings.of(["\0".join(part) for part in each if part], np.array([len(one) for one in listed], np.int64))


def check(result: Strings, listed: list[str], text: str) -> None:
    assert len(result) == len(listed)
    assert list(result) == result.listed() == result[:] == [result[place] for place in range(len(result))] == listed
    assert result[1:3] == listed[1:3]
    assert result.find(text) == (listed.index(text) if text in listed else -1)
    assert list(result.beginning(text)) == [n for n, one in enumerate(listed) if one.startswith(text)]
    if text:
        assert list(result.holding(text)) == [n for n, one in enumerate(listed) if text in one]


@given(st.lists(text, max_size=8), st.integers(1, 3), text, st.data())
def test_texts_are_found_among_all_and_among_chosen_ones(
    listed: list[str], parts: int, text: str, data: st.DataObject
) -> None:
    result = joined(listed, parts)
    check(result, listed, text)
    places = [place for place in range(len(listed)) if data.draw(st.booleans())]
    check(result.chosen(np.array(places, np.int64)), [listed[place] for place in places], text)


@pytest.mark.parametrize("looks", [0, 2, 100], ids=["listed", "listed soon", "looked for"])
@given(listed=st.lists(text, unique=True, max_size=8), names=st.lists(text, max_size=8))
def test_places_are_those_of_a_dictionary(looks: int, listed: list[str], names: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(strings, "LOOKS", looks)
        places, expected = Places(len(listed), lambda: joined(listed)), {one: place for place, one in enumerate(listed)}
        for one in names:
            assert places.get(one) == expected.get(one)
            assert (one in places) == (one in expected)
        assert len(places) == len(expected)
        assert dict(places) == places.all() == expected
