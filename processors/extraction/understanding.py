"""Extract from turns, read as one session: concepts, names, times, pronouns, relations, facts.

    turns ──▶ extractor, pronouns, statements: as when they are recorded ──▶ Extracted

Nothing is stored, and no graph is read.  Positions are characters of the text as it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from emgas.messages.extracts import (
    Extracted,
    ExtractedChange,
    ExtractedConcept,
    ExtractedEntity,
    ExtractedMention,
    ExtractedRelation,
    ExtractedTime,
    ExtractedTurn,
    TurnText,
)
from emgas.messages.fields import EntityKind
from emgas.times import datetime_of
from processors.dates.resolve import MAYBE, resolve_times
from processors.extraction.extractor import Extraction, Extractor
from processors.extraction.tags import by
from processors.text import tables
from processors.text.facts.card import Cards
from processors.text.facts.facts import facts, names_in
from processors.text.greetings import vocatives
from processors.text.language import clean
from processors.text.names import is_first_name
from processors.text.pronouns.mentions import LOOKED_BACK, TurnBefore, mentions, those_meant
from processors.text.scripts import HAN
from state.events.extraction_types import Concept, Fact, Mention, Relation, TimeSpan

STATED: Final = 0.9  # confidence in a relation: a rule that is precise found it
_ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
_AMOUNT: Final = tables.lazy(r"([\d.]+)([A-Z])")
_DAY_UNITS: Final = {"Y": 31_536_000, "M": 2_592_000, "W": 604_800, "D": 86_400}
_HOUR_UNITS: Final = {"H": 3600, "M": 60, "S": 1}

_HAN: Final = tables.lazy(f"[{HAN}]")


def understand(
    turns: Sequence[TurnText], extractor: Extractor, language: str, now: int
) -> Generator[None, None, Extracted]:
    """Read turns as one session, a step each.

    language  of the memory, ISO 639-1        now  when a turn without a time is said, ms
    """
    session, results = _Session(), list[ExtractedTurn]()
    for number, turn in enumerate(turns):
        at = now if turn.at is None else turn.at
        extraction = extractor.of_turn(turn.text, speaker=turn.speaker, at=at)
        if turn.language not in (None, language):
            extraction = replace(extraction, times=tuple(resolve_times(clean(turn.text), at, turn.language)))
        bound, stated = session.read(number, turn, extraction)
        related = [session.relation(turn.speaker, fact) for fact in stated if fact.relation]
        results.append(
            _turn(turn, extraction, bound, [*related, *_relations(extraction, session.names, related)], language)
        )
        yield
    return Extracted(turns=results, card=session.card(), changes=session.changes(), extractor=extractor.version)


def _turn(
    turn: TurnText,
    extraction: Extraction,
    bound: list[ExtractedMention],
    related: list[ExtractedRelation],
    language: str,
) -> ExtractedTurn:
    concepts = [each for each in (*extraction.concepts, *extraction.phrases) if each.id[:1] != "@"]
    return ExtractedTurn(
        language=_language(turn, language),
        question=extraction.question,
        concepts=[ExtractedConcept(id=it.id, label=it.label, weight=it.weight, of=it.kind or None) for it in concepts],
        entities=sorted(_entities(turn.text, concepts), key=lambda entity: (entity.start, entity.end)),
        times=sorted(_times(turn.text, extraction.times), key=lambda time: (time.start, time.end)),
        mentions=bound,
        relations=related,
    )


def _language(turn: TurnText, otherwise: str) -> str:
    """Return the language of a turn: as it says, else Chinese where it is written so."""
    return turn.language or ("zh" if _HAN.search(turn.text) else otherwise)


def _entities(text: str, concepts: Iterable[Concept]) -> Iterator[ExtractedEntity]:
    """Yield every place where a name stands that is of a known kind."""
    for concept in concepts:
        kind = next((each for each in _ENTITY_KINDS if each == concept.kind), None)
        if kind:
            for match in re.finditer(re.escape(concept.label), text):
                yield ExtractedEntity(start=match.start(), end=match.end(), text=match.group(), kind=kind)
    for start, end in vocatives(text):  # who is called is no concept of what is said
        if is_first_name(text[start:end].split(maxsplit=1)[0], inside=True):
            yield ExtractedEntity(start=start, end=end, text=text[start:end], kind="person")


def _times(text: str, spans: Iterable[TimeSpan]) -> Iterator[ExtractedTime]:
    """Yield the times of a text, each at the characters that tell it."""
    read, places = clean(text), _places(text)
    placed: list[tuple[int, int, TimeSpan]] = []
    for span in sorted(spans, key=lambda span: -len(span.text)):
        start = _free_place(read, span, placed)
        end = start + len(span.text)
        if start >= 0 and end < len(places):
            placed.append((start, end, span))
            first, last = places[start], places[end - 1] + 1
            yield ExtractedTime(start=first, end=last, text=text[first:last], **_meaning(span))


def _free_place(read: str, span: TimeSpan, placed: Sequence[tuple[int, int, TimeSpan]]) -> int:
    """Find the first place of a time that tells no other; a day stands in the words of its hour: this evening."""
    start = read.find(span.text)
    while start >= 0:
        end = start + len(span.text)
        here = (other for first, last, other in placed if first < end and start < last)
        if all(_is_beside(span, other) for other in here):
            return start
        start = read.find(span.text, start + 1)
    return -1


def _is_beside(one: TimeSpan, two: TimeSpan) -> bool:
    """Return whether one of two is a day and the other an hour of it."""
    hour, of = (one, two) if one.kind == "time" else (two, one)
    return hour.kind == "time" != of.kind and of.since <= hour.since < of.until


def _places(text: str) -> Sequence[int]:
    """Return where each character of the clean text stands in the text, and its end."""
    if clean(text) == text:
        return range(len(text) + 1)
    return [*(at for at, sign in enumerate(text) for _ in clean(sign)), len(text)]


def _meaning(span: TimeSpan) -> dict[str, Any]:
    if span.kind == "set":
        return {"kind": "set", "rule": span.value}
    if span.kind == "duration":
        return {"kind": "length", "seconds": _seconds(span.value)}
    since, until = _ends(span)
    direction = {"direction": span.value} if span.value else {}
    return {"kind": "span", "since": since, "until": until, **direction}


def _ends(span: TimeSpan) -> tuple[str | None, str | None]:
    """Return the ends of a span; one of them is open where it looks in a direction: by Friday, since May."""
    since, until = _iso(span.since), _iso(span.until)
    if span.kind == "time" and span.confidence <= MAYBE:
        return since, until  # after 5 pm, of a day that is not said: the hour, and its direction beside
    after = since if span.kind == "time" else until  # after 3 pm, but after Friday
    return {"before": (None, since), "until": (None, until), "since": (since, None), "after": (after, None)}.get(
        span.value, (since, until)
    )


def _iso(at: int) -> str:
    return datetime_of(at).replace(tzinfo=None).isoformat()


def _seconds(duration: str) -> float:
    """Count the seconds of a duration of ISO 8601: a month has 30 days, a year 365."""
    days, _, hours = duration.removeprefix("P").partition("T")
    parts = ((days, _DAY_UNITS), (hours, _HOUR_UNITS))
    seconds = sum(float(amount) * units[unit] for part, units in parts for amount, unit in _AMOUNT.findall(part))
    return seconds + 2.5 * _DAY_UNITS["D"] if re.fullmatch(r"(\d+Y)?6M", days) else seconds  # half a year


def _relations(
    extraction: Extraction, names: Mapping[str, str], related: Sequence[ExtractedRelation]
) -> Iterator[ExtractedRelation]:
    """Yield the relations between concepts that say more than those of people do."""
    of_people = {each.relation for each in related}
    for relation in extraction.relations:
        if relation.type in _OF_THINGS and relation.type not in of_people:
            yield _relation(relation, names)


_OF_THINGS: Final = frozenset({"part-of", "cause", "contrast", "synonym"})


def _relation(relation: Relation, names: Mapping[str, str]) -> ExtractedRelation:
    return ExtractedRelation(
        subject=names.get(relation.source, relation.source),
        relation=relation.type,
        object=names.get(relation.target, relation.target),
        confidence=STATED,
        start=relation.start,
        end=relation.end,
    )


class _Session:
    """The turns that were read: who spoke, and what was named where.

    names  concept id → how it was written first; of a speaker, the name
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.cards = Cards()
        self._before: list[TurnBefore] = []  # the latest first
        self._places: dict[str, list[int]] = {}  # concept id → [turn, start, end] where it was named last

    def read(self, number: int, turn: TurnText, extraction: Extraction) -> tuple[list[ExtractedMention], list[Fact]]:
        """Read the next turn: return whom its pronouns mean, and what it says of people."""
        concepts, speaker = [*extraction.concepts, *extraction.phrases], by(clean(turn.speaker))
        for concept in concepts:
            self.names.setdefault(concept.id, concept.label)
        if speaker:
            self.names[speaker] = turn.speaker
        bound = mentions(turn.text, concepts, speaker, self._before)
        meant = tuple(those_meant(concepts))
        stated = facts(turn.text, speaker=speaker, mentions=bound, concepts=meant, before=lambda: self._before)
        self.cards.add(str(number), turn.speaker, stated)
        self._note(number, turn.text, concepts)
        self._before.insert(0, TurnBefore(speaker or "", meant, turn.text, names_in(stated)))
        del self._before[LOOKED_BACK:]
        return [self._mention(each) for each in bound], stated

    def _note(self, number: int, text: str, concepts: Iterable[Concept]) -> None:
        for concept in concepts:
            if (start := text.find(concept.label)) >= 0:
                self._places[concept.id] = [number, start, start + len(concept.label)]

    def _mention(self, mention: Mention) -> ExtractedMention:
        means, at = self.names.get(mention.concept, mention.concept), self._places.get(mention.concept)
        return ExtractedMention(start=mention.start, end=mention.end, means=means, at=at, confidence=mention.confidence)

    def relation(self, speaker: str, fact: Fact) -> ExtractedRelation:
        """Return a fact as a relation between two who have names, or paths: "Ada.sister"."""
        subject = self.cards.subject(speaker, fact.subject)
        return ExtractedRelation(
            subject=re.sub(r"'s (?=[^ ]+$)", ".", subject),
            relation=fact.relation,
            object=fact.value or speaker,
            role=fact.role or None,
            confidence=fact.confidence,
            start=fact.start,
            end=fact.end,
        )

    def card(self) -> dict[str, dict[str, list[str]]]:
        """Return the values after the last turn: subject → slot → values."""
        card: dict[str, dict[str, list[str]]] = {}
        for subject, slot in self.cards.entries:
            if values := self.cards.current(subject, slot):
                card.setdefault(subject, {})[slot] = values
        return card

    def changes(self) -> list[ExtractedChange]:
        """Return what later turns changed."""
        return [
            ExtractedChange(subject=it.subject, slot=it.slot, old=it.old, new=it.new, turn=int(it.turn))
            for it in self.cards.changes
        ]
