"""Extract more than single words from a text: phrases, kinds of concepts, and relations between them.

    words ──▶ phrases (processors/text/phrases.py)  ──┐
          ──▶ kinds   (processors/text/names.py)    ──┼──▶ added to what extraction found
          ──▶ relations (processors/text/relations.py)┘

None of it changes the concepts that were found, nor their weights: phrases stand beside them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, NamedTuple

from msgspec.structs import replace as changed

from emgas.limits import PHRASES_PER_TURN, RELATIONS_PER_TURN
from emgas.messages.relations import Kind
from processors.extraction.extractor import Extraction
from processors.text.language import Word
from processors.text.phrases import Phrase, kinds, phrases
from processors.text.relations import StatedRelation, relations
from state.events.extraction_types import Concept, Relation

PHRASE_WEIGHT: Final = 0.5  # where YAKE weighs none of its words


class Named(NamedTuple):
    """The phrases of a text as concepts, heaviest first, and what single words name."""

    phrases: tuple[Concept, ...]
    kinds: dict[str, Kind]


def added(
    extraction: Extraction, text: str, words: Sequence[Word], *, original: str, speaker: str | None
) -> Extraction:
    """Add kinds, phrases and relations to the extraction of a clean, simplified text by `speaker` (a tag).

    original  the unchanged text; relations refer to its characters
    """
    weights = {concept.id: concept.weight for concept in extraction.concepts}
    spans = phrases(text, words)
    stated = list(_certain_relations(relations(text, words, spans), speaker, weights))[:RELATIONS_PER_TURN]
    ends = [end.phrase for each in stated for end in (each.source, each.target) if end.phrase]
    is_there = {phrase.start for phrase in spans}
    spans = [*spans, *(phrase for phrase in ends if phrase.start not in is_there)]
    names = _named(text, spans, words, weights, first={phrase.id for phrase in ends})
    names.kinds.update((each.target.form or "", "person") for each in stated if _is_other_name(each, names.kinds))
    concepts = tuple(
        changed(concept, kind=names.kinds[concept.id]) if concept.id in names.kinds else concept
        for concept in extraction.concepts
    )
    related = tuple(_relation(each, speaker, text, original) for each in stated)
    return replace(extraction, concepts=concepts, phrases=names.phrases, relations=related)


def _is_other_name(stated: StatedRelation, kinds: dict[str, Kind]) -> bool:
    """Return whether a relation gives a person another name of one word."""
    is_person = stated.type == "synonym" and stated.source.form is not None and stated.target.phrase is None
    return is_person and kinds.get(stated.source.form or "") == "person" and stated.target.form is not None


def _certain_relations(
    stated: Iterable[StatedRelation], speaker: str | None, weights: dict[str, float]
) -> Iterable[StatedRelation]:
    """Yield the relations whose ends are concepts: no words that the extraction left out, no missing speaker."""
    for relation in stated:
        ends = (end for end in (relation.source, relation.target) if end.phrase is None)
        if all((end.form or speaker) in weights for end in ends):
            yield relation


def _named(
    text: str, spans: Sequence[Phrase], words: Sequence[Word], weights: dict[str, float], *, first: AbstractSet[str]
) -> Named:
    """Make concepts of phrases, `first` (ids) before all others."""
    counts = Counter(phrase.id for phrase in spans)
    labels: dict[str, Phrase] = {}
    for phrase in spans:
        labels.setdefault(phrase.id, phrase)
    concepts = [
        Concept(name, phrase.label, _weight(phrase, weights), counts[name], phrase.kind)
        for name, phrase in labels.items()
        if " " in name
    ]
    concepts.sort(key=lambda concept: (concept.id not in first, -concept.weight, concept.id))
    return Named(tuple(concepts[:PHRASES_PER_TURN]), kinds(text, words, spans))


def _weight(phrase: Phrase, weights: dict[str, float]) -> float:
    """Weigh a phrase as the heaviest of its words."""
    return max((weights[word.form] for word in phrase.words if word.form in weights), default=PHRASE_WEIGHT)


def _relation(stated: StatedRelation, speaker: str | None, text: str, original: str) -> Relation:
    source, target = (end.form or speaker or "" for end in (stated.source, stated.target))
    start, end = located(text, original, stated.start, stated.end)
    return Relation(source, stated.type, target, start, end)


def located(text: str, original: str, start: int, end: int) -> tuple[int, int]:
    """Find the characters `start` to `end` of a cleaned text in the one that was said; all of it where they differ."""
    if len(text) == len(original):
        return start, end
    start_at = original.find(text[start:end])
    return (start_at, start_at + end - start) if start_at >= 0 else (0, len(original))
