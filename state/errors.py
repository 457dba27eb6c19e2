"""Errors that stop a partition.  All are HaltedError (emgas/errors.py): each names the operator's next step.

HaltedError
├── UnreadableEventError   the log holds a record that this version cannot read (unknown kind, newer schema, not JSON)
├── LogRewrittenError      the log is not the one that this state was folded from: shorter, recreated, other bytes
│   └── OtherHistoryError  and was when it was folded: it lost its end since (streams/recovery/partition_folds.py)
├── RetractedTooFarError   the log undoes an event that a correct worker never allows to be undone
├── KeysError              a key that an encrypted event needs is not there, or cannot be read or kept
├── KeyStoreError          no key can be read: the directory or the topic of the keys is missing
├── StoreCorruptError      RocksDB reports damage, or holds another number of keys than it should
├── DiskFullError          nothing more can be written, of any partition: the worker ends
├── GraphUnavailableError  one graph cannot be read, and no other is stopped by it (state/partition.py)
│   ├── GraphLockedError   and a KeysError: its key is missing or damaged
│   └── GraphDamagedError  and a StoreCorruptError: what is stored of it is damaged
└── WrongLayoutError       the store was written for another number of partitions, or by another version
    └── OldLayoutError     by an older one: what it holds is folded again from the log

StaleViewError             who looks at a graph kept a view of it beyond a change; stops no one else
TooMuchAskedError          a question wants more of a large graph than can be answered in time; stops no one else
"""

from __future__ import annotations

from emgas.errors import HaltedError


class UnreadableEventError(HaltedError):
    """A record in `events` cannot be read.  Operator action: run a version that knows it; never skip it."""


class LogRewrittenError(HaltedError):
    """The log differs from the one this state was folded from.

    Operator action: if the log is right, remove the partition's store and let it refold; else restore the log.
    """


class OtherHistoryError(LogRewrittenError):
    """The log lost what was folded.  Operator action: none; the store is set aside, its partition is folded again."""


class RetractedTooFarError(HaltedError):
    """An event was taken back that lies too far back for it.  Operator action: see who else writes to this log."""


class KeysError(HaltedError):
    """A key is missing, or cannot be kept.  Operator action: name the keys' place, or restore the keys."""


class KeyStoreError(HaltedError):
    """All keys are missing.  Unlike a KeysError, which sets one graph aside, this makes the partition wait for them.

    Operator action: mount the keys' directory, or name their place; see the message.
    """


class StoreCorruptError(HaltedError):
    """The store is damaged.  Operator action: remove the partition's store; it is folded again from the log."""


class DiskFullError(HaltedError):
    """The disk is full.  Operator action: make room, and start the worker again; nothing is lost."""


class GraphUnavailableError(HaltedError):
    """One graph cannot be read.  The text is for the operator; `client_message` is for the client.

    Operator action: see the message; `emgas doctor` names the graph.
    """

    what = "cannot be read"

    def __init__(self, graph: str, why: str) -> None:
        super().__init__(why)
        self.graph = graph

    @property
    def client_message(self) -> str:
        """The message for clients, without a path or a key's name."""
        return f"graph {self.graph!r} is unavailable: {self.what}"


class GraphLockedError(GraphUnavailableError, KeysError):
    """The key of one graph is missing or damaged.  Operator action: restore it, or erase the graph."""

    what = (
        "its key is missing or damaged. Nothing of it is lost: ask again once the operator has restored the key "
        "(`emgas doctor` says why)"
    )


class GraphDamagedError(GraphUnavailableError, StoreCorruptError):
    """The stored rows of one graph are damaged.  Operator action: check the disk; the log has the graph."""

    what = "what is stored of it is damaged. Nothing of it is lost, it is folded again from the log: ask again"


class WrongLayoutError(HaltedError):
    """The store belongs to another topic layout or a newer version.  Operator action: see the message."""


class OldLayoutError(WrongLayoutError):
    """An older version laid out the store's keys.  A worker sets it aside and folds again; others: see the message."""


class StaleViewError(RuntimeError):
    """A view of a graph was read after the graph had changed.  Caller: take another view, and begin again."""


class TooMuchAskedError(RuntimeError):
    """An answer would take too long in a graph of this size.  Caller: report the message to the client."""
