"""Pages of records: what is read of them, whole or a column at a time, is what was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from state.graph import sections
from state.graph.section_pages import Columns, LateTexts, StoredTexts, decoded, encoded
from state.graph.sections import SECTION, Section

NEWEST, ALL = SECTION["marks"], SECTION["postings"]
IDS, VECTORS = SECTION["ids"], SECTION["vectors"]
number = st.integers(-(2**31), 2**31 - 1)


def records(section: Section, keys: list[int], seed: int) -> NDArray[Any]:
    """Make records of these keys that are like no others."""
    assert section.dtype is not None
    made = np.zeros(len(keys), section.dtype)
    drawn = np.random.default_rng(seed)
    for name in section.dtype.names or ():
        made[name] = drawn.integers(-100, 100, len(keys))
    made["key"] = keys
    return made


@st.composite
def pages(draw: st.DrawFn, section: Section) -> list[NDArray[Any]]:
    """Draw some pages: each ascending, none empty; of "newest" no key twice in one of them."""
    keys = st.lists(st.integers(-4, 12), min_size=1, max_size=8, unique=section.adding == "newest")
    listed = draw(st.lists(keys, max_size=5))
    if draw(st.booleans()):  # as they are where nothing was ever written twice
        listed.sort(key=lambda page: (min(page), max(page)))
    return [records(section, sorted(page), seed) for seed, page in enumerate(listed)]


@pytest.mark.parametrize(
    "section", [each for each in sections.SECTIONS if each.dtype is not None and each.adding != "sum"]
)
def test_a_page_of_columns_is_read_as_it_was_written(section: Section) -> None:
    keys = [1, 1, 1, 5, 9, 9] if section.adding == "all" else [-1, 2, 3, 5, 8, 13]
    written = records(section, keys, 1)
    for page in (written, written[:1], written[3:4]):
        assert decoded(section, encoded(section, page)).tobytes() == page.tobytes()  # type: ignore[union-attr]


@given(st.sampled_from([NEWEST, ALL]).flatmap(lambda section: st.tuples(st.just(section), pages(section))), st.data())
def test_columns_are_those_of_the_records_brought_together(
    drawn: tuple[Section, list[NDArray[Any]]], data: st.DataObject
) -> None:
    section, written = drawn
    columns = Columns(section, [encoded(section, page) for page in written])
    expected = sections.combined(section, [*written, records(section, [], 0)])
    check_columns(columns, expected)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(columns), max_size=len(columns))), np.bool_)
    check_columns(columns.only(chosen), expected[chosen])
    left = chosen[chosen].copy()
    left[::2] = False
    check_columns(columns.only(chosen).only(left), expected[chosen][left])


def check_columns(columns: Columns, expected: Any) -> None:
    assert len(columns) == len(expected)
    for name in expected.dtype.names:
        assert columns[name].tolist() == expected[name].tolist()
    keys, begins = columns.runs()
    distinct, first = np.unique(expected["key"], return_index=True)
    assert (keys.tolist(), begins.tolist()) == (distinct.tolist(), first.tolist())


texts = st.lists(st.dictionaries(st.integers(0, 30), st.text(max_size=3), min_size=1, max_size=6), max_size=5)


def ascending(page: dict[int, Any]) -> dict[int, Any]:
    return dict(sorted(page.items()))


@given(texts, st.booleans(), st.data())
def test_texts_are_those_brought_together_whichever_is_looked_at_first(
    written: list[dict[int, str]], in_order: bool, data: st.DataObject
) -> None:
    if in_order:
        written = [{key + 100 * place: text for key, text in page.items()} for place, page in enumerate(written)]
    stored = StoredTexts(IDS, [encoded(IDS, ascending(page)) for page in written])
    expected = ascending({key: text for page in written for key, text in page.items()})
    assert stored.keys.tolist() == list(expected)
    for place in data.draw(st.lists(st.integers(0, max(len(expected) - 1, 0)), max_size=4 if expected else 0)):
        assert stored[place] == list(expected.values())[place]
    assert stored.by_key() == expected
    wanted = [key for key in expected if data.draw(st.booleans())]
    assert stored.of(np.array(wanted, np.int64)) == [expected[key] for key in wanted]


@given(st.lists(st.dictionaries(st.integers(0, 9), st.lists(number, min_size=1, max_size=2), min_size=1), max_size=4))
def test_of_a_section_that_keeps_all_no_text_is_lost(written: list[dict[int, list[int]]]) -> None:
    stored = StoredTexts(VECTORS, [encoded(VECTORS, ascending(page)) for page in written])
    expected: dict[int, list[int]] = {}
    for page in written:
        for key, values in page.items():
            expected.setdefault(key, []).extend(values)
    assert stored.by_key() == ascending(expected)


looks = st.lists(st.one_of(st.integers(-12, 12), st.sampled_from(["all", "slice", "append"])), max_size=8)


@given(st.dictionaries(st.integers(0, 20), st.text(max_size=2), max_size=8), st.sets(st.integers(0, 20)), looks)
def test_a_list_that_is_unpacked_late_is_the_list(
    written: dict[int, str], gone: set[int], looked: list[int | str]
) -> None:
    pages = [encoded(IDS, {key: text}) for key, text in ascending(written).items()]
    here = [key for key in sorted(written) if key not in gone]
    late, expected = LateTexts(StoredTexts(IDS, pages), np.array(here, np.int64)), [written[key] for key in here]
    for look in looked:
        assert len(late) == len(expected)
        if look == "all":
            assert list(late) == expected
        elif look == "slice":
            assert late[1:3] == expected[1:3]
        elif look == "append":
            late.append("more")
            expected.append("more")
        elif isinstance(look, int) and -len(expected) <= look < len(expected):
            assert late[look] == late[np.int64(look)] == expected[look]
        elif isinstance(look, int):
            with pytest.raises(IndexError):
                late[look]
    assert list(late) == expected
