"""Find relations between two concepts that a sentence states plainly: few patterns, and precise ones.

    I      live in     Lisbon                     @speaker:ada ── lives-in ──▶ lisbon
    source pattern     target                     data/relations.tsv tells the pattern, and what the two may be

A pattern is what stands between the two.  Its source is who speaks, or the name or noun right before it, but for
adverbs; its target the first words behind it that name something.  A question, what is only wished for or imagined, and
what follows a "not" that no pattern holds says nothing: there the source does not stand before the pattern.

A past state ("I lived in Berlin", 我以前住在柏林) states no relation either, except for its result: a person who moved
to Lisbon lives there.  The person that "she" means is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

from emgas.messages.relations import RelationType
from processors.text import names, tables
from processors.text.chinese_names import PERSON
from processors.text.facts.vocabulary import ROLES, WORDS
from processors.text.language import Word
from processors.text.phrases import Phrase, is_verb, made

LONGEST: Final = 3  # words of a noun


class Endpoint(NamedTuple):
    """An end of a relation: the speaker, or some words of the text, which are a phrase if there are several."""

    words: tuple[Word, ...] = ()
    phrase: Phrase | None = None

    @property
    def form(self) -> str | None:
        """Return the id of its node; None for the speaker."""
        return self.phrase.id if self.phrase else self.words[0].form if self.words else None


class StatedRelation(NamedTuple):
    """A relation that a text tells, and the characters that do so."""

    source: Endpoint
    type: RelationType
    target: Endpoint
    start: int
    end: int


class _RelationRule(NamedTuple):
    type: RelationType
    source: str
    target: str
    triggers: tuple[str, ...]  # a text without one of these cannot match the pattern, which takes much longer
    pattern: re.Pattern[str]
    is_back: bool


def _rule(type: str, source: str, target: str, triggers: str, pattern: str) -> _RelationRule:
    is_back = pattern.startswith("back ")
    expression = tables.lazy(pattern.removeprefix("back "), re.IGNORECASE)
    return _RelationRule(cast(RelationType, type), source, target, tuple(triggers.split("|")), expression, is_back)


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "relation_words"):
        lists.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in lists.items()}


_RULES: Final = tuple(_rule(*row) for row in tables.rows(__package__, "relations"))
_TRIGGERS: Final = tuple(sorted({trigger for rule in _RULES for trigger in rule.triggers}))
_WORDS: Final = _lists()
_CLOSE: Final = frozenset(  # what those are of whom one speaks without a name: my aunt, 舅妈
    (
        "parent", "child", "sibling", "spouse", "partner", "ex-spouse", "ex-partner", "relative",
        "friend", "colleague", "boss", "roommate", "neighbour", "teacher",
    )
)  # fmt: skip
_KIN: Final = _WORDS["kin"].union(
    word for roles in ROLES.values() for word, relation in roles.items() if relation in _CLOSE
)
_NO_NAMES: Final = WORDS["noname"].union(*ROLES.values())  # nobody is called so alone: Monday, 老师
_PETS: Final = WORDS["pet"] | WORDS["宠"]
_SENTENCE_END: Final = tables.lazy(r"[.!?。！？\n…]")
_CLAUSE: Final = tables.lazy(r"[,;:，；：—]|\b(?:but|because|although|though|so)\b|但是?|因为|所以|不过")
_NOTHING: Final = Endpoint()
_WORD: Final = tables.lazy(r"[^\W\d_]+")
_ASKS_HAN: Final = tables.lazy(r"[^.!?。！？\n]*吗[。.\s]*$")
_QUOTED: Final = tables.lazy('["“”(]')
_NOUNS: Final = ("n", "an", "j", "eng")  # of jieba's tags, as they begin
_POINTING: Final = frozenset("这那此它他她你您")


def relations(text: str, words: Sequence[Word], phrases: Sequence[Phrase]) -> list[StatedRelation]:
    """Find what a clean, simplified text says of two concepts, in the order of the rules, nothing twice.

    words, phrases  of the same text
    """
    lower = text.lower()
    here = {trigger for trigger in _TRIGGERS if trigger in lower}
    if not here:
        return []
    rules = [rule for rule in _RULES if not here.isdisjoint(rule.triggers)]
    reading = _Reading(text, words, phrases)
    matches = (relation for rule in rules for relation in reading.match_rule(rule))
    unique = {(relation.source.form, relation.type, relation.target.form): relation for relation in matches}
    return [relation for relation in unique.values() if relation.source.form != relation.target.form]


class _Reading:
    """One text that is looked through for relations."""

    def __init__(self, text: str, words: Sequence[Word], phrases: Sequence[Phrase]) -> None:
        self._text = text
        self._words = [word for word in words if not word.part]
        self._parts = [word for word in words if word.part]
        self._phrases = {word.start: phrase for phrase in phrases if phrase.kind != "number" for word in phrase.words}

    def match_rule(self, rule: _RelationRule) -> Iterator[StatedRelation]:
        """Yield what one rule finds."""
        for match in rule.pattern.finditer(self._text):
            groups = match.groupdict()
            if self._is_unsure(match.start(), match.end()):
                continue
            before = self._inside(match, "source") if groups.get("source") else self._source(match.start(), rule)
            after = self._inside(match, "target") if groups.get("target") else self._target(match.end(), rule)
            if before is None and rule.type == "is-a" and after and _is_named_kind(after):
                before = self._capital_before(match.start())
            if before is not None and after is not None and after.words and not _is_nothing(after):
                start = min([match.start(), *(word.start for word in before.words)])
                end = max([match.end(), *(word.end for word in after.words)])
                if before.words and _is_nothing(before):
                    continue
                source, target = (after, before) if rule.is_back else (before, after)
                if target.words and (rule.source != "named" or _may_be_called(target)):
                    yield StatedRelation(source, rule.type, target, start, min(end, len(self._text)))

    def _is_unsure(self, start: int, end: int) -> bool:
        """Return whether the sentence asks, or its clause tells before `start` what is not so."""
        last = _SENTENCE_END.search(self._text, end)
        if (last and last.group() in "?？") or _ASKS_HAN.match(self._text, end):
            return True
        begin = max((match.end() for match in _SENTENCE_END.finditer(self._text, 0, start)), default=0)
        clause = [match.end() for match in _CLAUSE.finditer(self._text, begin, start)]
        clause_text = self._text[clause[-1] if clause else begin : start].lower()
        inside = {word.surface.casefold() for word in self._words if begin <= word.start < start}
        words = {match.group() for match in _WORD.finditer(clause_text)}
        return not _WORDS["unsure"].isdisjoint(words | {word for word in inside if word in clause_text})

    def _source(self, start: int, rule: _RelationRule) -> Endpoint | None:
        """Find who or what stands before the pattern, None where nothing fits."""
        if rule.source == "speaker":
            return _NOTHING
        if rule.source == "named":
            return self._person_before(start)
        place = self._last_before(start)
        while place >= 0 and self._before_pattern(place, start) in _WORDS["adverbs"]:
            place -= 1
        if rule.source == "thing":
            place = self._head(place)
        if place < 0 or self._is_parted(place, start):
            return None
        word = self._words[place]
        is_cut = word.tag not in ("word", "number") and word.start < start < word.end  # 我养: the pattern begins inside
        surface = self._text[word.start : start] if is_cut else _plain(word)
        if surface in _WORDS["self"]:
            return _NOTHING if rule.source in ("self", "any") and not self._is_contracted(place, start) else None
        if rule.source == "self" or not word.content or (word.guessed and word.form[0] in _POINTING):
            return None
        endpoint = self._noun_before(place)
        return endpoint if self._may_be_source(endpoint, place, rule) else None

    def _person_before(self, start: int) -> Endpoint | None:
        """Find the last person whom a name stands for before the pattern, in the text."""
        for place in reversed(range(self._last_before(start) + 1)):
            word, endpoint = self._words[place], self._noun_before(place)
            if endpoint.phrase and endpoint.phrase.kind == "person" and endpoint.words[-1].end <= start:
                return endpoint
            is_first_name = word.tag == "word" and names.is_first_name(word.surface, inside=place > 0)
            if (word.tag == PERSON or is_first_name) and word.end <= start:
                return Endpoint((word,))
        return None

    def _before_pattern(self, place: int, start: int) -> str:
        """Return a word, or of one in which the pattern begins what stands before it: 就 of 就是."""
        word = self._words[place]
        is_cut = word.tag not in ("word", "number") and word.start < start < word.end
        return self._text[word.start : start] if is_cut else _plain(word)

    def _head(self, place: int) -> int:
        """Return the place of the noun that a phrase with a preposition belongs to: the mould in the bathroom."""
        first = place
        while first > 0 and self._words[first].tag == "word" and place - first < LONGEST + 1:
            if _plain(self._words[first]) in _WORDS["within"]:
                return first - 1 if self._words[first - 1].content and not self._words[first].pause else place
            if self._words[first].pause or self._words[first].sentence != self._words[place].sentence:
                break
            first -= 1
        return place

    def _capital_before(self, start: int) -> Endpoint | None:
        """Find a name right before the pattern that nothing else shows to be one: Biscuit is a cat, 饼干是一只猫."""
        place = self._last_before(start)
        word = self._words[place] if place >= 0 else None
        is_capital = word is not None and word.content and (word.surface[:1].isupper() or word.tag.startswith("n"))
        return self._noun_before(place) if is_capital and not self._is_parted(place, start) else None

    def _may_be_source(self, endpoint: Endpoint, place: int, rule: _RelationRule) -> bool:
        """Return whether a noun before the pattern is what a rule wants there."""
        if rule.source == "thing":
            tag = endpoint.words[-1].tag
            is_noun = tag == "word" or tag.startswith(_NOUNS) or endpoint.phrase is not None
            return is_noun or (rule.type == "cause" and tag.startswith("v"))
        first = endpoint.words[0]
        is_kin = rule.source != "proper" and endpoint.phrase is None and first.form in _KIN
        return is_kin or self._is_proper(endpoint, place - len(endpoint.words) + 1)

    def _is_proper(self, endpoint: Endpoint, place: int) -> bool:
        """Return whether a noun is a name for sure: a capital at the start of a sentence shows none."""
        first, last = endpoint.words[0], endpoint.words[-1]
        if first.tag != "word":
            return names.han("".join(word.form for word in endpoint.words), last.tag) is not None
        if not first.surface[:1].isupper():
            return False
        is_first = place <= 0 or self._words[place - 1].sentence != first.sentence
        return not is_first or endpoint.phrase is not None or names.listed_kind(first.surface) is not None

    def _is_contracted(self, place: int, start: int) -> bool:
        """Return whether an ending hangs on the word at `place` that is not of the pattern: I'd like."""
        end = self._words[place].start + len(self._words[place].surface)
        return self._text[end : end + 1] == "'" and end != start

    def _last_before(self, start: int) -> int:
        return max((place for place, word in enumerate(self._words) if word.start < start), default=-1)

    def _is_parted(self, place: int, start: int) -> bool:
        """Return whether punctuation stands between the word at `place` and the pattern."""
        between = (word for word in self._words[place + 1 :] if word.start <= start)
        return any(word.pause or word.sentence != self._words[place].sentence for word in between)

    def _noun_before(self, place: int) -> Endpoint:
        phrase = self._phrases.get(self._words[place].start)
        return Endpoint(phrase.words, phrase) if phrase else Endpoint((self._words[place],))

    def _target(self, end: int, rule: _RelationRule) -> Endpoint | None:
        """Find what stands behind the pattern, None where nothing fits."""
        if cut := next((word for word in self._words if word.start < end < word.end and word.tag != "word"), None):
            inside = next((part for part in self._parts if part.start == end and part.end == cut.end), None)
            endpoint = Endpoint((inside or cut,)) if (inside or cut).content else None
            return endpoint if endpoint and rule.target == "any" else None
        first = next((place for place, word in enumerate(self._words) if word.start >= end), len(self._words))
        endpoint = self._noun(first, end, is_liked=rule.type in ("likes", "dislikes"))
        return endpoint if endpoint and _is_target(endpoint, rule.target) else None

    def _inside(self, match: re.Match[str], group: str) -> Endpoint | None:
        """Find what a group of a pattern names: who speaks, or its first noun."""
        start, end = match.span(group)
        places = [place for place, word in enumerate(self._words) if start <= word.start < end]
        if not places:
            return None
        if _plain(self._words[places[0]]) in _WORDS["self"] and len(places) == 1:
            return _NOTHING
        endpoint = self._noun(places[0], start, is_liked=False)
        fits = endpoint is not None and endpoint.words[-1].start < end
        return endpoint if fits and endpoint and _is_target(endpoint, "noun") else None

    def _noun(self, place: int, end: int, *, is_liked: bool) -> Endpoint | None:
        """Find the noun that begins at `place`, but for articles and the like before it."""
        words, text = self._words, self._text
        if place < len(words) and _QUOTED.search(text, end, words[place].start):
            return None
        skipped = 0
        while place < len(words) and words[place].start not in self._phrases:
            is_specific = not is_liked and _plain(words[place]) in _WORDS["specific"]
            if not is_specific and not self._may_skip(words[place], skipped):
                break
            place, skipped = place + 1, skipped + 1
        if place >= len(words) or (skipped and words[place].pause) or not self._is_beside(place, end, skipped):
            return None
        return self._named(place)

    def _may_skip(self, word: Word, skipped: int) -> bool:
        if word.pause and skipped:
            return False
        return _plain(word) in _WORDS["before"] or (not word.content and word.tag in ("m", "q", "mq", "ul", "uj"))

    def _is_beside(self, place: int, end: int, skipped: int) -> bool:
        """Return whether no end of a sentence stands before the word at `place`."""
        return not _SENTENCE_END.search(self._text, end, self._words[place].start) and skipped <= 5

    def _named(self, place: int) -> Endpoint | None:
        """Take the phrase or the content words that stand from `place` on."""
        words = self._words
        if phrase := self._phrases.get(words[place].start):
            return Endpoint(phrase.words, phrase)
        run: list[Word] = []
        for word in words[place : place + LONGEST]:
            is_next = not run or (not word.pause and word.sentence == run[-1].sentence and _goes_on(run, word))
            if not word.content or not is_next or (run and word.start in self._phrases):
                break
            run.append(word)
        if not run:
            return None
        after = words[place + len(run)] if place + len(run) < len(words) else None
        if after is not None and after.surface == "的" and not after.pause and place + len(run) + 1 < len(words):
            behind = words[place + len(run) + 1]
            if behind.content and not behind.pause:
                return self._named(place + len(run) + 1)
        return Endpoint(tuple(run), made(self._text, run) if len(run) > 1 else None)


