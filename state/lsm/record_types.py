"""The sections of a table: the kinds of records that a stored graph consists of, and how records of one key merge.

A section is much like a column family, with its own keys, page size and merge rule.  It is not called so because a
RocksDB column family has tables of its own: here, one table holds pages of all sections (state/lsm/README.md).

    section      a record                                              several of one key
    concepts     row, and the columns of ConceptTable                  the newest
    names        row → id, first form (None: the id), is a phrase      the newest
    forms        row → how often other forms were seen                 the newest
    kinds        row → how often it was of each kind                   the newest
    turns        event, and what PassageTable knows of it from birth   the newest
    marks        event, and what may change about it                   the newest
    postings     event, concept row, count                             all
    ids          event → turn id                                       the newest
    origins      event → name of the session, or speaker, born there   the newest
    gone         hash of a turn id, fingerprint                        the newest
    vectors      event → model and vector, of each model               all
    relations    event, concept rows, type, where the text says it     all
    statements   event → speaker, what the turn states                 the newest
    facts        event → speaker, what the turn says of people         the newest
    said         row a, row b, windows that held both                  the sum
    recalled     the same for what was recalled together               the sum
    fans         row → distinct neighbours in exchanges; of graphs     the newest
                 with many pairs, where the values say so
    faded        pair of rows, how often it had been together: both    all
                 of that is not to be counted any more

A concept's row and a turn's event (its ordinal) never change.  Positions in the graph's tables change when something is
forgotten, so records do not hold them.  Forgotten rows are in lists of their own (`GraphChanges`).

Pairs: state/graph/counting/pair_records.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers
from state.graph.codec import LAYOUT
from state.graph.counting.pair_records import ROW_BITS, added_up, ends
from state.graph.tables.columns import Column
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.passage_table import BORN, CHANGING, PassageTable
from state.graph.tables.relation_table import RelationTable

Records = NDArray[Any]  # structured, with a field `key`, or int64; ascending
Texts = dict[int, Any]  # by key, ascending
Part = Records | Texts


def _records_of(columns: Iterable[Column]) -> np.dtype[Any]:
    """Return the dtype of records of some columns of a table, the widest first: so their values are aligned."""
    codes = ((each.name, np.dtype("q" if each.points == "turns" else each.stored_as)) for each in columns)
    widest_first = sorted(codes, key=lambda each: -each[1].itemsize)
    return np.dtype([("key", "<i8"), *((name, code.newbyteorder("<")) for name, code in widest_first)])


CONCEPTS: Final = _records_of(ConceptTable.columns)
TURNS: Final = _records_of(each for each in PassageTable.columns if each.stored_in == BORN)
MARKS: Final = _records_of(each for each in PassageTable.columns if each.stored_in == CHANGING)
RELATIONS: Final = _records_of(each for each in RelationTable.columns if each.points != "turns")
POSTINGS: Final = np.dtype([("key", "<i8"), ("concept", "<i4"), ("count", "<i4")])
GONE: Final = np.dtype([("key", "<i8"), ("fingerprint", "<i8")])
PAIRS: Final = np.dtype("<i8")
FANS: Final = np.dtype([("key", "<i8"), ("fan", "<i8")])
FADED: Final = np.dtype([("key", "<i8"), ("exchanges", "<i4"), ("turns", "<i4"), ("recalls", "<i4")])


class Name(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A concept's name: its id, the form that was seen first (None if it is the id), and whether it is a phrase."""

    id: str
    form: str | None
    is_phrase: bool


class Section(NamedTuple):
    """One kind of records.

    number      its place in keys
    dtype       of its records; None: any values by key, packed
    merge_rule  what becomes of several records of one key (LSM stores call it a merge operator)
    page        records to a page, at least
    weight      what compaction of one of them costs, in pairs
    dead        which list of what was forgotten removes its records
    """

    name: str
    number: int
    dtype: np.dtype[Any] | None
    merge_rule: Literal["newest", "all", "sum"]
    page: int
    weight: int
    dead: Literal["rows", "events", "none"]


SECTIONS: Final = (
    Section("concepts", 1, CONCEPTS, "newest", 512, 8, "rows"),
    Section("names", 2, None, "newest", 2048, 8, "rows"),
    Section("forms", 3, None, "newest", 512, 32, "rows"),
    Section("turns", 4, TURNS, "newest", 2048, 8, "events"),
    Section("marks", 5, MARKS, "newest", 1024, 8, "events"),
    Section("postings", 6, POSTINGS, "all", 8192, 2, "events"),
    Section("ids", 7, None, "newest", 2048, 8, "events"),
    Section("origins", 8, None, "newest", 2048, 8, "none"),
    Section("gone", 9, GONE, "newest", 2048, 4, "none"),
    Section("vectors", 10, None, "all", 64, 64, "events"),
    Section("said", 11, PAIRS, "sum", 4096, 1, "rows"),
    Section("recalled", 12, PAIRS, "sum", 4096, 1, "rows"),
    Section("kinds", 13, None, "newest", 512, 32, "rows"),
    Section("relations", 14, RELATIONS, "all", 1024, 4, "events"),
    Section("statements", 15, None, "newest", 512, 32, "events"),
    Section("facts", 16, None, "newest", 512, 32, "events"),
    Section("fans", 18, FANS, "newest", 4096, 2, "rows"),
    Section("faded", 24, FADED, "all", 1024, 2, "none"),
)
SECTION: Final = {section.name: section for section in SECTIONS}
# What a table says of how it was written: a store of other columns is not read, but folded again.
STORED_LAYOUT: Final = LAYOUT << 32 | crc32(repr([each.dtype and each.dtype.descr for each in SECTIONS]).encode())


