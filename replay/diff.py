"""Find the changes of a graph between two times, by comparing its two states only.

    concepts   born or come back, forgotten or archived; stronger or weaker: what a strength was worth at the one clock
               and at the other
    themes     by their ids, and by where most of their concepts came from or went
    turns      added, archived: what left the active tier, whether it can still be found or not; the totals count those
               too that came and went in between
    pairs      how often two concepts were seen in one exchange

Everything is named by id, as numbers differ between two graphs.  Lists begin with what changed most; ties go by id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import compress, islice
from typing import Literal, NamedTuple

import numpy as np

from state.arrays import Integers
from state.graph.graph import Graph
from state.graph.view import GraphView

MOST_PAIRS = 20
LABELLED_BY = 3  # concepts that a theme is named by: those that are its strongest now
_LEAST = 1e-9  # a change of strength below it is none


class ConceptChange(NamedTuple):
    """A concept, and its strength at the two times; 0 where it was not in the graph."""

    id: str
    label: str
    before: float
    after: float

    @property
    def by(self) -> float:
        """By how much it grew."""
        return self.after - self.before


class ThemeChange(NamedTuple):
    """The change of a theme between two times.

    born     it is new, and no theme gave most of its concepts    split    it is new, most of them come from `other`
    died     it is gone, and no theme has most of its concepts    merged   it is gone, most of them are in `other`
    changed  it has other concepts: some joined, some left

    joined, left  labels of concepts, strongest first; all that a new one has, all that one that is gone had
    """

    id: str
    label: str
    change: Literal["born", "changed", "merged", "split", "died"]
    other: str | None
    joined: list[str]
    left: list[str]


class PairGrowth(NamedTuple):
    """Two concepts, by label, and in how many exchanges both were, at the two times."""

    one: str
    other: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Difference:
    """See the module's docstring.  `clocks`: stream time at the two times, ms; `turns`: how many there had been."""

    graph: str
    clocks: tuple[int, int]
    turns: tuple[int, int]
    born: list[ConceptChange]
    stronger: list[ConceptChange]
    weaker: list[ConceptChange]
    forgotten: list[ConceptChange]
    long_term: list[ConceptChange]
    themes: list[ThemeChange]
    added: list[str]
    archived: list[str]
    pairs: list[PairGrowth]


def diff(before: Graph, after: Graph) -> Difference:
    """Compare a graph at two times, `before` and `after`; an empty Graph stands for none."""
    old, new = before.view(), after.view()
    concepts = _concepts(_strengths(before), _strengths(after), old, new)
    active = _active(old), _active(new)
    turns = _active_turns(old), _active_turns(new)
    return Difference(
        graph=after.graph_id,
        clocks=(old.clock, new.clock),
        turns=(_turns(before), _turns(after)),
        born=_most(each for each in concepts if each.id in active[1] - active[0]),
        stronger=_most(each for each in concepts if each.id in active[0] & active[1] and each.by > _LEAST),
        weaker=_most(each for each in concepts if each.id in active[0] & active[1] and each.by < -_LEAST),
        forgotten=_most(each for each in concepts if each.id in active[0] - active[1]),
        long_term=_most(each for each in concepts if _is_long_term(after, each) and not _is_long_term(before, each)),
        themes=_themes(old, new),
        added=[turn for turn in turns[1] if turn not in turns[0]],
        archived=[turn for turn in turns[0] if turn not in turns[1]],
        pairs=_pairs(old, new),
    )


def _turns(graph: Graph) -> int:
    return len(graph.passages) + len(graph.passages.gone)


def _strengths(graph: Graph) -> dict[str, float]:
    """Compute the strength of every word, as of the graph's clock; marks, which are no words, are left out."""
    concepts, is_mark = graph.concepts, graph.concepts.is_mark
    return {
        name: concepts.strength_of(number, graph.clock, graph.settings)
        for name, number in concepts.numbers.items()
        if not is_mark[number]
    }


def _concepts(
    before: Mapping[str, float], after: Mapping[str, float], old: GraphView, new: GraphView
) -> list[ConceptChange]:
    labels = {name: view.labels[view.numbers[name]] for view in (old, new) for name in view.numbers}
    names = sorted(before.keys() | after.keys())
    return [ConceptChange(name, labels[name], before.get(name, 0.0), after.get(name, 0.0)) for name in names]


def _active(view: GraphView) -> set[str]:
    """List the ids of the concepts that are not in the archive."""
    archived = view.is_archived
    return {name for name, number in view.numbers.items() if not archived[number]}


