"""The concept nodes of one graph, as columns; a concept's number is its position, in first-seen order.

An archived concept has faded: it stays a node that questions find, and leaves themes and what is counted as active.
Mentioned or recalled again, it is active again.  A forgotten concept leaves `numbers` at once, and its row goes with
the next compaction (Graph.compact): mentioned again, it is a new concept.  Source: SEEDS E2 (node fields), E9 (first
strength from YAKE's weight), E10, E34, S17.

`rows` are permanent numbers of concepts, which the store uses as keys (state/lsm/record_types.py).  Of a
table that was opened from a store, ids and forms stay packed until a turn comes, or all are asked for.

A boost never makes a concept weaker at any later time, nor lets it fade sooner: both laws of decay go on over it as if
it had not been there, and what it adds is added.  So the slow curve counts from `long_since`: a power law is fast
first, and one that began again with every mention would take more than the mention brings.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state.arrays import Integers
from state.events.extraction_types import AnchorKind, Concept
from state.events.memory_settings import MemorySettings
from state.graph.tables.columns import ColumnTable, LazyColumn, column, lazy_attribute
from state.graph.tables.decay import HOLDS, NEVER, RUSH, decayed, decayed_long, lifetime, lifetime_long
from state.graph.tables.stored_names import StoredNames

CONCEPT_BYTES = 150  # beside columns: its id 60, what finds it 65, its place in lists 25
FORMS_BYTES = 300


class ConceptTable(ColumnTable):
    """Columns over concept numbers.  Only the graph's fold writes here."""

    in_turns: array[int] = column("q")  # turns that it was in
    in_exchanges: array[int] = column("q")  # exchanges that it was in: a turn and the one before it in its session
    created: array[int] = column("q")  # ms, event time of the first mention
    accessed: array[int] = column("q")  # ms, of the last mention or recall
    strength: array[float] = column("d")  # base activation as of strength_at
    strength_at: array[int] = column("q")  # ms
    recalls: array[int] = column("q")  # reinforcing queries that woke it
    first_recall: array[int] = column("q")  # ms, event time of the first of them, 0 for none
    last_recall: array[int] = column("q", added_as="last_recall")  # ms, of the last, where a graph asks for it, else 0
    seen_windows: array[int] = column("q")  # consolidation windows with a mention
    last_window: array[int] = column("q", default=-NEVER)  # ms, start of the last of them
    long_term: array[int] = column("b")  # 1 once consolidated
    long_since: array[int] = column("q")  # ms, when that was
    alive: array[int] = column("b", default=1)  # 0 once forgotten
    pinned: array[int] = column("b", added_as="pinned_concept")  # 1 while a user wants it kept in mind
    archived: array[int] = column("b", added_as="archived_concept")  # 1 from when it faded until it is boosted
    anchored: array[int] = column("b", added_as="anchored_concept")  # 1 once a turn that people keep unasked held it

    is_mark: array[int] = lazy_attribute()  # 1 for what is no word: tags ("@day:…") and phrases; derived, so not packed
    phrases: dict[int, None] = (
        lazy_attribute()
    )  # number of each phrase ("new york"), ascending: it was one from the first
    _phrases_with: dict[str, list[int]] = lazy_attribute()  # word → phrases that hold it; derived
    _forms: dict[int, dict[str, int]] = (
        lazy_attribute()
    )  # number → how often other forms were seen, in first-seen order
    _kinds: dict[int, dict[str, int]] = lazy_attribute()  # number → how often it was of each kind, in first-seen order

    def __init__(self) -> None:
        super().__init__()
        self._ids: list[str] = []  # normalised text
        self._numbers: dict[str, int] = {}  # id → number, of those that are alive
        self._packed: StoredNames | None = None  # what both are made of, until they are
        self.is_mark, self.phrases, self._phrases_with = array("b"), {}, {}
        self._first_form: list[str] = []  # the surface form that was seen first: most concepts have but that one
        self._forms, self._kinds = {}, {}
        self.rows = array("q")  # the row that each is stored under, ascending; given once, never again
        self.born = 0  # concepts ever: the next one's row
        self.stored = 0  # rows below it have been stored
        self.changed = array("b")  # 1 for those that have changed since
        self.forgotten: list[int] = []  # rows of those that were forgotten since

    def __len__(self) -> int:
        return len(self._ids) if self._packed is None else len(self._packed.ids)

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        materialised = (getattr(self, name) for name in ("_forms", "_kinds", "phrases") if not self.is_packed(name))
        return super().size + len(self) * CONCEPT_BYTES + sum(map(len, materialised)) * FORMS_BYTES

    @property
    def ids(self) -> Sequence[str]:
        """The id of each concept, its normalised text, by number: not to be kept."""
        return self._ids if self._packed is None else self._packed.ids

    @property
    def is_ascii(self) -> bool:
        """Return whether all ids are written in ASCII; of stored ones, those that are gone count as well."""
        return all(map(str.isascii, self._ids)) if self._packed is None else self._packed.ids.is_ascii

    @property
    def numbers(self) -> Mapping[str, int]:
        """Id → number, of those that are alive: not to be kept."""
        return self._numbers if self._packed is None else self._packed.numbers.quickest

    @property
    def packed(self) -> StoredNames | None:
        """Return the packed names, which find concepts by a part of their ids, as long as there is no list of ids."""
        return self._packed

    def _unpack(self) -> None:
        """List ids and forms: some are to be added, or to go."""
        if (packed := self._packed) is not None:
            self._ids = packed.ids.listed()
            self._numbers, self._first_form = packed.numbers.all(), packed.first_forms(self._ids)
            self._packed = None
            self.materialise_all()

    def numbers_of(self, concepts: Sequence[Concept], at: int) -> list[int]:
        """Find the numbers of a turn's concepts; what is new gets one.  The turn is of `at` (ms).

        To be called in the order of the log.  Before anybody reads, `grow` is to be called, and all of them mentioned.
        """
        if self._packed is not None:
            self._unpack()
        find, first_form = self._numbers.get, self._first_form
        numbers = []
        for concept in concepts:
            number = find(concept.id)
            if number is None:
                number = self._add(concept, at)
            elif concept.label != first_form[number]:
                forms = self._forms.setdefault(number, {})
                forms[concept.label] = forms.get(concept.label, 0) + 1
            if concept.kind:
                kinds = self._kinds.setdefault(number, {})
                kinds[concept.kind] = kinds.get(concept.kind, 0) + 1
            numbers.append(number)
        return numbers

    def mention(self, number: int, weight: float, *, at: int, settings: MemorySettings) -> None:
        """Fold one mention at `at` (ms).  Many at once: state/graph/counting/mentions.py."""
        self.boost(number, weight, at=at, settings=settings)
        self.in_turns[number] += 1  # after: how long it lasted until now depends on the mentions before
        window = at - at % settings.consolidate_every
        if window > self.last_window[number]:  # not again for a late turn
            self.seen_windows[number] += 1
            self.last_window[number] = window

    def _add(self, concept: Concept, at: int) -> int:
        """Add a concept that is yet to be mentioned; its row comes with `grow`."""
        name, form = intern(concept.id), concept.label  # graphs speak of the same things: one object for all of them
        number = self._numbers[name] = len(self._ids)
        self._ids.append(name)
        self._first_form.append(name if form == name else form)  # one object, where both are equal
        if concept.is_phrase:
            self._note_phrase(number)
        self.created.append(at)
        self.rows.append(self.born)
        self.changed.append(1)
        self.born += 1
        return number

    def grow(self) -> None:
        """Add blank rows for new concepts, with the time of their first mention."""
        if self._packed is not None:
            return
        old, new = len(self.in_turns), len(self._ids)
        if old == new:
            return
        for each in self.columns:
            rows = getattr(self, each.name)  # `created` has grown with each concept
            rows.frombytes(each.blank * (new - len(rows)))
        self._mark_from(old)
        self.strength_at[old:] = self.accessed[old:] = self.created[old:]

    def _mark_from(self, first: int) -> None:
        """Return which of the concepts from `first` on are no words."""
        phrases = self.phrases
        self.is_mark.extend([name[:1] == "@" for name in self._ids[first:]])
        for number in phrases if first == 0 else range(first, len(self._ids)):
            if number in phrases:
                self.is_mark[number] = 1

    def boost(self, number: int, amount: float, *, at: int, settings: MemorySettings) -> None:
        """Decay the strength up to `at`, then add `amount`.  A late event boosts without turning time back."""
        self._decay(number, at, settings)
        self.strength[number] += amount
        self.archived[number] = 0
        self.changed[number] = 1
        self.accessed[number] = max(self.accessed[number], at)

    def fade_all(self, at: int, settings: MemorySettings) -> None:
        """Bring every strength up to `at` (ms), so that other settings can count from there on."""
        for number in self.numbers.values():
            self._decay(number, at, settings)

    def _decay(self, number: int, at: int, settings: MemorySettings) -> None:
        if at > self.strength_at[number]:
            self.strength[number] = self.strength_of(number, at, settings)
            self.strength_at[number] = at
            self.changed[number] = 1

    def consolidate(self, number: int, at: int, settings: MemorySettings) -> None:
        """Make a concept long-term at `at` (ms): what it has faded to by then is the start of the slower curve."""
        if not self.long_term[number]:
            self._decay(number, at, settings)
            self.long_term[number] = 1
            self.long_since[number] = self.strength_at[number]
            self.changed[number] = 1

    def recall(self, number: int, at: int, settings: MemorySettings) -> None:
        """Fold one recall at `at` (ms)."""
        self.boost(number, settings.recall_boost, at=at, settings=settings)
        self.recalls[number] += 1
        if self.recalls[number] == 1:
            self.first_recall[number] = at
        if settings.frequent_linked:
            self.last_recall[number] = max(self.last_recall[number], at)

    def strength_of(self, number: int, at: int, settings: MemorySettings) -> float:
        """Compute the base activation at `at` (ms)."""
        strength, elapsed = self.strength[number], at - self.strength_at[number]
        if self.long_term[number]:
            return decayed_long(strength, elapsed, tau=self._tau(number, settings), beta=settings.long_beta)
        return decayed(strength, elapsed, self._half_life(number, settings))

    def expiry(self, number: int, settings: MemorySettings) -> int:
        """Compute the time (ms) from which on the concept counts as faded, NEVER if it does not fade."""
        strength, threshold = self.strength[number], settings.prune_below
        if threshold == 0.0 or self.pinned[number]:
            return NEVER
        if self.long_term[number]:
            left = lifetime_long(strength, threshold, tau=self._tau(number, settings), beta=settings.long_beta)
        else:
            left = lifetime(strength, threshold, self._half_life(number, settings))
        return min(self.strength_at[number] + left, NEVER)

    def _half_life(self, number: int, settings: MemorySettings) -> int:
        touches = self.in_turns[number] + self.recalls[number]
        half_life = settings.half_life * (100 + settings.stability * (touches - 1)) // 100
        return half_life * HOLDS if self.anchored[number] else half_life

    def _tau(self, number: int, settings: MemorySettings) -> int:
        """Compute `long_tau` of the curve that goes on from the last event: the one from `long_since`, further along.

        (1 + (a + b) / tau) = (1 + a / tau) · (1 + b / (tau + a))
        """
        tau = settings.long_tau * HOLDS if self.anchored[number] else settings.long_tau
        return tau + self.strength_at[number] - self.long_since[number]

    def anchor(self, numbers: Sequence[int], kind: AnchorKind, *, at: int, settings: MemorySettings) -> None:
        """Anchor words that were just mentioned, at `at` (ms), in a turn with an anchor; marks do not."""
        for number in numbers:
            if self.ids[number][:1] == "@":
                continue
            if kind == "forced":
                self.boost(number, RUSH, at=at, settings=settings)
            else:
                self._decay(number, at, settings)
                self.anchored[number] = self.changed[number] = 1

    def pin(self, number: int, *, pinned: bool) -> None:
        """Keep a concept in mind, out of the archive too, or let it fade again."""
        self.pinned[number] = pinned
        self.changed[number] = 1
        if pinned:
            self.archived[number] = 0

    def archive(self, number: int, *, archived: bool) -> None:
        """Move a concept to the archive, or bring it back."""
        self.archived[number] = archived
        self.changed[number] = 1

    def is_active(self) -> NDArray[np.bool_]:
        """Return which concepts are neither archived nor forgotten, (n,)."""
        return np.array(self.alive, np.bool_) & ~np.array(self.archived, np.bool_)

    def forget(self, number: int) -> None:
        """Take a concept out: nothing finds it any more."""
        self._unpack()
        self.alive[number] = 0
        self.forgotten.append(self.rows[number])
        del self._numbers[self._ids[number]]

    def forms(self, number: int) -> dict[str, int]:
        """Count how often a concept was written how; what was mentioned first comes first."""
        return {form: count for form, count in self._counted_forms(number).items() if count > 0}

    def _counted_forms(self, number: int) -> dict[str, int]:
        """Count how often each surface form was seen, in first-seen order."""
        others = self._forms.get(number, {})
        return {self._form(number): self.in_turns[number] - sum(others.values()), **others}

    def _form(self, number: int) -> str:
        """Return the surface form of a concept that was seen first."""
        return self._first_form[number] if self._packed is None else self._packed.first_form(number)

    def phrases_with(self, word: str) -> list[int]:
        """List the phrases that hold a word, by its id; forgotten ones among them."""
        return self._phrases_with.get(word, [])

    def _note_phrase(self, number: int) -> None:
        self.phrases[number] = None
        _note_words(self._phrases_with, self._ids[number], number)

    def kind(self, number: int) -> str:
        """Return what a concept was most often, of equals the first; "" if unknown."""
        kinds = self._kinds.get(number)
        return max(kinds, key=lambda kind: kinds[kind]) if kinds else ""

    def is_part(self, number: int) -> bool:
        """Return whether a concept stood mostly inside other words, where it may be a wrong cut."""
        return 2 * self._kinds.get(number, {}).get("part", 0) > self.in_turns[number]

    def label(self, number: int) -> str:
        """Find the most frequent surface form of a concept; of equals, the one seen first."""
        if number not in self._forms:
            return self._form(number)
        forms = self._counted_forms(number)
        return max(forms, key=lambda form: forms[form])  # the first of equals, as dicts keep order

    def labels(self) -> list[str]:
        """List the label of every concept, by number."""
        self._unpack()
        labels = list(self._first_form)
        for number in self._forms:
            labels[number] = self.label(number)
        return labels

    def compacted(self) -> tuple[ConceptTable, Integers]:
        """Copy the table without its forgotten concepts.

        returns  the copy, and (n,) the number of each concept in it, -1 for the forgotten ones
        """
        self._unpack()
        kept = np.array(self.alive, np.bool_)
        numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        renumbered = ((int(numbers[old]), self._counted_forms(old)) for old in self._forms)
        values = {
            "ids": list(compress(self._ids, self.alive)),
            "first_form": list(compress(self._first_form, self.alive)),
            "forms": [[new, list(forms.items())] for new, forms in renumbered if new >= 0],
            "kinds": [[int(numbers[old]), list(kinds.items())] for old, kinds in self._kinds.items() if kept[old]],
            "phrases": [int(numbers[old]) for old in self.phrases if kept[old]],
        }
        table = ConceptTable.of(values, {name: rows[kept] for name, rows in self.copies().items()})
        table.rows = array("q", np.array(self.rows)[kept].tobytes())
        table.changed = array("b", np.array(self.changed)[kept].tobytes())
        table.born, table.stored, table.forgotten = self.born, self.stored, self.forgotten
        return table, numbers

    def first_form(self, number: int) -> str | None:
        """Return the surface form of a concept that was seen first, None if that is the id."""
        name, form = self.ids[number], self._form(number)
        return None if form == name else form

    def kinds_of(self, number: int) -> dict[str, int]:
        """Count how often a concept was of each kind, {} if unknown."""
        return self._kinds.get(number, {})

    def other_forms(self, number: int) -> dict[str, int]:
        """Count how often a concept was written otherwise than first, {} if it never was."""
        return self._forms.get(number, {})

    def is_stored(self) -> None:
        """Note that all that the table holds has been stored."""
        self.stored, self.forgotten = self.born, []
        self.changed = array("b", bytes(len(self)))

    def values(self) -> dict[str, Any]:
        """Return what is text as JSON-able values."""
        self._unpack()
        forms = [[number, list(self._counted_forms(number).items())] for number in sorted(self._forms)]
        kinds = [[number, list(self._kinds[number].items())] for number in sorted(self._kinds)]
        optional: dict[str, Any] = {"kinds": kinds} if kinds else {}  # a graph without any has no trace of it
        optional |= {"phrases": list(self.phrases)} if self.phrases else {}
        return {"ids": self._ids, "first_form": self._first_form, "forms": forms, **optional}

    @classmethod
    def of(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ConceptTable:
        """Build the table that `values` and `arrays` described."""
        table = cls()
        table._ids = values["ids"]
        table._numbers = dict(zip(table._ids, range(len(table._ids)), strict=True))
        table._kinds = {number: dict(kinds) for number, kinds in values.get("kinds", ())}
        for phrase in values.get("phrases", ()):
            table._note_phrase(phrase)
        table._mark_from(0)
        table._first_form = values["first_form"]
        table._forms = {number: dict(others) for number, (_, *others) in values["forms"]}
        table.read(arrays)
        table.born = len(table._ids)
        table.rows = array("q", range(table.born))
        table.changed = array("b", bytes(table.born))
        return table

    @classmethod
    def from_store(cls, names: StoredNames, lazy: Mapping[str, LazyColumn], rows: Integers, born: int) -> ConceptTable:
        """Begin with stored concepts: names (n,), the row (n,) of each, and the number of rows ever created.

        lazy  the columns, `_forms` and `_kinds`
        """
        table = cls()
        table._packed = names
        table.rows, table.changed = array("q", rows.tobytes()), array("b", bytes(len(rows)))
        table.born = table.stored = born
        phrases = {"phrases": LazyColumn(lambda _: dict.fromkeys(np.flatnonzero(names.is_phrase).tolist()))}
        table.set_lazy(
            {**lazy, **phrases, "_phrases_with": LazyColumn(_words_of_phrases), "is_mark": LazyColumn(_marks)}
        )
        return table


def _note_words(phrases_with: dict[str, list[int]], phrase: str, number: int) -> None:
    for word in dict.fromkeys(phrase.split(" ")):
        phrases_with.setdefault(word, []).append(number)


def _words_of_phrases(table: ConceptTable) -> dict[str, list[int]]:
    phrases_by_word: dict[str, list[int]] = {}
    for number in table.phrases:
        _note_words(phrases_by_word, table.ids[number], number)
    return phrases_by_word


def _marks(table: ConceptTable) -> array[int]:
    marks = array("b", bytes(len(table)))
    packed = table.packed
    ids = enumerate(table.ids) if packed is None else ()
    marked = (number for number, name in ids if name[:1] == "@") if packed is None else packed.ids.beginning("@")
    for number in chain(table.phrases, marked):
        marks[number] = 1
    return marks
