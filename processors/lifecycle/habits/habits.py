"""Find habits, which recur: a consolidation window looks for them among its new turns and the turns near those.

    anchored                all its members are by one speaker and hold one word, the anchor
    found                   if the affinity of enough turns on enough days is above affinity_above; or LOWER of that, if
                            they are regular: at about the same hour, on the same day of the week or every few days
    grows                   by new turns with its anchor whose affinity to one of its latest members is above LOWER
    "no latte today"        今天没喝拿铁 does not count, and is an exception; so is a pause of more than twice the
                            usual time between two days
    "I stopped drinking     我不再喝拿铁了 does not count either; the habit is over, unless it goes on later
    latte"
    "I should have a latte" 真想喝拿铁 does not count: it is a wish

A habit is an abstract: a passage of its own (habit_texts.py) with links to its members, which stay.  Its construction
makes it valid: its content is counted from its members (consistency); every member holds its anchor (coverage) and is
in no other habit (no redundancy).  The decision is a pure function of the graph.  Its cost grows with the new turns: a
word of theirs leads to LOOKED_AT turns at most.  Affinity: affinity.py.  Source: SEEDS P18-P25, P40, S22.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS
from processors.lifecycle.habits import habit_texts
from processors.lifecycle.habits.affinity import NEIGHBOURS, PEOPLE, Affinities, clusters
from processors.lifecycle.habits.habit_texts import Counts, Named
from processors.lifecycle.steps import Steps, in_one_go
from processors.text import tables
from processors.text.statements import DOES, SKIPS, UNDONE
from state.events.events import UNSTAMPED, MemoryConsolidated
from state.events.extraction_types import Exempt, Statement
from state.graph.graph import Graph
from state.graph.tables.habit_table import HabitRow

LOOKED_AT: Final = 64  # turns that hold a word, the latest, which a window looks at
LOWER: Final = 2 / 3  # of affinity_above: .5 where that is .75, as the tree's second level (SEEDS P21)
REGULAR: Final = 0.7  # of the members: how many keep to the hours, or the day of the week
DAILY: Final = 2.5  # days between two days of it, in the middle, where the day of the week says nothing
SHARED: Final = 0.6  # of the members: how many hold what a habit is about
ABOUT: Final = 4  # concepts that a habit is about, at most
EXCEPTIONS: Final = 20  # that are kept, the latest
READ_AT_ONCE: Final = 64  # new turns that are read in one step
JOINED: Final = 2000  # members that one event can name
EVERYDAY: Final = frozenset(word for (word,) in tables.rows("processors.text", "everyday_verbs"))
ROUNDABOUT: Final = frozenset(word for (word,) in tables.rows("processors.text", "everyday_nouns"))
ONE_OF: Final = (0.1, 0.9)  # of the members: how many hold a word that is one of several that take turns
OVERLAP: Final = 0.1  # of the members that hold such a word: how many may hold another one, too
TAKE_TURNS: Final = 0.8  # of the members: how many hold one of the words that take turns
LATELY: Final = 5  # members, the latest: what all of them hold is so lately


def recurring(graph: Graph, fresh: Sequence[int], at: int) -> list[MemoryConsolidated]:
    """Find the habits that are new at `at` (ms), and those that have more members; `fresh`: the new passages."""
    return in_one_go(recurring_steps(graph, fresh, at))


def recurring_steps(graph: Graph, fresh: Sequence[int], at: int) -> Steps[list[MemoryConsolidated]]:
    """Find the same in steps of a few milliseconds at most.  The graph must not change meanwhile."""
    settings = graph.settings
    if not settings.habit_members or not fresh:
        return []
    graph.settle()
    return (yield from _Window(graph, fresh, at).decided())


class _Window:
    """One window while it is decided."""

    def __init__(self, graph: Graph, fresh: Sequence[int], at: int) -> None:
        self._graph, self._passages, self._at = graph, graph.passages, at
        self._affinities = Affinities(graph)
        self._speakers = list(graph.passages.speakers)
        self._free: dict[int, bool] = {}  # passages that were looked at: whether they may join a habit
        self._new_passages = fresh
        self._fresh: list[int] = []
        self._fresh_with: dict[int, list[int]] = {}  # word → those of `_fresh` in which it counts
        self._taken: set[int] = set()  # passages that join a habit in this window

    def _is_free(self, passage: int) -> bool:
        """Check that a passage may join a habit: said by a person, no question, in none yet, and nothing left out."""
        is_free = self._free.get(passage)
        if is_free is None:
            passages = self._passages
            turn = passages.ids[passage]
            tells = passages.kept[passage] and not passages.question[passage] and passages.role[passage] in PEOPLE
            is_free = bool(tells) and turn not in self._graph.habits.of_turn and not self._skips(turn)
            self._free[passage] = is_free
        return is_free

    def _skips(self, turn: str) -> bool:
        """Check that a turn says of something that it was left out, or that it is over."""
        return any(_is_skip(one) or _is_end(one) for one in self._graph.statements.of_turn(turn)[1])

    def _is_undone(self, passage: int, concepts: Sequence[int]) -> bool:
        """Check that a passage only wishes for what is named by one of `concepts`, plans it or remembers it."""
        turn = self._passages.ids[passage]
        stated = self._graph.statements.of_turn(turn)[1]
        return self._names(turn, [one for one in stated if one.slot.startswith(UNDONE)], concepts)

    def decided(self) -> Steps[list[MemoryConsolidated]]:
        yield from self._read()
        events: list[MemoryConsolidated] = []
        for habit in self._graph.habits.habits.values():
            if (event := self._again(habit)) is not None:
                events.append(event)
            yield
        yield from self._add_new(events)
        return events

    def _read(self) -> Steps[None]:
        """Read what the new turns say, and look for the turns that say the same."""
        for passage in self._new_passages:
            if self._is_free(passage):
                self._fresh.append(passage)
                for word in self._affinities.vector(passage):
                    self._fresh_with.setdefault(word, []).append(passage)
            if len(self._free) % READ_AT_ONCE == 0:
                yield
        yield from self._affinities.look_for(self._fresh_with, LOOKED_AT)

    def _again(self, habit: HabitRow) -> MemoryConsolidated | None:
        """Return an existing habit with the new turns that join it, or with new exceptions; None if neither applies."""
        numbers = self._graph.concepts.numbers
        anchor = numbers.get(habit.concepts[0]) if habit.concepts else None
        if anchor is None:
            return None
        members = [
            self._passages.numbers[turn] for turn in habit.members[-NEIGHBOURS:] if turn in self._passages.numbers
        ]
        joined = [passage for passage in self._fresh_with.get(anchor, ()) if self._joins(passage, habit, members)]
        self._taken.update(joined)
        about = [numbers[id] for id in habit.concepts if id in numbers]
        if not joined and not any(self._exempts(turn, habit.speaker, about) for turn in self._new_skipping):
            return None
        return self._event(habit.id, habit.speaker, anchor=anchor, before=habit.members, joined=joined[:JOINED])

    @cached_property
    def _new_skipping(self) -> list[str]:
        """The new turns that say of something that it was left out, or that it is over."""
        turns = (self._passages.ids[passage] for passage in self._new_passages)
        return [turn for turn in turns if self._skips(turn)]

    @cached_property
    def _skipping(self) -> list[str]:
        """All turns that do."""
        return [turn for turn in self._graph.statements if self._skips(turn)]

    def _joins(self, passage: int, habit: HabitRow, members: list[int]) -> bool:
        """Return whether a new turn that holds its anchor is one more of a habit: near one of its latest members.

        If so, it is the latest.
        """
        numbers = self._graph.concepts.numbers
        if passage in self._taken or self._is_undone(passage, [numbers[id] for id in habit.concepts if id in numbers]):
            return False
        is_theirs = self._speakers[self._passages.speaker[passage]] == habit.speaker
        near = is_theirs and any(self._affinities.between(passage, each) >= self._below for each in members)
        if near:
            members[:] = [*members[1 - NEIGHBOURS :], passage]
        return near

    @property
    def _below(self) -> float:
        """The second threshold: of what is regular, and of what joins what is known."""
        return self._graph.rhythm.affinity_above * LOWER

    def _add_new(self, events: list[MemoryConsolidated]) -> Steps[None]:
        """Append the new habits to `events`, those with most members first.  A turn belongs to one habit."""
        anchors = yield from self._anchors()
        for speaker, anchor in anchors:
            free = [passage for passage in self._holders(anchor, speaker) if passage not in self._taken]
            for members in self._clusters(free):
                self._taken.update(members)
                name = _name(self._passages.ids[members[0]], self._graph.concepts.ids[anchor])
                events.append(self._event(name, self._speakers[speaker], anchor=anchor, before=(), joined=members))
            yield

    def _anchors(self) -> Steps[list[tuple[int, int]]]:
        """List what new habits could be about, (speaker, concept): what a new turn says, and what is said often."""
        sizes: dict[tuple[int, int], int] = {}
        for passage in self._fresh:
            if passage not in self._taken:
                speaker = self._passages.speaker[passage]
                for word in self._affinities.vector(passage):
                    if (speaker, word) not in sizes and self._graph.concepts.ids[word] not in EVERYDAY:
                        sizes[speaker, word] = len(self._holders(word, speaker))
                yield
        often = (key for key, size in sizes.items() if size >= self._graph.settings.habit_members)
        return sorted(often, key=lambda key: (-sizes[key], key))

    def _holders(self, anchor: int, speaker: int) -> list[int]:
        """List the latest LOOKED_AT free turns of a speaker that hold a word, in the order in which they were said."""
        latest, at = self._affinities.holders(anchor, speaker), self._passages.at
        free = [each for each in latest if self._is_free(each) and not self._is_undone(each, [anchor])]
        return sorted(free, key=lambda each: (at[each], each))

    def _clusters(self, free: Sequence[int]) -> Iterator[list[int]]:
        """Yield the clusters of turns that are habits: those of the higher threshold, or the lower if they are regular.

        free  turns that hold one word, in the order in which they were said
        """
        if not self._is_enough(free):
            return  # nor is any part of them
        near = self._affinities.estimated(free)
        for above in (self._below, self._graph.rhythm.affinity_above):
            for cluster in clusters(self._affinities.joined(free, above, near)):
                members = [each for each in sorted(cluster, key=free.index) if each not in self._taken]
                if self._is_enough(members) and (above > self._below or self._is_regular(members)):
                    yield members

    def _is_enough(self, members: Sequence[int]) -> bool:
        settings = self._graph.settings
        days = {self._local(passage) // DAY_MS for passage in members}
        return len(members) >= settings.habit_members and len(days) >= settings.habit_days

    def _is_regular(self, members: Sequence[int]) -> bool:
        """Check whether something happens at about the same hour, and on the same day of the week or every few days."""
        times = np.array([self._local(passage) for passage in members], np.int64)
        hours = np.bincount(times % DAY_MS // HOUR_MS, minlength=24)
        around = hours + np.roll(hours, 1) + np.roll(hours, -1)
        weekdays = np.bincount((times // DAY_MS + 3) % 7, minlength=7)
        days = np.diff(np.unique(times // DAY_MS))
        rhythm = weekdays.max() >= REGULAR * len(times) or float(np.median(days)) <= DAILY
        return bool(around.max() >= REGULAR * len(times) and rhythm)

    def _local(self, passage: int) -> int:
        """Return when a passage was said by the clock of who said it, ms."""
        return self._passages.at[passage] + self._passages.ahead[passage] * MINUTE_MS

    def _about(self, anchor: int, members: Sequence[int]) -> list[int]:
        """Find what all of a habit is about: its anchor, and what else SHARED of its latest members hold."""
        frequency, weights = Counter[int](), dict[int, float]()
        for passage in members[-LOOKED_AT:]:
            for word, weight in self._affinities.vector(passage).items():
                frequency[word] += 1
                weights[word] = weights.get(word, 0.0) + weight
        often = [word for word in frequency if frequency[word] >= SHARED * len(members[-LOOKED_AT:]) and word != anchor]
        shared = [anchor, *sorted(often, key=lambda word: (-weights[word], word))[: ABOUT - 1]]
        turns = self._taking_turns(shared, members[-LOOKED_AT:])
        return [*shared, *(word for word in turns[:ABOUT] if word not in shared)]

    def _named(self, about: Sequence[int], members: Sequence[int]) -> Named:
        """Return the name of a habit: the words that alternate in it, else all words that it is about."""
        latest = members[-LOOKED_AT:]
        turns = self._taking_turns(about, latest)
        phrases = self._phrases(latest)
        compounds = {turn: self._compound(turn, latest) for turn in turns}
        whole = {word for phrase in phrases for word in self._graph.concepts.ids[phrase].split()}
        whole |= {self._graph.concepts.ids[each] for words in compounds.values() for each in words}
        words = [*phrases, *(each for each in about if self._graph.concepts.ids[each] not in whole)]
        last = [{*self._passages.concepts_of(passage)} for passage in latest[-LATELY:]]
        lately = next((each for each in turns[1:] if all(each in concepts for concepts in last)), None)
        label = self._graph.concepts.label
        return Named(
            words=[label(each) for each in sorted(words, key=self._is_roundabout)],
            turns=[" ".join(map(label, compounds[each])) for each in turns],
            lately=None if lately is None else label(lately),
        )

    def _compound(self, word: int, members: Sequence[int]) -> list[int]:
        """List the words that are said where one is and nowhere else, in the order of their turn: flat white."""
        concepts = [self._passages.concepts_of(passage) for passage in members]
        of = [list(each) for each in concepts if word in each]
        is_plain = self._graph.concepts.is_mark
        return [
            each
            for each in of[0]
            if each == word
            or (
                not is_plain[each]
                and not self._is_roundabout(each)
                and all(each in one for one in of)
                and sum(each in one for one in concepts) == len(of)
            )
        ]

    def _phrases(self, members: Sequence[int]) -> list[int]:
        """List the phrases that SHARED of the members hold."""
        counts = Counter(word for passage in members for word in self._passages.concepts_of(passage))
        phrases = self._graph.concepts.phrases
        return sorted(word for word, times in counts.items() if word in phrases and times >= SHARED * len(members))

    def _is_roundabout(self, concept: int) -> bool:
        """Return whether a word says when or where something is done, or only that it is."""
        id = self._graph.concepts.ids[concept]
        return id in ROUNDABOUT or id in EVERYDAY or self._graph.concepts.label(concept).casefold() in ROUNDABOUT

    def _taking_turns(self, about: Sequence[int], members: Sequence[int]) -> list[int]:
        """List words that take turns, so that nearly each member holds one, the most frequent first."""
        holders: dict[int, set[int]] = {}
        for passage in members:
            for word in self._passages.concepts_of(passage):
                holders.setdefault(word, set()).add(passage)
        if not all(self._is_roundabout(each) or len(holders[each]) < ONE_OF[1] * len(members) for each in about):
            return []  # it has a name of its own
        low, high = (share * len(members) for share in ONE_OF)
        is_mark, phrases = self._graph.concepts.is_mark, self._graph.concepts.phrases
        words = [
            word
            for word, passages in holders.items()
            if low <= len(passages) <= high and (word in phrases or not is_mark[word]) and not self._is_roundabout(word)
        ]
        chosen, covered = list[int](), set[int]()
        for word in sorted(words, key=lambda word: (-len(holders[word]), word not in phrases, word)):
            if len(holders[word] & covered) <= OVERLAP * len(holders[word]) and len(holders[word]) > 1:
                chosen.append(word)
                covered |= holders[word]
        return chosen if len(chosen) > 1 and len(covered) >= TAKE_TURNS * len(members) else []

    def _event(
        self, id: str, speaker: str, *, anchor: int, before: Sequence[str], joined: Sequence[int]
    ) -> MemoryConsolidated:
        numbers = self._passages.numbers
        members = [*(numbers[turn] for turn in before if turn in numbers), *joined]
        concepts = self._about(anchor, members)
        counts = self._counts(members, speaker, concepts)
        fields: dict[str, Any] = {**vars(counts), "hours": list(counts.hours), "weekdays": list(counts.weekdays)}
        del fields["ended"]  # which only the text tells
        return MemoryConsolidated(
            graph=self._graph.graph_id,
            at=self._at,
            id=id,
            speaker=speaker,
            text=habit_texts.habit_text(speaker, self._named(concepts, members), counts),
            concepts=[self._graph.concepts.ids[concept] for concept in concepts],
            members=[self._passages.ids[passage] for passage in joined],
            by=habit_texts.BY,
            **{**fields, "exceptions": list(counts.exceptions)},
            **UNSTAMPED,
        )

    def _counts(self, members: Sequence[int], speaker: str, concepts: Sequence[int]) -> Counts:
        times = np.sort(np.array([self._local(passage) for passage in members], np.int64))
        spoken_at = [self._passages.at[passage] for passage in members]
        days = np.unique(times // DAY_MS)
        weekdays = np.bincount((times // DAY_MS + 3) % 7, minlength=7).tolist()
        every = float(np.median(np.diff(days))) if len(days) > 1 else 1.0
        pauses = _pauses(days, every, working=habit_texts.on_weekdays(weekdays))
        stated = self._stated_exceptions(speaker, concepts, int(times[0]), _is_skip)
        ended = self._stated_exceptions(speaker, concepts, int(times[-1]), _is_end)
        exceptions = sorted({*pauses, *stated}, key=lambda each: (each.since, each.turn))[-EXCEPTIONS:]
        return Counts(
            count=len(members),
            days=len(days),
            first=min(spoken_at),
            last=max(spoken_at),
            period=round(every * DAY_MS),
            hours=np.bincount(times % DAY_MS // HOUR_MS, minlength=24).tolist(),
            weekdays=weekdays,
            exceptions=_without_covered(exceptions),
            ended=min((each.since for each in ended), default=None),
        )

    def _stated_exceptions(
        self, speaker: str, concepts: Sequence[int], since: int, says: Callable[[Statement], bool]
    ) -> list[Exempt]:
        """List the days from `since` (ms) on, on which a turn says that it was otherwise: of what a habit is about."""
        exceptions = []
        for turn in self._skipping:
            passage = self._passages.numbers[turn]
            if self._local(passage) >= since and self._exempts(turn, speaker, concepts, says):
                day = self._local(passage) // DAY_MS * DAY_MS
                exceptions.append(Exempt(day, day + DAY_MS, turn))
        return exceptions

    def _exempts(
        self, turn: str, speaker: str, concepts: Sequence[int], says: Callable[[Statement], bool] | None = None
    ) -> bool:
        """Return whether a turn of a speaker says of what a habit is about that it was left out, or is over."""
        source, stated = self._graph.statements.of_turn(turn)
        fitting = [one for one in stated if (says(one) if says else _is_skip(one) or _is_end(one))]
        return source == speaker and self._names(turn, fitting, concepts)

    def _names(self, turn: str, stated: Sequence[Statement], concepts: Sequence[int]) -> bool:
        """Return whether the slot of one of a turn's statements names one of `concepts`, in whichever form."""
        if not stated:
            return False
        slots, graph = " ".join(one.slot for one in stated), self._graph.concepts
        words, held = slots.split(), set(self._passages.concepts_of(self._passages.numbers[turn]))

        def is_named(concept: int, name: str) -> bool:
            if not name.isascii():
                return name in slots
            return name in words or (concept in held and any(word.startswith(name) for word in words))  # run: running

        return any(
            is_named(concept, name.casefold())
            for concept in concepts
            for name in (graph.ids[concept], graph.label(concept))
        )


