"""Why a partition stops.  All are Halted (emgas/errors.py): each names the operator's next step.

Halted
├── UnreadableEvent   the log holds a record that this version cannot read (unknown kind, newer schema, not JSON)
├── LogRewritten      the log is not the one that this state was folded from: shorter, recreated, other bytes
├── RetractedTooFar   the log takes back an event that no honest worker lets anybody take back
├── StoreCorrupt      RocksDB reports damage, or holds another number of keys than it should
└── WrongLayout       the store was written for another number of partitions, or by a newer version
"""

from __future__ import annotations

from emgas.errors import Halted


class UnreadableEvent(Halted):
    """A record in `events` cannot be read.  Operator action: run a version that knows it; never skip it."""


class LogRewritten(Halted):
    """The log differs from the one this state was folded from.

    Operator action: if the log is right, remove the partition's store and let it refold; else restore the log.
    """


class RetractedTooFar(Halted):
    """An event was taken back that lies too far back for it.  Operator action: see who else writes to this log."""


class StoreCorrupt(Halted):
    """The store is damaged.  Operator action: remove the partition's store; it is folded again from the log."""


class WrongLayout(Halted):
    """The store belongs to another topic layout or a newer version.  Operator action: see the message."""
