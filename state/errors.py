"""Why a partition stops.  All are HaltedError (emgas/errors.py): each names the operator's next step.

HaltedError
├── UnreadableEventError   the log holds a record that this version cannot read (unknown kind, newer schema, not JSON)
├── LogRewrittenError      the log is not the one that this state was folded from: shorter, recreated, other bytes
├── RetractedTooFarError   the log takes back an event that no honest worker lets anybody take back
├── KeysError              a key that an encrypted event needs is not there, or keys cannot be read or kept
├── StoreCorruptError      RocksDB reports damage, or holds another number of keys than it should
└── WrongLayoutError       the store was written for another number of partitions, or by another version
    └── OldLayoutError     by an older one: what it holds is folded anew from the log

StaleViewError             who looks at a graph kept a view of it beyond a change; stops nobody else
TooMuchAskedError          a question wants more of a large graph than can be answered in time; stops nobody else
"""

from __future__ import annotations

from emgas.errors import HaltedError


class UnreadableEventError(HaltedError):
    """A record in `events` cannot be read.  Operator action: run a version that knows it; never skip it."""


class LogRewrittenError(HaltedError):
    """The log differs from the one this state was folded from.

    Operator action: if the log is right, remove the partition's store and let it refold; else restore the log.
    """


class RetractedTooFarError(HaltedError):
    """An event was taken back that lies too far back for it.  Operator action: see who else writes to this log."""


class KeysError(HaltedError):
    """A key is missing, or cannot be kept.  Operator action: name the keys' place, or restore the keys."""


class StoreCorruptError(HaltedError):
    """The store is damaged.  Operator action: remove the partition's store; it is folded again from the log."""


class WrongLayoutError(HaltedError):
    """The store belongs to another topic layout or a newer version.  Operator action: see the message."""


class OldLayoutError(WrongLayoutError):
    """An older version laid out the store's keys.  A worker sets it aside and folds anew; others: see the message."""


class StaleViewError(RuntimeError):
    """A view of a graph was read after the graph had changed.  Caller: take another view, and begin again."""


class TooMuchAskedError(RuntimeError):
    """An answer would take too long in a graph of this size.  Caller: tell who asked; the message says what to ask."""
