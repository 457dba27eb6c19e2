"""Cut a text into atoms: words of times with their codes, and what lies between them without any.

    "see you 3 weeks ago"     {} {}  {number 3} {unit W} {ago}
    三周前                       {number 3} {unit W} {ago, before, …}

A text without a word that could begin a time is not cut at all.  Words that only look like one (March, sun, 前面) get
no codes.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from processors.dates.digits import LITERAL, codes_of, numeral_at
from processors.dates.vocabulary import UNSPACED, WORD, Codes, plain, tokens_of, words_of
from processors.text import tables


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Codes of words that stand beside a time and cannot make one alone.
_BESIDE: Final = _listed(
    "glue from to third number ordinal at half ago in later which every until rest before after since past once"
    " now within minutes_past ampm whole other"
)
_DIGIT: Final = tables.lazy("[0-9]")
_STARTS: Final = frozenset("0123456789'’-/零〇一二两三四五六七八九十百千廿卅이삼사오육칠팔구십백천일유시")
_NO_GATE: Final = _listed("h m s mo the a time giving")
_GERMAN_DAYS: Final = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "sonnabend")
# Small words that are a month, a weekday or a season only beside something else of a time.
_WEAK: Final = _listed("may march mar sun sat mon wed jan dec do so fr di mi fin fall")
_SUPPORT: Final = _listed("glue at from in since until before after which third number ordinal every nth to")
_NO_ARTICLE: Final = _listed("a an un une ein eine einem")
_MORNING: Final = frozenset({"morgen", "früh"})  # Dienstagmorgen is no tomorrow
_WHOLES: Final = frozenset({"third", "whole"})
_AFTER_NEXT: Final = frozenset({("after", "next"), ("after", "the", "next")})
_NAMED: Final = frozenset({"weekday", "unit", "month", "season", "holiday"})
_QUOTES: Final = frozenset("'’")
_JOINTS: Final = frozenset("-/")
_HYPHEN: Final = "-"
_O_CLOCK: Final = "点"
_HAN_DIGITS: Final = frozenset("一二三四五六七八九十")
_NTH: Final = "第"  # before a number: 第31週
_TH: Final = "번째"  # after one
_WEEK: Final = "주"
_BESIDE_KOREAN: Final = frozenset("전후뒤")
_GOES_ON: Final = tables.lazy("[가-힣](?<![에까부의으이은는도만로엔])")
_AFTER_WEEK: Final = frozenset("세실시십면")  # 주세요
_SUN: Final = "sun"
_FALL: Final = "fall"
_VERBS: Final = frozenset({"may", "march"})
_OF: Final = frozenset({"of", "the"})
_FEW: Final = _listed(
    "few several couple dozen pocos varios algunos algunas plusieurs quelques mehreren einige einigen paar"
)
_NOT_COUNTS: Final = _listed("a an un una une few couple")
_ANDS: Final = ("and", "y", "et", "-")
# What follows a sign of time in another word.
_CONTINUED: Final = {
    "年": "级轻龄糕纪货味兽画", "日": "子本语常记志程报期文", "天": "气空使才真上然生花", "周": "围边到折年转期岁遭密",
    "早": "就已点安上晨饭餐些年日期先来退恋晚知起睡出操",
    "月": "亮球饼子光薪嫂经租供", "时": "间候代尚不", "分": "享别手析配为成担明", "秒": "杀懂",
    "号": "楼线门院店厅房机桌选手码球室车路馆台位床教铺", "前": "面台者提途",
    "点": "击赞心头评子儿点名开了菜",
    "后": "面来悔果台期", "下": "次班午楼面单载", "上": "次班楼面课传", "晚": "饭上点安",
}  # fmt: skip


_NO_WORD: Final = tables.lazy("后天(?:的?努力|因素|培养|教育|性)|[前后]天(?=[气黑亮空])")


class Atom(NamedTuple):
    """A piece of text[start:end] and what it can be; day is the atom of the date in a moment."""

    start: int
    end: int
    codes: Codes
    day: tuple[int, int, Any] | None = None


class Lexicon:
    """Find the words of a language at a place: the longest first."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._firsts: dict[str, list[tuple[tuple[str, ...], Codes]]] = {}
        for word, codes in words_of(language).items():
            tokens = tokens_of(word, language)
            self._firsts.setdefault(tokens[0], []).append((tokens, codes))
        for entries in self._firsts.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self.gate = frozenset(self._gate()) - _NO_GATE
        self._gate_signs = re.compile("|".join(["[0-9]", *map(re.escape, sorted(self.gate))]))

    def _gate(self) -> list[str]:
        """List the gate tokens: a text without any of them mentions no time."""
        telling = [tokens for entries in self._firsts.values() for tokens, codes in entries if tells(codes)]
        if self.language in UNSPACED:
            return ["".join(tokens) for tokens in telling]
        counts = (
            tokens[0] for entries in self._firsts.values() for tokens, codes in entries if _is_hour(tokens, codes)
        )
        single = {*(tokens[0] for tokens in telling if len(tokens) == 1), *counts}
        several = [[token for token in tokens if token.isalpha()] for tokens in telling if single.isdisjoint(tokens)]
        return [*single, *(max(tokens[1:] or tokens, key=len) for tokens in several)]

    def begins(self, token: str) -> bool:
        """Return whether a word, a number or a sign that joins two may begin with a token."""
        return token in self._firsts or token[0] in _STARTS or (self.language == "de" and len(token) > 8)

    def entries(self, token: str) -> list[tuple[tuple[str, ...], Codes]]:
        """List the words that begin with a token, the longest first."""
        return self._firsts.get(token, [])

    def places(self, small: str) -> list[tuple[int, str]]:
        """Cut a text into tokens with their places; none when no word of it can belong to a time."""
        if self.language in UNSPACED:
            return list(enumerate(small)) if self._gate_signs.search(small) else []
        german = self.language == "de" and any(day in small for day in _GERMAN_DAYS)
        if self.gate.isdisjoint(WORD.findall(small)) and not _DIGIT.search(small) and not german:
            return []
        return [(match.start(), match.group()) for match in WORD.finditer(small)]


