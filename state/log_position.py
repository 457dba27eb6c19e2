"""The position of a partition's fold in the log, and the event that it accepts next (claim + chain).

    watermark   offset in `events` of the last record folded           -1 for none
    last        start of the hash of that record: tells a store of another log, but for rare late retries
    epoch       offset of the latest Claim: the only writer that counts -1 for none
    claim       start of the hash of that Claim: another may have lain there before a broker lost it
    seq         number of data events accepted so far
    source      offset in `turns` that the last accepted event with a source accounts for, -1 for none
    chain       rolling sha256 over the bytes of every claim and accepted event
    partitions  partition count that the topic had when it was claimed
    graphs, turns   how many there are, each turn id once
    source_topic    id of the topic `turns` in which `source` is an offset; "" where no claim named it

Rules (`acceptance_of`), in the order in which they are tried; every record moves the watermark, whatever became of it:

    Claim                             accepted: its offset becomes the epoch; `anew`, or for another topic `turns`
                                      than the claim before: no source is accounted for
    names another claim               fenced: written by a worker that no longer owns the partition
    seq is not the next one           gap: a duplicate, a reordered retry, or something before it was not written
    source not beyond the last one    gap
    chain is not ours                 LogRewrittenError: same claim and seq, but the log before it is another one
    else                              accepted

Why `seq` and not only the source offset: recalls and windows are events without a source, and share the one chain.
Simulated over thousands of seeded runs with zombies, lost acks and lost tails: no loss, no doubling, no reorder.

Why a restored log needs a Claim that starts the sources again: its events name offsets of a topic `turns` that is not
there.  In the new one they mean nothing: turns below `source` would never be read.  From -1 on everything in it is
read, and nothing counts twice: a turn that the log already holds is known by its id
(streams/ingest/turns.py).

`accept_all` takes many records at once, decoded only as far as the rules need (Outline), and sorts them by graph: a
graph is the fold of its own events, so the order of events of different graphs does not matter to it, and a graph whose
events come one after another finds its tables in the processor's cache.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from copy import copy
from enum import Enum
from typing import NamedTuple, TypedDict, TypeVar, cast

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from state.errors import LogRewrittenError, WrongLayoutError
from state.events.events import AnyEvent, Claim, DataEvent, GraphEvent, Stamp, decode, source_of, written
from state.events.registry import SPECS
from state.events.upcasting import UNCHANGED_FROM, VERSION

Runs = dict[str, list[bytes]]  # graph id → the record values of its events, in order
DataT = TypeVar("DataT", bound=DataEvent)
UNKNOWN_CHAIN = b""  # of a position that was taken up in the middle of a log


class Acceptance(Enum):
    """The fold's decision on one record of the log."""

    ACCEPTED = "accepted"
    FENCED = "fenced"
    GAP = "gap"


class Outline(Struct, frozen=True, gc=False):
    """The fields of a graph event that the rules need, as in state/events/events.py; their bounds are not checked."""

    kind: str
    epoch: int
    claim: str
    seq: int
    chain: str
    graph: str
    v: int = VERSION
    src: int | None = None


_READER = msgspec.json.Decoder(Outline)
_GRAPH_KINDS = {kind.__name__ for kind in SPECS}


def fingerprint(value: bytes) -> str:
    """Hash what tells one record of the log from another: the first 4 bytes of its sha256, hex."""
    return hashlib.sha256(value).digest()[:4].hex()


class _Source(TypedDict):
    source: int
    source_topic: str


