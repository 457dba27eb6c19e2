"""Remove a graph's unencrypted records beside its events from the embedded log: a broker lets such records expire.

    turns          that are accounted for in the log          queries   that were fetched
    dead-letters   of that graph's key                        replies   that were read, and name the graph

A record stays, at its offset, without its value.  SQLite overwrites what is removed (secure_delete), and the file of
its write-ahead log is emptied.
"""

from __future__ import annotations

import orjson

from emgas.logs import logger
from emgas.wire import TopicNames, partition_of
from streams.transport.embedded.log import EmbeddedLog

log = logger("transport")
REPLY_PARTITION = 0


async def scrub(embedded: EmbeddedLog, topics: TopicNames, graph_id: str, source: int) -> None:
    """Empty the records of a graph; `source`: the last of `turns` that the log accounts for.  Raises TransportError."""
    partition, key = partition_of(graph_id, embedded.partitions(topics.turns)), graph_id.encode()
    consumed = embedded.consumed
    embedded.empty(topics.turns, partition, source + 1, key=key)
    embedded.empty(topics.queries, partition, consumed.get((topics.queries, partition), 0), key=key)
    for each in range(embedded.partitions(topics.dead_letters)):
        embedded.empty(topics.dead_letters, each, embedded.bounds(topics.dead_letters, each)[1], key=key)
    read = consumed.get((topics.replies, REPLY_PARTITION), 0)
    embedded.empty(topics.replies, REPLY_PARTITION, read, naming=b'"graph":' + orjson.dumps(graph_id))
    if not embedded.empty_journal():
        log.warning("another process reads the log: its journal is overwritten once that is done", graph=graph_id)