def _is_hour(tokens: tuple[str, ...], codes: Codes) -> bool:
    """Return whether a word is a number that an hour can have: at eight."""
    return len(tokens) == 1 and 2 <= codes.get("number", 0) <= 12 and tokens[0] not in _FEW


def tells(codes: Codes) -> bool:
    """Return whether a word can make a time alone, or with a number."""
    return bool(set(codes) - _BESIDE) or str(codes.get("every", "")).startswith("P")


@cache
def lexicon(language: str) -> Lexicon:
    """Return the words of a language; they are read once."""
    return Lexicon(language)


def scan(text: str, language: str) -> list[Atom]:
    """Cut a text into atoms, in order; [] when it holds no word of a time."""
    small = plain(text, language)
    places = lexicon(language).places(small)
    if not places:
        return []
    atoms = _Scan(text, small, language, places).atoms()
    if not any(tells(atom.codes) or "number" in atom.codes for atom in atoms):
        return []
    return atoms if language in UNSPACED else _joined_numbers(atoms, small)


class _Scan:
    """A pass over the tokens of one text."""

    def __init__(self, text: str, small: str, language: str, places: list[tuple[int, str]]) -> None:
        self.text, self.small, self.language, self.places = text, small, language, places
        self.words, self.tokens = lexicon(language), [token for _, token in places]
        self.result: list[Atom] = []

    def atoms(self) -> list[Atom]:
        """Read the tokens from left to right."""
        free, begins = 0, self.words.begins
        for number, (at, token) in enumerate(self.places):
            if at >= free and begins(token) and not self._is_hyphen(at, token):
                for atom in self._read(number, at, token):
                    free = max(free, atom.end)
                    if atom.codes:
                        self.result.append(atom)
        return self.result

    def _read(self, number: int, at: int, token: str) -> list[Atom]:
        if self.language == "de" and (pair := self._german_day(at, token)):
            return pair
        if self.language == "de" and self.small.startswith("guten ", at - 6):
            return [Atom(at, at + len(token), {})]
        atom = (self._word(number, at, token) if token[0].isdigit() else None) or self._literal(at, token)
        atom = atom or self._word(number, at, token) or self._nth(at, token)
        if atom is None:
            return []
        if atom.codes and (self._is_weak(atom, token) or self._is_place(at, token)):
            return [atom._replace(codes={})]
        return [atom]

    def _is_hyphen(self, at: int, token: str) -> bool:
        """Return whether a sign joins what is one expression: 05-Aug-2016, five-thirty."""
        if token not in _JOINTS or self.language in UNSPACED or not self.result or not 0 < at < len(self.small) - 1:
            return False
        last, before, after = self.result[-1], self.small[at - 1], self.small[at + 1]
        if "clock" in last.codes and last.end == at:
            return False  # 4pm-5pm
        if _WHOLES & set(last.codes) and last.end == at:
            return True  # early-morning
        if token == _HYPHEN and last.end == at and _is_spelled(last, self.small) and after.isalpha():
            return True
        if len(self.result) > 1 and "number" in last.codes and {"month", "month_sign"} & _codes(self.result[-3:-1]):
            return False
        return (before.isdigit() and after.isalpha()) or (before.isalpha() and after.isdigit())

    def _literal(self, at: int, token: str) -> Atom | None:
        """Read digits, or a numeral in characters that no longer word begins with."""
        if "0" <= token[0] <= "9" or token[0] in _QUOTES:
            match = LITERAL.match(self.small, at) if not at or not self.small[at - 1].isdigit() else None
            if match is None:
                return self._day_of_month(at)
            codes = self._with_year(codes_of(match, self.language), at, match.end())
            return self._counted(Atom(at, match.end(), codes))
        longer = (len(words) > 1 and self._is_at(words, at) for words, _ in self.words.entries(token))
        if self.language not in UNSPACED or any(longer):
            return None
        read = numeral_at(self.small, at, self.language)
        return Atom(at, read[0], self._with_year(read[1], at, read[0])) if read else None

    def _day_of_month(self, at: int) -> Atom | None:
        """Read the day that stands right behind its month: Dec31."""
        last = self.result[-1] if self.result else None
        match = re.compile(r"\d\d?(?!\w)").match(self.small, at)
        if match is None or last is None or last.end != at or "month" not in last.codes:
            return None
        return Atom(at, match.end(), {"number": float(match.group())})

    def _counted(self, atom: Atom) -> Atom:
        """Read 18번째 as an ordinal."""
        if self.language != "ko" or set(atom.codes) != {"number"}:
            return atom
        end = atom.end + (self.small[atom.end : atom.end + 1] == " ")
        if not self.small.startswith(_TH, end):
            return atom
        return Atom(atom.start, end + len(_TH), {"ordinal": int(atom.codes["number"])})

    def _nth(self, at: int, token: str) -> Atom | None:
        """Read 第31 as an ordinal."""
        if token != _NTH or not self.small[at + 1 : at + 2] or self.language not in ("zh", "ja"):
            return None
        rest = self._literal(at + 1, self.small[at + 1])
        if rest is None or "number" not in rest.codes:
            return None
        of = self.small[rest.end : rest.end + 1] == "个"
        return Atom(at, rest.end + of, {"ordinal": int(rest.codes["number"])})

    def _with_year(self, codes: Codes, at: int, end: int) -> Codes:
        """Read 05年 as a year."""
        if (
            self.language in ("zh", "ja")
            and codes.get("number", 99) < 50
            and self.small[at] in "0零〇"
            and self.small[end : end + 1] == "年"
        ):
            return {**codes, "year": 2000 + int(codes["number"])}
        return codes

    def _is_at(self, word: tuple[str, ...], at: int) -> bool:
        return self.small.startswith("".join(word), at)

    def _word(self, number: int, at: int, token: str) -> Atom | None:
        """Find the longest word here; none where its last sign begins another word."""
        for words, codes in self.words.entries(token):
            if tuple(self.tokens[number : number + len(words)]) == words and not self._looks_on(words, number):
                start, last = self.places[number + len(words) - 1]
                return self._han(Atom(at, start + len(last), codes), token)
        return None

    def _looks_on(self, words: tuple[str, ...], number: int) -> bool:
        """Return whether "after next" is no Friday after next: after next Friday."""
        following = self.tokens[number + len(words) : number + len(words) + 1]
        if words not in _AFTER_NEXT or not following:
            return False
        return any(_NAMED & set(codes) for _, codes in self.words.entries(following[0]))

    def _han(self, atom: Atom, token: str) -> Atom:
        """Correct what Chinese runs together: 3月底 is 3月 and 底, 每周一 is 每 and 周一, 前面 is no time."""
        beside = self.result[-1] if self.result else None
        if "edge" in atom.codes and beside and "number" in beside.codes and beside.end == atom.start:
            return self._single(atom.start, token)
        following = self.small[atom.end : atom.end + 1]
        if (
            self.language == "ko"
            and token in _BESIDE_KOREAN
            and atom.end - atom.start == 1
            and _GOES_ON.match(following)
        ):
            return Atom(atom.start, atom.end, {})  # 30분 전에 전기가
        if self.language != "zh" or not following:
            is_word = self.language == "ko" and token == _WEEK and following in _AFTER_WEEK
            return Atom(atom.start, atom.end, {}) if is_word and following else atom
        if "every" in atom.codes and following in "一二三四五六日天末" and self.small[atom.end - 1] in "周期拜":
            return Atom(atom.start, atom.start + (2 if self.small[atom.start + 1] == "个" else 1), {"every": 1})
        is_clock = token == _O_CLOCK and beside and "number" in beside.codes and beside.end == atom.start
        if "edge" in atom.codes and self.small[atom.end - 1] == "初" and following in _HAN_DIGITS:
            return self._single(atom.start, token)  # 三月初一
        goes_on = not is_clock and atom.end - atom.start == 1 and following in _CONTINUED.get(token, "")
        return Atom(atom.start, atom.end + goes_on, {}) if goes_on or _NO_WORD.match(self.small, atom.start) else atom

    def _single(self, at: int, token: str) -> Atom:
        codes = next(codes for word, codes in self.words.entries(token) if len(word) == 1)
        return Atom(at, at + 1, codes)

    def _german_day(self, at: int, token: str) -> list[Atom]:
        """Cut Dienstagabend into its day and its part."""
        name = next((day for day in _GERMAN_DAYS if token.startswith(day) and len(token) > len(day)), "")
        tails = self.words.entries(token[len(name) :])
        if token[len(name) :] in _MORNING:
            tails = self.words.entries("morgens")
        part = next((codes for words, codes in tails if len(words) == 1 and "part" in codes), None)
        if not name or part is None:
            return []
        middle = at + len(name)
        return [Atom(at, middle, self.words.entries(name)[0][1]), Atom(middle, at + len(token), part)]

    def _is_weak(self, atom: Atom, token: str) -> bool:
        """Return whether "may", "sun", "march" … is no month or weekday here: nothing of a time stands beside it."""
        if (
            token not in _WEAK
            or atom.end - atom.start != len(token)
            or not {"month", "weekday", "season"} & set(atom.codes)
        ):
            return False
        at = atom.start
        opens = token in _VERBS and re.search(r"(?:^|[.!?]\s*|[\"“]\s*)$", self.text[max(0, at - 9) : at])
        if not self.text[at].islower() and not opens and token != _FALL:
            return False
        near = self.result[-1].codes if self.result and at - self.result[-1].end <= 1 else {}
        if token in _VERBS and not self._is_month(near, atom):
            return True
        supported = _SUPPORT & set(near) or re.match(r"\s*\d", self.small[atom.end :])
        return (token == _SUN and "glue" in near) or not supported

    def _is_month(self, near: Codes, atom: Atom) -> bool:
        """Return whether "may" can be a month behind a word: not behind "this", "one" or a comma."""
        if not near or re.match(r"\s*\d", self.small[atom.end :]):
            return True
        last = self.small[self.result[-1].start : self.result[-1].end]
        if "glue" in near:
            return last in _OF
        if "which" in near:
            return bool(near["which"])
        return "number" not in near or not last.isalpha()

    def _is_place(self, at: int, token: str) -> bool:
        """Return whether an article follows "at": at a place."""
        if token not in _NO_ARTICLE or self.language == "es" or not self.result:
            return False
        return "at" in self.result[-1].codes and at - self.result[-1].end <= 1


