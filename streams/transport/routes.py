"""Methods of both transports' producers beside Faust's own: send many records at once, and report the current route."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol

from faust.types import TP

from emgas.wire import ProducerRecord

KeyValue = tuple[bytes | None, bytes]  # of a record to be appended


class Routes(Protocol):
    """A producer whose routes can be compared."""

    async def send_all(self, tp: TP, records: Sequence[KeyValue]) -> list[int]:
        """Append to one partition, in order; return the offsets once all are acknowledged."""

    async def send_together(self, tp: TP, records: Sequence[ProducerRecord]) -> Awaitable[object]:
        """Take records of one partition, in order; return what to await until all are acknowledged.

        They fit into one batch.  It waits for a topic that is not there, and for nothing else.
        """

    def route(self, tp: TP) -> object:
        """Return the route to `tp`: its leader and the connection to it; equal to an earlier one if both are the same.

        A log loses acknowledged records only with its leader (an unclean election, a crash of the machine before they
        were on its disk): a producer that appends before and after that uses two routes.
        """
