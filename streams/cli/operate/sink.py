"""`emgas admin sink URL`: copy concepts and links into a database or Kafka topics as they change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.shared import output

if TYPE_CHECKING:
    from replay.sinking import Sink
    from streams.settings import WorkerSettings

PAUSE_SECONDS = 1.0  # between polls of a log that does not grow


def sink(
    url: Annotated[
        str, typer.Argument(help="Target: sqlite://PATH, postgresql://USER@HOST/DATABASE or kafka://HOST:PORT/PREFIX.")
    ],
    *,
    once: Annotated[bool, typer.Option("--once", help="Stop at the end of the log instead of following it.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of events per transaction.")] = 500,
    json: output.Json = False,
) -> None:
    """Copy concepts, links and themes into a database or Kafka topics; safe to stop and restart."""
    written = output.run(_follow(url, output.settings(), once=once, batch=batch))
    if json:
        output.print_json({"rows": written})
    else:
        output.out.print(f"{written} rows written")


async def _follow(url: str, settings: WorkerSettings, *, once: bool, batch: int) -> int:
    """Copy up to the end of the log, then follow it; return the number of rows written."""
    from replay.sinking import PartitionSink  # here: --help needs none of it
    from streams.transport import select

    written = 0
    async with select.readable(settings) as readable:
        there = await _opened(url, settings, readable.partitions)
        try:
            log = readable.reader(settings.topics.events)
            parts = [PartitionSink(log, partition, there, batch) for partition in range(readable.partitions)]
            while True:
                for part in parts:
                    async for rows in part.catch_up():
                        written += rows
                if once:
                    return written
                await readable.keys.refresh()
                await asyncio.sleep(PAUSE_SECONDS)
        finally:
            await there.close()


async def _opened(url: str, settings: WorkerSettings, partitions: int) -> Sink:
    """Open the database, or the topics, at `url`."""
    if url.startswith("kafka://"):
        from streams.transport.kafka.topic_sink import TopicSink  # here: a database needs none of it

        return await TopicSink.opened(url, settings.prefix, partitions, settings.replication, **settings.security)
    from streams.plugins import sinks

    return await sinks.opened(url, settings.prefix)
