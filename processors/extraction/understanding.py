"""What would be understood of some turns, read as one session: concepts, names, times, pronouns, relations, facts.

    turns ──▶ extractor, pronouns, statements: as when they are recorded ──▶ Extracted

Nothing is stored, and no graph is read.  Positions are characters of the text as it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from emgas.messages.extracts import (
    EntityKind,
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
from emgas.times import datetime_of
from processors.dates.resolve import resolve_times
from processors.extraction.extractor import Extraction, Extractor
from processors.extraction.tags import by
from processors.text.greetings import vocatives
from processors.text.language import clean
from processors.text.mentions import LOOKED_BACK, TurnBefore, mentions, those_meant
from processors.text.names import is_first_name
from processors.text.scripts import HAN
from processors.text.statements import DOES, SKIPS, contradicts, statements
from state.events.extraction_types import Concept, Mention, Relation, Statement, TimeSpan

STATED: Final = 0.9  # confidence in a relation: a rule that is precise found it
_ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
_SLOTS: Final = {"lives in": "home", "works at": "employer", "job": "job", "partner": "partner"}
_AMOUNT: Final = re.compile(r"([\d.]+)([A-Z])")
_DAY_UNITS: Final = {"Y": 31_536_000, "M": 2_592_000, "W": 604_800, "D": 86_400}
_HOUR_UNITS: Final = {"H": 3600, "M": 60, "S": 1}

_HAN: Final = re.compile(f"[{HAN}]")


def understand(
    turns: Sequence[TurnText], extractor: Extractor, language: str, now: int
) -> Generator[None, None, Extracted]:
    """Read turns as one session, a step each.

    language  of the memory, ISO 639-1        now  when a turn without a time is said, ms
    """
    session, facts, results = _Session(), _Facts(), list[ExtractedTurn]()
    for number, turn in enumerate(turns):
        at = now if turn.at is None else turn.at
        extraction = extractor.of_turn(turn.text, speaker=turn.speaker, at=at)
        if turn.language not in (None, language):
            extraction = replace(extraction, times=tuple(resolve_times(clean(turn.text), at, turn.language)))
        results.append(_turn(turn, extraction, session.read(number, turn, extraction), session.names, language))
        facts.add(number, turn)
        yield
    return Extracted(turns=results, card=facts.card(), changes=facts.changes, extractor=extractor.version)


def _turn(
    turn: TurnText,
    extraction: Extraction,
    bound: list[ExtractedMention],
    names: Mapping[str, str],
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
        relations=[_relation(each, names) for each in extraction.relations],
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
    free: dict[tuple[str, bool], int] = {}
    read, places = clean(text), _places(text)
    for span in spans:
        key = (
            span.text,
            span.kind == "time",
        )  # a day has the characters of its time, where the words tell both: this evening
        start = read.find(span.text, free.get(key, 0))
        end = free[key] = start + len(span.text)
        if start >= 0 and end < len(places):
            first, last = places[start], places[end - 1] + 1
            yield ExtractedTime(start=first, end=last, text=text[first:last], **_meaning(span))


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
        self._before: list[TurnBefore] = []  # the latest first
        self._places: dict[str, list[int]] = {}  # concept id → [turn, start, end] where it was named last

    def read(self, number: int, turn: TurnText, extraction: Extraction) -> list[ExtractedMention]:
        """Read the next turn: return whom its pronouns mean."""
        concepts, speaker = [*extraction.concepts, *extraction.phrases], by(clean(turn.speaker))
        for concept in concepts:
            self.names.setdefault(concept.id, concept.label)
        if speaker:
            self.names[speaker] = turn.speaker
        bound = mentions(turn.text, concepts, speaker, self._before)
        self._note(number, turn.text, concepts)
        self._before.insert(0, TurnBefore(speaker or "", tuple(those_meant(concepts)), turn.text))
        del self._before[LOOKED_BACK:]
        return [self._mention(each) for each in bound]

    def _note(self, number: int, text: str, concepts: Iterable[Concept]) -> None:
        for concept in concepts:
            if (start := text.find(concept.label)) >= 0:
                self._places[concept.id] = [number, start, start + len(concept.label)]

    def _mention(self, mention: Mention) -> ExtractedMention:
        means, at = self.names.get(mention.concept, mention.concept), self._places.get(mention.concept)
        return ExtractedMention(start=mention.start, end=mention.end, means=means, at=at, confidence=mention.confidence)


class _Facts:
    """What the turns state of people, a value of a slot at a time, and what later turns change."""

    def __init__(self) -> None:
        self.changes: list[ExtractedChange] = []
        self._values: dict[tuple[str, str], list[Statement]] = {}

    def add(self, number: int, turn: TurnText) -> None:
        """Add what a turn states."""
        for statement in statements(turn.text):
            if not statement.slot.startswith(SKIPS):
                self._state(number, turn.speaker, statement)

    def _state(self, number: int, speaker: str, statement: Statement) -> None:
        existing = self._values.setdefault((speaker, statement.slot), [])
        for older in [each for each in existing if contradicts(statement, each)]:
            existing.remove(older)
            new = None if statement.ends else statement
            self.changes.append(_change(number, speaker, older, new))
        if not statement.ends:
            existing.append(statement)

    def card(self) -> dict[str, dict[str, list[str]]]:
        """Return the values after the last turn: subject → slot → values."""
        card: dict[str, dict[str, list[str]]] = {}
        for (speaker, _), values in self._values.items():
            for statement in values:
                subject, slot, value = _fact(speaker, statement)
                filled = card.setdefault(subject, {}).setdefault(slot, [])
                if value not in filled:
                    filled.append(value)
        return card


def _change(number: int, speaker: str, older: Statement, newer: Statement | None) -> ExtractedChange:
    subject, slot, old = _fact(speaker, older)
    new = None if newer is None else _fact(speaker, newer)[2]
    return ExtractedChange(subject=subject, slot=slot, old=old, new=new, turn=number)


def _fact(speaker: str, statement: Statement) -> tuple[str, str, str]:
    """Return the subject, the slot and the value of a statement: "sister lives in" is a slot of Ada's sister."""
    if statement.slot.startswith(DOES):
        return speaker, "habit", statement.slot.removeprefix(DOES)
    for ending, slot in _SLOTS.items():
        if statement.slot.endswith(ending):
            whose = statement.slot.removesuffix(ending).strip()
            return (f"{speaker}'s {whose}" if whose else speaker), slot, statement.value
    return speaker, statement.slot, statement.value
