"""Find the persons and things that pronouns mean, by rules alone: I, you, she, he, it, there; 我, 你, 她, 他, 它, 那里.

    I, my        who speaks                                                                          1
    you          the other one, where a session has had just two speakers                            0.9
    she, he      the person that fits best, in English (coreference.py)                              0.9 to 0.3
    她, 他        the last person that fits: of this turn before it, else of the turns before         0.9 to 0.6
    it, there    the last thing that has a name, the last place, likewise                            0.8 to 0.5

Of several that fit, the one that is alone in its turn counts, less surely; of several in one turn none does.  Nothing
is bound where that leaves a doubt.  The text is never altered: a mention names characters of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from emgas.limits import MENTIONS_PER_TURN
from processors.text import tables
from processors.text.language import clean
from processors.text.pronouns import coreference
from state.events.extraction_types import Concept, Mention

LOOKED_BACK: Final = 20  # turns of a session, for who else speaks in it and whom he and she mean
TURNS: Final = 4  # of the session, that a pronoun may look back to
_SPEAKER: Final = "@speaker:"


def _lists() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "pronouns"):
        lists.setdefault(name, set()).update(words.split())
    for name in ("female", "male"):  # 我哥: whose it is may stand before it, in one word
        lists[name] |= {"我" + word for word in lists[name] if not word.isascii()}
    return {name: frozenset(words) for name, words in lists.items()}


_LISTS: Final = _lists()
FEMALE: Final = _LISTS["female"]
MALE: Final = _LISTS["male"]
KIN: Final = FEMALE | MALE
_KINDS: Final = ("self", "other", "she", "he", "it", "there")
_KIND_OF: Final = {word: kind for kind in reversed(_KINDS) for word in _LISTS[kind]}  # the first that has it


def _behind(first: str, words: Iterable[str]) -> str:
    """Write a pattern of what stands behind the first letter of words, which may be in capitals up to an apostrophe.

    A word ends where no letter follows; one without an apostrophe, where none with letters behind it does either.
    """
    parts = (word.removeprefix(first).partition("'") for word in words)
    rests = (
        "".join(f"[{each.upper()}{each}]" for each in head) + (f"'{tail}(?!\\w)" if tail else r"(?!\w|'[a-z]+(?!\w))")
        for head, _, tail in parts
    )
    return f"(?<=[{first.upper()}{first}])(?:{'|'.join(rests)})"


def _latin(words: Iterable[str]) -> re.Pattern[str]:
    """Find these words in Latin letters: a first search by their first letters skips most of a text."""
    behind: dict[str, list[str]] = {}
    for word in filter(str.isascii, words):
        behind.setdefault(word[0], []).append(word)
    firsts = "".join(first.upper() + first for first in behind)
    return re.compile(rf"[{firsts}](?<![\w'].)(?:{'|'.join(_behind(*each) for each in behind.items())})")


_LATIN: Final = _latin(_KIND_OF)
_HAN: Final = tables.lazy("(?:我|你|您|她|(?<![其吉])他(?![人乡])|它)(?!们)|那里|那儿|那边")
_UNNAMED: Final = tables.lazy(  # a person without a name, who may be meant instead of who was named before
    "同事|同学|(?<![男女])朋友|医生|护士|老师|教练|老板(?!娘)|领导|经理|邻居|室友|客户|师傅|有人|别人|人家|男生|女生|姑娘|小伙"
)
_NO_PLACE: Final = tables.lazy(
    r"there(?:'s|'re|\s+(?:is|are|was|were|will|has|have|had|would|should|seems?|might|may|can))\b", re.IGNORECASE
)
_NAMED: Final = frozenset({"person", "place", "organisation", "product"})
_OF: Final = {"she": "female", "he": "male"}
_LIKELY: Final = 0.8
_UNSURE: Final = 0.6


class TurnBefore(NamedTuple):
    """A turn before: who said it (a tag), what a pronoun may mean, its text where known, names that it introduces."""

    speaker: str
    concepts: tuple[Concept, ...]
    text: str = ""
    names: tuple[str, ...] = ()


def is_meant(name: str, kind: str) -> bool:
    """Return whether a pronoun may mean a concept: a person, one of the family, a place, a thing that has a name."""
    return kind in _NAMED or name in KIN


def those_meant(concepts: Iterable[Concept]) -> list[Concept]:
    """List the concepts that a pronoun may mean: as `is_meant`, but of every turn, so without a call for each."""
    return [each for each in concepts if each.kind in _NAMED or each.id in KIN]


def mentions(
    text: str, concepts: Iterable[Concept], speaker: str | None, before: Sequence[TurnBefore]
) -> list[Mention]:
    """Bind the pronouns of a text as it was said, in order, at most limits.MENTIONS_PER_TURN.

    concepts  of the text         speaker  its tag         before  the turns of its session before it, the latest first
    """
    return bound(pronouns(text), those_meant(concepts), speaker=speaker, before=before)


def pronouns(text: str) -> list[re.Match[str]]:
    """List the pronouns of a text as it was said, in order; none where cleaned characters would be others."""
    cleaned = clean(text)
    if len(cleaned) != len(text):
        return []
    matches = list(_LATIN.finditer(cleaned))
    if not cleaned.isascii():
        matches += (match for match in _HAN.finditer(cleaned) if match.group() in _KIND_OF)
        matches.sort(key=re.Match.start)
    return matches


def looks_back(match: re.Match[str]) -> bool:
    """Return whether whom a pronoun means depends on who else was there: all but who speaks."""
    return _KIND_OF[match.group().lower()] != "self"


def means_person(match: re.Match[str]) -> bool:
    """Return whether a pronoun is an English he or she."""
    word = match.group().lower()
    return word.isascii() and _KIND_OF[word] in _OF


def bound(
    matches: Sequence[re.Match[str]], own: Sequence[Concept], *, speaker: str | None, before: Sequence[TurnBefore]
) -> list[Mention]:
    """Bind the pronouns that were found in a text, in order, at most limits.MENTIONS_PER_TURN.

    own     the concepts of the text that may be meant
    before  as of `mentions`; not looked at where no pronoun looks back
    """
    people = _people(matches[0].string, own, speaker or "", before) if any(map(means_person, matches)) else {}
    meant = (
        people.get(match.start()) if means_person(match) else _bound(match, own, speaker=speaker, before=before)
        for match in matches
    )
    return [mention for mention in meant if mention][:MENTIONS_PER_TURN]


def _people(text: str, own: Sequence[Concept], speaker: str, before: Sequence[TurnBefore]) -> dict[int, Mention]:
    """Return whom he and she of a text mean, by where they stand."""
    turns = [(turn.speaker.removeprefix(_SPEAKER), turn.text) for turn in reversed(before) if turn.text]
    named = {concept.id: concept for turn in before for concept in turn.concepts} | {each.id: each for each in own}
    talking = {speaker, *(turn.speaker for turn in before)}
    resolved = coreference.resolve([*turns, (speaker.removeprefix(_SPEAKER), text)])
    return {
        each.start: Mention(each.start, each.end, _concept_of(each.name, named, talking), each.confidence)
        for each in resolved
    }


def _concept_of(name: str, named: Collection[str], talking: Collection[str]) -> str:
    """Return the concept that a name is: of who talks, of a person that was named, of a role: sister."""
    small = name.casefold()
    for concept in (_SPEAKER + small, small, small.split()[-1], small.split()[0]):
        if concept in named or concept in talking:
            return concept
    return small.rpartition("'s ")[2]


def _bound(
    match: re.Match[str], own: Sequence[Concept], *, speaker: str | None, before: Sequence[TurnBefore]
) -> Mention | None:
    text, kind = match.string, _KIND_OF[match.group().lower()]
    if kind == "there" and _NO_PLACE.match(text, match.start()):
        return None
    if kind == "self":
        return Mention(*match.span(), speaker, 1.0) if speaker else None
    others = list(dict.fromkeys(turn.speaker for turn in before if turn.speaker and turn.speaker != speaker))
    if kind == "other":
        return Mention(*match.span(), others[0], 0.9) if len(others) == 1 else None
    here = [concept for concept in own if 0 <= text.find(concept.label) < match.start()]
    named = [here, *(those_meant(turn.concepts) for turn in before[:TURNS])]
    talking = {name.removeprefix(_SPEAKER) for name in (speaker, *others) if name}
    meaning = _meant(kind, named, talking)
    if meaning is None:
        return None
    name, confidence = meaning
    is_doubtful = kind in _OF and confidence == _LIKELY and _UNNAMED.search(_since_named(name, match, here, before))
    return Mention(*match.span(), name, _UNSURE if is_doubtful else confidence)


def _since_named(name: str, match: re.Match[str], here: Sequence[Concept], before: Sequence[TurnBefore]) -> str:
    """Return what was said between the name of a concept and a pronoun."""
    text = ""
    for concepts, part in [(here, match.string[: match.start()]), *((turn.concepts, turn.text) for turn in before)]:
        label = next((concept.label for concept in concepts if concept.id == name), "")
        if label:
            return part[part.rfind(label) + len(label) :] + text
        text = part + text
    return text


def _meant(kind: str, named: Sequence[Sequence[Concept]], talking: set[str]) -> tuple[str, float] | None:
    """Return the concept that is meant, and the confidence.

    named    what was named in this turn before, and in each turn before it, the latest first
    talking  names of the speakers: "she" means none of them
    """
    fitting = [[concept.id for concept in turn if _fits(kind, concept, talking)] for turn in named]
    distinct = set().union(*fitting)
    latest = next((set(turn) for turn in fitting if turn), set())
    if len(latest) != 1:
        return None
    (name,) = latest
    is_known = kind == "there" or name in _LISTS.get(_OF.get(kind, ""), ())
    is_person = kind in _OF
    if len(distinct) == 1:
        return name, 0.9 if is_known and is_person else _LIKELY if is_known or is_person else 0.5
    return (name, _LIKELY if is_person else _UNSURE) if is_known else None


def _fits(kind: str, concept: Concept, talking: set[str]) -> bool:
    name = concept.id
    if kind == "there":
        return concept.kind == "place"
    if kind == "it":
        return concept.kind in ("organisation", "product")
    is_person = concept.kind == "person" or name in KIN
    return is_person and name not in talking and name not in _LISTS["male" if kind == "she" else "female"]
