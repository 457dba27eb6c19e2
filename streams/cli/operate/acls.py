"""The minimal Kafka ACLs of each account; `emgas admin topics acls` prints them as commands for kafka-acls.

    account    reads                                  writes
    worker     turns, queries, events, changes        events, changes, replies, dead-letters; is in the groups.
                                                      A reader writes reinforcements to turns
    client     replies                                turns, queries, dead-letters
    operator   all of them                            nothing: verify, export, dead-letters, doctor

If keys of encrypted graphs are in a topic, worker and operator read it, and the worker writes to it.

Read and Write imply Describe.  No account may create, change or delete topics: run `emgas admin topics create` as an
administrator.  Any client account may write to every graph, because Kafka's rights are by topic, not by key.
`emgas import` writes to `events`: run it as the worker.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from emgas.wire import TopicNames
from streams.settings import WorkerSettings


@dataclass(frozen=True)
class AclGrant:
    """The rights of one account on some topics, and on the consumer group."""

    account: str
    operations: tuple[str, ...]
    topics: tuple[str, ...]
    group: str | None = None

    def command(self) -> str:
        """Write it as a call of Kafka's own tool, without the address."""
        words = ["--add", "--allow-principal", f"User:{self.account}"]
        words += [word for operation in self.operations for word in ("--operation", operation)]
        words += [word for topic in self.topics for word in ("--topic", topic)]
        words += ["--group", self.group] if self.group else []
        return shlex.join(words)


def grants(settings: WorkerSettings, *, worker: str, client: str, operator: str) -> list[AclGrant]:
    """List what the three accounts need for the topics of these settings."""
    names: TopicNames = settings.topics
    replies = (names.replies, *settings.reply_topics)
    keys = (names.keys,) if settings.keys_in_topic else ()
    everything = (names.turns, names.queries, names.events, *replies, names.changes, names.dead_letters, *keys)
    return [
        AclGrant(worker, ("Read",), (names.turns, names.queries, names.events, names.changes, *keys)),
        AclGrant(worker, ("Write",), (names.turns, names.events, names.changes, *replies, names.dead_letters, *keys)),
        AclGrant(worker, ("DescribeConfigs",), (names.events,)),
        AclGrant(worker, ("Read",), (), group=settings.prefix),
        AclGrant(worker, ("Read",), (), group=settings.readers_group),
        AclGrant(client, ("Write",), (names.turns, names.queries, names.dead_letters)),
        AclGrant(client, ("Read",), (names.replies,)),
        AclGrant(operator, ("Read", "DescribeConfigs"), everything),
    ]
