"""Names in Chinese text, found before it is cut into words: of people, and of places that are written by their sound.

    张总, 孙老师, 欧阳教授        a surname and a title            小王, 老张, 阿哲     a short form
    李婷, 陈志远, 欧阳靖         a surname and a given name       瑞秋, 玛格丽特        a foreign name
    我女儿叫朵朵, 表姐佳佳        what stands behind 叫 or a word of kinship

Each rule rates what it finds by its characters, by the dictionary's cut, and by what stands beside it; of two that
overlap, the surer one stays.  A name becomes one word with the tag PERSON or PLACE; what stands between names is cut
as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.chinese import LONGEST_RUN, Segmenter

PERSON: Final = "nrp"  # beside jieba's tags: a name of a person that a rule found, not jieba's guess nr
PLACE: Final = "nsp"
TAGS: Final = frozenset({PERSON, PLACE})

Tagged = tuple[str, str]  # a word, and its part of speech


def _lists() -> dict[str, tuple[str, ...]]:
    result: dict[str, list[str]] = {}
    for name, words in tables.rows(__package__, "chinese_names"):
        result.setdefault(name, []).extend(words.split())
    return {name: tuple(words) for name, words in result.items()}


_LISTS: Final = _lists()
_SURNAMES, _WEAK, _DOUBLE = (frozenset(_LISTS[name]) for name in ("surname", "weak", "double"))
_GIVEN, _NOT_GIVEN, _FOLLOWS = (frozenset("".join(_LISTS[name])) for name in ("given", "notgiven", "after"))
_NOBODY, _PLACES, _WESTERN = (frozenset(_LISTS[name]) for name in ("nobody", "place", "western"))
_LOANS: Final = frozenset(_LISTS["latin"])  # 卡布奇诺: written by sound, and no name
_TITLES: Final = tuple(sorted(_LISTS["title"], key=len, reverse=True))
_KIN: Final = tuple(sorted(_LISTS["kin"], key=len, reverse=True))
_CUES: Final = _LISTS["cue"]
_PLACE_ENDS: Final = (*"省市县区镇村路街州岛山湖国站", "机场", "车站", "公园", "广场", "大厦", "大街")
_BEFORE_PLACES: Final = frozenset("在到去从赴抵往驻")
_BEHIND_PLACES: Final = frozenset("人市省州队军国")
_OFFICES: Final = ("政府", "地区", "总统", "总理", "公司", "机场")
_SOUND_RUN: Final = tables.lazy(f"[{''.join(_LISTS['translit'])}]{{2,6}}")
_CALLED: Final = tables.lazy(f"(?:名字[叫是]|取名[叫为]?|名叫|叫做|叫作|叫|{'|'.join(_KIN)})")
_TWICE_KNOWN: Final = frozenset(_LISTS["twice-known"])
_TWICE: Final = tables.lazy(f"([{''.join(sorted({*_GIVEN, *_LISTS['twice'], *_TWICE_KNOWN}))}])\\1(?!\\1)")
_DOUBLED_ADVERBS: Final = frozenset(("哈哈", "天天", "常常", "刚刚", "慢慢"))
_ROLE_ENDS: Final = tuple("师员长手者工")  # 架构师, 护士长: a person, and often the name behind
_MEASURES: Final = frozenset("张段包万项管")  # 有张卡
_COUNTS: Final = frozenset("有一两二三四五六七八九十几这那每半多数整")
_ASPECTS: Final = frozenset("了着过好起完给")  # 发了: what stands before is a verb
_DOES: Final = frozenset("发送打请到住开做教写演约生换修")
_PETS: Final = ("狗", "猫", "猫咪", "兔子", "鸟", "鱼", "宠物", "龟", "仓鼠", "鹦鹉")
_LONGEST_WESTERN: Final = 4
BEGINS: Final = _SURNAMES | _WEAK | {name[0] for name in _DOUBLE} | frozenset("小老阿")
_SURE: Final = 0.98
_REMEMBERED: Final = 1 << 9  # runs whose words are kept


class ChineseName(NamedTuple):
    """A name in a run of Han characters, from start to end; its tag tells a person from a place."""

    start: int
    end: int
    tag: str
    confidence: float


def cut(run: str, dictionary: Segmenter) -> Sequence[Tagged]:
    """Cut a run of simplified Han characters into words, each name one word; joined, they are the run."""
    return _known(run, dictionary) if len(run) <= LONGEST_RUN else _cut(run, dictionary)


def _cut(run: str, dictionary: Segmenter) -> Sequence[Tagged]:
    words = dictionary.segmented(run)
    result = names(run, words, dictionary)
    if not result:
        return words
    at_start = _places(words)
    pieces: list[Tagged] = []
    free = 0
    for name in result:
        pieces += _between(run, free, name.start, at_start, dictionary)
        pieces.append((run[name.start : name.end], name.tag))
        free = name.end
    pieces += _between(run, free, len(run), at_start, dictionary)
    return pieces


_known: Final = lru_cache(_REMEMBERED)(_cut)  # each reader of a turn cuts its runs


def parts(name: str) -> tuple[str, ...]:
    """Return the words inside a name that people also use alone: the given name, or a title of two characters."""
    title = next((title for title in _TITLES if name.endswith(title)), "")
    if title:
        return (title,) if len(title) > 1 else ()
    surname = _surname(name, 0)
    return (name[len(surname) :],) if surname and len(name) - len(surname) == 2 else ()


def names(run: str, words: Sequence[Tagged], dictionary: Segmenter) -> list[ChineseName]:
    """Find the names of a run that was cut into words, in order, none overlapping."""
    if not _may_hold_names(run):
        return []
    kept: list[ChineseName] = []
    result = _Run(run, words, dictionary.knows).names()
    for name in sorted(result, key=lambda name: (-name.confidence, name.start - name.end, name.start)):
        if all(name.end <= other.start or other.end <= name.start for other in kept):
            kept.append(name)
    return sorted(kept)


def _may_hold_names(run: str) -> bool:
    return (
        not BEGINS.isdisjoint(run)
        or _TWICE.search(run) is not None
        or _SOUND_RUN.search(run) is not None
        or _CALLED.search(run) is not None
    )


def _places(words: Sequence[Tagged]) -> dict[int, Tagged]:
    """Map where each word begins to the word."""
    result, place = dict[int, Tagged](), 0
    for word, tag in words:
        result[place] = (word, tag)
        place += len(word)
    return result


def _between(run: str, start: int, end: int, words: dict[int, Tagged], dictionary: Segmenter) -> Sequence[Tagged]:
    """Cut what stands between two names: as it was cut where no word crosses its ends, else again."""
    pieces, place = list[Tagged](), start
    while place < end and place in words and place + len(words[place][0]) <= end:
        pieces.append(words[place])
        place += len(words[place][0])
    return pieces if place == end else dictionary.segmented(run[start:end])


def _surname(text: str, start: int) -> str:
    if text[start : start + 2] in _DOUBLE:
        return text[start : start + 2]
    return text[start] if text[start] in _SURNAMES or text[start] in _WEAK else ""


class _Run:
    """One run of Han characters; its edges are where the dictionary's words begin and end."""

    def __init__(self, run: str, words: Sequence[Tagged], knows: Callable[[str], bool]) -> None:
        self._run, self._knows = run, knows
        self._words = _places(words)
        self._edges = {*self._words, len(run)}
        self._crossing = {
            place: (word, tag)
            for start, (word, tag) in self._words.items()
            for place in range(start + 1, start + len(word))
        }

    def names(self) -> Iterator[ChineseName]:
        """Yield what each rule finds; names may overlap."""
        for start, letter in enumerate(self._run):
            if letter in BEGINS and not (letter in _MEASURES and start and self._run[start - 1] in _COUNTS):
                yield from self._titled(start)
                yield from self._short(start)
                yield from self._full(start)
        yield from self._foreign()
        yield from self._western()
        yield from self._called()
        yield from self._twice()

    def _twice(self) -> Iterator[ChineseName]:
        """Find 西西, 彤彤: a sign of names said twice, which is no word."""
        for match in _TWICE.finditer(self._run):
            start, end = match.span()
            is_cut = self._is_inside_word(start) or self._is_inside_word(end)
            is_word = self._knows(match.group()) and match[1] not in _TWICE_KNOWN
            if not (is_cut or is_word) and self._run[end : end + 1] not in _ASPECTS - {"了"}:
                yield self._name(start, end, 0.75)

    def _name(self, start: int, end: int, confidence: float, tag: str = PERSON) -> ChineseName:
        return ChineseName(start, end, tag, min(confidence, _SURE))

    def _is_inside_word(self, place: int) -> bool:
        """Return whether a place is inside a word of the dictionary, so that no name begins or ends there."""
        word, tag = self._crossing.get(place, ("", ""))
        return self._knows(word) and not tag.startswith("nr")

    def _tag(self, start: int, end: int) -> str:
        """Return the tag of a word of the dictionary's cut, "" if these are no one word."""
        word, tag = self._words.get(start, ("", ""))
        return tag if start + len(word) == end else ""

    def _cue(self, start: int) -> float:
        """Return how much what stands before a name speaks for it."""
        before = self._run[:start]
        if before.endswith(_KIN):
            return 0.3
        if before.endswith((*_CUES, *_ROLE_ENDS)):
            return 0.15
        return 0.0 if before else 0.08

    def _titled(self, start: int) -> Iterator[ChineseName]:
        """Find 张总, 李经理, 欧阳老师; of 王建国教授, 王建国."""
        surname = _surname(self._run, start)
        if not surname or self._is_inside_word(start):
            return
        for length in range(3):
            at = start + len(surname) + length
            options = self._run[start + len(surname) : at]
            title = next((title for title in _TITLES if self._run.startswith(title, at)), "")
            if title and self._may_be_titled(surname, options, at, title):
                if name := self._with_title(start, surname, options, title):
                    yield name
                return

    def _may_be_titled(self, surname: str, options: str, at: int, title: str) -> bool:
        if not _NOT_GIVEN.isdisjoint(options):
            return False
        end = at + len(title)
        joined = self._run[at : end + 1]
        is_cut = len(joined) == 2 and self._knows(joined) and end not in self._edges  # 李总|是: not 总是
        if len(title) == 1 and (options or is_cut):
            return False
        return not options or (surname not in _WEAK and _GIVEN.issuperset(options))

    def _with_title(self, start: int, surname: str, options: str, title: str) -> ChineseName | None:
        end = start + len(surname) + len(options) + len(title)
        whole = self._run[start:end]
        if whole in _NOBODY or (self._knows(whole) and surname in _WEAK):
            return None
        stop = end - len(title) if options else end
        return self._name(start, stop, 0.95 if surname not in _WEAK else 0.8)

    def _short(self, start: int) -> Iterator[ChineseName]:
        """Find 小王, 老张, 阿哲: no word of the dictionary, and what follows needs no second character of it."""
        end, first = start + 2, self._run[start]
        second, joined = self._run[start + 1 : end], self._run[start + 1 : start + 3]
        if first not in "小老阿" or not second or self._is_inside_word(start):
            return
        if len(joined) == 2 and self._knows(joined) and end not in self._edges:
            return
        is_known, is_surname, is_near = self._knows(first + second), second in _SURNAMES, self._cue(start) >= 0.15
        is_tagged = is_surname and self._tag(start, end).startswith("nr")
        is_nobody = not _NOBODY.isdisjoint((first + second, first + joined))
        if second in _NOT_GIVEN or is_nobody or (is_known and not is_near and not is_tagged):
            return
        if is_surname or second in _GIVEN or (first == "阿" and not is_known and is_near):
            sure = 0.85 if is_surname and not is_known else 0.75 if is_near or first != "老" else 0.5
            yield self._name(start, end, sure)

    def _full(self, start: int) -> Iterator[ChineseName]:
        """Find 李婷, 陈志远, 欧阳靖: the best of two to four characters that begin with a surname."""
        surname = _surname(self._run, start)
        begins_western = self._run[start : start + 2] in _WESTERN or self._run[start : start + 3] in _WESTERN
        if not surname or self._is_inside_word(start) or begins_western:
            return
        rated = [self._rated(start, surname, length) for length in (2, 1)]
        score, end = max(rated, key=lambda each: each[0] + 0.01 * (each is rated[0]))
        if score >= (0.7 if surname not in _WEAK else 0.78):
            yield self._name(start, end, score)

    def _rated(self, start: int, surname: str, length: int) -> tuple[float, int]:
        end = start + len(surname) + length
        options = self._run[start + len(surname) : end]
        if len(options) < length or not _NOT_GIVEN.isdisjoint(options) or self._is_other(start, end, surname):
            return 0.0, end
        score = self._by_surname(surname, start, end)
        score += sum(0.12 if letter in _GIVEN else -0.04 for letter in options) - 0.02 * (length == 1)
        if start and self._knows(self._run[start - 1 : start + 1]):
            score -= 0.15  # 师|傅
        score += self._by_dictionary(start, end) + self._by_end(start, end, surname, options) + self._cue(start)
        return score, end

    def _by_surname(self, surname: str, start: int, end: int) -> float:
        """Rate a surname; one that is an ordinary word as well counts if what follows is as of a name."""
        if surname not in _WEAK:
            return 0.75 if surname in _DOUBLE else 0.46
        whole = self._run[start:end]
        is_tagged = len(whole) == 2 and self._tag(start, end).startswith("nr")
        is_whole = (
            len(whole) > 2 and start in self._edges and _GIVEN.issuperset(whole[1:]) and not self._knows(whole[:2])
        )
        return 0.42 if is_tagged else 0.34 if is_whole else 0.14

    def _is_other(self, start: int, end: int, surname: str) -> bool:
        """Return whether these characters name something else: a place, an ordinary word, a weekday."""
        whole = self._run[start:end]
        options = whole[len(surname) :]
        if whole in _NOBODY or whole in _PLACES or whole in _LOANS or whole.endswith(_PLACE_ENDS):
            return True
        if whole[-1] == "人" and (whole[:-1] in _PLACES or self._knows(whole[:-1])):  # 韩国人
            return True
        is_place = len(surname) == 1 and self._tag(start, end) == "ns" and self._knows(whole)
        is_weekday = surname == "周" and options[0] in "一二三四五六日末天年"
        return is_place or is_weekday or (len(surname) == len(options) == 2 and not _GIVEN.issuperset(options))

    def _by_dictionary(self, start: int, end: int) -> float:
        whole, tag = self._run[start:end], self._tag(start, end)
        if self._knows(whole) and whole[:2] not in _DOUBLE:  # for which the dictionary has 欧阳靖 as a place
            near = -0.2 if self._cue(start) >= 0.3 else -0.5  # 师兄乔木
            return (0.25 if len(whole) > 2 else 0.08) if tag.startswith("nr") else near
        return 0.25 if tag.startswith("nr") else 0.0

    def _by_end(self, start: int, end: int, surname: str, options: str) -> float:
        """Rate whether a name ends here: 李婷|在, 陈洁|的."""
        score = -0.4 if self._is_inside_word(end) else 0.0 if end in self._edges else -0.1
        if len(options) == 2 and len(surname) == 1:
            following = self._run[end - 1 : end + 1]
            if len(following) == 2 and self._knows(following) and end not in self._edges:
                score -= 0.25
            if self._knows(options) and options not in _NOBODY and not self._tag(start, end).startswith("nr"):
                score -= 0.12
        after = self._run[end : end + 1]
        if len(options) == 2 and options[-1] in _DOES and after and after in _ASPECTS:
            score -= 0.3  # 熊莉|发了
        return score + (0.1 if not after or after in _FOLLOWS else -0.05)

    def _foreign(self) -> Iterator[ChineseName]:
        """Find 钱德勒, 玛格丽特: characters that write foreign sounds, and no words of the dictionary."""
        for match in _SOUND_RUN.finditer(self._run):
            for start in range(match.start(), match.end() - 1):
                if start in self._edges:
                    yield from self._foreign_from(start, min(match.end(), start + 6))

    def _foreign_from(self, start: int, stop: int) -> Iterator[ChineseName]:
        for end in range(stop, start + 1, -1):
            may_end = end in self._edges or (not self._is_inside_word(end) and self._run[end] in _FOLLOWS)
            if may_end and (name := self._sounding(start, end)):
                yield name
                return

    def _sounding(self, start: int, end: int) -> ChineseName | None:
        whole, tag = self._run[start:end], self._tag(start, end)
        inside = [word for place, word in self._words.items() if start <= place < end]
        if self._is_no_foreign_name(whole, tag, inside):
            return None
        before, after = self._run[start - 1 : start] if start else "", self._run[end : end + 2]
        is_peopled = after[:1] in _BEHIND_PLACES and after and after != "人说"
        if before in _BEFORE_PLACES or is_peopled or after in _OFFICES:
            return self._name(start, end, 0.66, PLACE)
        score = self._foreign_score(start, end, tag) - 0.1 * (len(inside) - 1)
        return self._name(start, end, score) if score >= 0.66 else None

    def _is_no_foreign_name(self, whole: str, tag: str, inside: Sequence[Tagged]) -> bool:
        words = {word for word, _ in inside} | {whole}
        if not _NOBODY.isdisjoint(words) or not _LOANS.isdisjoint(words) or not _PLACES.isdisjoint(words):
            return True
        is_ordinary = any(len(word) > 1 and self._knows(word) and not _is_named(its) for word, its in inside)
        singles = sum(len(word) == 1 for word, _ in inside)
        is_known = self._knows(whole) and not tag.startswith("nr")
        ends_otherwise = whole[-1] in "的了来到说" or whole.endswith(_PLACE_ENDS)
        return ends_otherwise or is_ordinary or is_known or tag == "ns" or singles > 1 + (len(whole) > 3)

    def _foreign_score(self, start: int, end: int, tag: str) -> float:
        is_known = self._knows(self._run[start:end])
        score = 0.72 if tag == "nrt" or (is_known and tag.startswith("nr")) else 0.5 if is_known else 0.58
        ends_well = end == len(self._run) or self._run[end] in _FOLLOWS
        return score + self._cue(start) + 0.1 * (end - start >= 3) + 0.08 * ends_well

    def _western(self) -> Iterator[ChineseName]:
        """Find 瑞秋, 理查德: known as first names; a name must not cut a longer word."""
        for start in range(len(self._run) - 1):
            for end in range(start + _LONGEST_WESTERN, start + 1, -1):
                is_cut = start not in self._edges or self._is_inside_word(end)
                if end <= len(self._run) and self._run[start:end] in _WESTERN and not is_cut:
                    yield self._name(start, end, 0.97)
                    break

    def _called(self) -> Iterator[ChineseName]:
        """Find 我女儿叫朵朵, 表姐佳佳: behind 叫 or a word of kinship, up to the end or a verb."""
        for match in _CALLED.finditer(self._run):
            start, is_called = match.end(), match.group() not in _KIN
            if is_called and self._run[: match.start()].endswith(_PETS):
                continue
            for end in self._edges.intersection((start + 2, start + 3)):
                if self._may_be_called(start, end, is_called=is_called):
                    is_doubled = self._run[start:end] == 2 * self._run[start]
                    yield self._name(start, end, 0.75 if is_doubled else 0.7)

    def _may_be_called(self, start: int, end: int, *, is_called: bool) -> bool:
        whole = self._run[start:end]
        if not _NOT_GIVEN.isdisjoint(whole) or whole in _NOBODY or whole in _KIN:
            return False
        if whole == 2 * whole[0]:
            return whole not in _DOUBLED_ADVERBS
        is_word = self._knows(whole) and not self._tag(start, end).startswith("nr")
        return is_called and (end == len(self._run) or (not is_word and self._run[end] in _FOLLOWS))


def _is_named(tag: str) -> bool:
    return tag.startswith(("nr", "nz"))