class LogPosition(Struct, frozen=True, gc=False):
    """See the module's docstring."""

    watermark: int = -1
    last: str = ""
    epoch: int = -1
    claim: str = ""
    seq: int = 0
    source: int = -1
    chain: bytes = bytes(32)
    partitions: int = 0
    graphs: int = 0
    turns: int = 0
    source_topic: str = ""

    @classmethod
    def behind(cls, offset: int, event: DataEvent) -> LogPosition:
        """Take up reading right behind `event` at `offset`, which is known to be accepted.

        The chain and the sources, which need the log before it, are not checked from there on.
        """
        return cls(watermark=offset, epoch=event.epoch, claim=event.claim, seq=event.seq, chain=UNKNOWN_CHAIN)

    @property
    def link(self) -> Stamp:
        """Return what the next event must carry to be accepted."""
        return {"epoch": self.epoch, "claim": self.claim, "seq": self.seq + 1, "chain": self._link_to_chain}

    @property
    def _link_to_chain(self) -> str:
        return self.chain[:8].hex()

    def after(
        self, offset: int, event: AnyEvent | Outline, value: bytes, *, is_last: bool = True
    ) -> tuple[LogPosition, Acceptance]:
        """Move on over the record `value` = `event` at `offset`; return the new position and the decision.

        is_last  else another record follows at once, and of a data event `last` is not worth its hash

        Raises LogRewrittenError, WrongLayoutError.
        """
        if offset <= self.watermark:
            raise LogRewrittenError(
                f"offset {offset} was folded before (watermark {self.watermark}): a reader went back"
            )
        last = fingerprint(value) if is_last or isinstance(event, Claim) else ""
        if isinstance(event, Claim):
            return replace(self, watermark=offset, last=last)._claimed(event, value), Acceptance.ACCEPTED  # noqa: SLF001 - of its own
        acceptance = self.acceptance_of(offset, event)
        if acceptance is not Acceptance.ACCEPTED:
            return replace(self, watermark=offset, last=last), acceptance
        source = source_of(event)
        source = self.source if source is None else source
        fields = offset, last, self.epoch, self.claim, event.seq, source, self._chained(value)
        kept = self.partitions, self.graphs, self.turns, self.source_topic
        return LogPosition(*fields, *kept), Acceptance.ACCEPTED

    def _claimed(self, claim: Claim, value: bytes) -> LogPosition:
        if self.partitions not in (0, claim.partitions):
            raise WrongLayoutError(
                f"the topic had {self.partitions} partitions and now has {claim.partitions}. Graphs would "
                "change owners: create topics under a new prefix with the new count and replay the log into them."
            )
        at_claim = replace(self, epoch=self.watermark, claim=self.last, chain=self._chained(value))
        return replace(at_claim, partitions=claim.partitions, **self._claimed_source(claim))

    def _claimed_source(self, claim: Claim) -> _Source:
        before, named = self.source_topic, claim.source_topic
        is_anew = claim.anew or bool(before and named and before != named)
        return {"source": -1 if is_anew else self.source, "source_topic": named or ("" if is_anew else before)}

    def acceptance_of(self, offset: int, event: DataEvent | Outline) -> Acceptance:
        """Decide what becomes of a data event at `offset`.  Raises LogRewrittenError."""
        if event.epoch != self.epoch or event.claim != self.claim:
            return Acceptance.FENCED
        source = source_of(event)
        if event.seq != self.seq + 1 or (source is not None and source <= self.source):
            return Acceptance.GAP
        if self.chain and event.chain != self._link_to_chain:
            raise LogRewrittenError(
                f"the event at offset {offset} follows another history than the one folded here. If the log is right, "
                "remove this partition's store and start again: it is rebuilt. If not, restore the log."
            )
        return Acceptance.ACCEPTED

    def _chained(self, value: bytes) -> bytes:
        return hashlib.sha256(self.chain + value).digest() if self.chain else UNKNOWN_CHAIN

    def to_bytes(self) -> bytes:
        """Pack the position into JSON."""
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        if not self.source_topic:  # as it was written, and is hashed, since before it was known
            del fields["source_topic"]
        return orjson.dumps({**fields, "chain": self.chain.hex()})

    @classmethod
    def of_bytes(cls, value: bytes) -> LogPosition:
        """Unpack the position that `to_bytes` packed.  Raises WrongLayoutError for one with other fields."""
        fields = orjson.loads(value)
        if {*fields, "source_topic"} != set(cls.__struct_fields__):
            raise WrongLayoutError(
                "the store was written by another version of EMGAS: run that one, or remove this partition's store "
                "and start again: it is rebuilt from the log."
            )
        return cls(**{**fields, "chain": bytes.fromhex(fields["chain"])})


def stamp(event: DataT, position: LogPosition) -> DataT:
    """Link `event` into the log right behind `position`, as the only one that a fold there accepts next."""
    stamped = copy(event)  # `replace` would check again what no stamp changes
    for name, value in position.link.items():
        force_setattr(stamped, name, value)
    return stamped


ANYWHERE = LogPosition(epoch=0)  # an event is as long and as readable wherever it lies


class Draft(NamedTuple):
    """An event that is to be stamped later: its record value, and itself as that is read back."""

    value: bytes
    event: DataEvent


def draft(event: DataEvent) -> Draft:
    """Write an event that is to be stamped later.  Raises ValueError as `encode`."""
    value, read = written(stamp(event, ANYWHERE))
    return Draft(value, cast(DataEvent, read))


def placed(drafted: Draft, event: DataEvent) -> bytes:
    """Return the record value of a stamped draft: as `encode`, but nothing is written or checked twice.

    The stamp stands at the beginning of every record, behind the version (state/events/base.py).
    """
    return _beginning(event.epoch, event.claim, event.seq, event.chain) + drafted.value[len(_DRAFTED) :]


def _beginning(epoch: int, claim: str, seq: int, chain: str) -> bytes:
    return orjson.dumps({"v": VERSION, "epoch": epoch, "claim": claim, "seq": seq, "chain": chain})[:-1]


_DRAFTED = _beginning(**ANYWHERE.link)


def accept_all(
    position: LogPosition, records: Iterable[tuple[int, bytes]]
) -> tuple[LogPosition, Runs, list[Claim | DataEvent]]:
    """Move on over many records (offset, value); sort what graphs have to fold by graph, nothing of it checked.

    The other events that count come last, in their order.  The values wait undecoded: as events they would be several
    times as large.
    Raises as `LogPosition.after`, and UnreadableEventError for every record that is no graph event of this version.
    """
    runs: Runs = {}
    others: list[Claim | DataEvent] = []
    value = None
    for offset, value in records:
        event = _outline(value) or decode(value)
        position, acceptance = position.after(offset, event, value, is_last=False)
        if acceptance is not Acceptance.ACCEPTED:
            decode(value)  # what does not count must be readable as well: a newer version may know better
        elif isinstance(event, (Outline, GraphEvent)):
            runs.setdefault(event.graph, []).append(value)
        else:
            others.append(event)
    return (position if value is None else replace(position, last=fingerprint(value))), runs, others


def _outline(value: bytes) -> Outline | None:
    """Decode the outline of a graph event that needs no upcasting, None for anything else."""
    try:
        outline = _READER.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError):
        return None
    return outline if outline.kind in _GRAPH_KINDS and UNCHANGED_FROM <= outline.v <= VERSION else None
