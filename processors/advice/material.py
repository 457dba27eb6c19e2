"""Build tasks for an advisor from the contents of a graph.  Pure; a task is small, however large the graph is.

task_of(graph, text_of, job)     None where what the job is about is not there any more, or says too little
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final, Literal, NamedTuple

from processors.advice.advisor import JudgeWorth, NameTheme, RateLinks, Rewrite, Split, Summarise, Task
from processors.text.shown import Shown
from state.graph.graph import Graph, TextOf
from state.graph.tables.theme_table import ThemeRow

What = Literal["name", "rate", "summarise", "split", "rewrite", "judge"]

WORDS: Final = 12  # of a theme that are shown
RATED: Final = 4  # of a theme whose links are rated: its strongest
QUOTES: Final = 4  # of a theme
QUOTED: Final = 300  # characters of a quote
TURNS: Final = 60  # of a conversation that are shown: its last
CHARACTERS: Final = 8000  # of all of them, and of one text
LONG: Final = 200  # characters of a turn that may say several things
BEFORE: Final = 2  # turns that are shown before one that is judged


class AdvisorJob(NamedTuple):
    """Something that an advisor is to be asked: what, in what graph, and about which theme, session, habit or turn."""

    what: What
    graph: str
    about: str


def task_of(graph: Graph, text_of: TextOf, job: AdvisorJob) -> Task | None:
    """Make the task of a job.  Raises what `text_of` raises."""
    match job.what:
        case "name" | "rate":
            theme = graph.themes.themes.get(job.about)
            if theme is None or not theme.members:
                return None
            return named(graph, text_of, theme) if job.what == "name" else rated(graph, theme)
        case "summarise":
            return summarised(graph, text_of, job.about)
        case "rewrite":
            habit = graph.habits.habits.get(job.about)
            return None if habit is None else Rewrite(habit.text, habit=habit.id)
        case "split" | "judge":
            number = graph.passages.numbers.get(job.about)
            return None if number is None else _of_turn(graph, text_of, number, job.what)


def named(graph: Graph, text_of: TextOf, theme: ThemeRow) -> NameTheme:
    """Ask for the name of a theme."""
    view = graph.view()
    theme = graph.themes.themes[theme.id]  # compacted: numbers may have changed
    words = [label for _, label in Shown(view.concept_table).labels(theme.members)] or [
        view.labels[i] for i in theme.members
    ]
    holding = {int(view.holders(member)[0][-1]): None for member in theme.members if view.holders(member)[0].size}
    quotes = [text_of(graph, number).text[:QUOTED] for number in list(holding)[:QUOTES]]
    return NameTheme(theme.id, tuple(words[:WORDS]), tuple(quotes))


def rated(graph: Graph, theme: ThemeRow) -> RateLinks | None:
    """Ask how closely the strongest concepts of a theme belong together."""
    concepts = graph.concepts
    words = [number for number in theme.members if not concepts.is_mark[number]][:RATED]
    pairs = list(combinations(words, 2))
    if not pairs:
        return None
    ids = tuple((concepts.ids[one], concepts.ids[other]) for one, other in pairs)
    return RateLinks(ids, tuple((concepts.label(one), concepts.label(other)) for one, other in pairs))


def summarised(graph: Graph, text_of: TextOf, session: str) -> Summarise | None:
    """Ask what a conversation that has ended was about."""
    lines: list[str] = []
    left = CHARACTERS
    for number in reversed(of_conversation(graph, session)):
        turn = text_of(graph, number)
        line = f"{turn.speaker}: {' '.join(turn.text.split())}"
        left -= len(line)
        if left < 0:
            break
        lines.append(line)
    return Summarise(session, tuple(reversed(lines))) if lines else None


def of_conversation(graph: Graph, session: str) -> list[int]:
    """List the last passages of the conversation that ended last in a session: back to where it was silent for long."""
    end = graph.sessions.ended.get(session)
    number = graph.passages.sessions.get(session)
    if end is None or number is None:
        return []
    passages: list[int] = []
    at = graph.passages.at
    for passage in graph.passages.backwards(number):
        if passage >= end.upto:
            continue
        if len(passages) == TURNS or (passages and at[passages[-1]] - at[passage] > graph.settings.idle):
            break
        passages.append(passage)
    return passages[::-1]


def _of_turn(graph: Graph, text_of: TextOf, number: int, what: What) -> Split | JudgeWorth | None:
    turn = text_of(graph, number)
    text = turn.text[:CHARACTERS]
    if what == "split":
        return Split(turn.id, text) if len(text) >= LONG else None
    return JudgeWorth(turn.id, text, tuple(_before(graph, text_of, number)))


def _before(graph: Graph, text_of: TextOf, number: int) -> Sequence[str]:
    session = graph.passages.session[number]
    before = [passage for passage in graph.passages.backwards(session) if passage < number][:BEFORE]
    return [f"{turn.speaker}: {turn.text[:QUOTED]}" for turn in (text_of(graph, each) for each in reversed(before))]
