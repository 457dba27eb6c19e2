"""Phrases: several words that name one thing, and what single words name.

    New York, Golden Gate Bridge, Lord of the Rings    known, or capitals beside each other inside a sentence
    a support group, my software project               behind an article or the like, up to what is no content
    数据持久化, 驼铃小院                                 nouns beside each other, three to eight letters in all
    深度学习, 注册会计师, API密钥                          terms: nouns with a verb, nouns behind Latin letters
    乔伊·崔比安尼                                       names of one person with a dot between them
    《百年孤独》                                         a title
    42 km, 三个鸡蛋                                     a number and what it counts

A phrase stands for a node beside those of its words.  No phrase is needed to find a turn, its words are; so few that
are right are better than all (processors/extraction/yake_extractor.py tells how often YAKE's own came again).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from emgas.limits import PHRASES_PER_TURN
from emgas.messages.relations import Kind
from processors.text import english_names, names, tables
from processors.text.chinese_names import PERSON
from processors.text.language import LONGEST, Word


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "phrase_words"):
        lists.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()
_CONNECTORS: Final = _LISTS["connectors"]
_DETERMINERS: Final = _LISTS["determiners"]
_PREPOSITIONS: Final = _LISTS["prepositions"]
_OPENING: Final = _DETERMINERS | _PREPOSITIONS
_DATES: Final = _LISTS["dates"]
_NO_FIRST: Final = _LISTS["no-first"]
_VERBS: Final = _LISTS["verbs"]
_HEADS: Final = _LISTS["term-heads"]
_MODIFIERS: Final = _LISTS["term-modifiers"]
_AGENTS: Final = _LISTS["agents"]
_EVENTS: Final = _LISTS["events"]
_ILLNESS: Final = _LISTS["illness"]
_THINGS: Final = frozenset({"place", "organisation", "product"})
_DOT: Final = frozenset("·•・")
_NOUNS: Final = ("n", "vn", "an", "j")  # of jieba's tags, as they begin
_NO_NOUNS: Final = frozenset({"ng", "nrt"})
_ASPECTS: Final = frozenset({"ul", "ud", "ug", "uz"})  # 了, 得, 过, 着: what stands before is a verb
_SUFFIXES: Final = frozenset("化性率者员家机店馆院厅室场站")
_TITLE: Final = tables.lazy("《([^》\n]{2,20})》")
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
        """Return the id of its node: the normal forms of its words, separated by blanks."""
        return " ".join(word.form for word in self.words)

    @property
    def start(self) -> int:
        """Return its start in the text, in characters."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Return its end in the text, in characters."""
        return self.words[-1].end


def phrases(text: str, words: Sequence[Word]) -> list[Phrase]:
    """Find the phrases of a clean text, in order, none inside another.

    words  as processors/text/language.py cuts it
    """
    whole = [word for word in words if not word.part]
    spans = list(_titles(text, whole))
    taken = {word.start for phrase in spans for word in phrase.words}
    place = 0
    while place < len(whole):
        phrase = None if whole[place].start in taken else _at(text, whole, place)
        if phrase is not None and taken.isdisjoint(word.start for word in phrase.words):
            spans.append(phrase)
            place += len(phrase.words)
        else:
            place += 1
    fitting = (phrase for phrase in spans if len(phrase.id) <= LONGEST)
    return sorted(fitting, key=lambda phrase: phrase.start)[: 4 * PHRASES_PER_TURN]


def made(text: str, words: Sequence[Word]) -> Phrase:
    """Make a phrase of words that stand beside each other; what it is, its name tells, if anything does."""
    return _phrase(text, words, _kind_of(words, None) or "phrase")


def kinds(text: str, words: Sequence[Word], by_surface: Sequence[Phrase] = ()) -> dict[str, Kind]:
    """Return the kinds of single words, by normal form: kinds from our lists, or from the words beside them.

    by_surface  the phrases of the text: York is no person inside New York
    """
    inside = {word.start for phrase in by_surface if phrase.kind in _THINGS for word in phrase.words}
    by_form: dict[str, Kind] = {}
    whole_words = [word for word in words if not word.part]
    for place, word in enumerate(whole_words):
        kind = _word_kind(whole_words, place) if word.content and word.form not in by_form else None
        if kind and (kind != "person" or word.start not in inside):
            by_form[word.form] = kind
    whole = {word.form for word in whole_words}
    for word in words:
        if word.part and word.content and word.form not in whole:
            by_form[word.form] = "part"
    return by_form | {title[0].form: "product" for title in _titled(text, words) if len(title) == 1}


def _word_kind(words: Sequence[Word], place: int) -> Kind | None:
    word, before = words[place], words[place - 1] if place else None
    if _is_han(word):
        return names.han(word.form, word.tag) if not word.guessed else names.han_ending(word.form) or "guess"
    if not _is_capital(word):
        return None
    if kind := names.listed_kind(word.surface):
        return kind
    if word.surface.isupper():
        return None
    follows = before is not None and before.sentence == word.sentence and not word.pause
    if follows and before and word.form not in _DATES and (kind := names.before(before.surface)):
        return kind
    is_inside = before is not None and before.sentence == word.sentence
    is_listed = names.is_first_name(word.surface, inside=True)
    is_person = (is_listed and (is_inside or names.is_first_name(word.surface))) or english_names.shown_as_person(
        words, place, listed=is_listed
    )
    return "person" if is_person else None


