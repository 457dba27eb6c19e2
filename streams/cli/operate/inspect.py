"""`emgas look inspect`: show how one graph is stored, read from its tables in RocksDB while workers keep writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.messages.queries import Describe
from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.client import ask

if TYPE_CHECKING:
    from state.lsm.inspection import StoredGraph
    from streams.settings import WorkerSettings


def inspect(
    graph: output.Graph,
    *,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Count how often two concepts occur together; each by id or as written."),
    ] = None,
    measures: Annotated[
        bool, typer.Option("--measures", help="Show size and connectivity measures of the graph.")
    ] = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show how a graph is stored, the co-occurrences of two concepts, or measures of the graph.

    Exits with 3 for an unknown graph or concept.
    """
    if measures:
        if pair:
            output.fail("give --measures or --pair, not both", output.USAGE)
        described = ask(Describe, {"graph": graph, "measures": True}, timeout)
        if not described.found:
            output.fail_unknown(graph)
        _show_measures(graph, described.measures, json=json)
        return
    reply = output.run(_inspected(output.settings(), graph, pair, timeout))
    if json:
        output.print_json(reply)
    elif pair:
        _show_pair(reply)
    else:
        _show_tables(reply)


def _show_measures(graph: str, reply: dict[str, float], *, json: bool) -> None:
    if json:
        output.print_json({"graph": graph, "measures": reply})
        return
    rows = output.table(graph, "measure", "value#")
    for name, value in reply.items():
        rows.add_row(name.replace("_", " "), f"{value:.3f}".rstrip("0").rstrip("."))
    output.out.print(rows)


async def _inspected(
    settings: WorkerSettings, name: str, pair: tuple[str, str] | None, timeout: float
) -> dict[str, Any]:
    from state.lsm.inspection import StoredGraph  # here: --help needs none of it
    from streams.cli.shared.live_state import live
    from streams.transport.select import readable

    async with readable(settings, timeout) as topics, live(settings, topics.keys, timeout) as there:
        with await there.store(partition_of(name, topics.partitions)) as store:
            if store is None:
                output.fail(
                    "cannot read a worker's store: set the same EMGAS_SNAPSHOTS for the worker and for this command"
                )
            graph = StoredGraph(store, name, topics.keys)
            if not graph.events:
                output.fail_unknown(name)
            return _pair(settings, graph, name, pair) if pair else _tables(graph, name)


def _tables(graph: StoredGraph, name: str) -> dict[str, Any]:
    segments = [table._asdict() for table in graph.tables()]
    return {"graph": name, "events": graph.events, "stored": graph.stored, "segments": segments}


def _pair(settings: WorkerSettings, graph: StoredGraph, name: str, pair: tuple[str, str]) -> dict[str, Any]:
    ids = [_concept_id(settings, graph, name, concept) for concept in pair]
    return {"graph": name, "pair": ids, **graph.pair(*ids)._asdict()}


def _concept_id(settings: WorkerSettings, graph: StoredGraph, name: str, concept: str) -> str:
    from streams.plugins import extractors  # here: --help needs none of it

    if graph.knows(concept):
        return concept
    extractor = extractors.load(settings.extractor, settings.language, settings.own_words)  # few need it
    result = next((each.id for each in extractor.of_query(concept).concepts if graph.knows(each.id)), None)
    return result or output.fail(f"graph {name} has no concept {concept}", output.MISSING)


def _show_pair(reply: dict[str, Any]) -> None:
    from state.lsm.inspection import PairCount  # here: --help needs none of it

    rows = output.table(f"{' and '.join(reply['pair'])}, together in", "windows", "times")
    for window in PairCount._fields:
        rows.add_row(window, str(reply[window]))
    output.out.print(rows)


def _show_tables(reply: dict[str, Any]) -> None:
    if not reply["segments"]:
        events = output.counted(reply["events"], "event")
        output.out.print(f"{events}: too few for tables yet, so the graph is rebuilt on each read")
        return
    rows = output.table(escape(reply["graph"]), "up to event", "merged", "pages")
    for segment in reply["segments"]:
        rows.add_row(str(segment["events"]), str(segment["level"]), str(segment["pages"]))
    output.out.print(rows)
    output.tell(f"{reply['events']} events, {reply['events'] - reply['stored']} of them not in a table yet")
