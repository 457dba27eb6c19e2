"""The seam between text and memory: what any concept extractor must give.  YAKE's is in yake_extractor.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from state.events.extraction_types import Concept, Relation, TimeSpan


@dataclass(frozen=True, slots=True)
class Extraction:
    """The contents of a text.

    concepts  at most limits.CONCEPTS_PER_TURN, no id twice, heaviest first, ties by id
    question  whether the text asks something
    tokens    its length in words (Han text: segmented words), >= 0
    times     what its time expressions mean, in order, at most limits.SPANS_PER_TURN
    phrases   concepts of several words, at most limits.PHRASES_PER_TURN, none of them among `concepts`
    relations what it says of two of those, at most limits.RELATIONS_PER_TURN
    """

    concepts: tuple[Concept, ...]
    question: bool
    tokens: int
    times: tuple[TimeSpan, ...] = ()
    phrases: tuple[Concept, ...] = ()
    relations: tuple[Relation, ...] = ()


class Utterance(NamedTuple):
    """A turn's text, who said it, and when (ms, by the clock there): what an extractor is given of a turn."""

    text: str
    speaker: str
    at: int


class Extractor(Protocol):
    """Turn text into concepts: a function of its arguments alone, the same on every machine."""

    @property
    def version(self) -> str:
        """Return the names and versions of everything that shapes the result; recorded in the event."""

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        """Find the concepts of a turn said by `speaker` at `at` (ms), its tags ("@speaker:…", "@day:…") included."""

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        """Find the concepts a question names; its tags are the ones it could match ("@time" for "when").

        at  when it is asked (ms), against which "last week" is resolved; without it, only dates with a year count
        """
