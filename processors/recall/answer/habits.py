"""Find the habits that a question asks for: by the person that it names, or its asker, and by its words.

A question without such a word ("what are my habits?") asks for all habits, those with most turns first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from emgas.messages.filters import Filter
from processors.extraction.extractor import Extraction
from processors.lexicon.hyponyms import MEMBERS, cues
from processors.lifecycle.consolidation.consolidation import fresh_passages
from processors.lifecycle.habits.habit_texts import part_of_day
from processors.lifecycle.habits.habits import recurring
from processors.recall.ranking.filters import NO_FILTER
from processors.recall.ranking.query_terms import named_speakers
from processors.text.language import clean
from processors.text.questions.answer_kinds import EVERYDAY, asks_habit, of_asker
from state.graph.graph import Graph
from state.graph.tables.habit_table import HabitRow

# Words that tell what is asked for: not those that are said with everything ("drink", "go", 喝, 去).
#
# The latter (processors/text/data/everyday_verbs.tsv) count only where nothing else is named: "how often do I drink
# latte" asks for latte.


def informative(names: Iterable[str]) -> list[str]:
    """Choose the names that tell something; all of them if none does."""
    named = list(names)
    return [name for name in named if name not in EVERYDAY] or named


AS_PASSAGES: Final = 3  # habits that come back with passages, at most

_PARTS: Final = tuple(  # of the day, as habit_texts.part_of_day counts them
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\bmornings?\b|早[上晨]|上午", r"\bafternoons?\b|下午", r"\bevenings?\b|晚上", r"\bnights?\b|夜里")
)


def find_habits(graph: Graph, question: Extraction, text: str, *, asker: str, only: Filter) -> list[HabitRow]:
    """Find the habits that a question asks for; none if it does not ask how often, or filters turns otherwise."""
    plain = clean(text)
    if not asks_habit(plain) or not _lets_habits_through(only):
        return []
    names = graph.view().speakers
    named = named_speakers(f"{text} {asker}" if of_asker(plain) else text, names)
    speakers = only.speakers or [names[number] for number in named.tolist()]
    return by_size(about(graph, of(current(graph), speakers), question, plain))[:AS_PASSAGES]


def current(graph: Graph) -> list[HabitRow]:
    """List the habits of a graph as they would be if a window closed now: what was just said is among them."""
    habits = graph.habits
    if graph.fresh_turns:
        events = recurring(graph, fresh_passages(graph), graph.clock)
        habits = graph.habits.copied()
        for event in events:
            habits.apply(event, event.members)
    return list(habits.habits.values())


def _lets_habits_through(only: Filter) -> bool:
    """Return whether a filter is of whose turns they are, and of nothing else."""
    return only.model_copy(update={"speakers": [], "include_archive": True}) == NO_FILTER


def of(habits: Iterable[HabitRow], speakers: Sequence[str]) -> list[HabitRow]:
    """Choose the habits of some speakers, of all for none."""
    return [habit for habit in habits if not speakers or habit.speaker in speakers]


def about(graph: Graph, habits: list[HabitRow], question: Extraction, text: str) -> list[HabitRow]:
    """Choose the habits that are about a word of a question; all of them if none of its words tells anything.

    A word may name a kind of what recurs (drinks: latte).  A part of the day is none of the words: habits of that part
    are chosen.
    """
    parts = {part for part, pattern in enumerate(_PARTS) if pattern.search(text)}
    habits = [habit for habit in habits if not parts or part_of_day(habit.hours)[0] in parts]
    names = set(informative(concept.id for concept in question.concepts))
    speakers = {speaker.casefold() for speaker in graph.passages.speakers}
    tells = (name for name in names if not name.startswith("@") and not asks_habit(name))
    words = {name for name in tells if not any(part.search(name) for part in _PARTS)} - speakers
    kinds = {member for cue in cues(words, text) for member in MEMBERS[cue]}
    about = [habit for habit in habits if any(_meets(word, habit) for word in words)]
    about = about or [habit for habit in habits if kinds.intersection(habit.concepts)]
    return about if words else habits


def _meets(word: str, habit: HabitRow) -> bool:
    """Return whether a habit is about a word; of a Chinese one, also where one holds the other (拿铁, 喝拿铁)."""
    if word in habit.concepts:
        return True
    return not word.isascii() and any(word in concept or concept in word for concept in habit.concepts)


def by_size(habits: list[HabitRow]) -> list[HabitRow]:
    """Order habits by how many turns they have, most first."""
    return sorted(habits, key=lambda habit: (-habit.count, habit.id))
