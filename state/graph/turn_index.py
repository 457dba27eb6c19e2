"""An index of turns by concept, session and word, so that no question has to scan all turns.

    concept → the turns that hold it, and how often        session → its turns, in the order folded
    session → its length in words                          turn → its place in its session
    first letter, or letters → the words that begin so     two Chinese characters → the words that hold them; of a
                                                           small graph neither: its words are looked through

All of it is derived from the tables and no content.  It is brought up to date on first use (`catch_up`: as much
work as there are new turns; words when one is looked for), and rebuilt after a compaction, which numbers everything
again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from state.arrays import Counts, Integers
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.lists import Growable, Lists, stable_order
from state.graph.tables.passage_table import PassageTable

NO_TURN: Final = 1 << 31
MANY = 1 << 19  # postings: from so many on, those of a concept are first searched for one by one
LOOKS = 32  # times that one is looked for
LOOKED_FOR_MANY: Final = 4  # times of that, to look for many in one go
MANY_WORDS = 1 << 14  # that are not listed yet
WORDS_LOOKED = 8  # parts of words
WORDS_LOOKED_PACKED: Final = 64  # the same while ids are packed: to look through them takes less
AT_ONCE: Final = 1 << 18  # postings
PREFIX: Final = 4  # letters by which words are found that begin alike
FEW: Final = 1 << 8  # concepts: so few are all searched; an index of them would take 150 bytes each
WORD_BYTES: Final = 150


class _Words:
    """Words by a part of them; filled after the first search.

    known   how many concepts are in;  looked: how often words that are not in were searched
    """

    def __init__(self) -> None:
        self.indexed = self.looked = 0
        self.lists = defaultdict[str, list[str]](list)


class Postings:
    """The turns that hold a concept, and how often.

    Where there are many, as in a graph that was just opened, those of a concept are looked for on first use,
    until that has cost about as much as to sort all of them does.
    """

    def __init__(self, passages: PassageTable) -> None:
        self._passages, self._turns = passages, 0
        self._sorted: Lists | None = None  # as soon as they are
        self._lengths = Growable(np.int64)
        self._cached: dict[int, tuple[Counts, Counts]] = {}
        self._looked = 0

    def catch_up(self, concepts: int) -> None:
        """Take in the turns that have come since, of a graph of so many concepts."""
        first, self._turns = self._turns, len(self._passages)
        self._lengths.grow(concepts)
        if first < self._turns:
            self._count(np.frombuffer(self._passages.posting_concept, np.int32)[self._passages.starts[first] :])
            self._cached.clear()
            if self._sorted is not None or len(self._passages.posting_concept) < MANY:
                self._sort(first)
        if self._sorted is not None:
            self._sorted.grow(concepts)

    def _count(self, counted_concepts: Counts) -> None:
        lengths = self._lengths.rows
        if len(counted_concepts) < len(lengths):
            np.add.at(lengths, counted_concepts, 1)
            return
        for start in range(0, len(counted_concepts), AT_ONCE):  # bincount copies what it is given
            lengths += np.bincount(counted_concepts[start : start + AT_ONCE], minlength=len(lengths))

    def _sort(self, first: int) -> Lists:
        """Sort the postings of the turns from `first` on in."""
        if self._sorted is None:
            self._sorted, first = Lists(columns=2), 0
            self._sorted.grow(self._lengths.size)
        concepts, sizes = self._passages.postings(first)
        counts = np.frombuffer(self._passages.posting_count, np.int32)
        turns = np.repeat(np.arange(first, self._turns, dtype=np.int32), sizes)
        self._sorted.extend(concepts, turns, counts[len(counts) - len(concepts) :])
        self._cached.clear()
        return self._sorted

    @property
    def taken(self) -> int:
        """Return the approximate memory use in bytes."""
        cached_bytes = sum(turns.nbytes + counts.nbytes for turns, counts in self._cached.values())
        return cached_bytes + self._lengths.taken + (self._sorted.taken if self._sorted else 0)

    @property
    def lengths(self) -> Integers:
        """Return the number of turns that hold each concept; the next change invalidates it."""
        return self._lengths.rows

    def of(self, concept: int) -> tuple[Counts, ...]:
        """List the turns that hold a concept, ascending, and how often each does: to be read at once, and not kept."""
        if self._sorted is not None:
            return self._sorted.of(concept)
        postings = self._cached.get(concept)
        if postings is None:
            self._looked += 1
            if self._looked > LOOKS:
                return self._sort(0).of(concept)
            at = np.flatnonzero(np.frombuffer(self._passages.posting_concept, np.int32) == concept)
            postings = self._cached[concept] = self._at(at)
        return postings

    def look_for(self, concepts: Integers) -> None:
        """Find the postings of several concepts in one pass, before each is read."""
        if self._sorted is not None or not self._turns:
            return
        is_missing = np.zeros(self._lengths.size, np.bool_)
        is_missing[concepts] = True
        is_missing[list(self._cached)] = False
        if not is_missing.any():
            return
        self._looked += LOOKED_FOR_MANY
        if self._looked > LOOKS:
            self._sort(0)
            return
        concept_of = np.frombuffer(self._passages.posting_concept, np.int32)
        at = np.flatnonzero(is_missing[concept_of])
        at = at[stable_order(concept_of[at])]
        ends = np.cumsum(self._lengths.rows[is_missing])[:-1]
        columns = (np.split(column, ends) for column in self._at(at))
        self._cached.update(zip(np.flatnonzero(is_missing).tolist(), zip(*columns, strict=True), strict=True))

    def of_several(self, concepts: Integers) -> tuple[Integers, ...]:
        """Copy the lists of `concepts` (k,), one behind the other: (m,) the position of each, turn, how often.

        As `of_all`, without sorting all that there is for the sake of a few.
        """
        if not len(concepts):
            none = np.zeros(0, np.int64)
            return none, none, none
        self.look_for(concepts)
        if self._sorted is not None:
            return self._sorted.of_all(concepts)
        turns, counts = zip(*(self.of(concept) for concept in concepts.tolist()), strict=True)
        of = np.repeat(np.arange(len(concepts)), [len(each) for each in turns])
        return of, np.concatenate(turns).astype(np.int64), np.concatenate(counts).astype(np.int64)

    def _at(self, at: Integers) -> tuple[Counts, Counts]:
        """Read the turns of postings, and how often each says it."""
        passages = np.searchsorted(np.frombuffer(self._passages.starts, np.int64), at, "right") - 1
        return passages.astype(np.int32), np.frombuffer(self._passages.posting_count, np.int32)[at]

    def of_all(self, concepts: Integers) -> tuple[Integers, ...]:
        """Copy the lists of `concepts` (k,), one behind the other: (m,) the position of each, turn, how often."""
        return (self._sorted or self._sort(0)).of_all(concepts)


class TurnIndex:
    """The index of one graph's turns and words, as far as it has caught up."""

    def __init__(self, concepts: ConceptTable, passages: PassageTable) -> None:
        self._concepts, self._passages = concepts, passages
        self.postings = Postings(passages)
        self.sessions = Lists()
        self._place, self._session_tokens = Growable(np.int32), Growable(np.int64)
        self._turns = 0  # up to which all is in
        self.tokens, self.lengths = 0, (NO_TURN, 0)  # words of all turns; of the shortest and the longest
        self._beginning, self._holding, self._initials = _Words(), _Words(), _Words()

    def belongs_to(self, concepts: ConceptTable, passages: PassageTable) -> bool:
        """Return whether these are the tables that it indexes: a compaction makes others."""
        return self._concepts is concepts and self._passages is passages

    def catch_up(self) -> None:
        """Take in the turns that have come since."""
        self.postings.catch_up(len(self._concepts))
        first, self._turns = self._turns, len(self._passages)
        if first == self._turns:
            return
        self._take_sessions(first)

    def _take_sessions(self, first: int) -> None:
        """Take in the turns from `first` on."""
        session = np.frombuffer(self._passages.session, np.int32)[first:]
        tokens = np.frombuffer(self._passages.tokens, np.int32)[first:]
        sessions = self._passages.session_count
        self.sessions.grow(sessions)
        self._session_tokens.grow(sessions)
        self._place.grow(self._turns)
        order = stable_order(session)
        ordered = session[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        which, lengths = ordered[begins], np.diff(begins, append=len(order))
        places = np.arange(len(order), dtype=np.int32)
        places += np.repeat((self.sessions.lengths[which] - begins).astype(np.int32), lengths)
        self._place.rows[first + order] = places
        self._session_tokens.rows[which] += np.add.reduceat(tokens[order].astype(np.int64), begins)
        self.sessions.extend(session, first + np.arange(len(session), dtype=np.int32))
        self.tokens += int(tokens.sum(dtype=np.int64))
        shortest, longest = self.lengths
        self.lengths = min(shortest, int(tokens.min())), max(longest, int(tokens.max()))

    def _words_since(self, of: _Words) -> Iterator[str]:
        """Yield the words that have come since the last search."""
        first, of.indexed = of.indexed, len(self._concepts)
        if first == of.indexed:
            return iter(())
        ids, is_mark = self._concepts.ids, self._concepts.is_mark
        return (name for name, marks in zip(ids[first:], is_mark[first:], strict=True) if not marks)

    def _without_marks(self, names: Iterable[str]) -> Iterator[str]:
        numbers, is_mark = self._concepts.numbers, self._concepts.is_mark
        return (name for name in names if not is_mark[numbers[name]])

    def _looked_through(self, begin: str) -> Iterator[str]:
        """Find all words that begin so."""
        packed = self._concepts.packed
        if packed is None:
            return self._without_marks([name for name in self._concepts.ids if name.startswith(begin)])
        is_mark = self._concepts.is_mark
        return (packed.ids[number] for number in packed.ids.beginning(begin) if not is_mark[number])

    @property
    def _are_few(self) -> bool:
        return len(self._concepts) <= FEW

    def _looks_through(self, of: _Words) -> bool:
        """Return whether to scan all words: if they are few, or if listing many would not pay for a few questions."""
        of.looked += 1
        most = WORDS_LOOKED if self._concepts.packed is None else WORDS_LOOKED_PACKED
        few_looked = of.looked <= most and len(self._concepts) - of.indexed > MANY_WORDS
        return few_looked or self._are_few

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        words = sum(each.indexed for each in (self._beginning, self._holding, self._initials))
        rows = (self.postings, self.sessions, self._place, self._session_tokens)
        return words * WORD_BYTES + sum(each.taken for each in rows)

    @property
    def place(self) -> Integers:
        """The place of each turn in its session, (p,): to be read at once, and not kept."""
        return self._place.rows

    @property
    def session_tokens(self) -> Integers:
        """The length of each session in words: to be read at once, and not kept."""
        return self._session_tokens.rows

    def words_beginning(self, prefix: str) -> Sequence[str]:
        """List the words that begin with these PREFIX letters, in the order first seen."""
        if self._looks_through(self._beginning):
            return [name for name in self._looked_through(prefix) if name[:PREFIX] == prefix]
        for name in self._words_since(self._beginning):
            self._beginning.lists[name[:PREFIX]].append(name)
        return self._beginning.lists.get(prefix, ())

    def words_with_initial(self, letter: str) -> Sequence[str]:
        """List the words that begin with this letter, in the order first seen."""
        if self._looks_through(self._initials):
            return [name for name in self._looked_through(letter) if name[:1] == letter]
        for name in self._words_since(self._initials):
            self._initials.lists[name[:1]].append(name)
        return self._initials.lists.get(letter, ())

    def words_holding(self, pair: str) -> Sequence[str]:
        """List the words that hold these two characters, in no ASCII script, in the order first seen."""
        if self._are_few:
            names = [name for name in self._concepts.ids if pair in name and len(pair) > 1 and not name.isascii()]
            return list(self._without_marks(names))
        for name in self._words_since(self._holding):
            for each in () if name.isascii() else {name[at : at + 2] for at in range(len(name) - 1)}:
                self._holding.lists[each].append(name)
        return self._holding.lists.get(pair, ())
