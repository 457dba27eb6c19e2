"""Phrases: several words that name one thing, and what single words name.

    New York, Golden Gate Bridge, Lord of the Rings    known, or capitals beside each other inside a sentence
    a support group, my software project               behind an article or the like, up to what is no content
    数据持久化, 驼铃小院                                 nouns beside each other, three to eight letters in all
    《百年孤独》                                         a title
    42 km, 三个鸡蛋                                     a number and what it counts

A phrase stands for a node beside those of its words.  No phrase is needed to find a turn, its words are; so few that
are right are better than all (processors/extraction/yake_extractor.py tells how often YAKE's own came again).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from emgas.limits import PHRASES_PER_TURN
from emgas.messages.relations import Kind
from processors.text import names, tables
from processors.text.language import LONGEST, Word


def _lists() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "phrase_words"):
        found.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in found.items()}


_LISTS: Final = _lists()
_CONNECTORS: Final = _LISTS["connectors"]
_DETERMINERS: Final = _LISTS["determiners"]
_PREPOSITIONS: Final = _LISTS["prepositions"]
_OPENING: Final = _DETERMINERS | _PREPOSITIONS
_DATES: Final = _LISTS["dates"]
_NO_FIRST: Final = _LISTS["no-first"]
_VERBS: Final = _LISTS["verbs"]
_NOUNS: Final = ("n", "vn", "an", "j")  # of jieba's tags, as they begin
_NO_NOUNS: Final = frozenset({"ng", "nrt"})
_SUFFIXES: Final = frozenset("化性率者员家机店馆院厅室场站")
_TITLE: Final = re.compile("《([^》\n]{2,20})》")
_HAN_LENGTHS: Final = range(3, 9)  # letters of a Chinese phrase
_LONGEST_NAME: Final = 5  # words
_LONGEST_NOUN: Final = 3
_SHOUTED: Final = 0.6  # share of capitals from which a sentence is a headline, in which they tell nothing


class Phrase(NamedTuple):
    """Words that stand for one thing, in order, and what it is."""

    words: tuple[Word, ...]
    kind: Kind
    label: str

    @property
    def id(self) -> str:
        """Name its node: the normal forms of its words, with a blank between them."""
        return " ".join(word.form for word in self.words)

    @property
    def start(self) -> int:
        """Where it begins in the text, in characters."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Where it ends in the text, in characters."""
        return self.words[-1].end


def phrases(text: str, words: Sequence[Word]) -> list[Phrase]:
    """Find the phrases of a clean text, in order, none inside another.

    words  as processors/text/language.py cuts it
    """
    whole = [word for word in words if not word.part]
    found = list(_titles(text, whole))
    taken = {word.start for phrase in found for word in phrase.words}
    place = 0
    while place < len(whole):
        phrase = None if whole[place].start in taken else _at(text, whole, place)
        if phrase is not None and taken.isdisjoint(word.start for word in phrase.words):
            found.append(phrase)
            place += len(phrase.words)
        else:
            place += 1
    fitting = (phrase for phrase in found if len(phrase.id) <= LONGEST)
    return sorted(fitting, key=lambda phrase: phrase.start)[: 4 * PHRASES_PER_TURN]


def made(text: str, words: Sequence[Word]) -> Phrase:
    """Make a phrase of words that stand beside each other; what it is, its name tells, if anything does."""
    return _phrase(text, words, _kind_of(words, None) or "phrase")


def kinds(text: str, words: Sequence[Word]) -> dict[str, Kind]:
    """Map single words to their kind: normal form → kind, of those that are known or shown by what is beside them."""
    found: dict[str, Kind] = {}
    before: Word | None = None
    for word in (word for word in words if not word.part):
        if word.content and word.form not in found and (kind := _word_kind(word, before)):
            found[word.form] = kind
        before = word
    whole = {word.form for word in words if not word.part}
    for word in words:
        if word.part and word.content and word.form not in whole:
            found[word.form] = "part"
    return found | {inside[0].form: "product" for inside in _titled(text, words) if len(inside) == 1}


