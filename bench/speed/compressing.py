"""Measure the bytes of a turn in `events`, compressed and not.  EMGAS_BROKER names a broker of this machine.

    python -m bench.speed.compressing --logs .cache/kafka/clusters/default/node-1/data [--json]

    batch      events that one batch holds: a worker that gets 300 turns a second writes larger ones than at 1
    plain, zstd            bytes of a turn in the broker's segments, one copy
    plain_ms, zstd_ms      CPU time of this process for each turn, which encodes nothing but the batch

The turns are those of `emgas demo`, English and Chinese, with the concepts that a worker finds in them: one graph's
events in the order in which they came.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from bench.speed.measuring import recorded
from emgas.messages.turns import Turn
from emgas.validation import parse
from emgas.wire import COMPRESSION
from processors.extraction.yake_extractor import YakeExtractor
from state.events.events import encode
from state.log_position import LogPosition, stamp
from streams.settings import WorkerSettings
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.topic_plan import FOR_EVER, RECORD_BYTES, TopicPlan

BATCHES: Final = (1, 8, 64, 300)
CONVERSATION: Final = Path("streams/cli/memory/demo_data/conversation.jsonl")


def events() -> list[tuple[bytes, bytes]]:
    """Return key and value of the event of each turn of the demo, linked as a worker links them."""
    extractor, position, records = YakeExtractor("en"), LogPosition(epoch=0), list[tuple[bytes, bytes]]()
    for line in CONVERSATION.read_bytes().splitlines():
        event = stamp(recorded(parse(Turn, line), extractor), position)
        value = encode(event)
        position, _ = position.after(position.watermark + 1, event, value)
        records.append((event.graph.encode(), value))
    return records


async def written(
    settings: WorkerSettings, logs: Path, records: Sequence[tuple[bytes, bytes]], batch: int, codec: str | None
) -> tuple[float, float]:
    """Write records in batches of so many; return bytes and CPU milliseconds of each."""
    topic, admin = f"bench-{uuid4().hex}", KafkaTopics(settings.bootstrap)
    # as it comes: by the plan, the broker would compress what is not
    await admin.create([TopicPlan(topic, 1, FOR_EVER, RECORD_BYTES)], without=("compression.type",))
    producer = AIOKafkaProducer(
        bootstrap_servers=settings.bootstrap, acks="all", compression_type=codec, max_batch_size=RECORD_BYTES
    )
    await producer.start()
    try:
        spent = 0.0
        for at in range(0, len(records), batch):
            began = time.process_time()
            builder = producer.create_batch()
            for key, value in records[at : at + batch]:
                builder.append(key=key, value=value, timestamp=None)
            sent = await producer.send_batch(builder, topic, partition=0)
            spent += time.process_time() - began
            await sent
    finally:
        await producer.stop()
    size = sum(file.stat().st_size for file in logs.glob(f"{topic}-0/*.log"))
    await admin.delete(topic)
    return size / len(records), 1000 * spent / len(records)


async def compared(logs: Path) -> list[dict[str, Any]]:
    """Compare each size of batch, compressed and not."""
    settings, records, rows = WorkerSettings(), events(), list[dict[str, Any]]()
    for batch in BATCHES:
        plain, plain_ms = await written(settings, logs, records, batch, None)
        packed, packed_ms = await written(settings, logs, records, batch, COMPRESSION)
        rows.append(
            {
                "batch": batch,
                "turns": len(records),
                "plain": round(plain),
                "zstd": round(packed),
                "factor": round(plain / packed, 2),
                "plain_ms": round(plain_ms, 3),
                "zstd_ms": round(packed_ms, 3),
            }
        )
    return rows


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, required=True, help="the broker's directory of data")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = asyncio.run(compared(arguments.logs))
    if arguments.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