@dataclass
class GraphChanges:
    """The changes of a graph since its last flush, or all of it: the contents of a new table.

    events       how many events the graph is the fold of now
    values       what is no table: clock, settings, themes …, JSON-able
    parts        records of each section that has any
    dead_rows    rows of concepts that were forgotten since
    dead_events  events of turns that were forgotten since
    complete     whether it holds all concepts, not only those that changed
    """

    events: int
    values: dict[str, Any]
    parts: dict[str, Part] = field(default_factory=dict)
    dead_rows: list[int] = field(default_factory=list)
    dead_events: list[int] = field(default_factory=list)
    complete: bool = False


# Records of a section; the bytes of their pages: state/lsm/page_format.py


def keys_of(section: Section, part: Part) -> Integers:
    """List the keys of records, ascending; those of pairs are whole records."""
    if isinstance(part, dict):
        return np.fromiter(part, np.int64, len(part))
    return part if section.merge_rule == "sum" else part["key"]


def combined(section: Section, parts: Sequence[Part]) -> Part:
    """Merge records of several tables, oldest first, by the section's merge rule.

    parts  each ascending; under "newest", no key twice in one of them
    """
    if section.dtype is None:
        return _combined_texts(section, parts)
    records = joined(section.dtype, [part for part in parts if isinstance(part, np.ndarray)])
    if section.merge_rule == "sum":
        return added_up(records)
    ends = [(int(part["key"][0]), int(part["key"][-1])) for part in parts if isinstance(part, np.ndarray) and len(part)]
    may_meet = section.merge_rule == "all"
    if all(before < first or (may_meet and before == first) for (_, before), (first, _) in pairwise(ends)):
        return records
    order = np.argsort(records["key"], kind="stable")
    if section.merge_rule == "newest" and len(order):
        keys = records["key"][order]
        order = order[np.append(keys[1:] != keys[:-1], True)]
    return records[order]


def joined(dtype: np.dtype[Any], parts: Sequence[Records]) -> Records:
    """Concatenate records, as bytes: numpy takes long to see that all have the same dtype."""
    if len(parts) == 1:
        return parts[0]
    as_bytes = [np.ascontiguousarray(part).view(np.uint8) for part in parts]
    return np.concatenate([np.zeros(0, np.uint8), *as_bytes]).view(dtype)


def _combined_texts(section: Section, parts: Sequence[Part]) -> Texts:
    texts: Texts = {}
    in_order = True
    for part in parts:
        assert isinstance(part, dict)  # noqa: S101 - a section of no dtype has nothing else
        in_order &= not (texts and part) or next(reversed(texts)) < next(iter(part))
        if section.merge_rule == "newest":
            texts.update(part)
        else:
            for key, values in part.items():
                texts[key] = [*texts.get(key, ()), *values]
    return texts if in_order else dict(sorted(texts.items()))


def cut(section: Section, part: Part, first: int | None, last: int | None) -> Part:
    """Return the records whose keys are from `first` to before `last`, None for no bound."""
    if isinstance(part, dict):
        return {
            key: value
            for key, value in part.items()
            if (first is None or first <= key) and (last is None or key < last)
        }
    keys = keys_of(section, part)
    start = 0 if first is None else int(np.searchsorted(keys, first))
    return part[start : len(part) if last is None else int(np.searchsorted(keys, last))]


def without(section: Section, part: Part, dead_rows: Integers, dead_events: Integers) -> Part:
    """Leave out the records of what was forgotten."""
    if section.dead == "none" or not len(part):
        return part
    dead = dead_rows if section.dead == "rows" else dead_events
    if section.name == "postings":
        assert isinstance(part, np.ndarray)  # noqa: S101 - they have a dtype
        part = part[~np.isin(part["concept"], dead_rows)] if len(dead_rows) else part
    if not len(dead):
        return part
    if section.merge_rule == "sum":
        assert isinstance(part, np.ndarray)  # noqa: S101 - likewise
        return part[~(np.isin(ends(part)[0], dead) | np.isin(ends(part)[1], dead))]
    if isinstance(part, dict):
        gone = set(dead.tolist())
        return {key: value for key, value in part.items() if key not in gone}
    return part[~np.isin(part["key"], dead)]


def faded_records(links: Sequence[Integers]) -> Records:
    """Build records of links that were cut: (5, m) each, rows of both ends, and exchanges, turns, recalls so far."""
    rows = np.concatenate([np.zeros((5, 0), np.int64), *links], axis=1)
    records = np.zeros(rows.shape[1], FADED)
    records["key"] = rows[0] << ROW_BITS | rows[1]
    records["exchanges"], records["turns"], records["recalls"] = rows[2:]
    return records[np.argsort(records["key"], kind="stable")]


Values = Mapping[str, Any]
