"""`emgas admin topics create|describe|acls|repartition`: create, show and leave the Kafka topics; ACLs of accounts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.exchange.repartition import repartition
from streams.cli.shared import output

if TYPE_CHECKING:
    from emgas.wire import TopicNames
    from streams.settings import WorkerSettings
    from streams.transport.topic_plan import TopicDescription


app = typer.Typer(no_args_is_help=True, help="Create and show the Kafka topics, and print their ACLs.")
app.command()(repartition)


@app.command()
def create(
    *,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Partitions of the keyed topics; cannot be changed later.")
    ] = None,
    replication: Annotated[int | None, typer.Option(min=1, help="Replication factor.")] = None,
    readers_per_partition: Annotated[
        int | None, typer.Option(min=1, max=64, help="Readers that may answer per partition; can be raised later.")
    ] = None,
    tiered: Annotated[
        bool, typer.Option("--tiered", help="Let Kafka move old segments of the log into remote storage (KIP-405).")
    ] = False,
    without: Annotated[
        list[str] | None, typer.Option(help="Topic setting to leave out because the brokers refuse it; repeatable.")
    ] = None,
    json: output.Json = False,
) -> None:
    """Create missing Kafka topics; existing topics are left as they are.

    A different partition count is refused; only the topic of queries grows, to let more readers answer.
    """
    from streams.transport import select  # here: --help needs none of it

    overrides = {
        "partitions": partitions,
        "replication": replication,
        "readers_per_partition": readers_per_partition,
        "tiered": tiered,
    }
    settings = output.settings().model_copy(update={name: value for name, value in overrides.items() if value})
    if unknown := set(without or ()) - select.topic_settings(settings):
        report = ", ".join(sorted(select.topic_settings(settings)))
        output.fail(f"no topic has the setting {', '.join(sorted(unknown))}: --without takes {report}", output.USAGE)
    output.run(select.create(settings, without=without or ()))
    _print(output.run(select.describe(settings)), json=json)


@app.command()
def describe(json: output.Json = False) -> None:
    """Show the Kafka topics: partitions, replicas, settings, number of records."""
    from streams.transport import select  # here: --help needs none of it

    _print(output.run(select.describe(output.settings())), json=json)


@app.command()
def acls(
    worker: Annotated[str, typer.Option(help="Kafka account of the workers.")] = "emgas-worker",
    client: Annotated[str, typer.Option(help="Kafka account of the clients.")] = "emgas-client",
    operator: Annotated[str, typer.Option(help="Kafka account of operators, who only read.")] = "emgas-operator",
) -> None:
    """Print the Kafka ACL commands that give each account the rights it needs; changes nothing."""
    settings = output.settings()
    address = settings.bootstrap or "$BOOTSTRAP"
    for grant in grants(settings, worker=worker, client=client, operator=operator):
        typer.echo(f"kafka-acls.sh --bootstrap-server {address} --command-config admin.properties {grant.command()}")


def _print(topics: list[TopicDescription], *, json: bool) -> None:
    if json:
        output.print_json({"topics": [_described(topic) for topic in topics]})
        return
    rows = output.table("topics", "topic", "partitions#", "copies#", "records#", "settings")
    for topic in topics:
        report = ", ".join(f"{name}={value}" for name, value in sorted(topic.config.items()))
        rows.add_row(topic.name, str(topic.partitions), str(topic.replication), str(_records(topic)), report)
    output.out.print(rows)


def _records(topic: TopicDescription) -> int:
    return sum(end - start for start, end in topic.bounds)


def _described(topic: TopicDescription) -> dict[str, object]:
    return {
        "name": topic.name,
        "id": topic.topic_id,
        "partitions": topic.partitions,
        "replication": topic.replication,
        "records": _records(topic),
        "config": topic.config,
    }


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