def _codes(atoms: list[Atom]) -> set[str]:
    return {code for atom in atoms for code in atom.codes}


def _is_spelled(atom: Atom, small: str) -> bool:
    """Return whether an atom is a number in letters; an article is none."""
    return "number" in atom.codes and small[atom.start].isalpha() and small[atom.start : atom.end] not in _NOT_COUNTS


def _joined_numbers(atoms: list[Atom], small: str) -> list[Atom]:
    """Join numbers in letters: twenty one, two thousand and eighteen, nineteen seventy eight, twenty-first."""
    if not any(_is_spelled(one, small) for one, _ in pairwise(atoms)):
        return atoms
    joined, at = list[Atom](), 0
    while at < len(atoms):
        atom, last = _joined(atoms, at, small) if _is_spelled(atoms[at], small) else (atoms[at], at)
        joined.append(atom)
        at = last + 1
    return joined


def _joined(atoms: list[Atom], at: int, small: str) -> tuple[Atom, int]:
    """Join the number at a place with those that follow; return it and the place of its last atom."""
    value, last, step = float(atoms[at].codes["number"]), at, at + 1
    joins = False
    while step < len(atoms) and not small[atoms[step - 1].end : atoms[step].start].strip(" -"):
        atom = atoms[step]
        if small[atom.start : atom.end] in _ANDS and value >= 20 and step + 1 < len(atoms):
            step, joins = step + 1, True
            continue
        if value in (20, 30) and "number" not in atom.codes and 0 < atom.codes.get("ordinal", 99) < 10:
            place = int(value) + int(atom.codes["ordinal"])
            return Atom(atoms[at].start, atom.end, {"ordinal": place, "nth": place}), step
        counts = _is_spelled(atom, small) or (joins and "number" in atom.codes)
        together = _together(value, atom.codes["number"]) if counts else None
        if together is None:
            break
        value, last, step = together, step, step + 1
    if last == at:
        return atoms[at], at
    year = {"year": int(value)} if 1800 <= value < 2100 else {}
    return Atom(atoms[at].start, atoms[last].end, {"number": value, **year}), last


def _together(value: float, following: float) -> float | None:
    """Return the number that two numbers make one after the other; None where they are two."""
    if following >= 100 > value:
        return value * following
    if (value >= 100 > following) or (value >= 1000 > following >= 100) or (20 <= value < 100 and following < 10):
        return value + following
    return value * 100 + following if value in (18, 19, 20) and 10 <= following < 100 else None
