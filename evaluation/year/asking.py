"""Ask the questions of a year, and see whether the right line is among the first three.

right   a turn that a question's key names, or a habit that says the word after `habit:`
asked   as a person asks: of the whole memory, with the person as asker, and the latest turns where nothing answers
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from emgas.client.client import MemoryClient
from emgas.messages.queries import RecalledPassage
from evaluation.year.conversation import graph_of, keys, turns
from processors.text import tables

FIRST: Final = 3  # lines among which the right one must be
HABIT: Final = "habit:"
ENOUGH: Final = 0.9  # share of the questions


class Judged(NamedTuple):
    """A question of a kind, whether the right line was there, and what was there instead."""

    kind: str
    question: str
    right: bool
    shown: tuple[str, ...]


async def remember(memory: MemoryClient, language: str) -> None:
    """Publish the year in a language, and wait until it is remembered."""
    async for turn, outcome in memory.publish_many(turns(language)):
        if getattr(outcome, "status", "accepted") == "rejected":
            raise ValueError(f"turn {turn.id} was refused: {outcome}")


async def ask(memory: MemoryClient, language: str) -> list[Judged]:
    """Ask every question of the year in a language."""
    named, speaker = keys(language), tables.rows("evaluation.year", f"told_{language}")[0][2]
    judged = []
    for kind, question, expected in tables.rows("evaluation.year", f"questions_{language}"):
        reply = await memory.query(graph_of(language), question, asker=speaker, fallback="recent")
        first = reply.passages[:FIRST]
        right = any(_is_right(passage, expected.split(), named) for passage in first)
        judged.append(Judged(kind, question, right, tuple(passage.text for passage in first)))
    return judged


def _is_right(passage: RecalledPassage, expected: Iterable[str], named: dict[str, frozenset[str]]) -> bool:
    for each in expected:
        if each.startswith(HABIT):
            if passage.kind == "habit" and each.removeprefix(HABIT) in passage.text.casefold():
                return True
        elif passage.id in named[each]:
            return True
    return False


def share(answers: Iterable[Judged]) -> float:
    """Compute the share of questions whose right line was there."""
    rights = [each.right for each in answers]
    return sum(rights) / len(rights)
