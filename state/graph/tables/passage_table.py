"""The turns of one graph, as columns; a passage's number is its position, in the order folded.

    postings   (concept number, count), by passage ascending: the only copy of "which concept stands where"

Texts are not here: they stay in the store, and only recalled passages are read.  Of a table that was opened from a
store, ids and columns stay packed until first use, or a turn comes.

    active      what is remembered
    archived    faded, over, or said twice: recall ranks it behind, and brings it back when it is asked for
    gone        a user wanted it forgotten (and in logs of version 1: what faded).  It leaves `numbers` at once, and
                its row goes with the next compaction (Graph.compact); the turn itself stays in the log
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from emgas.limits import WINDOW_CONCEPTS
from state.arrays import Counts, Integers, Mask
from state.events.events import TurnRecorded
from state.graph.tables.columns import ColumnTable, LazyColumn, append_all, column, lazy_attribute
from state.graph.tables.decay import HOLDS, NEVER
from state.graph.tables.lists import stable_order
from state.graph.tables.strings import Places, Strings

ORIGINS = (None, "user", "assistant", "tool", "web")
ROLES = (None, "user", "assistant", "system", "tool")
MODALITIES = ("image", "audio", "video", "file")
PROTECTED = 80  # percent: a turn that matters more is never archived
_ORIGIN_NUMBERS = {origin: number for number, origin in enumerate(ORIGINS)}
_ROLE_NUMBERS = {role: number for number, role in enumerate(ROLES)}


BORN: Final = "turns"  # the section of what never changes about a turn
CHANGING: Final = "marks"  # and of what may change


def modality(kinds: Iterable[str]) -> int:
    """Write kinds of attachments as bits."""
    return sum({1 << MODALITIES.index(kind) for kind in kinds})


def _modality(turn: TurnRecorded) -> int:
    return modality(each.kind for each in turn.attachments) if turn.attachments else 0


def _percent(importance: float | None) -> int:
    return -1 if importance is None else round(importance * 100)


def _expiry(turn: TurnRecorded) -> int:
    return NEVER if turn.expires_at is None else turn.expires_at


def _is_kept_unasked(turn: TurnRecorded) -> bool:
    return turn.anchor is not None and turn.anchor.kind == "spontaneous"


def fingerprint(text: str) -> int:
    """Hash what tells two texts under one turn id apart: the first 8 bytes of its sha256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


PASSAGE_BYTES = 180  # beside columns: its id 60, what finds it 100, its place in lists 20
GONE_BYTES = 140
ERASED = -1  # stands for the fingerprint of a turn that was erased


def hashed(turn: str) -> int:
    """Hash a gone turn's id into 64 bits: of n ids, two meet once in 2^64 / n graphs."""
    return int.from_bytes(hashlib.blake2b(turn.encode(), digest_size=8).digest(), "big", signed=True)


def in_window(concepts: NDArray[np.integer], lengths: NDArray[np.integer], phrases: Sequence[int]) -> Mask:
    """Return which of the concepts of passages (m,) count as said together: the first WINDOW_CONCEPTS, and no phrase.

    lengths  how many of the concepts each passage has
    """
    counts = ~np.isin(concepts, phrases) if phrases else np.ones(len(concepts), np.bool_)
    if lengths.max(initial=0) > WINDOW_CONCEPTS:
        counted = np.concatenate(([0], np.cumsum(counts)))
        before = np.repeat(counted[np.cumsum(lengths) - lengths], lengths)
        counts &= counted[1:] - before <= WINDOW_CONCEPTS
    return counts


