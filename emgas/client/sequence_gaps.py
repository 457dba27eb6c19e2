"""A producer that goes on behind a batch that failed: it begins anew, under another identity.

An idempotent producer numbers what it sends to each partition, and the broker takes only what has the next number.
aiokafka 0.14 gives a batch its numbers before it is sent, and leaves a gap where the batch then fails: the broker
refuses a record (too large, no right), or the partition had no leader for as long as the batch may wait, as while a
single broker restarts.  Every later record of that partition would be refused with OutOfOrderSequenceNumber for as long
as the producer lives (aiokafka#1017).  Java's producer asks for another id then, and numbers from 0 (KIP-360).

So, for every record:  delivery = mending(producer, await producer.send(…)); await asyncio.shield(delivery)

Shielded, because a caller that gives up cancels the delivery, and its failure would be seen by nobody.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

Delivery = asyncio.Future[Any]


def mending(producer: Any, delivery: Delivery) -> Delivery:
    """Have `producer` (aiokafka's, idempotent) begin anew if `delivery`, of a record that it was given, fails."""
    delivery.add_done_callback(partial(_mend, producer))
    return delivery


def _mend(producer: Any, delivery: Delivery) -> None:
    if not delivery.cancelled() and delivery.exception() is not None:
        _begin_anew(producer._txn_manager)  # noqa: SLF001 - nothing public does it


def _begin_anew(identity: Any) -> None:
    """Forget id and numbers: the sender asks for an id before it takes the next batch.

    A batch that is under way keeps its old id and number, and comes before what is sent next to its partition.
    """
    if identity.has_pid():
        identity._sequence_numbers.clear()  # noqa: SLF001 - as above
        identity._pid_and_epoch = identity._pid_and_epoch._replace(pid=-1)  # noqa: SLF001 - as above
        identity._pid_waiter = asyncio.get_running_loop().create_future()  # noqa: SLF001 - as above
