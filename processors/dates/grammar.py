"""Apply the rules of data/rules.tsv to the atoms of a text: patterns over codes, so that one rule reads every language.

    text ──▶ atoms (scanner.py) ──▶ pass 1: words ──▶ pass 2: their meanings together ──▶ pass 3: ranges and bounds

"3 weeks ago" is length ago, "hace 3 semanas" is ago length.  Each set of codes is one character, so that a rule is a
regular expression and a text is a short string; between two codes of a rule there may be glue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Final, NamedTuple

from processors.dates import read_clocks, read_counts, read_dates, read_ranges
from processors.dates.match import MEANINGS, Match, Meaning, Reading
from processors.dates.scanner import Atom, scan
from processors.dates.vocabulary import Codes, words_of
from processors.text import tables

READERS: Final = (read_dates, read_counts, read_clocks, read_ranges)  # imported for the meanings that they enter
PASSES: Final = 3
_BREAK: Final = "."  # between atoms that do not belong together
_REMEMBERED: Final = 1 << 12  # runs of codes whose rules are kept ...
_LONGEST: Final = 16  # ... of so many codes at most: longer ones hardly come again
_FIRST_CHARACTER: Final = 0x80
_BEFORE: Final = 24  # characters of the text before a match that its meaning may read ...
_AFTER: Final = 12  # ... and after it
_MADE: Final = (
    "date",
    "clock",
    "length",
    "set",
    "moment",
    "hours",
    "present",
    "bound",
    "moment_bound",
    "clock_bound",
    "part",
)
_WITH_DAY: Final = frozenset({"moment", "moment_bound", "bound"})
_WRITTEN: Final = ("number", "number year", "ordinal", "ordinal nth", "literal", "moment", "clock", "length", "date")
_TOKENS: Final = tables.lazy(r"[a-z_0-9]+|[()|?]")


class Rule(NamedTuple):
    """A pattern over characters, the codes of its groups, and what reads a match."""

    pattern: re.Pattern[str]
    codes: tuple[str, ...]
    read: Meaning


class Grammar:
    """The rules of one language, compiled over the sets of codes that its words can have."""

    def __init__(self, language: str) -> None:
        self.language = language
        sets = {frozenset(codes) for codes in words_of(language).values()}
        sets |= {frozenset({code}) for code in _MADE} | {frozenset(codes.split()) for codes in _WRITTEN}
        ordered = sorted(sets, key=sorted)
        self._characters = {codes: chr(_FIRST_CHARACTER + number) for number, codes in enumerate(ordered)}
        self._glue = f"[{self._of('glue')}]*"
        self._known = lru_cache(_REMEMBERED)(self._matching)
        self._beginning: list[dict[str, list[Rule]]] = [self._indexed(number) for number in range(1, PASSES + 1)]

    def matching(self, number: int, run: str) -> Sequence[tuple[Rule, int]]:
        """List the rules of a pass that match where a run of codes begins, in order, each with where its match ends.

        The same few runs come again and again: "a month", "two weeks ago".
        """
        return self._known(number, run) if len(run) <= _LONGEST else self._matching(number, run)

    def _matching(self, number: int, run: str) -> Sequence[tuple[Rule, int]]:
        rules = self._beginning[number - 1].get(run[0], ())
        return [(rule, match.end()) for rule in rules if (match := rule.pattern.match(run))]

    def character(self, codes: Codes) -> str:
        """Return the character of a set of codes; "." for one that no rule knows."""
        return self._characters.get(frozenset(codes), _BREAK) if codes else _BREAK

    def _indexed(self, number: int) -> dict[str, list[Rule]]:
        index: dict[str, list[Rule]] = {}
        for row_pass, patterns, name in _rows():
            for pattern in _alternatives(patterns) if row_pass == number else ():
                rule, first = self._compiled(pattern, MEANINGS[name]), _first_codes(pattern)
                for codes, character in self._characters.items():
                    if codes & first:
                        index.setdefault(character, []).append(rule)
        return index

    def _compiled(self, pattern: str, read: Meaning) -> Rule:
        codes: list[str] = []
        written = ""
        for piece in _TOKENS.findall(pattern):
            if piece in {"(", ")", "|", "?"}:
                written += "(?:" if piece == "(" else piece
                continue
            glue = self._glue if codes else ""
            codes.append(piece)
            written += f"({glue}[{self._of(piece)}])"
        return Rule(re.compile(written), tuple(codes), read)

    def _of(self, code: str) -> str:
        return "".join(character for codes, character in self._characters.items() if code in codes) or "\0"


@cache
def grammar(language: str) -> Grammar:
    """Return the rules of a language; they are compiled once."""
    return Grammar(language)


def _rows() -> Iterator[tuple[int, str, str]]:
    yield from ((int(number), patterns, name) for number, patterns, name in tables.rows(__package__, "rules"))


def _alternatives(patterns: str) -> list[str]:
    """Split at the bars that stand in no brackets."""
    return re.split(r" \| ", patterns)


def _first_codes(pattern: str) -> set[str]:
    """Return the codes that a match can begin with."""
    codes: set[str] = set()
    for piece, optional in re.findall(r"(\([^)]*\)|[a-z_]+)(\??)", pattern):
        codes |= set(re.findall("[a-z_]+", piece))
        if not optional:
            break
    return codes


def parse(text: str, language: str, now: datetime) -> list[Atom]:
    """Return the atoms of a text.  An atom that means a time has one of the codes that the rules produce."""
    atoms = scan(text, language)
    for number in range(1, PASSES + 1) if atoms else ():
        atoms = _Pass(text, grammar(language), number, now, atoms).reduced()
    return atoms


class _Pass:
    """One pass over the atoms of a text: at each place the longest match of a rule becomes one atom."""

    def __init__(self, text: str, rules: Grammar, number: int, now: datetime, atoms: list[Atom]) -> None:
        self.text, self.rules, self.number, self.now, self.atoms = text, rules, number, now, atoms
        self.line, self.places = "", list[int | None]()
        for at, atom in enumerate(atoms):
            if at and text[atoms[at - 1].end : atom.start].strip(" -/\u3000"):
                self.line, self.places = self.line + _BREAK, [*self.places, None]
            self.line += rules.character(atom.codes)
            self.places.append(at)

    def reduced(self) -> list[Atom]:
        """Return the atoms after this pass."""
        atoms, place = list[Atom](), 0
        while place < len(self.line):
            end, reading = self._best(place) if self.line[place] != _BREAK else (0, None)
            at = self.places[place]
            if reading is not None and at is not None:
                atoms.append(self._joined(at, self.places[end - 1] or 0, reading))
                place = end
                continue
            if at is not None:
                atoms.append(self.atoms[at])
            place += 1
        return atoms

    def _best(self, place: int) -> tuple[int, Reading | None]:
        """Return where the longest match at a place that means something ends, and its reading."""
        end, reading = place, None
        stop = self.line.find(_BREAK, place)  # no rule matches a break
        run = self.line[place : stop if stop >= 0 else None]
        for rule, length in self.rules.matching(self.number, run):
            if place + length > end and (result := self._read(rule, place)):
                end, reading = place + length, result
        return end, reading

    def _read(self, rule: Rule, place: int) -> Reading | None:
        """Return what a match means, None when that is no time, or none of the years 1 to 9999."""
        match = rule.pattern.match(self.line, place)
        try:
            return rule.read(self._match(rule, match)) if match else None
        except (ValueError, OverflowError, KeyError, IndexError, TypeError):
            return None

    def _match(self, rule: Rule, match: re.Match[str]) -> Match:
        values = Match({})
        order: list[str] = []
        for index, code in enumerate(rule.codes, 1):
            if (end := match.end(index)) > 0:
                place = self.places[end - 1]
                order.append(code)
                count = order.count(code)
                values[code if count == 1 else f"{code}{count}"] = self.atoms[place or 0].codes.get(code)
        first, last = self.atoms[self.places[match.start()] or 0], self.atoms[self.places[match.end() - 1] or 0]
        values.now, values.language, values.order = self.now, self.rules.language, tuple(order)
        values.before = self.text[max(0, first.start - _BEFORE) : first.start].lower()
        values.written = self.text[first.start : last.end].lower()
        values.after = self.text[last.end : last.end + _AFTER].lower()
        return values

    def _joined(self, low: int, high: int, reading: Reading) -> Atom:
        """Make one atom of several; of a moment it keeps which of them was the day."""
        parts = self.atoms[low : high + 1]
        code, value = reading
        days = [part for part in parts if "date" in part.codes or part.day] if code in _WITH_DAY else []
        day = (days[0].day or (days[0].start, days[0].end, days[0].codes["date"])) if days else None
        return Atom(parts[0].start, parts[-1].end, {code: value}, day)
