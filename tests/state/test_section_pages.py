"""Pages of records: what is read of them, whole or a column at a time, is what was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from state.lsm import record_types
from state.lsm.frame_of_reference import packed, packed_keys, unpacked
from state.lsm.lazy_columns import Columns, StoredStrings, StoredTexts, stored_names
from state.lsm.page_format import decoded, encoded
from state.lsm.record_types import SECTION, Name, Section

NEWEST, ALL = SECTION["marks"], SECTION["postings"]
IDS, NAMES, VECTORS = SECTION["ids"], SECTION["names"], SECTION["vectors"]
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
    keys = st.lists(st.integers(-4, 12), min_size=1, max_size=8, unique=section.merge_rule == "newest")
    listed = draw(st.lists(keys, max_size=5))
    if draw(st.booleans()):  # as they are where nothing was ever written twice
        listed.sort(key=lambda page: (min(page), max(page)))
    return [records(section, sorted(page), seed) for seed, page in enumerate(listed)]


@pytest.mark.parametrize(
    "section", [each for each in record_types.SECTIONS if each.dtype is not None and each.merge_rule != "sum"]
)
def test_a_page_of_columns_is_read_as_it_was_written(section: Section) -> None:
    keys = [1, 1, 1, 5, 9, 9] if section.merge_rule == "all" else [-1, 2, 3, 5, 8, 13]
    written = records(section, keys, 1)
    for page in (written, written[:1], written[3:4]):
        assert decoded(section, encoded(section, page)).tobytes() == page.tobytes()  # type: ignore[union-attr]


@given(st.sampled_from([NEWEST, ALL]).flatmap(lambda section: st.tuples(st.just(section), pages(section))), st.data())
def test_columns_are_those_of_the_records_brought_together(
    drawn: tuple[Section, list[NDArray[Any]]], data: st.DataObject
) -> None:
    section, written = drawn
    columns = Columns(section, [encoded(section, page) for page in written])
    expected = record_types.combined(section, [*written, records(section, [], 0)])
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
        if name != "key":
            assert columns.rows(name, expected.dtype[name].char).tolist() == expected[name].tolist()
    keys, begins = columns.runs()
    distinct, first = np.unique(expected["key"], return_index=True)
    assert (keys.tolist(), begins.tolist()) == (distinct.tolist(), first.tolist())


def keyed(value: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[int, Any]]]:
    """Draw some pages of values by key, none empty."""
    return st.lists(st.dictionaries(st.integers(0, 30), value, min_size=1, max_size=6), max_size=5)


text = st.text("ab\0é咖", max_size=3)
texts = keyed(text)
names = keyed(st.builds(Name, text, st.none() | text, st.booleans()))


def ascending(page: dict[int, Any]) -> dict[int, Any]:
    return dict(sorted(page.items()))


def laid(written: list[dict[int, Any]], *, apart: bool) -> list[dict[int, Any]]:
    """Let pages follow each other, as they do where nothing was ever written twice, or not."""
    moved = ({key + 100 * place * apart: each for key, each in page.items()} for place, page in enumerate(written))
    return [ascending(page) for page in moved]


@given(texts, st.booleans(), st.data())
def test_strings_are_those_brought_together(written: list[dict[int, str]], apart: bool, data: st.DataObject) -> None:
    pages = laid(written, apart=apart)
    stored = StoredStrings(IDS, [encoded(IDS, page) for page in pages])
    expected = ascending({key: text for page in pages for key, text in page.items()})
    chosen = [key for key in expected if data.draw(st.booleans())]
    assert list(stored.of(np.array(chosen, np.int64))) == [expected[key] for key in chosen]


@given(names, st.booleans(), st.data())
def test_names_are_those_brought_together(written: list[dict[int, Name]], apart: bool, data: st.DataObject) -> None:
    pages = laid(written, apart=apart)
    for page in pages:
        assert decoded(NAMES, encoded(NAMES, page)) == page
    expected = ascending({key: name for page in pages for key, name in page.items()})
    some = [key for key in expected if data.draw(st.booleans())]
    result = stored_names(NAMES, [encoded(NAMES, page) for page in pages]).of(np.array(some, np.int64))
    chosen = [expected[key] for key in some]
    forms = [name.id if name.form is None else name.form for name in chosen]
    assert list(result.ids) == [name.id for name in chosen]
    assert result.is_phrase.tolist() == [name.is_phrase for name in chosen]
    assert [result.first_form(number) for number in range(len(chosen))] == forms
    assert result.first_forms(result.ids.listed()) == forms


@given(st.lists(st.dictionaries(st.integers(0, 9), st.lists(number, min_size=1, max_size=2), min_size=1), max_size=4))
def test_of_a_section_that_keeps_all_no_text_is_lost(written: list[dict[int, list[int]]]) -> None:
    stored = StoredTexts(VECTORS, [encoded(VECTORS, ascending(page)) for page in written])
    expected: dict[int, list[int]] = {}
    for page in written:
        for key, values in page.items():
            expected.setdefault(key, []).extend(values)
    assert stored.by_key() == ascending(expected)


span = st.sampled_from([0, 1, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, 2**64 - 1])


@given(span, st.lists(st.floats(0, 1), min_size=1, max_size=9), st.sampled_from("bilq"), st.data())
def test_a_column_is_read_as_it_was_packed(span: int, shares: list[float], code: str, data: st.DataObject) -> None:
    least, most = np.iinfo(code).min, np.iinfo(code).max
    first = data.draw(st.sampled_from([least, -1, 0, 7, most]))
    values = np.array([min(first + int(span * share), most) for share in [*shares, 0.0, 1.0]], code)
    page = b"12345678" + packed(values) + b"behind it"
    column, into = unpacked(page, len(values), 8), np.empty(len(values), code)
    column.write_to(into)
    assert into.tolist() == column.whole().tolist() == values.tolist()
    assert len(packed(values)) % 8 == 0


@given(st.lists(st.floats(), min_size=1))
def test_a_column_of_floats_is_read_bit_by_bit(values: list[float]) -> None:
    column, into = np.array(values), np.empty(len(values))
    unpacked(packed(column), len(values), 0).write_to(into)
    assert into.tobytes() == column.tobytes()


@given(st.sets(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1))
def test_keys_are_read_as_they_were_packed(drawn: set[int]) -> None:
    keys = np.array(sorted(drawn), np.int64)
    result = unpacked(packed_keys(keys), len(keys), 0)
    assert result.keys().tolist() == sorted(drawn)
    assert (result.first_key, result.last_key) == (min(drawn), max(drawn))


def test_keys_without_a_gap_take_no_room() -> None:
    assert len(packed_keys(np.arange(7, 2000))) == len(packed_keys(np.array([7]))) == 16