def _word_kind(word: Word, before: Word | None) -> Kind | None:
    if _is_han(word):
        return names.han(word.form, word.tag) if not word.guessed else names.han_ending(word.form) or "guess"
    if not _is_capital(word):
        return None
    if kind := names.known(word.surface):
        return kind
    if word.surface.isupper():
        return None
    follows = before is not None and before.sentence == word.sentence and not word.pause
    return names.before(before.surface) if follows and before and word.form not in _DATES else None


def _at(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find the phrase that begins with the word at `place`."""
    word = words[place]
    if _is_han(word):
        return _counted_han(text, words, place) or _nouns_han(text, words, place)
    if word.tag == "number":
        return _counted(text, words, place)
    return _known(text, words, place) or _name(text, words, place) or _noun(text, words, place)


def _phrase(text: str, words: Sequence[Word], kind: Kind) -> Phrase:
    start, end = words[0].start, words[-1].end
    return Phrase(tuple(words), kind, text[start:end] if end <= len(text) else " ".join(w.surface for w in words))


def _run(words: Sequence[Word], place: int, longest: int) -> Sequence[Word]:
    """Slice the words from `place` on that stand beside each other in one sentence, at most so many."""
    end = place + 1
    while end < min(len(words), place + longest) and _follows(words[end], words[end - 1]):
        end += 1
    return words[place:end]


def _follows(word: Word, before: Word) -> bool:
    return not word.pause and word.sentence == before.sentence


def _known(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    if words[place].surface not in names.FIRST_KNOWN:
        return None
    run = _run(words, place, names.LONGEST_KNOWN)
    for length in range(len(run), 1, -1):
        if kind := names.known(" ".join(word.surface for word in run[:length])):
            return _phrase(text, run[:length], kind)
    return None


def _name(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find capitals beside each other: a name, unless the sentence is one of capitals."""
    if not _begins_name(words, place):
        return None
    run: list[Word] = []
    for word in _run(words, place, _LONGEST_NAME + 3):
        is_part = _is_capital(word) and len(word.surface) > 1 and word.form not in _DATES
        if not (is_part or (run and word.surface in _CONNECTORS)):
            break
        run.append(word)
    while run and run[-1].surface in _CONNECTORS:
        run.pop()
    if not 2 <= len(run) <= _LONGEST_NAME or not any(word.content for word in run) or _is_headline(words, place):
        return None
    before = words[place - 1] if place and _follows(words[place], words[place - 1]) else None
    return _phrase(text, run, _kind_of(run, before) or "phrase")


def _begins_name(words: Sequence[Word], place: int) -> bool:
    word = words[place]
    if not _is_capital(word) or len(word.surface) < 2 or word.form in _DATES:
        return False
    is_first = place == 0 or words[place - 1].sentence != word.sentence
    return word.content or not is_first or names.by_words(word.surface, "") is not None


def _kind_of(run: Sequence[Word], before: Word | None) -> Kind | None:
    first, last = run[0].surface, run[-1].surface
    if _is_han(run[-1]):
        whole = "".join(word.form for word in run)
        return names.known(whole) or names.han_ending(whole)
    if not (_is_capital(run[0]) and _is_capital(run[-1])):
        return None
    is_person = names.known(first) == "person" and len(run) == 2 and run[1].start == run[0].end + 1
    named = names.by_words(first, last) or ("person" if is_person else None)
    return named or (names.before(before.surface) if before else None)


def _is_headline(words: Sequence[Word], place: int) -> bool:
    """Return whether most words of the sentence, of five at least, are capitals."""
    sentence = [word for word in words if word.sentence == words[place].sentence and word.tag == "word"]
    return len(sentence) > 4 and sum(map(_is_capital, sentence)) > _SHOUTED * len(sentence)


def _noun(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find two or three content words between an article or preposition and what is no content."""
    before = words[place - 1] if place and _follows(words[place], words[place - 1]) else None
    opens = before.surface.casefold() if before else ""
    if opens not in _OPENING or not _may_be_noun(words[place]):
        return None
    run = [words[place]]
    for word in _run(words, place, _LONGEST_NOUN + 1)[1:]:
        if not word.content:
            break
        run.append(word)
    is_gerund = opens in _PREPOSITIONS and run[0].surface.endswith("ing")
    if not 2 <= len(run) <= _LONGEST_NOUN or is_gerund or run[0].form in _NO_FIRST:
        return None
    if not all(map(_may_be_noun, run)) or is_verb(run[-1]) or _says(run[0]) or len(set(map(_is_capital, run))) > 1:
        return None
    return _phrase(text, run, "phrase")


def _may_be_noun(word: Word) -> bool:
    return word.content and word.tag == "word" and not word.surface.casefold().endswith("ly")


def is_verb(word: Word) -> bool:
    """Return whether a word ends no noun: a verb by its look (broke, painted), or by the list.  A plural is none."""
    lower = word.surface.casefold()
    return word.form in _VERBS or (word.form != lower and not lower.endswith(("s", "ing")))


def _says(word: Word) -> bool:
    """Return whether a word is a verb of the third person: sounds, means."""
    return word.form in _VERBS and word.surface.endswith("s")


def _counted(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    run = _run(words, place, 2)
    is_counting = len(run) == 2 and run[1].content and run[1].tag == "word" and run[0].surface.isdecimal()
    return _phrase(text, run, "number") if is_counting else None


def _counted_han(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find a number, its measure and what is counted: 三个鸡蛋, 两 只 猫."""
    run = _run(words, place, 3)
    if run[0].tag not in ("m", "mq") or run[0].form[0] in "一很许每这那几":
        return None
    measures = 1 if len(run) > 2 and run[1].tag == "q" else 0
    has_measure = bool(measures) or run[0].tag == "mq" or (len(run[0].form) > 1 and not run[0].form[-1].isdecimal())
    counted = run[measures + 1 : measures + 2]
    is_thing = bool(counted) and counted[0].content and counted[0].tag.startswith("n")
    return _phrase(text, run[: measures + 2], "number") if has_measure and is_thing else None


def _nouns_han(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find nouns beside each other; a suffix as 化 makes one of what stands before it."""
    run: list[Word] = []
    for word in _run(words, place, _LONGEST_NOUN + 1):
        is_suffix = bool(run) and word.form in _SUFFIXES
        if not _is_han(word) or not (is_suffix or _is_noun_han(word) or _before_suffix(words, word)):
            break
        run.append(word)
    if run and run[-1].form in _VERBS:
        run.pop()
    length = sum(len(word.form) for word in run)
    if not 2 <= len(run) <= _LONGEST_NOUN or length not in _HAN_LENGTHS:
        return None
    return _phrase(text, run, _kind_of(run, None) or "phrase")


def _is_noun_han(word: Word) -> bool:
    return word.content and word.tag.startswith(_NOUNS) and word.tag not in _NO_NOUNS and not word.guessed


def _before_suffix(words: Sequence[Word], word: Word) -> bool:
    after = next((other for other in words if other.start == word.end), None)
    return word.content and after is not None and after.form in _SUFFIXES and _follows(after, word)


def _titles(text: str, words: Sequence[Word]) -> Iterator[Phrase]:
    """Find what stands between title marks, if it is several words."""
    for inside in _titled(text, words):
        if len(inside) > 1:
            yield Phrase(inside, "product", text[inside[0].start : inside[-1].end])


def _titled(text: str, words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the whole words between title marks."""
    for match in _TITLE.finditer(text):
        yield tuple(word for word in words if not word.part and match.start(1) <= word.start < match.end(1))


def _is_han(word: Word) -> bool:
    return word.tag not in ("word", "number", "mixed", "address")


def _is_capital(word: Word) -> bool:
    return word.tag == "word" and word.surface[:1].isupper()