def _at(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find the phrase that begins with the word at `place`."""
    word = words[place]
    if _is_han(word):
        return _dotted(text, words, place) or _counted_han(text, words, place) or _nouns_han(text, words, place)
    if word.tag == "number":
        return _counted(text, words, place)
    return (
        _mixed(text, words, place)
        or _listed_name(text, words, place)
        or _name(text, words, place)
        or _noun(text, words, place)
    )


def _phrase(text: str, words: Sequence[Word], kind: Kind) -> Phrase:
    start, end = words[0].start, words[-1].end
    return Phrase(tuple(words), kind, text[start:end] if end <= len(text) else " ".join(w.surface for w in words))


def _run(words: Sequence[Word], place: int, longest: int) -> Sequence[Word]:
    """Slice the words from `place` on that stand beside each other in one sentence, at most so many."""
    end, stop = place + 1, min(len(words), place + longest)
    while end < stop and _follows(words[end], words[end - 1]):
        end += 1
    return words[place:end]


def _follows(word: Word, before: Word) -> bool:
    return not word.pause and word.sentence == before.sentence


def _listed_name(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    if words[place].surface not in names.FIRST_WORDS:
        return None
    run = _run(words, place, names.MOST_WORDS)
    for length in range(len(run), 1, -1):
        if kind := names.listed_kind(" ".join(word.surface for word in run[:length])):
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
        return names.listed_kind(whole) or names.han_ending(whole)
    if not (_is_capital(run[0]) and _is_capital(run[-1])):
        return None
    is_person = names.is_first_name(first, inside=True) and len(run) == 2 and run[1].start == run[0].end + 1
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
    run = _noun_run(words, place)
    if len(run) > 1 and run[-1].form in _VERBS and not _is_head(run, words[place + len(run) : place + len(run) + 1]):
        run.pop()
    if len(run) > 1 and run[-1].form in _HEADS and run[-2].form in _AGENTS:  # 孩子过敏
        run.pop()
    if len(run) > 2 and run[-1].form in _EVENTS:  # 注册会计师|考试
        run.pop()
    length = sum(len(word.form) for word in run)
    if not 2 <= len(run) <= _LONGEST_NOUN or length not in _HAN_LENGTHS:
        return None
    return _phrase(text, run, _kind_of(run, None) or "phrase")


def _noun_run(words: Sequence[Word], place: int) -> list[Word]:
    """List the words from `place` on that a compound may have: nouns, suffixes, verbs that terms begin or end with."""
    run: list[Word] = []
    for word in _run(words, place, _LONGEST_NOUN + 1):
        is_part = word.form in _MODIFIERS if not run else word.form in _SUFFIXES or word.form in _HEADS
        is_part = is_part or (len(run) == 1 and _ends_illness(words, place + 1))
        if not _is_han(word) or not (is_part or _is_noun_han(word) or _before_suffix(words, place + len(run))):
            break
        run.append(word)
        if len(run) > 1 and word.form in _HEADS:
            break
    return run


def _ends_illness(words: Sequence[Word], place: int) -> bool:
    """Return whether a verb or an adjective ends what was found in someone: 查出血压偏高."""
    before, word = "".join(each.form for each in words[max(0, place - 3) : place - 1]), words[place]
    is_closed = place + 1 == len(words) or not _follows(words[place + 1], word)
    is_found = before.endswith(tuple(_ILLNESS)) and not words[place - 1].pause
    return is_found and is_closed and word.content and len(word.form) > 1 and word.tag.startswith(("a", "v", "z", "l"))


def _is_head(run: Sequence[Word], after: Sequence[Word]) -> bool:
    """Return whether the verb at the end of a run is the noun of a term, 深度学习: it has no agent and no object."""
    is_beside = bool(after) and after[0].start == run[-1].end
    is_verb_there = is_beside and (after[0].tag.startswith(("n", "eng")) or after[0].tag in _ASPECTS)
    return run[-1].form in _HEADS and run[-2].form not in _AGENTS and run[-2].tag != PERSON and not is_verb_there


def _mixed(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find a term of Latin letters and the Chinese nouns right behind them: API密钥, LangChain框架."""
    word = words[place]
    if not word.content or place + 1 >= len(words) or words[place + 1].start != word.end:
        return None
    nouns = [word]
    for after in _run(words, place, _LONGEST_NOUN)[1:]:
        if not (_is_han(after) and (_is_noun_han(after) or after.form in _HEADS)) or after.tag == PERSON:
            break
        nouns.append(after)
    return _phrase(text, nouns, "phrase") if len(nouns) > 1 else None


def _dotted(text: str, words: Sequence[Word], place: int) -> Phrase | None:
    """Find the names of one person that a dot joins."""
    run = [words[place]]
    for word in words[place + 1 : place + _LONGEST_NAME]:
        if word.start != run[-1].end + 1 or text[run[-1].end : word.start] not in _DOT or not _is_han(word):
            break
        run.append(word)
    is_person = len(run) > 1 and all(word.tag == PERSON for word in run)
    return _phrase(text, run, "person") if is_person else None


def _is_noun_han(word: Word) -> bool:
    return word.content and word.tag.startswith(_NOUNS) and word.tag not in _NO_NOUNS and not word.guessed


def _before_suffix(words: Sequence[Word], place: int) -> bool:
    if place + 1 >= len(words) or not words[place].content:
        return False
    word, after = words[place : place + 2]
    return after.form in _SUFFIXES and after.start == word.end and _follows(after, word)


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
