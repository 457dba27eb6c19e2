"""`emgas change erase GRAPH`: permanently erase a graph, a turn or a speaker by destroying keys, and prove it.

The proof covers what EMGAS can see: it tries to open every encrypted record of the graph before and afterwards, with
the existing keys.  The report also lists where plain text may remain, and for how long.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from emgas.errors import EmgasError, NoAnswerError
from emgas.messages.operator import Inspect
from emgas.messages.turns import Erase
from emgas.times import format_utc
from emgas.validation import build
from emgas.wire import partition_of
from streams.cli.memory.erase_by_copy import erase_by_copy, is_in_clear
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.requests import Outcome
    from state.sealing.keyring import Keyring
    from streams.settings import WorkerSettings

ELSEWHERE = "elsewhere"  # in the report: where no topic keeps plain text
Readability = Mapping[int, bool]  # offset of an encrypted record of the graph → whether a key opens it


def erase(
    graph: output.Graph,
    *,
    turn: Annotated[str | None, typer.Option(help="Erase only this turn id.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Erase only this speaker's turns.")] = None,
    yes: output.Yes = False,
    report: Annotated[
        Path | None, typer.Option(help="Write a proof of erasure (JSON) to a new file.", dir_okay=False)
    ] = None,
    timeout: output.Timeout = 60.0,
    json: output.Json = False,
) -> None:
    """Erase personal data permanently (GDPR), in the log, snapshots and backups, by destroying encryption keys.

    This cannot be undone.  If the graph is not encrypted, an embedded memory is replaced by an encrypted copy without
    the data; backups of the old one are yours to delete.  Exits with 3 for an unknown graph, with 1 if it is refused.
    """
    if turn is not None and speaker is not None:
        output.fail("give --turn or --speaker, not both", output.USAGE)
    if report is not None and report.exists():
        output.fail(f"{report} already exists: name a new file for the report", output.USAGE)
    subject = {"turn": turn, "speaker": speaker, "whole": turn is None and speaker is None}
    settings = output.settings()
    by_copy = output.run(is_in_clear(settings, graph)) if settings.is_embedded else False
    if by_copy is None:
        output.fail_unknown(graph)  # before a question that would be pointless
    output.make_sure(_question(graph, turn, speaker, by_copy=by_copy), yes=yes)
    result = erase_by_copy(settings, graph, subject) if by_copy else output.run(_erase(graph, subject, timeout))
    if result is None:
        output.fail_unknown(graph)
    if report is not None:
        _write(report, result)
    if json:
        output.print_json(result)
    else:
        _show(result)


def _question(graph: str, turn: str | None, speaker: str | None, *, by_copy: bool) -> str:
    """Write what a yes permits: what is erased, and what becomes of a memory that is not encrypted."""
    part = f"everything that {speaker} said in graph {graph}" if speaker is not None else f"graph {graph}"
    question = f"This permanently erases {part if turn is None else f'turn {turn} of graph {graph}'}"
    if not by_copy:
        return question
    return f"{question}. The graph is not encrypted, so an encrypted copy of the rest replaces the whole memory"


async def _erase(graph: str, subject: Mapping[str, Any], timeout: float) -> dict[str, Any] | None:
    from streams.cli.shared.live_state import graph_digests  # here: --help needs none of it
    from streams.worker.service import now_ms

    settings = output.settings()
    async with session(settings, timeout, begins=False) as connected:
        memory = connected.memory
        partition = partition_of(graph, await memory.partitions())
        digests = await graph_digests(memory, partition)
        if graph not in digests and not await _is_unavailable(memory, partition, graph):
            return None  # a graph that is erased as a whole is listed, and a repeated request learns that
        before = await _readability(settings, partition, graph, timeout)
        outcome = await _answered(memory, graph, subject)
        after, digests_after = (
            await _readability(settings, partition, graph, timeout),
            await graph_digests(memory, partition),
        )
    log = _log_report(before, after)
    if outcome.status == "rejected" and not log["destroyed_offsets"]:
        raise EmgasError(outcome.reason or "erasing was refused")
    return {
        "graph": graph,
        "subject": {name: value for name, value in subject.items() if value},
        "erased_at": format_utc(now_ms()),
        "partition": partition,
        "request": outcome.position.source,
        "erased_before": outcome.status == "duplicate",
        "log": log,
        "digests": _digest_report(graph, digests, digests_after),
        "in_clear": await _in_clear(settings),
        **({"remains": outcome.remains} if outcome.remains else {}),
    }


async def _answered(memory: MemoryClient, graph: str, subject: Mapping[str, Any]) -> Outcome:
    """Send the request, a second time if there is no answer: the first may have been done, and only its answer lost."""
    try:
        return await memory.send(build(Erase, {"graph": graph, **subject}))
    except NoAnswerError:
        return await memory.send(build(Erase, {"graph": graph, **subject}))


async def _is_unavailable(memory: MemoryClient, partition: int, graph: str) -> bool:
    """Return whether a graph exists but cannot be read: a graph whose key is lost may still be erased."""
    return graph in (await memory.send(Inspect(digest=False), partition=partition)).unavailable


async def _readability(settings: WorkerSettings, partition: int, graph: str, timeout: float) -> Readability:
    """Try to open every encrypted record of a graph, with the keys as they are kept now."""
    from replay.accepted_events import read_records  # here: --help needs none of it
    from streams.transport.select import readable

    async with readable(settings, timeout) as topics:
        log = topics.reader(settings.topics.events)
        _, end = await log.bounds(partition)
        records = read_records(log, partition, 0, end)
        mine = [(record.offset, record.value) async for record in records if record.key == graph.encode()]
        return {offset: opens for offset, value in mine if (opens := _opens(value, topics.keys)) is not None}


def _opens(value: bytes, keys: Keyring) -> bool | None:
    """Return whether a key opens a record; None for one that is not encrypted, or is unreadable anyway."""
    from state.errors import KeysError, UnreadableEventError  # here: --help needs none of it
    from state.events.events import Sealed, decode
    from state.sealing.keyring import opened

    try:
        event = decode(value)
        return not isinstance(opened(event, keys), Sealed) if isinstance(event, Sealed) else None
    except KeysError:
        return False
    except UnreadableEventError:
        return None


def _log_report(before: Readability, after: Readability) -> dict[str, Any]:
    destroyed = sorted(offset for offset, opens in before.items() if opens and not after.get(offset, True))
    return {
        "records": len(after),
        "opened_before": sum(before.values()),
        "opens_now": sum(after.values()),
        "destroyed_offsets": destroyed,
    }


def _digest_report(graph: str, before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    others = sorted(before.keys() - {graph})
    changed = [name for name in others if before[name] != after.get(name)]
    return {"before": before.get(graph), "after": after.get(graph), "others": len(others), "others_changed": changed}


async def _in_clear(settings: WorkerSettings) -> dict[str, str]:
    """Return where plain text may remain, and for how long."""
    from streams.transport import select  # here: --help needs none of it

    if settings.is_embedded:
        return {ELSEWHERE: "exports of the graph as GraphML or JSON, and copies that your programs keep"}
    configs = {topic.name: topic.config for topic in await select.describe(settings)}
    result = {name: config.get("retention.ms", "?") for name, config in configs.items()}
    names = settings.topics
    kept = {name: f"retention.ms={result[name]}" for name in (names.turns, names.queries, names.replies)}
    kept[names.dead_letters] = f"retention.ms={result[names.dead_letters]}, if it came before the graph was born"
    if names.keys in result:
        kept[names.keys] = f"replaced keys, encrypted by EMGAS_KEK_FILE, {_compacted(configs[names.keys], settings)}"
    return kept


def _compacted(config: Mapping[str, str], settings: WorkerSettings) -> str:
    from streams.transport.topic_plan import replaced_within_ms  # here: --help needs none of it
    from streams.worker.service import now_ms

    within = replaced_within_ms(config, round(settings.tick_seconds * 1000))
    if within is None:
        return "permanently, because the topic is not compacted: see `emgas doctor`"
    return f"until {format_utc(now_ms() + within)} at the latest, if a worker runs and the broker's cleaner keeps up"


def _place(where: str) -> str:
    """Write a key of the report's `in_clear`, a topic or "elsewhere", for people."""
    return where if where == ELSEWHERE else f"in topic {where}"


def _write(path: Path, result: Mapping[str, Any]) -> None:
    try:
        with path.open("xb") as file:
            file.write(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        output.fail(f"the data is erased, but the report cannot be written to {path}: {error.strerror}")


def _show(result: Mapping[str, Any]) -> None:
    if copied := result.get("copied"):
        output.out.print(
            f"Erased. Graph {result['graph']} was not encrypted, so an encrypted copy of the rest "
            f"({output.counted(copied['turns'], 'turn')}) replaced the memory. Delete your backups of the old memory.",
            markup=False,
        )
        return
    log, digests = result["log"], result["digests"]
    others = f"{output.counted(digests['others'], 'other graph')} in its partition"
    readable = f"{log['opened_before']} could be read before, {log['opens_now']} can be read now"
    lines = [
        "Already erased: no key was left to destroy." if result["erased_before"] else "Erased.",
        f"{output.counted(log['records'], 'record')} of graph {result['graph']} in the log: {readable}.",
        f"{others}: {len(digests['others_changed'])} changed.",
        *(f"Plain text may remain {_place(where)}: {until}." for where, until in result["in_clear"].items()),
    ]
    lines += [f"But {result['remains']}."] if "remains" in result else []
    for line in lines:
        output.out.print(line, markup=False)
