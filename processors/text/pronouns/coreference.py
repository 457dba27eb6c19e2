"""Find the person that "he" or "she" means in English, by rules and 23 weights: no model, no parser.

    Barry: "Tom met my boss."   Mia: "What did he say?"      he ──▶ Tom 0.86

Names, people by role ("my boss", "the guy") and who speaks are candidates of a conversation.  A pronoun weighs those
that fit it (gender, who speaks, who is spoken to, not the subject of its own clause) by how near they are, their place
in the sentence and what the last pronoun meant, against "an unnamed person".  A pronoun that means an unnamed person
adds an unnamed candidate, so that the next "he" is left alone as well.  The confidence is the share of the best,
calibrated on labelled talk: never above 0.9.  A chain is nearly as sure as its first pronoun, and never surer: the next
"he" means the same person 98 times of 100.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from processors.text import names, tables

Case = Literal["subject", "object", "owner", "self"]

_WORD: Final = tables.lazy(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d[\d.,:]*|[.!?…]+|[,;:()\"“”—]|--+|\S")
_SHORT: Final = tables.lazy(r"(.+?)('(?:s|re|ll|ve|d|m)|n't)$", re.IGNORECASE)
_BREAKS: Final = frozenset('.!?…,;:—-"“')
_OPENS: Final = frozenset('.!?…"“-:;—')
_BOUNDS: Final = frozenset(",.!?…")
_BE: Final = frozenset(["is", "was", "are", "were", "am", "'s", "'re", "'m", "be", "been"])
_WHO_IS: Final = frozenset(["i", "you", "he", "she", "we", "they"])
_FRESH: Final = 4  # words after which a person who was addressed can be spoken of
FORGOTTEN: Final = 12  # turns after which a person is no longer meant
_ASKS_WHO: Final = tables.lazy(r"\bwho\b[^.!]*\?\s*$", re.IGNORECASE)
_OWN: Final = frozenset({"my", "his", "her", "your", "our", "their", "its"})
_BETWEEN: Final = _OWN | {"not", "n't", "just", "only", "also", "still", "really", "like", "such"}
_ALONE: Final = frozenset(  # people who are meant without "my" or "the": Mom, grandpa
    [
        "mom",
        "mum",
        "mommy",
        "dad",
        "daddy",
        "grandma",
        "grandpa",
        "mother",
        "father",
        "somebody",
        "someone",
        "mama",
        "papa",
    ]
)
_NEW: Final = frozenset({"a", "an", "another", "some"})


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "coreference"):
        lists.setdefault(name, set()).update(words.split())
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()
_ROLES: Final = {word: name for name in ("female", "male", "either", "animal") for word in _LISTS[name]}
_GENDER_OF_ROLE: Final = {"female": "f", "male": "m"}
_TITLES: Final = _LISTS["mr"] | _LISTS["ms"] | _LISTS["title"]
_PRONOUNS: Final[dict[str, tuple[str, Case]]] = {
    "he": ("m", "subject"), "him": ("m", "object"), "his": ("m", "owner"), "himself": ("m", "self"),
    "she": ("f", "subject"), "her": ("f", "object"), "hers": ("f", "object"), "herself": ("f", "self"),
}  # fmt: skip
_OTHER_PRONOUNS: Final = frozenset(
    [
        "it",
        "its",
        "itself",
        "they",
        "them",
        "their",
        "theirs",
        "themselves",
        "'em",
        "i",
        "me",
        "my",
        "mine",
        "myself",
        "you",
        "your",
        "yours",
        "yourself",
        "ya",
        "we",
        "us",
        "our",
        "ours",
        "ourselves",
    ]
)
_SUBJECTS: Final = frozenset(["i", "you", "we", "they", "it", "he", "she"])
_OWNERS: Final = frozenset(["my", "your", "our", "their", "its", "his"])
_NOT_NOUN: Final = (
    _LISTS["preposition"] | _LISTS["link"] | _LISTS["auxiliary"] | _LISTS["determiner"] | _LISTS["no-noun"]
    | _LISTS["verb"] | set(_PRONOUNS) | _OTHER_PRONOUNS
)  # fmt: skip
# What each feature of a candidate is worth (_features), fitted to labelled scenes of other people's talk.
_WEIGHTS: Final = (
    -0.77, 0.46, 0.16, 0.57, -0.04, -0.27, -1.65, 0.03, -0.97, 1.09, 0.6, 0.26, -0.95, 0.86, 0.32, -1.08, -1.99,
    -0.11, 0.96, 0.33, 0.13, -1.16, -1.21,
)  # fmt: skip
_LINK: Final = 0.98  # how often who was meant is meant again: the next "he" is wrong where the one before was
_PAIRED: Final = 0.6  # of the share, where either of two could be meant
_SURE_AS: Final[dict[Case, float]] = {"object": 0.85}  # an object is less often who was spoken of
# A share, and how often answers of such a share were right, in scenes that the weights of that trial had not seen.
_CALIBRATED: Final = ((0.0, 0.3), (0.3, 0.6), (0.45, 0.7), (0.56, 0.8), (0.65, 0.85), (0.8, 0.88), (1.0, 0.9))


class Word(NamedTuple):
    """A word of a text, in small letters as `low`."""

    surface: str
    low: str
    start: int
    end: int


class Place(NamedTuple):
    """The place of a word in a conversation."""

    turn: int = -99
    clause: int = 0
    word: int = 0


NOWHERE: Final = Place()


class Resolved(NamedTuple):
    """A pronoun of the last turn: its characters, whom it means, where that one was named last, how surely."""

    start: int
    end: int
    name: str
    at: tuple[int, int, int] | None
    confidence: float


class Pronoun(NamedTuple):
    """A pronoun whose meaning is asked: where it stands, who says it, and who is spoken to there."""

    gender: str
    case: Case
    here: Place
    speaker: str
    called: set[str]


@dataclass(eq=False)
class Candidate:
    """A person in the conversation: named, speaking, or unnamed and only meant by a pronoun.

    how     how it was meant last: name, role, pronoun, nobody     place  and as what: subject, object, owner, called …
    sure    how surely the pronoun that meant it last did so
    """

    name: str
    gender: str
    kind: str = "person"  # or many, nobody: values of `kind`
    at: tuple[int, int, int] | None = None
    last: Place = NOWHERE
    how: str = "name"
    place: str = "other"
    count: int = 0
    spoke: int = -99
    named: int = -99
    sure: float = 1.0


def _calibrated(share: float) -> float:
    """Return how often answers of such a share were right."""
    for (low, few), (high, many) in pairwise(_CALIBRATED):
        if share <= high:
            return few + (many - few) * (share - low) / (high - low)
    return _CALIBRATED[-1][1]


def _words(text: str) -> list[Word]:
    """Cut a text into words; "he's" is two."""
    words = []
    for match in _WORD.finditer(text.replace("’", "'")):
        written, start = match.group(), match.start()
        short = _SHORT.match(written) if "'" in written and written.lower() != "let's" else None
        pieces = short.groups() if short else (written,)
        for piece in pieces:
            words.append(Word(piece, piece.lower(), start, start + len(piece)))
            start += len(piece)
    return words


def _is_same(one: str, two: str) -> bool:
    """Return whether two names may be one person's: Barry, Barry Farber; Rach, Rachel."""
    first, second = (_untitled(name) for name in (one, two))
    if first[0] == second[0]:
        return True
    if len(first) > 1 and len(second) > 1:
        return False
    short, long = sorted((first[0], second[0]), key=len)
    return first[-1] == second[-1] or (len(short) > 2 and long.startswith(short))