def _goes_on(run: Sequence[Word], word: Word) -> bool:
    """Return whether a word belongs to the noun before it: a capital to capitals, no verb, in Chinese a noun."""
    if word.tag != "word":
        return word.tag.startswith(("n", "vn", "an", "j")) and run[-1].tag != "word" and not is_verb(word)
    if word.surface[:1].isupper():
        return run[0].surface[:1].isupper()
    is_name = run[0].surface[:1].isupper() and names.listed_kind(run[0].surface) is not None
    return not is_name and not is_verb(word) and not word.surface.endswith("ly")


def _plain(word: Word) -> str:
    return word.surface.casefold()


def _is_nothing(endpoint: Endpoint) -> bool:
    """Return whether an endpoint has no content: "a huge fan", "the way"."""
    last = endpoint.words[-1]
    if endpoint.phrase is not None and last.tag != "word":
        return False
    return not _WORDS["nothing"].isdisjoint((last.form, _plain(last)))


def _may_be_called(endpoint: Endpoint) -> bool:
    """Return whether a person may be called so: 西西, Bizzy; not 回家, which dictionaries have, nor 老师."""
    last = endpoint.words[-1]
    return endpoint.form not in _NO_NAMES and (last.tag == "word" or last.tag.startswith("nr") or last.guessed)


def _is_named_kind(endpoint: Endpoint) -> bool:
    """Return whether an endpoint is of a kind whose members have names: a cat, 一只橘猫."""
    form = endpoint.words[-1].form
    return (
        form in _WORDS["kinds"] or form in _PETS or (endpoint.words[-1].tag != "word" and form[-1] in _WORDS["kinds"])
    )


def _is_target(endpoint: Endpoint, kind_of_target: str) -> bool:
    """Return whether an endpoint is what a rule wants behind its pattern."""
    first, last = endpoint.words[0], endpoint.words[-1]
    if kind_of_target == "any":
        return True
    if kind_of_target == "noun":
        is_noun = last.tag == "word" or last.tag.startswith(_NOUNS) or last.guessed
        return is_noun or endpoint.phrase is not None  # 机器学习
    if first.tag == "word":
        return first.surface[:1].isupper()
    kind = names.han("".join(word.form for word in endpoint.words), last.tag)
    if kind is not None:
        return kind_of_target in ("name", kind)
    return last.tag.startswith(_NOUNS) and sum(len(word.form) for word in endpoint.words) > 1
