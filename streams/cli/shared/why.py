"""Print why a passage was recalled, as a tree for people to read.

demo-003 2023-05-08 13:56 Ada (session 1): 4.21
├── score: inherited 2.10, speaker 1.60, …
├── here: cat ×1, ginger ×1
├── 1 turn before (demo-002): cat ×2
├── associations: cat → kitten (together 3 times, weight 0.412)
└── kinds: pet → cat
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.tree import Tree

from emgas.times import format_utc

if TYPE_CHECKING:
    from emgas.messages.explanations import Hop, Mention, Why
    from emgas.messages.queries import RecalledPassage


def score(value: float) -> str:
    """Write a score or a term of one: two places, or two digits of one that is small, as those of a walk are."""
    return f"{value:.2f}" if abs(value) >= 0.1 or not value else f"{value:.2g}"


def why(passage: RecalledPassage, report: Why) -> Tree:
    """Draw the explanation of a passage as a tree."""
    tree = Tree(f"[bold]{escape(passage.id)}[/] {format_utc(passage.at)} {_of(passage)}: {score(passage.score)}")
    for line in _lines(report):
        tree.add(escape(line))
    return tree


def _of(passage: RecalledPassage) -> str:
    return escape(f"{passage.speaker} (session {passage.session})")


def _lines(report: Why) -> Iterator[str]:
    strongest = sorted(report.terms.items(), key=lambda term: (-abs(term[1]), term[0]))
    yield "score: " + ", ".join(f"{name} {score(value)}" for name, value in strongest)
    for (distance, turn), mentions in groupby(report.mentions, key=lambda each: (each.distance, each.turn)):
        yield f"{_place(distance, turn)}: " + ", ".join(map(_mention, mentions))
    if report.associations:
        yield "associations: " + ", ".join(map(_hop, report.associations))
    if report.kinds:
        yield "kinds: " + ", ".join(f"{kind.asked} → {kind.member}" for kind in report.kinds)


def _place(distance: int, turn: str) -> str:
    if distance == 0:
        return "here"
    turns = "1 turn" if abs(distance) == 1 else f"{abs(distance)} turns"
    return f"{turns} {'before' if distance < 0 else 'after'} ({turn})"


def _mention(mention: Mention) -> str:
    weight = "" if mention.weight == 1 else f" (weight {mention.weight:.2f})"
    return f"{mention.concept} ×{mention.times}{weight}"


def _hop(hop: Hop) -> str:
    times = "once" if hop.times == 1 else f"{hop.times} times"
    return f"{hop.source} → {hop.target} (together {times}, weight {hop.weight:.3f})"