def _untitled(name: str) -> list[str]:
    words = [word.strip(".") for word in name.lower().split()]
    return [word for word in words if word not in _TITLES] or words


class Conversation:
    """The turns of a session, read one after the other."""

    def __init__(self) -> None:
        self._candidates: list[Candidate] = []
        self._speakers: dict[str, Candidate] = {}
        self._turn_speakers: list[str] = []
        self._seen: set[str] = set()  # words with a capital inside a sentence: names
        self._follows_who_question = False
        self._turn = -1

    def say(self, speaker: str, text: str) -> list[Resolved]:
        """Read a turn; return whom its he and she mean."""
        self._turn += 1
        self._begin(speaker)
        resolved = _Turn(self, speaker, text).read()
        self._turn_speakers.append(speaker)
        self._follows_who_question = bool(_ASKS_WHO.search(text))
        return resolved

    def _begin(self, speaker: str) -> None:
        if speaker not in self._speakers:
            existing = (each for each in self._candidates if each.how != "role" and each.kind == "person")
            person = next((each for each in existing if _is_same(each.name, speaker)), None)
            if person is None:
                person = Candidate(speaker, names.gender(speaker.split(maxsplit=1)[0] if speaker.split() else ""))
                self._candidates.append(person)
            person.name = speaker
            self._speakers[speaker] = person
        self._speakers[speaker].spoke = self._turn

    def add(self, name: str, kind: str, gender: str, span: tuple[int, int], *, how: str, fresh: bool) -> Candidate:
        """Return the candidate that a name or a role means, a new one where none has it."""
        candidate = None if fresh else self._named(name, kind, how)
        if candidate is None:
            candidate = Candidate(name, gender, kind)
            self._candidates.append(candidate)
        if len(name) > len(candidate.name) and how == "name" and candidate.name not in self._speakers:
            candidate.name = name
        candidate.gender = candidate.gender or gender
        candidate.at, candidate.named, candidate.sure = (self._turn, *span), self._turn, 1.0
        return candidate

    def _named(self, name: str, kind: str, how: str) -> Candidate | None:
        for each in reversed(self._candidates):
            if each.kind != kind or (each.how == "role") != (how == "role"):
                continue
            if _is_same(each.name, name) if how == "name" else each.name == name:
                return each
        return None

    def is_known(self, word: str) -> bool:
        """Return whether a word is the name of who speaks here, or was seen as a name inside a sentence."""
        return any(_is_same(word, name) for name in self._speakers) or (word in self._seen and _is_listed(word))

    def see(self, word: str) -> None:
        """Remember a word that had a capital inside a sentence."""
        self._seen.add(word)

    @property
    def turn(self) -> int:
        """The number of the turn that is read."""
        return self._turn

    @property
    def follows_who_question(self) -> bool:
        """Return whether the turn before asked who: then a name alone is an answer, not an address."""
        return self._follows_who_question

    def others(self, speaker: str) -> list[str]:
        """List who else speaks."""
        return [name for name in self._speakers if name != speaker]

    def choose(self, pronoun: Pronoun) -> tuple[Candidate, float] | None:
        """Return the best candidate that fits a pronoun, and its share; None if an unnamed person fits better."""
        pool = [each for each in self._candidates if self._fits(each, pronoun)]
        if pronoun.case == "self":
            pool = [each for each in pool if each.last[:2] == pronoun.here[:2]] or pool
        latest = max((each.last for each in pool), default=None)
        rivals = sum(each.kind != "nobody" for each in pool)
        scores = [_score(self._features(each, pronoun, rivals, latest)) for each in pool]
        best = max(range(len(pool)), key=lambda place: (scores[place], pool[place].last), default=None)
        if best is None or scores[best] <= 0:
            return None
        share = math.exp(scores[best]) / (1 + sum(map(math.exp, scores)))
        return pool[best], share * (_PAIRED if any(_is_paired(pool[best], each) for each in pool) else 1)

    def unnamed(self, gender: str) -> Candidate:
        """Return a new candidate without a name."""
        candidate = Candidate("", gender, "nobody")
        self._candidates.append(candidate)
        return candidate

    def _fits(self, each: Candidate, pronoun: Pronoun) -> bool:
        here = pronoun.here
        if each.kind == "many" or not (each.count or each.spoke >= 0) or each.name == pronoun.speaker:
            return False
        if each.gender not in ("", pronoun.gender) or (each.kind == "nobody" and not each.gender):
            return False
        gap = here.clause - each.last.clause if each.last.turn == here.turn else None
        is_called = each.name in pronoun.called and (gap is None or gap < _FRESH)
        was_called = each.place == "called" and gap is not None and gap < _FRESH
        if here.turn - max(each.last.turn, each.spoke) > FORGOTTEN or is_called or was_called:
            return False
        return not (pronoun.case == "object" and gap == 0 and each.place == "subject")  # Joey told him

    def _features(self, each: Candidate, pronoun: Pronoun, rivals: int, latest: Place | None) -> Sequence[float]:
        here, case = pronoun.here, pronoun.case
        before = next((name for name in reversed(self._turn_speakers) if name != pronoun.speaker), None)
        gap = here.turn - each.last.turn if each.count else 99
        same_clause = gap == 0 and each.last.clause == here.clause
        speaks = each.name in self._speakers
        owns_near = case == "owner" and gap == 0 and (same_clause or here.word - each.last.word <= 3)
        is_unknown = each.how == "name" and not speaks and not _is_listed(each.name.split()[0].lower())
        return (
            1.0, same_clause, gap == 0 and not same_clause, gap == 1, gap == 2, 3 <= gap <= 4, gap >= 5,
            each.place == "subject", each.how == "pronoun", bool(each.gender), math.log1p(each.count), speaks,
            each.place == "called", speaks and each.name == before, each.last == latest, each.how == "role",
            each.kind == "nobody", each.place == "owner", each.named == here.turn, owns_near,
            math.log1p(rivals - (each.kind != "nobody")), each.count == 0, is_unknown,
        )  # fmt: skip