def _is_skip(one: Statement) -> bool:
    return one.slot.startswith(SKIPS)


def _is_end(one: Statement) -> bool:
    return one.ends and one.slot.startswith(DOES)


def _pauses(days: Any, every: float, *, working: bool) -> list[Exempt]:
    """List the pauses: from the end of a day of it to the next such day, if that is over twice as long as usual."""
    counted = np.busday_count(np.datetime64(0, "D"), days.astype("datetime64[D]")) if working else days
    gaps = np.diff(counted)
    long = np.flatnonzero(gaps > 2 * every) if not working else np.flatnonzero(gaps > max(2.0, every))
    pauses = ((int(days[place] + 1) * DAY_MS, int(days[place + 1]) * DAY_MS) for place in long.tolist())
    return [Exempt(since, until) for since, until in pauses]


def _without_covered(exceptions: Sequence[Exempt]) -> list[Exempt]:
    """Return the exceptions without the days of turns that a pause already includes."""
    pauses = [each for each in exceptions if not each.turn]
    return [
        each
        for each in exceptions
        if not (each.turn and any(pause.since <= each.since and each.until <= pause.until for pause in pauses))
    ]


def _name(turn: str, concept: str) -> str:
    """Return the id of a habit, from its first member and its concept."""
    return f"habit-{hashlib.blake2b(f'{turn} {concept}'.encode(), digest_size=6).hexdigest()}"
