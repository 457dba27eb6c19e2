"""Errors that stop a replay, a backup or a snapshot.  Each names the operator's next step.

EmgasError                        (emgas/errors.py)
├── NoBackupError                 the file is no backup, or not one of this log
├── BackupDamagedError            a line of a backup is not as it was written, or lines are missing
├── NotRestorableError            a backup cannot become the log that it was to be restored into
├── TransportError
│   └── SnapshotsUnreachableError the place where snapshots are kept cannot be reached
│       └── NoSuchPlaceError      what is named is no directory, and no URL that works here
└── HaltedError
    ├── NotThisRebuildError       the directory holds something else than the rebuild that is asked for
    └── SnapshotRefusedError      a snapshot is not what its manifest says, or not of this log

What is wrong with a log or a store itself is reported as during the fold: state/errors.py.
"""

from __future__ import annotations

from emgas.errors import EmgasError, HaltedError, TransportError


class NoBackupError(EmgasError):
    """The file is no backup, or not one of this log.  Operator action: name another file."""


class BackupDamagedError(EmgasError):
    """A line is not as it was written, or lines are missing.  Operator action: use another copy."""


class NotRestorableError(EmgasError):
    """A backup cannot become this log.  Operator action: an empty log with as many partitions, or `--turns`."""


class SnapshotsUnreachableError(TransportError):
    """The place of the snapshots cannot be reached.  Operator action: check EMGAS_SNAPSHOTS and its place."""


class NoSuchPlaceError(SnapshotsUnreachableError):
    """A name is no directory and no URL that works here.  Operator action: correct it or install its package."""


class NotThisRebuildError(HaltedError):
    """A directory holds something else than the rebuild that is asked for.  Operator action: give a new directory."""


class SnapshotRefusedError(HaltedError):
    """A snapshot is not what its manifest says, or not of this log.  Operator action: remove it."""
