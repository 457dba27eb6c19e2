"""Pass records that were fetched together to Faust as one message: a message costs more than all other work on a turn.

For every message Faust makes tasks that wait for it, or for the end of the flow, and lets the event loop go round; of a
run it does so once.  A run is acknowledged as a whole, by its last record: Faust takes what lies before it for a gap
that was skipped, and commits behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from faust.types import Message
from faust.types.tuples import ConsumerMessage

from emgas.wire import Record


class Run(ConsumerMessage):
    """Stands for `records`, one or more of one partition, in order; else it is what the last of them would be."""

    __slots__ = ("records",)
    records: Sequence[Record]

    @classmethod
    def of(cls, records: Sequence[Record], last: Message) -> Run:
        """Make a run of records; `last`: the message that the last of them would be."""
        run = cls.from_message(last, last.tp)
        assert isinstance(run, Run)  # noqa: S101 - what `from_message` of this class makes
        run.generation_id = last.generation_id
        run.records = records
        return run


def run_in(message: Any) -> Sequence[Record] | None:
    """Return the records of a message that is a run; None for a message that is one record."""
    return getattr(message, "records", None)
