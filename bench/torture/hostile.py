"""Append a record that no decent producer would: a header whose name is not UTF-8.

    python -m bench.torture.hostile BROKERS TOPIC PARTITION KEY VALUE

In a process of its own: aiokafka has to be persuaded.
"""

from __future__ import annotations

import asyncio
import sys

from aiokafka import AIOKafkaProducer
from aiokafka.producer import message_accumulator, producer
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy as PythonBuilder


class _AnyName(str):
    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        return b"\xff\xfename"


async def _append(brokers: str, topic: str, partition: str, key: str, value: str) -> None:
    for module in (message_accumulator, producer):
        module.DefaultRecordBatchBuilder = PythonBuilder  # which asks the name for its bytes
    async with AIOKafkaProducer(bootstrap_servers=brokers) as foreign:
        await foreign.send_and_wait(
            topic, value.encode(), key.encode(), int(partition), headers=[(_AnyName("?"), b"1")]
        )


if __name__ == "__main__":
    asyncio.run(_append(*sys.argv[1:]))
