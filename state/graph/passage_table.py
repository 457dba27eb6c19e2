"""The turns of one graph, as columns; a passage's number is its position, in the order folded.

    ids                      turn id; `numbers` finds the position
    at                       event time, ms
    tokens                   length in words
    question                 0 or 1
    session, speaker, role   position in `sessions`, `speakers`, ROLES
    event                    ordinal among the graph's events: where its text lies in the store
    fingerprint              first 8 bytes of sha256(text), as int64
    starts                   where its postings begin; they end where the next passage's begin
    kept                     0 once archived
    _before                  the passage before it in its session, -1 for none; derived from `session`, so not packed

    archived   hash of turn id → fingerprint: an archived turn's id stays known for ever, and that is all that stays

    postings   (concept number, count), by passage ascending: the only copy of "which concept stands where"

Texts are not here: they stay in the store, and only recalled passages are read.  An archived passage leaves `numbers`
at once, and its row goes with the next compaction (Graph.compact); the turn itself stays in the log.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state.events.events import TurnRecorded

Integers = NDArray[np.int64]
ROLES = (None, "user", "assistant", "system", "tool")
_ROLE_NUMBERS = {role: number for number, role in enumerate(ROLES)}


def fingerprint(text: str) -> int:
    """Return what tells two texts under one turn id apart."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big", signed=True)


def hashed(turn: str) -> int:
    """Return what an archived turn's id is known by: 64 bits, so that two of n ids meet once in 2^64 / n graphs."""
    return int.from_bytes(hashlib.blake2b(turn.encode(), digest_size=8).digest(), "big", signed=True)