def _is_paired(one: Candidate, two: Candidate) -> bool:
    """Return whether two were named together, and neither since: Mary and Anna."""
    near = one.last.turn == two.last.turn and 0 < abs(one.last.word - two.last.word) <= 2
    return near and one.how == two.how == "name"


def _score(features: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(_WEIGHTS, features, strict=True))


def _is_listed(word: str) -> bool:
    return names.is_first_name(word.capitalize(), inside=True) or bool(names.gender(word))


class _Turn:
    """One turn as it is read, word by word."""

    def __init__(self, talk: Conversation, speaker: str, text: str) -> None:
        self.talk, self.speaker, self.words = talk, speaker, _words(text)
        self.low = [word.low for word in self.words]
        others = talk.others(speaker)
        self.two = len(others) == 1
        self.called = {others[0]} if self.two else set[str]()
        self.clause, self.fresh, self.done = 0, True, False  # `done`: the clause has its subject

    def read(self) -> list[Resolved]:
        """Read the words from the first to the last."""
        resolved, at = list[Resolved](), 0
        while at < len(self.words):
            if self._ends_clause(self.low[at]):
                self.clause, self.fresh, self.done = self.clause + 1, True, False
                at += 1
            elif self.low[at] in _PRONOUNS:
                if answer := self._pronoun(at):
                    resolved.append(answer)
                at += 1
            elif self.low[at] in _OTHER_PRONOUNS:
                self._step(is_subject=self.low[at] in _SUBJECTS, is_owner=self.low[at] in _OWNERS)
                at += 1
            else:
                at += self._name(at) or self._role(at) or self._pass(at)
        return resolved

    def _ends_clause(self, low: str) -> bool:
        return low[0] in _BREAKS or (low in _LISTS["link"] and low != "that")

    def _step(self, *, is_subject: bool, is_owner: bool) -> None:
        self.done = self.done or is_subject
        self.fresh = self.fresh and is_owner  # "her mom": the subject is still to come

    def _pass(self, at: int) -> int:
        if self.low[at] not in _LISTS["greeting"] and self.low[at] not in _LISTS["auxiliary"]:
            self.fresh = False
        return 1

    def _place(self, at: int) -> str:
        before = self.low[at - 1] if at else ""
        if not self.done and (self.fresh or before in _LISTS["auxiliary"] or before in _LISTS["greeting"]):
            return "subject"
        return "object" if before not in _LISTS["preposition"] else "other"

    def _here(self, at: int) -> Place:
        return Place(self.talk.turn, self.clause, at)

    def _mean(self, candidate: Candidate, at: int, place: str, how: str) -> None:
        candidate.last, candidate.place, candidate.how = self._here(at), place, how
        candidate.count += 1

    def _pronoun(self, at: int) -> Resolved | None:
        word = self.words[at]
        gender, case = _PRONOUNS[word.low]
        following = self.low[at + 1] if at + 1 < len(self.low) else "."
        if word.low == "her" and following.isalpha() and following not in _NOT_NOUN - _LISTS["verb"]:
            case = "owner"
        choice = self.talk.choose(Pronoun(gender, case, self._here(at), self.speaker, self.called))
        candidate, share = choice or (self.talk.unnamed(gender), 0.0)
        share = candidate.sure * _LINK if candidate.how == "pronoun" else share
        self._mean(candidate, at, "other" if case == "self" else case, "pronoun")
        self._step(is_subject=case == "subject", is_owner=case == "owner")
        if candidate.kind != "person":
            return None
        candidate.sure = share
        if not candidate.gender and share > 0.6:
            candidate.gender = gender
        return Resolved(
            word.start, word.end, candidate.name, candidate.at, round(_calibrated(share * _SURE_AS.get(case, 1.0)), 3)
        )

    def _name(self, at: int) -> int:
        """Read the name of a person, if one begins here: return how many words it has."""
        count = self._length_of_name(at)
        if not count:
            return 0
        name = " ".join(word.surface for word in self.words[at : at + count]).replace(" .", ".")
        following = self.low[at + count] if at + count < len(self.low) else "."
        place, span = self._place(at), (self.words[at].start, self.words[at + count - 1].end)
        if self._is_called(at, following, count):
            place = "called"
        elif self._owns(following, at + count + 1):
            place = "owner"
        person = self.talk.add(name, "person", _gender(name), span, how="name", fresh=False)
        self._mean(person, at, place, "name")
        if place == "called":
            self.called = (self.called if self.two else set()) | {person.name}
        self._step(is_subject=place == "subject", is_owner=False)
        return count

    def _is_called(self, at: int, following: str, count: int) -> bool:
        before = self.low[at - 1] if at else ""
        thanked = before == "you" and self.low[at - 2 : at - 1] == ["thank"]
        opens = at == 0 or before[0] in _BOUNDS or before in _LISTS["greeting"] or thanked
        answers = self.talk.follows_who_question and len(self.words) <= count + 2
        return opens and following[0] in _BOUNDS and not answers and before != "and"

    def _owns(self, following: str, at: int) -> bool:
        return following == "'s" and at < len(self.low) and self.low[at] not in _NOT_NOUN

    def _length_of_name(self, at: int) -> int:
        word, low = self.words[at], self.low[at]
        if not word.surface[0].isupper() or low in _LISTS["no-name"] or not word.surface[0].isalpha():
            return 0
        count = self._capitals(at)
        if low in _TITLES and count > 1:
            return count
        of = self.low[at + 1 : at + 2] == ["of"]
        if at and (self.low[at - 1] in _LISTS["place-begins"] or (of and low in ("mother", "son", "king", "queen"))):
            return 0
        if low in _ROLES and count == 1:
            return 0
        return count if self._is_person(at) else 0

    def _capitals(self, at: int) -> int:
        """Count the words with capitals from here on, at most four."""
        count, is_title = 1, self.low[at] in _TITLES
        for word in self.words[at + 1 : at + 4]:
            is_next = word.surface[0].isupper() and word.low not in _LISTS["no-name"]
            if not is_next and not (is_title and count == 1 and word.surface == "."):
                break
            count += 1
        return count

    def _is_person(self, at: int) -> bool:
        word, low, before = self.words[at], self.low[at], self.low[at - 1] if at else ""
        begins = at == 0 or before[0] in _OPENS
        is_word = low in _LISTS["word-too"]
        if (_is_listed(low) and not is_word) or self.talk.is_known(low):
            return True
        inside = not begins and before not in _LISTS["place-before"] and not word.surface.isupper()
        if inside and low not in _ROLES:
            self.talk.see(low)
        return (not begins and _is_listed(low)) or (inside and not is_word and len(low) > 2)

    def _role(self, at: int) -> int:
        """Read a person by role ("my boss", "the guy", Mom), if one begins here: return how many words it has."""
        is_det = self.low[at] in _LISTS["determiner"]
        end = self._end_of_phrase(at + is_det)
        if end == at + is_det:
            stands_alone = not is_det and self.words[at].surface[0].isupper() and len(self.low[at]) > 2
            is_cry = self.low[at + 1 : at + 2] == ["of"]  # Mother of God
            if not stands_alone or is_cry or _ROLES.get(self.low[at]) not in _GENDER_OF_ROLE:
                return 0
            end = at + 1
        head, owned = self.low[end - 1], self.low[at - 1] if at and self.low[at - 1] in _OWN else ""
        if head in _LISTS["many"]:
            return self._add_role(at, end, "many", "", owned)
        role = _ROLES.get(head)
        after_animal = end < len(self.low) and self.low[end] in _LISTS["after-animal"]
        if role is None or after_animal or not (is_det or owned or head in _ALONE):
            return 0
        if self._is_predicate(at):
            self._step(is_subject=False, is_owner=False)
            return end - at
        female = {"female", "lady", "girl"} & set(self.low[at:end])
        kind = "animal" if role == "animal" else "person"
        return self._add_role(at, end, kind, _GENDER_OF_ROLE.get(role, "f" if female else ""), owned)

    def _is_predicate(self, at: int) -> bool:
        """Return whether a role only says what a known person is: she was my best friend."""
        before = at - 1
        while before > 0 and self.low[before] in _BETWEEN:
            before -= 1
        return before > 0 and self.low[before] in _BE and self.low[before - 1] in _WHO_IS

    def _end_of_phrase(self, at: int) -> int:
        end = at
        while end < len(self.words) and end - at < 4 and self._is_noun(end):
            end += 1
            if self.low[end - 1] in _ROLES or self.low[end - 1] in _LISTS["many"]:
                break
        return end

    def _is_noun(self, at: int) -> bool:
        low = self.low[at]
        return (
            low[0].isalpha()
            and len(low) > 1
            and (low not in _NOT_NOUN or low in _ROLES)
            and self.words[at].surface[0].islower()
        )

    def _add_role(self, at: int, end: int, kind: str, gender: str, owned: str) -> int:
        last, head = self.words[end - 1], self.low[end - 1]
        place = "owner" if self._owns(self.low[end] if end < len(self.low) else ".", end + 1) else self._place(at)
        fresh = self.low[at] in _NEW or head in ("somebody", "someone")
        owner = f"{self.speaker}'s " if "my" in (owned, self.low[at]) else ""
        start = at + (self.low[at] in _LISTS["determiner"])
        name = owner + " ".join(self.low[start:end])
        role = self.talk.add(name, kind, gender, (last.start, last.end), how="role", fresh=fresh)
        self._mean(role, at, place, "role")
        self._step(is_subject=place == "subject", is_owner=False)
        return end - at


def _gender(name: str) -> str:
    first = name.split(maxsplit=1)[0].lower().strip(".")
    return "m" if first in _LISTS["mr"] else "f" if first in _LISTS["ms"] else names.gender(first)


def resolve(turns: Iterable[tuple[str, str]]) -> list[Resolved]:
    """Read turns (who says what), the earliest first; return whom he and she of the last one mean."""
    conversation, resolved = Conversation(), list[Resolved]()
    for speaker, text in turns:
        resolved = conversation.say(speaker, text)
    return resolved
