"""Where to find turns by what they hold: kept as turns come, so that no question has to look through all of them.

    concept → the turns that hold it, and how often        session → its turns, in the order folded
    session → its length in words                          turn → its place in its session
    first letter, or letters → the words that begin so     two Chinese characters → the words that hold them; of a
                                                           small graph neither: its words are looked through

All of it is derived from the tables and no content.  It is brought up to date when somebody asks (`catch_up`: as much
work as there are new turns; words when one is looked for), and made anew after a compaction, which numbers everything
anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from state.arrays import Integers
from state.graph.concept_table import ConceptTable
from state.graph.lists import Growable, Lists, stable_order
from state.graph.passage_table import PassageTable

NO_TURN: Final = 1 << 31
PREFIX: Final = 4  # letters by which words are found that begin alike
FEW: Final = 1 << 11  # concepts, all of which are looked through for such words: to list them takes 150 bytes each
WORD_BYTES: Final = 150


class _Words:
    """Words by a part of them; filled when somebody looks for one.

    known   how many concepts are in
    """

    def __init__(self) -> None:
        self.known = 0
        self.lists = defaultdict[str, list[str]](list)


class TurnIndex:
    """The index of one graph's turns and words, as far as it has caught up."""

    def __init__(self, concepts: ConceptTable, passages: PassageTable) -> None:
        self._concepts, self._passages = concepts, passages
        self.postings = Lists(columns=2)
        self.sessions = Lists()
        self._place, self._session_tokens = Growable(np.int32), Growable(np.int64)
        self._turns = 0  # up to which all is in
        self.tokens, self.lengths = 0, (NO_TURN, 0)  # words of all turns; of the shortest and the longest
        self._beginning, self._holding, self._initials = _Words(), _Words(), _Words()

    def belongs_to(self, concepts: ConceptTable, passages: PassageTable) -> bool:
        """Say whether these are the tables that it indexes: a compaction makes others."""
        return self._concepts is concepts and self._passages is passages

    def catch_up(self) -> None:
        """Take in the turns that have come since."""
        self.postings.grow(len(self._concepts))
        first, self._turns = self._turns, len(self._passages)
        if first == self._turns:
            return
        passages = np.arange(first, self._turns)
        concepts, sizes = self._passages.postings(first)
        counts = np.frombuffer(self._passages.posting_count, np.int32)[self._passages.starts[first] :]
        self.postings.extend(concepts, np.repeat(passages.astype(np.int32), sizes), counts)
        self._take_sessions(passages)

    def _take_sessions(self, passages: Integers) -> None:
        session = np.frombuffer(self._passages.session, np.int32)[passages[0] :].astype(np.int64)
        tokens = np.frombuffer(self._passages.tokens, np.int32)[passages[0] :].astype(np.int64)
        sessions = len(self._passages.sessions)
        self.sessions.grow(sessions)
        self._session_tokens.grow(sessions)
        self._place.grow(self._turns)
        order = stable_order(session)
        ordered = session[order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        within = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
        self._place.rows[passages[order]] = self.sessions.lengths[ordered] + within
        self.sessions.extend(session, passages)
        np.add.at(self._session_tokens.rows, session, tokens)
        self.tokens += int(tokens.sum())
        shortest, longest = self.lengths
        self.lengths = min(shortest, int(tokens.min())), max(longest, int(tokens.max()))

    def _words_since(self, of: _Words) -> Iterator[str]:
        """Yield the words that have come since somebody looked for one there."""
        first, of.known = of.known, len(self._concepts)
        ids, is_mark = self._concepts.ids, self._concepts.is_mark
        return (name for name, marks in zip(ids[first:], is_mark[first:], strict=True) if not marks)

    def _words(self) -> Iterator[str]:
        ids, is_mark = self._concepts.ids, self._concepts.is_mark
        return (name for name, marks in zip(ids, is_mark, strict=True) if not marks)

    @property
    def _are_few(self) -> bool:
        return len(self._concepts) <= FEW

    @property
    def size(self) -> int:
        """How much memory it takes, about, bytes."""
        words = sum(each.known for each in (self._beginning, self._holding, self._initials))
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
        if self._are_few:
            return [name for name in self._words() if name[:PREFIX] == prefix]
        for name in self._words_since(self._beginning):
            self._beginning.lists[name[:PREFIX]].append(name)
        return self._beginning.lists.get(prefix, ())

    def words_with_initial(self, letter: str) -> Sequence[str]:
        """List the words that begin with this letter, in the order first seen."""
        if self._are_few:
            return [name for name in self._words() if name[:1] == letter]
        for name in self._words_since(self._initials):
            self._initials.lists[name[:1]].append(name)
        return self._initials.lists.get(letter, ())

    def words_holding(self, pair: str) -> Sequence[str]:
        """List the words that hold these two characters, in no ASCII script, in the order first seen."""
        if self._are_few:
            return [name for name in self._words() if pair in name and len(pair) > 1 and not name.isascii()]
        for name in self._words_since(self._holding):
            for each in () if name.isascii() else {name[at : at + 2] for at in range(len(name) - 1)}:
                self._holding.lists[each].append(name)
        return self._holding.lists.get(pair, ())