class PassageTable:
    """Columns over passage numbers.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.speakers: dict[str, int] = {}
        self.archived: dict[int, int] = {}
        self._last_of_session: dict[int, int] = {}
        self._before = array("i")
        for name, code in _COLUMNS.items():
            setattr(self, name, array(code))

    at: array[int]
    tokens: array[int]
    session: array[int]
    speaker: array[int]
    role: array[int]
    question: array[int]
    event: array[int]
    fingerprint: array[int]
    starts: array[int]
    kept: array[int]
    posting_concept: array[int]
    posting_count: array[int]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def accepted(self) -> int:
        """Return how many turns there are, archived ones among them."""
        return len(self.numbers) + len(self.archived)

    def add(self, turn: TurnRecorded, event: int, concepts: Sequence[int]) -> None:
        """Append a passage whose postings are `turn.concepts` under the numbers `concepts`."""
        number = self.numbers[turn.id] = len(self.ids)
        self.ids.append(turn.id)
        self.at.append(turn.at)
        self.tokens.append(turn.tokens)
        self.session.append(self.sessions.setdefault(turn.session, len(self.sessions)))
        self.speaker.append(self.speakers.setdefault(turn.speaker, len(self.speakers)))
        self.role.append(_ROLE_NUMBERS[turn.role])
        self.question.append(turn.question)
        self.event.append(event)
        self.fingerprint.append(fingerprint(turn.text))
        self.kept.append(1)
        self._follow(number)
        self.starts.append(len(self.posting_concept))
        self.posting_concept.extend(concepts)
        self.posting_count.extend([concept.count for concept in turn.concepts])

    def _follow(self, number: int) -> None:
        """Let a passage be the last one of its session."""
        session = self.session[number]
        self._before.append(self._last_of_session.get(session, -1))
        self._last_of_session[session] = number

    def knows(self, turn: str) -> int | None:
        """Return the fingerprint of the turn of this id, None if none was ever accepted."""
        number = self.numbers.get(turn)
        if number is not None:
            return self.fingerprint[number]
        return self.archived.get(hashed(turn)) if self.archived else None

    def concepts_of(self, number: int) -> Sequence[int]:
        """Return the concept numbers of a passage, forgotten ones among them."""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.posting_concept)
        return self.posting_concept[self.starts[number] : end]

    def concepts_before(self, number: int) -> Sequence[int]:
        """Return the concept numbers of the passage before this one in its session, () if it is the first."""
        before = self._before[number]
        return () if before < 0 else self.concepts_of(before)

    def postings(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the concept numbers of the passages from `first` on, and (passages,) how many each has."""
        starts = np.append(np.array(self.starts[first:], np.int64), len(self.posting_concept))
        return np.array(self.posting_concept[starts[0] :], np.int32), np.diff(starts).astype(np.int32)

    def exchanges(self, first: int) -> tuple[Integers, Integers]:
        """Return the concepts of each exchange, once: of a passage from `first` on, and of the one before it.

        returns  (m,) position of the passage, counted from `first`, ascending, (m,) concept number
        """
        before = np.array(self._before[first:], np.int64)
        follows = np.flatnonzero(before >= 0)
        position = np.concatenate((np.arange(len(before)), follows))
        passages = np.concatenate((np.arange(first, len(self)), before[follows]))
        starts, ends = self._bounds(passages)
        lengths = ends - starts
        total = np.cumsum(lengths)
        postings = np.repeat(ends - total, lengths) + np.arange(total[-1])
        concepts = np.frombuffer(self.posting_concept, np.int32)[postings].astype(np.int64)
        found = np.sort(np.repeat(position, lengths) << 32 | concepts)
        found = found[np.diff(found, prepend=-1) > 0]
        return found >> 32, found & 0xFFFFFFFF

    def _bounds(self, passages: Integers) -> tuple[Integers, Integers]:
        """Return where the postings of each of `passages` begin, and where they end."""
        starts = np.frombuffer(self.starts, np.int64)
        ends = starts[np.minimum(passages + 1, len(starts) - 1)]
        return starts[passages], np.where(passages + 1 < len(starts), ends, len(self.posting_concept))

    def archive(self, number: int) -> None:
        """Take a passage out; its id stays known."""
        turn, session = self.ids[number], self.session[number]
        self.archived[hashed(turn)] = self.fingerprint[number]
        self.kept[number] = 0
        del self.numbers[turn]
        if self._last_of_session.get(session) == number:
            self._find_last(session, number)

    def _find_last(self, session: int, number: int) -> None:
        """Let the session's last passage be the last one that is kept, so that compaction changes nothing."""
        while number >= 0 and not self.kept[number]:
            number = self._before[number]
        if number >= 0:
            self._last_of_session[session] = number
        else:
            del self._last_of_session[session]

    def compacted(self, concepts: Integers) -> tuple[PassageTable, Integers]:
        """Return the table of the kept passages, and (p,) their numbers in it, -1 for the archived ones.

        concepts  (n,) new number of each concept, -1 for the forgotten ones: their postings are left out

        Sessions and speakers get the order of their first kept passage: what compaction leaves must not depend on when
        it was done.
        """
        columns = {name: np.array(getattr(self, name)) for name in _COLUMNS}
        kept = columns["kept"].astype(np.bool_)
        of_passage = np.repeat(np.arange(len(self)), self.lengths())
        stays = kept[of_passage] & (concepts[columns["posting_concept"]] >= 0)
        arrays = {name: columns[name][kept] for name in columns if not name.startswith("posting") and name != "starts"}
        counted = np.bincount(of_passage[stays], minlength=len(self))[kept]
        arrays["starts"] = (np.cumsum(counted) - counted).astype(np.int64)
        arrays["posting_concept"] = concepts[columns["posting_concept"][stays]].astype(np.int32)
        arrays["posting_count"] = columns["posting_count"][stays]
        sessions, arrays["session"] = _in_order(list(self.sessions), arrays["session"])
        speakers, arrays["speaker"] = _in_order(list(self.speakers), arrays["speaker"])
        turns = [turn for turn, stayed in zip(self.ids, self.kept, strict=True) if stayed]
        table = PassageTable.of({"turns": turns, "sessions": sessions, "speakers": speakers}, arrays)
        table.archived = self.archived
        return table, np.where(kept, np.cumsum(kept) - 1, -1)

    def lengths(self) -> NDArray[np.int64]:
        """Return (p,) the number of postings of each passage."""
        return np.diff(np.array(self.starts), append=len(self.posting_concept))

    def values(self) -> dict[str, Any]:
        """Return the columns that are text."""
        return {"turns": self.ids, "sessions": list(self.sessions), "speakers": list(self.speakers)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return copies of the columns that are numbers, but for `event`, which is no content (Graph.digest)."""
        columns = {name: np.array(getattr(self, name)) for name in _COLUMNS if name != "event"}
        known = sorted(self.archived.items())
        columns["archived"] = np.array([turn for turn, _ in known], np.int64)
        columns["archived_fingerprint"] = np.array([text for _, text in known], np.int64)
        return columns

    @classmethod
    def of(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> PassageTable:
        """Return the table that `values` and `arrays` described."""
        table = cls()
        table.ids = values["turns"]
        table.numbers = {turn: number for number, turn in enumerate(table.ids)}
        table.sessions = {session: number for number, session in enumerate(values["sessions"])}
        table.speakers = {speaker: number for number, speaker in enumerate(values["speakers"])}
        for name in _COLUMNS:
            getattr(table, name).frombytes(arrays[name].tobytes())
        for number in range(len(table)):
            table._follow(number)
        if "archived" in arrays:
            texts = arrays["archived_fingerprint"].tolist()
            table.archived = dict(zip(arrays["archived"].tolist(), texts, strict=True))
        return table


def _in_order(names: list[str], numbers: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    """Return the names that `numbers` point at, in the order in which they first do, and the numbers so changed."""
    order = {old: new for new, old in enumerate(dict.fromkeys(numbers.tolist()))}
    renumbered = np.array([order[old] for old in numbers.tolist()], numbers.dtype)
    return [names[old] for old in order], renumbered


_COLUMNS = {
    "at": "q",
    "tokens": "i",
    "session": "i",
    "speaker": "i",
    "role": "b",
    "question": "b",
    "event": "q",
    "fingerprint": "q",
    "starts": "q",
    "kept": "b",
    "posting_concept": "i",
    "posting_count": "i",
}