class PassageTable(ColumnTable):
    """Columns over passage numbers, and over postings.  Only the graph's fold writes here."""

    at: array[int] = column("q", stored_in=BORN, first=lambda turn: turn.at)  # event time, ms
    tokens: array[int] = column("i", stored_in=BORN, first=lambda turn: turn.tokens)  # length in words
    session: array[int] = column("i", stored_in=BORN, stored_as="q")  # position in `sessions`; stored: a key
    speaker: array[int] = column("i", stored_in=BORN, stored_as="q")  # position in `speakers`; stored: a key
    role: array[int] = column("b", stored_in=BORN, first=lambda turn: _ROLE_NUMBERS[turn.role])  # position in ROLES
    question: array[int] = column("b", stored_in=BORN, first=lambda turn: turn.question)  # 1 where it asks something
    event: array[int] = column("q", in_digest=False)  # ordinal of its event: where its text is in the store
    fingerprint: array[int] = column("q", stored_in=BORN, first=lambda turn: fingerprint(turn.text))  # of its text
    starts: array[int] = column("q", per="offset")  # where its postings begin; they end where the next passage's begin
    kept: array[int] = column("b", default=1)  # 0 once gone
    posting_concept: array[int] = column("i", per="posting", points="concepts")
    posting_count: array[int] = column("i", per="posting")  # how often the concept stands in the text
    # 1 while it is in the archive
    archived: array[int] = column("b", stored_in=CHANGING, added_as="archived_turn")
    # ms, when it last came back from there, 0 for never
    restored: array[int] = column("q", stored_in=CHANGING, added_as="restored")
    # percent, -1: as much as any other
    importance: array[int] = column(
        "b", -1, stored_in=BORN, first=lambda turn: _percent(turn.importance), added_as="importance"
    )
    # 1 while a user wants it kept in mind
    pinned: array[int] = column("b", stored_in=CHANGING, added_as="pinned_turn")
    # sum of what users thought of it, in tenths, in ±127
    feedback: array[int] = column("b", stored_in=CHANGING, added_as="feedback")
    # the passage that says the same and more, -1 for none
    repeats: array[int] = column("i", -1, points="turns", stored_in=CHANGING, added_as="repeats")
    # minutes by which the speaker's clock is ahead of UTC
    ahead: array[int] = column("i", stored_in=BORN, first=lambda turn: turn.ahead, added_as="ahead")
    # bits: the places in MODALITIES of what came with it
    modality: array[int] = column("b", stored_in=BORN, first=_modality, added_as="modality")
    # the passage since which it is history, -1 for none
    superseded: array[int] = column("i", -1, points="turns", stored_in=CHANGING, added_as="superseded")
    # 1 for one that people keep unasked: it lives longer
    anchored: array[int] = column("b", stored_in=BORN, first=_is_kept_unasked, added_as="anchored")
    # 1 for one that a gate left out of what is counted
    uncounted: array[int] = column("b", stored_in=BORN, first=lambda turn: bool(turn.uncounted), added_as="uncounted")
    # position in ORIGINS
    origin: array[int] = column(
        "b", stored_in=BORN, first=lambda turn: _ORIGIN_NUMBERS[turn.origin], added_as="turn_origin"
    )
    # ms from which on it is forgotten, NEVER for one that is kept
    expires: array[int] = column("q", NEVER, stored_in=BORN, first=_expiry, added_as="expires")

    sessions: dict[str, int] = lazy_attribute()  # name → number
    origins: dict[str, dict[str, int]] = lazy_attribute()  # of sessions, and of speakers: name → key it is stored under
    _before: array[int] = lazy_attribute()  # passage before it in its session, -1 for none; derived, so not packed
    _last_of_session: dict[int, int] = lazy_attribute()

    def __init__(self) -> None:
        super().__init__()
        self._ids: list[str] = []  # turn ids
        self._numbers: dict[str, int] | None = {}  # None: until first use, all of them
        self._packed: Places | None = None  # what both are made of, until they are
        self._packed_sessions: Strings | None = None  # the names of sessions, until there are more
        self.sessions = {}
        self.speakers: dict[str, int] = {}
        self.gone: dict[int, int] = {}  # hash of turn id → fingerprint: all that stays known of it, permanently
        self.changed = array("b")  # 1 for those that have changed since they were stored
        self.removed: list[int] = []  # events of those that went since then
        self.newly_gone: list[int] = []  # what was put into `gone` since then
        self.origins = {"sessions": {}, "speakers": {}}
        self._last_of_session, self._before = {}, array("i")

    def __len__(self) -> int:
        return len(self._ids) if self._packed is None else len(self._packed)

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        return super().size + len(self) * PASSAGE_BYTES + len(self.gone) * GONE_BYTES

    @property
    def here(self) -> int:
        """Count the turns that are kept."""
        return len(self) if self._numbers is None else len(self._numbers)

    @property
    def accepted(self) -> int:
        """Count the turns that were ever accepted, gone ones among them."""
        numbers = self._numbers
        return (len(self) if numbers is None else len(numbers)) + len(self.gone)

    @property
    def ids(self) -> Sequence[str]:
        """The id of each turn, by number: not to be kept."""
        return self._ids if self._packed is None else self._packed.texts

    @property
    def numbers(self) -> Mapping[str, int]:
        """Turn id → number, of those that are kept: not to be kept."""
        if self._numbers is not None:
            return self._numbers
        return self._by_id() if self._packed is None else self._packed

    def _by_id(self) -> dict[str, int]:
        if self._numbers is None:
            self._numbers = {turn: number for number, turn in enumerate(self._ids)}
        return self._numbers

    def unpack(self) -> None:
        """List ids, and lay out all else: turns are to be added, or to go."""
        if (packed := self._packed) is not None:
            self._ids, self._packed = packed.texts.listed(), None
            self.materialise_all()
            self._packed_sessions = None

    @property
    def session_names(self) -> Sequence[str]:
        """List the sessions, by number: not to be kept."""
        return list(self.sessions) if self._packed_sessions is None else self._packed_sessions

    @property
    def session_count(self) -> int:
        """Count the sessions."""
        return len(self.sessions if self._packed_sessions is None else self._packed_sessions)

    def add(self, turn: TurnRecorded, event: int, concepts: Sequence[int]) -> int:
        """Append a passage whose postings are `turn.concepts` under the numbers `concepts`; return its number."""
        if self._packed is not None:
            self.unpack()
        number = (self._numbers or self._by_id())[turn.id] = len(self._ids)
        self._ids.append(turn.id)
        self.session.append(self.sessions.setdefault(turn.session, len(self.sessions)))
        self.speaker.append(self.speakers.setdefault(turn.speaker, len(self.speakers)))
        self.event.append(event)
        for name, first in _FIRST:
            getattr(self, name).append(first(turn))
        for name, blank in _BLANK:
            getattr(self, name).frombytes(blank)
        self.changed.append(0)
        self._follow(number)
        self.starts.append(len(self.posting_concept))
        self.posting_concept.extend(concepts)
        self.posting_count.extend([concept.count for concept in turn.concepts])
        return number

    def extend(self, turns: Sequence[TurnRecorded], events: Sequence[int], concepts: Sequence[Sequence[int]]) -> None:
        """Append many passages, as `add` does one: column by column."""
        if self._packed is not None:
            self.unpack()
        first, ids = len(self._ids), [turn.id for turn in turns]
        self._by_id().update(zip(ids, range(first, first + len(ids)), strict=True))
        self._ids += ids
        sessions, speakers = self.sessions, self.speakers
        append_all(self.session, [sessions.setdefault(turn.session, len(sessions)) for turn in turns])
        append_all(self.speaker, [speakers.setdefault(turn.speaker, len(speakers)) for turn in turns])
        append_all(self.event, events)
        for name, value_of in _FIRST:
            append_all(getattr(self, name), [value_of(turn) for turn in turns])
        for name, blank in _BLANK:
            getattr(self, name).frombytes(blank * len(turns))
        self.changed.frombytes(bytes(len(turns)))
        for number in range(first, len(self._ids)):
            self._follow(number)
        lengths = [len(numbers) for numbers in concepts]
        append_all(self.starts, list(accumulate(lengths[:-1], initial=len(self.posting_concept))))
        append_all(self.posting_concept, list(chain.from_iterable(concepts)))
        append_all(self.posting_count, [concept.count for turn in turns for concept in turn.concepts])

    def _follow(self, number: int) -> None:
        """Set a passage as the last one of its session."""
        session = self.session[number]
        self._before.append(self._last_of_session.get(session, -1))
        self._last_of_session[session] = number

    def _follow_all(self) -> None:
        """Set each passage, in order, as the last one of its session."""
        self._before, self._last_of_session = _all_before(self), _last_of_all(self)

    def knows(self, turn: str) -> int | None:
        """Find the fingerprint of the turn of this id, None if none was ever accepted."""
        number = self.numbers.get(turn)
        if number is not None:
            return self.fingerprint[number]
        return self.gone.get(hashed(turn)) if self.gone else None

    def last_of(self, session: str) -> int:
        """Find the last kept passage of a session, -1 for none."""
        return self._last_of_session.get(self.sessions.get(session, -1), -1)

    def has_session(self, session: str) -> bool:
        """Return whether a turn of this session is kept."""
        return self.last_of(session) >= 0

    def erase(self, turn: str) -> None:
        """Mark a missing turn as erased: only its id is kept, not even the fingerprint of its text."""
        if turn not in self.numbers:
            self._go(turn, ERASED)

    def _go(self, turn: str, fingerprint: int) -> None:
        key = hashed(turn)
        self.gone[key] = fingerprint
        self.newly_gone.append(key)

    def holding(self, chosen: Mask, first: int = 0, last: int | None = None) -> tuple[Counts, Integers]:
        """List the postings of wanted concepts (n,) in the passages from `first` to before `last`, as they lie.

        returns  (m,) the concept of each, and (m,) its passage, ascending
        """
        starts = np.frombuffer(self.starts, np.int64) if len(self) else np.zeros(0, np.int64)
        if first >= len(starts):
            return np.zeros(0, np.int32), starts[:0]
        begin, end = starts[first], starts[last] if last is not None and last < len(starts) else None
        concepts = np.frombuffer(self.posting_concept, np.int32)[begin:end]
        at = np.flatnonzero(chosen[concepts])
        return concepts[at], np.searchsorted(starts, at + begin, "right") - 1

    def concepts_of(self, number: int) -> Sequence[int]:
        """Slice the concept numbers of a passage, forgotten ones among them."""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.posting_concept)
        return self.posting_concept[self.starts[number] : end]

    def concepts_before(self, number: int) -> Sequence[int]:
        """Slice the concept numbers of the passage before this one in its session, () if it is the first."""
        before = self._before[number]
        return () if before < 0 else self.concepts_of(before)

    def before_within(self, number: int, tokens: float) -> Iterator[int]:
        """Yield the kept passages before this one in its session, the last first, as long as they fit into `tokens`."""
        before = self._before[number]
        while before >= 0:
            if self.kept[before]:
                tokens -= self.tokens[before]
                if tokens < 0:
                    return
                yield before
            before = self._before[before]

    def backwards(self, session: int) -> Iterator[int]:
        """Yield the passages of a session that are kept, the last folded first."""
        passage = self._last_of_session.get(session, -1)
        while passage >= 0:
            if self.kept[passage]:
                yield passage
            passage = self._before[passage]

    def postings(self, first: int) -> tuple[Counts, Counts]:
        """Copy the concept numbers of the passages from `first` on, (m,), and how many each has, (passages,)."""
        starts = np.append(np.frombuffer(self.starts, np.int64)[first:], len(self.posting_concept))
        concepts = np.frombuffer(self.posting_concept, np.int32)[starts[0] :].copy()
        return concepts, np.diff(starts).astype(np.int32)

    def exchanges(self, first: int, phrases: Sequence[int]) -> tuple[Integers, Integers]:
        """List the concepts of each exchange, once: of the window of a passage from `first` on, and of the one before.

        returns  (m,) position of the passage, counted from `first`, ascending, (m,) concept number
        """
        before = np.array(self._before[first:], np.int64)
        follows = np.flatnonzero(before >= 0)
        position = np.concatenate((np.arange(len(before)), follows))
        passages = np.concatenate((np.arange(first, len(self)), before[follows]))
        starts, ends = self.bounds(passages)
        lengths = ends - starts
        total = np.cumsum(lengths)
        postings = np.repeat(ends - total, lengths) + np.arange(total[-1])
        concepts = np.frombuffer(self.posting_concept, np.int32)[postings].astype(np.int64)
        counts = in_window(concepts, lengths, phrases)
        pairs = np.sort(np.repeat(position, lengths)[counts] << 32 | concepts[counts])
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return pairs >> 32, pairs & 0xFFFFFFFF

    def bounds(self, passages: Integers) -> tuple[Integers, Integers]:
        """Find where the postings of each of `passages` begin, and where they end."""
        if not len(passages):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        starts = np.frombuffer(self.starts, np.int64)
        ends = starts[np.minimum(passages + 1, len(starts) - 1)]
        return starts[passages], np.where(passages + 1 < len(starts), ends, len(self.posting_concept))

    def archive(self, number: int, repeats: int = -1) -> None:
        """Move a passage to the archive, as one that `repeats` another if it does."""
        self.archived[number] = self.changed[number] = 1
        if repeats >= 0:
            self.repeats[number] = repeats

    def restore(self, number: int, at: int) -> None:
        """Bring a passage back from the archive at `at` (ms): its life begins again."""
        self.archived[number] = 0
        self.changed[number] = 1
        self.restored[number] = max(self.restored[number], at)

    def pin(self, number: int, *, pinned: bool) -> None:
        """Keep a passage in mind, out of the archive too, or let it end again."""
        self.pinned[number] = pinned
        self.changed[number] = 1
        if pinned:
            self.archived[number] = 0

    def judge(self, number: int, value: float) -> None:
        """Add what a user thinks of a passage, in [−1, 1]."""
        self.feedback[number] = max(-127, min(127, self.feedback[number] + round(10 * value)))
        self.changed[number] = 1

    def supersede(self, number: int, newer: int) -> None:
        """Mark a passage as out of date since another."""
        self.superseded[number] = newer
        self.changed[number] = 1

    def stays(self, number: int) -> bool:
        """Return whether no window may archive a passage: it is pinned, or matters too much."""
        return bool(self.pinned[number]) or self.importance[number] > PROTECTED

    def over_at(self, number: int, life: int) -> int:
        """Compute when a passage is over, ms: `life` after it was said, or came back from the archive.

        One that a spontaneous anchor holds lives HOLDS times as long.
        """
        return (self.restored[number] or self.at[number]) + (life * HOLDS if self.anchored[number] else life)

    def is_active(self) -> NDArray[np.bool_]:
        """Return which passages are neither archived nor gone, (p,)."""
        return np.array(self.kept, np.bool_) & ~np.array(self.archived, np.bool_)

    def remove(self, number: int) -> None:
        """Take a passage out for good; its id stays known."""
        self.unpack()
        turn, session = self._ids[number], self.session[number]
        self._go(turn, self.fingerprint[number])
        self.removed.append(self.event[number])
        self.kept[number] = 0
        del self._by_id()[turn]
        if self._last_of_session.get(session) == number:
            self._find_last(session, number)

    def _find_last(self, session: int, number: int) -> None:
        """Set the session's last passage to the last one that is kept, as compaction would."""
        while number >= 0 and not self.kept[number]:
            number = self._before[number]
        if number >= 0:
            self._last_of_session[session] = number
        else:
            del self._last_of_session[session]

    def compacted(self, concepts: Integers) -> tuple[PassageTable, Integers]:
        """Copy the table without the passages that are gone.

        concepts  (n,) new number of each concept, -1 for the forgotten ones: their postings are left out
        returns   the copy, and (p,) the number of each passage in it, -1 for the gone ones

        Sessions and speakers get the order of their first kept passage: what compaction leaves must not depend on when
        it was done.
        """
        kept = np.array(self.kept, np.bool_)
        of_passage = np.repeat(np.arange(len(self)), self.lengths())
        concept, count = self.copies("posting").values()
        stays = kept[of_passage] & (concepts[concept] >= 0)
        numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        arrays = {name: rows[kept] for name, rows in self.copies("row").items()}
        for each in self.columns:
            if each.points == "turns":
                pointing = np.append(numbers, -1)[arrays[each.packed_as]]  # -1: the last, and stays so
                arrays[each.packed_as] = pointing.astype(each.code)
        counted = np.bincount(of_passage[stays], minlength=len(self))[kept]
        arrays["starts"] = (np.cumsum(counted) - counted).astype(np.int64)
        arrays["posting_concept"] = concepts[concept[stays]].astype(np.int32)
        arrays["posting_count"] = count[stays]
        sessions, arrays["session"] = _in_order(list(self.sessions), arrays["session"])
        speakers, arrays["speaker"] = _in_order(list(self.speakers), arrays["speaker"])
        turns = list(compress(self.ids, self.kept))
        table = PassageTable.of({"turns": turns, "sessions": sessions, "speakers": speakers}, arrays)
        table.gone, table.newly_gone, table.removed = self.gone, self.newly_gone, self.removed
        table.changed = array("b", np.array(self.changed)[kept].tobytes())
        table.origins = {
            end: {name: key for name, key in origins.items() if name in getattr(table, end)}
            for end, origins in self.origins.items()
        }
        return table, numbers

    def is_stored(self) -> None:
        """Note that all that the table holds has been stored."""
        self.changed, self.removed, self.newly_gone = array("b", bytes(len(self))), [], []

    def lengths(self) -> Integers:
        """Count the postings of each passage, (p,)."""
        return np.diff(np.array(self.starts), append=len(self.posting_concept))

    def values(self) -> dict[str, Any]:
        """Return what is text as JSON-able values."""
        return {"turns": list(self.ids), "sessions": list(self.sessions), "speakers": list(self.speakers)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy what a digest covers into arrays by name; gone turns by their hash, ascending."""
        gone_turns = sorted(self.gone.items())
        gone = np.array([turn for turn, _ in gone_turns], np.int64)
        texts = np.array([text for _, text in gone_turns], np.int64)
        return {**super().arrays(), "archived": gone, "archived_fingerprint": texts}

    @classmethod
    def of(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> PassageTable:
        """Build the table that `values` and `arrays` described."""
        table = cls()
        table._ids = values["turns"]
        table._numbers = None
        table.sessions = dict(zip(values["sessions"], range(len(values["sessions"])), strict=True))
        table.speakers = dict(zip(values["speakers"], range(len(values["speakers"])), strict=True))
        table.read(arrays)
        table.changed = array("b", bytes(len(table)))
        table._follow_all()
        if "archived" in arrays:
            texts = arrays["archived_fingerprint"].tolist()
            table.gone = dict(zip(arrays["archived"].tolist(), texts, strict=True))
        return table

    @classmethod
    def from_store(
        cls,
        ids: Places,
        sessions: Strings,
        speakers: Sequence[str],
        origins: LazyColumn,
        lazy: Mapping[str, LazyColumn],
    ) -> PassageTable:
        """Begin with what is stored: ids (p,), and the names of sessions and speakers, by number.

        origins  the attribute of that name;  lazy: the columns
        """
        table = cls()
        table._packed, table._numbers, table._packed_sessions = ids, None, sessions
        table.speakers = dict(zip(speakers, range(len(speakers)), strict=True))
        table.changed = array("b", bytes(len(ids)))
        named = LazyColumn(lambda _: dict(zip(sessions, range(len(sessions)), strict=True)))
        follows = {"_before": LazyColumn(_all_before, 4 * len(ids)), "_last_of_session": LazyColumn(_last_of_all)}
        table.set_lazy({**lazy, **follows, "sessions": named, "origins": origins})
        return table


_BY_HAND = ("session", "speaker", "event")  # `add` fills them
_ROWS: Final = [each for each in PassageTable.columns if each.per == "row" and each.name not in _BY_HAND]
_FIRST: Final = [(each.name, each.first) for each in _ROWS if each.first is not None]
_BLANK: Final = [(each.name, each.blank) for each in _ROWS if each.first is None]


def _all_before(table: PassageTable) -> array[int]:
    """Find the passage before each one in its session."""
    session = np.frombuffer(table.session, np.int32)
    order = stable_order(session)
    goes_on = np.flatnonzero(session[order][1:] == session[order][:-1])
    before = np.full(len(order), -1, np.int32)
    before[order[goes_on + 1]] = order[goes_on]
    return array("i", before.tobytes())


def _last_of_all(table: PassageTable) -> dict[int, int]:
    """Find the last passage of each session."""
    last = np.zeros(table.session_count, np.int64)
    last[np.frombuffer(table.session, np.int32)] = np.arange(len(table))  # of those of one session, the last counts
    return dict(enumerate(last.tolist()))


def _in_order(names: list[str], numbers: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    """Order the names by when `numbers` first point at them; change the numbers so."""
    order = {old: new for new, old in enumerate(dict.fromkeys(numbers.tolist()))}
    renumbered = np.array([order[old] for old in numbers.tolist()], numbers.dtype)
    return [names[old] for old in order], renumbered
