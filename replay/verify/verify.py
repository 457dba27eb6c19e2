"""Verify: is what a live worker holds exactly the fold of the log?  And did every accepted turn count once?"""

from __future__ import annotations

from dataclasses import dataclass, field

from replay.log import LogReader
from replay.rebuild.rebuild import refold
from replay.verify.counted_turns import CountedTurns
from state.events.events import Claim, GraphEvent, TurnDuplicated, TurnRejected, source_of
from state.log_position import Acceptance
from state.partition import Folded
from state.store.store import MemoryStore


@dataclass
class Audit:
    """An independent count of the records that were read while a partition was folded.

    turns       ids of accepted turns, (graph, id)      repeated   ids recorded while they counted: must stay empty
    sources     offsets of `turns` accounted for; -1: they start again, for the log was restored
    ignored     events of fenced writers, duplicates, gaps
    """

    repeated: list[tuple[str, str]] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    ignored: int = 0
    rejected: int = 0
    duplicates: int = 0
    _graphs: dict[str, CountedTurns] = field(default_factory=dict)

    def observe(self, folded: Folded) -> None:
        """Count one record."""
        event = folded.event
        if folded.acceptance is not Acceptance.ACCEPTED:
            self.ignored += 1
        elif isinstance(event, Claim) and event.anew:
            self.sources.append(-1)
        elif (source := source_of(event)) is not None:
            self.sources.append(source)
            self.rejected += isinstance(event, TurnRejected)
            self.duplicates += isinstance(event, TurnDuplicated)
        if folded.acceptance is Acceptance.ACCEPTED and isinstance(event, GraphEvent):
            repeated = self._graphs.setdefault(event.graph, CountedTurns()).observe(event)
            if repeated is not None:
                self.repeated.append((event.graph, repeated))

    @property
    def turns(self) -> set[tuple[str, str]]:
        """(graph, id) of the turns that count."""
        return {(name, turn) for name, counted in self._graphs.items() for turn in counted.ids}

    @property
    def each_once(self) -> bool:
        """Return whether no turn was recorded twice and the sources only ever moved on."""
        moves = zip(self.sources, self.sources[1:], strict=False)
        return not self.repeated and all(after > before or after == -1 for before, after in moves)


@dataclass(frozen=True)
class Verification:
    """One partition: the live digest beside the digest of an offline fold up to the same watermark, -1 for nothing."""

    partition: int
    watermark: int
    digest_live: str
    digest_replayed: str
    turns: int
    audit: Audit

    @property
    def compared(self) -> bool:
        """Return whether there was anything to compare: a live partition that has folded something."""
        return self.watermark >= 0

    @property
    def match(self) -> bool:
        """Return whether the state is the fold, and every turn counted once; True if there is nothing to compare."""
        return self.digest_live == self.digest_replayed and self.audit.each_once


async def verify_partition(log: LogReader, partition: int, watermark: int, digest_live: str) -> Verification:
    """Fold `partition` of `log` up to and including `watermark`, in memory, and compare."""
    audit = Audit()
    state = await refold(log, partition, watermark + 1, MemoryStore(), audit.observe)
    return Verification(partition, state.position.watermark, digest_live, state.digest(), len(audit.turns), audit)
