"""The turns of one graph that count, told apart from the fold: ids only, so that an audit has something of its own.

    ordinal         0      1        2            3          4
    event           turn   turn     undo 1–1     turn       undo 2–2
    what counts     0      0 1      0 2          0 2 3      0 1 3 4

A version is what counts after an event: a list, newest first, that shares its older part with other versions.  An undo
of turns is appended like a turn, and takes them out.  One that takes back an undo goes on from the version before its
range, with what counted behind the range.  Going from one version to the next costs what differs between their turns,
so an event costs no more than it reaches back (and a logarithm), however many came before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet

from state.events.events import GraphEvent, Retracted, SubjectErased, TurnRecorded


class _Version:
    """An event that counts: its `ordinal`, and the effect of `before`.

    undo      the newest undo that counts, as a version; `older` and `jump` lead from it to others, one by one or far
    changing  the newest version, of this and those before, that changed which turns count; `depth`: how many did
    gone      turns that an undo takes out, while this version is in force
    """

    __slots__ = ("before", "changing", "depth", "gone", "jump", "older", "ordinal", "undo", "undos")

    def __init__(self, ordinal: int, before: _Version | None, *, is_undo: bool = False, changes: bool = True) -> None:
        self.ordinal = ordinal
        self.before = before
        self.changing: _Version = self if changes or before is None else before.changing
        self.depth: int = 0 if before is None else before.depth + changes
        self.gone: list[int] = []
        older = None if before is None else before.undo
        self.undo: _Version | None = self if is_undo else older
        self.undos: int = (0 if older is None else older.undos) + is_undo
        self.older = older
        self.jump = _far(older)


def _far(older: _Version | None) -> _Version | None:
    """Choose where a jump from an undo goes: distances double, so that a search takes logarithmically many."""
    if older is None or older.jump is None or older.jump.jump is None:
        return older
    over, beyond = older.jump, older.jump.jump
    return beyond if older.undos - over.undos == over.undos - beyond.undos else older


class CountedTurns:
    """Follows a graph's events.  `ids`: of the turns that were recorded and not taken back, or given back since."""

    def __init__(self) -> None:
        self._now = _Version(-1, None)
        self._earlier: list[_Version] = []  # by ordinal: what counted before it
        self._turns: dict[int, str] = {}  # ordinal → id
        self._undos: dict[int, range] = {}  # ordinal → ordinals that it takes back
        self._counting: set[int] = set()  # ordinals of turns
        self._ids: Counter[str] = Counter()

    @property
    def ids(self) -> AbstractSet[str]:
        return self._ids.keys()

    def observe(self, event: GraphEvent) -> str | None:
        """Take the graph's next event; return the id of a turn that counted already."""
        ordinal = len(self._earlier)
        self._earlier.append(self._now)
        repeated = None
        if isinstance(event, Retracted):
            self._undos[ordinal] = range(max(0, event.first), min(ordinal, event.last + 1))
            self._go_to(self._appended(self._now, ordinal))
        elif isinstance(event, TurnRecorded):
            self._turns[ordinal] = event.id
            repeated = event.id if event.id in self._ids else None
            self._go_to(self._appended(self._now, ordinal))
        elif isinstance(event, SubjectErased):
            erased = set(event.turns)
            for turn in [turn for turn in self._counting if event.whole or self._turns[turn] in erased]:
                self._uncount(turn)  # for good: no undo reaches behind an erasure
        return repeated

    def _appended(self, version: _Version, ordinal: int) -> _Version:
        """Append to `version` the event `ordinal`."""
        taken = self._undos.get(ordinal)
        if taken is None:
            return _Version(ordinal, version)
        if _holds_undo(version, taken):
            return _Version(ordinal, self._without(version, taken), is_undo=True, changes=False)
        return _Version(ordinal, version, is_undo=True)

    def _without(self, version: _Version, taken: range) -> _Version:
        """Rebuild what counted before the range, with what counts in `version` behind the range."""
        behind = []
        while version.ordinal >= taken.stop and version.before is not None:
            behind.append(version.ordinal)
            version = version.before
        version = self._earlier[taken.start]
        for ordinal in reversed(behind):
            version = self._appended(version, ordinal)
        return version

    def _go_to(self, target: _Version) -> None:
        """Make `target` what counts now: back to what both share, and forward from there."""
        ahead = []
        current, goal = self._now.changing, target.changing
        while current is not goal:
            if current.depth > goal.depth:
                self._leave(current)
                current = _changing_before(current)
            else:
                ahead.append(goal)
                goal = _changing_before(goal)
        for version in reversed(ahead):
            self._enter(version)
        self._now = target

    def _enter(self, version: _Version) -> None:
        if version.ordinal in self._turns:
            self._count(version.ordinal)
            return
        version.gone = [ordinal for ordinal in self._undos[version.ordinal] if ordinal in self._counting]
        for ordinal in version.gone:
            self._uncount(ordinal)

    def _leave(self, version: _Version) -> None:
        if version.ordinal in self._turns:
            self._uncount(version.ordinal)
        for ordinal in version.gone:
            self._count(ordinal)

    def _count(self, ordinal: int) -> None:
        self._counting.add(ordinal)
        self._ids[self._turns[ordinal]] += 1

    def _uncount(self, ordinal: int) -> None:
        self._counting.remove(ordinal)
        turn = self._turns[ordinal]
        self._ids[turn] -= 1
        if not self._ids[turn]:
            del self._ids[turn]


def _changing_before(version: _Version) -> _Version:
    assert version.before is not None  # noqa: S101 - only the first version has none, and all share it
    return version.before.changing


def _holds_undo(version: _Version, taken: range) -> bool:
    """Return whether an undo that counts in `version` is in the range."""
    undo = version.undo
    while undo is not None and undo.ordinal >= taken.stop:
        undo = undo.jump if undo.jump is not None and undo.jump.ordinal >= taken.stop else undo.older
    return undo is not None and undo.ordinal in taken