def _active_turns(view: GraphView) -> dict[str, None]:
    """List the ids of the turns that are not in the archive, in their order."""
    return dict.fromkeys(compress(view.passage_id, ~view.passage_archived))


def _is_long_term(graph: Graph, change: ConceptChange) -> bool:
    number = graph.concepts.numbers.get(change.id)
    return number is not None and bool(graph.concepts.long_term[number])


def _most(changes: Iterable[ConceptChange]) -> list[ConceptChange]:
    return sorted(changes, key=lambda change: (-abs(change.by), change.id))


def _themes(old: GraphView, new: GraphView) -> list[ThemeChange]:
    """List the changes of the themes: first those that are gone, then the existing ones, each in order of creation."""
    before, after = _by_id(old), _by_id(new)
    gone = (_gone(theme, after) for theme in before.values() if theme.id not in after)
    stayed = (_changed(before[theme.id], theme) for theme in after.values() if theme.id in before)
    came = (_came(theme, before) for theme in after.values() if theme.id not in before)
    return [*gone, *(change for change in stayed if change.joined or change.left), *came]


class _Theme(NamedTuple):
    """A theme by names: concept id → label, strongest first."""

    id: str
    members: Mapping[str, str]

    @property
    def label(self) -> str:
        return ", ".join(islice(self.members.values(), LABELLED_BY))


def _by_id(view: GraphView) -> dict[str, _Theme]:
    return {
        theme.id: _Theme(theme.id, {view.ids[number]: view.labels[number] for number in theme.members})
        for theme in view.themes
    }


def _changed(was: _Theme, theme: _Theme) -> ThemeChange:
    joined = [label for name, label in theme.members.items() if name not in was.members]
    left = [label for name, label in was.members.items() if name not in theme.members]
    return ThemeChange(theme.id, theme.label, "changed", None, joined, left)


def _gone(theme: _Theme, after: Mapping[str, _Theme]) -> ThemeChange:
    heir = _with_most(theme, after)
    return ThemeChange(theme.id, theme.label, "merged" if heir else "died", heir, [], list(theme.members.values()))


def _came(theme: _Theme, before: Mapping[str, _Theme]) -> ThemeChange:
    origin = _with_most(theme, before)
    return ThemeChange(theme.id, theme.label, "split" if origin else "born", origin, list(theme.members.values()), [])


def _with_most(theme: _Theme, others: Mapping[str, _Theme]) -> str | None:
    """Find the theme among `others` that holds more than half of the members; a concept belongs to one at most."""
    shared = {other.id: len(theme.members.keys() & other.members.keys()) for other in others.values()}
    return next((other for other, count in shared.items() if 2 * count > len(theme.members)), None)


def _pairs(old: GraphView, new: GraphView) -> list[PairGrowth]:
    """Find the pairs of words whose count grew most."""
    one, other, count = _pairs_of(new)
    was = _counted(old, new, one, other)
    # In a view concepts are numbered as they were first seen, so ties fall to the older ones.
    best = np.argsort(was - count, kind="stable")[:MOST_PAIRS]
    return [
        PairGrowth(new.labels[one[place]], new.labels[other[place]], int(was[place]), int(count[place]))
        for place in best.tolist()
        if count[place] > was[place]
    ]


def _pairs_of(view: GraphView) -> tuple[Integers, Integers, Integers]:
    """List every pair of words once, (p,) the smaller number, the larger one, and in how many exchanges both were."""
    words = np.flatnonzero(~view.is_mark)
    position, other, count = view.windows["exchange"].pairs.neighbours(words)
    one = words[position]
    once = (one < other) & ~view.is_mark[other]
    return one[once], other[once], count[once]


def _counted(old: GraphView, new: GraphView, one: Integers, other: Integers) -> Integers:
    """Find (p,) how often `old` had counted each pair, given by its numbers in `new`."""
    left, right, count = _pairs_of(old)
    keys = left << 32 | right
    number = np.array([old.numbers.get(name, -1) for name in new.ids], np.int64)
    ends = np.stack((number[one], number[other]))
    queried = ends.min(axis=0) << 32 | ends.max(axis=0)
    at = np.searchsorted(keys, queried)
    at[at == len(keys)] = 0
    matches = (ends.min(axis=0) >= 0) & (keys[at] == queried) if len(keys) else np.zeros(len(queried), np.bool_)
    return np.where(matches, count[at] if len(keys) else 0, 0)
