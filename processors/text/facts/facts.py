"""Find facts on people in a turn: each is a value of a slot, an operation on it, and the characters that state it.

    "My sister Ilse moved to Graz."     sibling + Ilse (sister)          Ilse: home = Graz
    "I switched from tea to coffee."    drinks: tea becomes coffee
    "sold the Fiat"                     owns - Fiat

A question, a wish, a condition, a plan, a quotation, hearsay or a past state is no fact.  The person that "she" means
comes from the mentions of the turn; "you" is the other one if there are two speakers.  A card (card.py) folds the
facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final

from processors.text import tables
from processors.text.facts.chinese import ChineseReading
from processors.text.facts.english import EnglishReading
from processors.text.facts.vocabulary import ROLES
from processors.text.pronouns.mentions import TurnBefore
from processors.text.scripts import HAN
from state.events.extraction_types import Concept, Fact, Mention

SURE: Final = 0.8  # confidence from which a pronoun says of whom a fact speaks
_HAN: Final = tables.lazy(f"[{HAN}]")
ASSISTANTS: Final = frozenset({"ai", "assistant", "bot", "agent", "system", "chatbot", "助手"})  # speakers
_NO_ONE: Final = ASSISTANTS | {"note"}
_SPEAKER: Final = "@speaker:"
_KIN: Final = frozenset(word for roles in ROLES.values() for word in roles)


def facts(
    text: str,
    *,
    speaker: str | None = None,
    mentions: Sequence[Mention] = (),
    concepts: Sequence[Concept] = (),
    before: Callable[[], Sequence[TurnBefore]] = list,
) -> list[Fact]:
    """Find what a text says of its speaker and of those it names, in order, nothing twice.

    speaker   its tag          mentions, concepts  of the text
    before    finds the turns of its session before it; asked only where the text speaks of "you", or in Chinese
    """
    reading = ChineseReading if _HAN.search(text) else EnglishReading
    return reading(text, Company(speaker, mentions, concepts, before)).facts()


def names_in(stated: Iterable[Fact]) -> tuple[str, ...]:
    """Return the names of people and pets that facts introduce."""
    return tuple(dict.fromkeys(fact.value for fact in stated if fact.role and fact.value))


class Company:
    """Those whom a turn may mean by a pronoun, or by a name that was said before."""

    def __init__(
        self,
        speaker: str | None,
        mentions: Sequence[Mention],
        concepts: Sequence[Concept],
        before: Callable[[], Sequence[TurnBefore]],
    ) -> None:
        self._speaker, self._mentions, self._concepts, self._find = speaker, mentions, concepts, before

    @cached_property
    def _before(self) -> Sequence[TurnBefore]:
        return self._find()

    @property
    def speaker(self) -> str:
        """Return the speaker; "" if unknown."""
        return _named(self._speaker) if self._speaker else ""

    @cached_property
    def other(self) -> str:
        """The other one, where two speak; else ""."""
        others = {turn.speaker for turn in self._before if turn.speaker and turn.speaker != self._speaker}
        return _named(others.pop()) if len(others) == 1 else ""

    @cached_property
    def addressed(self) -> str:
        """Who spoke just before, in answer to who speaks: whom a "you" means; "" where that is not sure."""
        last, *earlier = [turn.speaker for turn in self._before if turn.speaker][:2] or [""]
        name = _named(last) if last != self._speaker and earlier == [self._speaker] else self.other
        return "" if name.casefold() in _NO_ONE or not name[:1].isalpha() else name

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of people that were said before in the session."""
        people = (each.label for turn in self._before for each in turn.concepts if each.kind == "person")
        return frozenset([*people, *(name for turn in self._before for name in turn.names)])

    @cached_property
    def means(self) -> dict[int, str]:
        """Map where a pronoun stands to whom it means for sure."""
        labels = {each.id: each.label for each in self._concepts}
        return {
            mention.start: f".{mention.concept}"
            if mention.concept in _KIN
            else labels.get(mention.concept) or _named(mention.concept)
            for mention in self._mentions
            if mention.confidence >= SURE and mention.concept != self._speaker
        }


def _named(concept: str) -> str:
    """Write the id of a person as a name."""
    return " ".join(word[:1].upper() + word[1:] for word in concept.removeprefix(_SPEAKER).split())
