"""What recurs: habits, which a consolidation window finds among its new turns and those that are near them.

    a new turn near a member of a habit      joins it: the habit is told anew, with one more
    turns that are near one another          of one speaker, LEAST of them at least, on several days: a new habit, if it
                                             is valid
    "no latte today" 今天没喝拿铁             counts for nothing, and is an exception, as is a pause of more than twice the
                                             time between two days of it

A habit is an abstract: a passage of its own (habit_texts.py) that is linked to its members, which stay.  It is valid if
its members hold what it is about (coverage, consistency), and no habit of the speaker is about the same (redundancy;
else its members join that one).  Deciding is a pure function of the graph and the new turns, in bounded work; near:
affinity.py.  Source: SEEDS P18-P25, P40, S22.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS
from processors.lifecycle import habit_texts
from processors.lifecycle.affinity import PEOPLE, Affinities, clusters
from processors.lifecycle.habit_texts import Counts
from state.events.events import UNSTAMPED, MemoryConsolidated
from state.events.extraction_types import Exempt
from state.graph.graph import Graph
from state.graph.habit_table import Habit

LOOKED_AT: Final = 512  # turns of no habit whose neighbours a window looks for, beside the new ones
SHARED: Final = 0.6  # of the members: how many hold what a habit is about
ABOUT: Final = 4  # concepts that a habit is about, at most
EXCEPTIONS: Final = 20  # that are kept, the latest
SKIPS: Final = "skips "  # how a slot begins that says of something that it was left out (processors/text/statements.py)
JOINED: Final = 2000  # members that one event can name


def recurring(graph: Graph, fresh: Sequence[int], at: int) -> list[MemoryConsolidated]:
    """Find the habits that are new at `at` (ms), and those that have more members; `fresh`: the new passages."""
    settings = graph.settings
    if not settings.habit_members or not fresh:
        return []
    graph.settle()
    return _Window(graph, fresh, at).decided()


class _Window:
    """One window while it is decided."""

    def __init__(self, graph: Graph, fresh: Sequence[int], at: int) -> None:
        self._graph, self._passages, self._at = graph, graph.passages, at
        self._affinities = Affinities(graph)
        self._fresh = [each for each in fresh if self._can_join(each)]
        self._joined: dict[str, list[int]] = {}  # habit → passages that join it
        self._edges: list[tuple[int, int]] = []  # between passages of no habit

    def _can_join(self, passage: int) -> bool:
        passages = self._passages
        turn = passages.ids[passage]
        tells = not passages.question[passage] and passages.role[passage] in PEOPLE
        return bool(passages.kept[passage]) and tells and turn not in self._graph.habits.of_turn

    def decided(self) -> list[MemoryConsolidated]:
        self._grow()
        grouped = list(clusters(self._edges))
        for cluster in grouped:
            self._join_together(cluster)
        known = [self._again(self._graph.habits.habits[id], joined) for id, joined in sorted(self._joined.items())]
        new = [event for cluster in grouped if (event := self._new(cluster)) is not None]
        return [event for event in (*known, *self._skipped(), *new) if event is not None]

    def _grow(self) -> None:
        """Follow neighbours from the new turns on, through turns of no habit, as far as LOOKED_AT of those."""
        waiting, seen = list(self._fresh), set(self._fresh)
        left = LOOKED_AT + len(waiting)
        while waiting and left:
            passage, left = waiting.pop(0), left - 1
            if self._skips(passage):
                continue
            for _, other in self._affinities.neighbours(passage):
                habit = self._graph.habits.of_turn.get(self._passages.ids[other])
                if habit is not None:
                    self._joined.setdefault(habit, []).append(passage)
                    break
                if self._skips(other):
                    continue
                self._edges.append((passage, other))
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)

    def _join_together(self, cluster: list[int]) -> None:
        """Let all of a cluster join the habit that one of it joins, the first by name."""
        here = sorted(habit for habit, joined in self._joined.items() if not set(cluster).isdisjoint(joined))
        if here:
            joining = {passage for joined in self._joined.values() for passage in joined}
            self._joined[here[0]] += [passage for passage in cluster if passage not in joining]

    def _skips(self, passage: int) -> bool:
        """Tell whether a turn says of something that it was left out."""
        speaker, stated = self._graph.statements.of_turn(self._passages.ids[passage])
        return any(one.slot.startswith(SKIPS) for one in stated)

    def _new(self, cluster: list[int]) -> MemoryConsolidated | None:
        """Make a habit of a cluster, None if it is none."""
        joining = {passage for joined in self._joined.values() for passage in joined}
        members = [passage for passage in cluster if passage not in joining]
        settings = self._graph.settings
        days = {self._local(passage) // DAY_MS for passage in members}
        if len(members) < settings.habit_members or len(days) < settings.habit_days:
            return None
        concepts = self._about(members)
        members = [passage for passage in members if self._holds(passage, concepts)]
        days = {self._local(passage) // DAY_MS for passage in members}
        if len(members) < settings.habit_members or len(days) < settings.habit_days:
            return None
        speaker = list(self._passages.speakers)[self._passages.speaker[members[0]]]
        same = self._alike(speaker, concepts)
        if same is not None:
            return self._again(same, members)
        return self._event(_name(self._passages.ids[members[0]]), speaker, concepts=concepts, before=(), joined=members)

    def _local(self, passage: int) -> int:
        """Tell when a passage was said by the clock of who said it, ms."""
        return self._passages.at[passage] + self._passages.offset[passage] * MINUTE_MS

    def _about(self, members: Sequence[int]) -> list[int]:
        """Find what all of a cluster is about: concepts that SHARED of it hold, the most telling first."""
        held, weights = Counter[int](), Counter[int]()
        for passage in members:
            for word, weight in self._affinities.vector(passage).items():
                held[word] += 1
                weights[word] += weight  # type: ignore[assignment]  # a share
        often = [word for word in held if held[word] >= SHARED * len(members)]
        return sorted(often, key=lambda word: (-weights[word], word))[:ABOUT]

    def _holds(self, passage: int, concepts: Iterable[int]) -> bool:
        return not set(concepts).isdisjoint(self._affinities.vector(passage))

    def _alike(self, speaker: str, concepts: Sequence[int]) -> Habit | None:
        """Find a habit of the speaker that is about the same, the oldest."""
        ids = {self._graph.concepts.ids[concept] for concept in concepts}
        habits = (each for each in self._graph.habits.habits.values() if each.speaker == speaker)
        return next((each for each in habits if ids == set(each.concepts)), None)

    def _again(self, habit: Habit, joined: Sequence[int]) -> MemoryConsolidated | None:
        """Tell a habit anew, with more members that hold what it is about; None where none of them does."""
        numbers = self._graph.concepts.numbers
        concepts = [numbers[id] for id in habit.concepts if id in numbers]
        fitting = [passage for passage in dict.fromkeys(joined) if self._holds(passage, concepts)]
        if not fitting:
            return None
        return self._event(habit.id, habit.speaker, concepts=concepts, before=habit.members, joined=fitting)

    def _skipped(self) -> Iterator[MemoryConsolidated | None]:
        """Tell anew the habits that grew by nothing but an exception."""
        for habit in self._graph.habits.habits.values():
            if habit.id not in self._joined:
                numbers = self._graph.concepts.numbers
                concepts = [numbers[id] for id in habit.concepts if id in numbers]
                if any(self._exempts(passage, habit.speaker, concepts) for passage in self._fresh):
                    yield self._event(habit.id, habit.speaker, concepts=concepts, before=habit.members, joined=())

    def _event(
        self, id: str, speaker: str, *, concepts: Sequence[int], before: Sequence[str], joined: Sequence[int]
    ) -> MemoryConsolidated:
        numbers, joined = self._passages.numbers, list(joined)[:JOINED]
        members = [*(numbers[turn] for turn in before if turn in numbers), *joined]
        known = self._counts(members, speaker, concepts)
        labels = [self._graph.concepts.label(concept) for concept in concepts]
        fields: dict[str, Any] = {**known._asdict(), "hours": list(known.hours), "weekdays": list(known.weekdays)}
        return MemoryConsolidated(
            graph=self._graph.graph_id,
            at=self._at,
            id=id,
            speaker=speaker,
            text=habit_texts.told(speaker, labels, known),
            concepts=[self._graph.concepts.ids[concept] for concept in concepts],
            members=[self._passages.ids[passage] for passage in joined],
            by=habit_texts.BY,
            **{**fields, "exceptions": list(known.exceptions)},
            **UNSTAMPED,
        )

    def _counts(self, members: Sequence[int], speaker: str, concepts: Sequence[int]) -> Counts:
        times = np.sort(np.array([self._local(passage) for passage in members], np.int64))
        said_at = [self._passages.at[passage] for passage in members]
        days = np.unique(times // DAY_MS)
        weekdays = np.bincount((times // DAY_MS + 3) % 7, minlength=7).tolist()
        every = float(np.median(np.diff(days))) if len(days) > 1 else 1.0
        pauses = _pauses(days, every, working=habit_texts.on_weekdays(weekdays))
        said = self._said_exceptions(speaker, concepts, int(times[0]))
        exceptions = sorted({*pauses, *said}, key=lambda each: (each.since, each.turn))[-EXCEPTIONS:]
        return Counts(
            count=len(members),
            days=len(days),
            first=min(said_at),
            last=max(said_at),
            period=round(every * DAY_MS),
            hours=np.bincount(times % DAY_MS // HOUR_MS, minlength=24).tolist(),
            weekdays=weekdays,
            exceptions=_without_covered(exceptions),
        )

    def _said_exceptions(self, speaker: str, concepts: Sequence[int], since: int) -> list[Exempt]:
        """List the days of which a turn says that it was otherwise, from `since` (ms) on."""
        found = []
        for turn in self._graph.statements:
            passage = self._passages.numbers[turn]
            if self._local(passage) >= since and self._exempts(passage, speaker, concepts):
                day = self._local(passage) // DAY_MS * DAY_MS
                found.append(Exempt(day, day + DAY_MS, turn))
        return found

    def _exempts(self, passage: int, speaker: str, concepts: Sequence[int]) -> bool:
        """Tell whether a turn of a speaker says of what a habit is about that it was left out."""
        said_by, stated = self._graph.statements.of_turn(self._passages.ids[passage])
        if said_by != speaker:
            return False
        skipped = " ".join(one.slot for one in stated if one.slot.startswith(SKIPS))
        graph = self._graph.concepts
        names = {name.casefold() for concept in concepts for name in (graph.ids[concept], graph.label(concept))}
        words = set(skipped.split())
        return any(name in words or (not name.isascii() and name in skipped) for name in names)


def _pauses(days: Any, every: float, *, working: bool) -> list[Exempt]:
    """List the pauses: from the end of a day of it to the next such day, if that is more than twice as long as usual."""
    counted = np.busday_count(np.datetime64(0, "D"), days.astype("datetime64[D]")) if working else days
    gaps = np.diff(counted)
    long = np.flatnonzero(gaps > 2 * every) if not working else np.flatnonzero(gaps > max(2.0, every))
    found = ((int(days[place] + 1) * DAY_MS, int(days[place + 1]) * DAY_MS) for place in long.tolist())
    return [Exempt(since, until) for since, until in found]


def _without_covered(exceptions: Sequence[Exempt]) -> list[Exempt]:
    """Leave out a day of which a turn speaks where a pause holds it already."""
    pauses = [each for each in exceptions if not each.turn]
    return [
        each
        for each in exceptions
        if not (each.turn and any(pause.since <= each.since and each.until <= pause.until for pause in pauses))
    ]


def _name(turn: str) -> str:
    """Name a habit by the first of its members."""
    return f"habit-{hashlib.blake2b(turn.encode(), digest_size=6).hexdigest()}"
