"""Advice on one graph: it stands beside the content, and never replaces it (state/events/advice.py).

    rewritten   turn or habit → other words          split   turn → the parts of its text, as (start, end)
    judged      turn → what it is worth, keywords    rated   two concepts → how closely they belong together

The latest advice on something counts, and is removed together with it.  Names of themes are in ThemeTable, summaries
in SessionTable.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from state.events.advice import EdgesRated, Of, PassageRewritten, PassageSplit, WorthJudged


class Rewriting(NamedTuple):
    """Other words for something, in whose role, and by whom."""

    text: str
    role: str
    by: str


class Parts(NamedTuple):
    """The characters of a text that each say one thing, and who says so."""

    spans: tuple[tuple[int, int], ...]
    by: str


class Judgement(NamedTuple):
    """The worth of a turn in percent, its important words, and the advisor."""

    worth: int
    keywords: tuple[str, ...]
    by: str


class Rating(NamedTuple):
    """The relatedness of two concepts in percent, 50 is neutral, and the advisor."""

    rating: int
    by: str


class AdviceTable:
    """Advice by what it is about.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self.rewritten: dict[tuple[Of, str], Rewriting] = {}
        self.split: dict[str, Parts] = {}
        self.judged: dict[str, Judgement] = {}
        self.rated: dict[tuple[str, str], Rating] = {}

    def __bool__(self) -> bool:
        return bool(self.rewritten or self.split or self.judged or self.rated)

    def rewrite(self, event: PassageRewritten) -> None:
        """Keep other words for something."""
        self.rewritten[event.of, event.id] = Rewriting(event.text, event.role, event.by)

    def part(self, event: PassageSplit) -> None:
        """Keep the parts of a turn."""
        self.split[event.turn] = Parts(tuple(event.spans), event.by)

    def judge(self, event: WorthJudged) -> None:
        """Keep what a turn is worth."""
        self.judged[event.turn] = Judgement(round(100 * event.worth), tuple(event.keywords), event.by)

    def rate(self, event: EdgesRated, concepts: Container[str]) -> bool:
        """Keep how closely concepts that are here belong together; return whether any are."""
        by_pair = {
            pair(each.source, each.target): Rating(round(100 * each.rating), event.by)
            for each in event.ratings
            if each.source in concepts and each.target in concepts
        }
        self.rated |= by_pair
        return bool(by_pair)

    def without(self, turns: Iterable[str], concepts: Iterable[str], habits: Container[str]) -> None:
        """Drop what is about these turns and concepts, and about habits that are not among `habits`."""
        if not self:
            return
        for turn in turns:
            self.rewritten.pop(("turn", turn), None)
            self.split.pop(turn, None)
            self.judged.pop(turn, None)
        gone = set(concepts)
        self.rated = {both: rating for both, rating in self.rated.items() if gone.isdisjoint(both)}
        self.keep_habits(habits)

    def keep_habits(self, habits: Container[str], changed: str = "") -> None:
        """Drop other words for what recurs no more, and for the habit that `changed`: its own words did."""
        for of, id in list(self.rewritten):
            if of == "habit" and (id == changed or id not in habits):
                del self.rewritten[of, id]

    def values(self) -> dict[str, Any]:
        """Return the table as JSON-able values; {} while no advice is kept."""
        listed = {
            "rewritten": [[*key, *words] for key, words in self.rewritten.items()],
            "split": [[turn, [list(span) for span in parts.spans], parts.by] for turn, parts in self.split.items()],
            "judged": [[turn, advice.worth, list(advice.keywords), advice.by] for turn, advice in self.judged.items()],
            "rated": [[*both, *rating] for both, rating in self.rated.items()],
        }
        return {name: values for name, values in listed.items() if values}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> AdviceTable:
        """Build the table that `values` described."""
        table = cls()
        for of, id, text, role, by in values.get("rewritten", ()):
            table.rewritten[of, id] = Rewriting(text, role, by)
        for turn, spans, by in values.get("split", ()):
            table.split[turn] = Parts(tuple((start, end) for start, end in spans), by)
        for turn, worth, keywords, by in values.get("judged", ()):
            table.judged[turn] = Judgement(worth, tuple(keywords), by)
        for source, target, rating, by in values.get("rated", ()):
            table.rated[source, target] = Rating(rating, by)
        return table


def pair(source: str, target: str) -> tuple[str, str]:
    """Write two concepts in the order in which a link between them is kept."""
    return (source, target) if source < target else (target, source)
