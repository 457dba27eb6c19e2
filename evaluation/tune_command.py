"""`emgas measure tune FILE`: fit the weights and thresholds of recall to your own questions, and record them.

    FILE of own questions (own_questions.py)  ──▶ asked of the graph as its log has it
    FILE with its turns, as `emgas measure eval`      ──▶ published into a temporary memory
                                                ──▶ tuning.py ──▶ shown ──▶ the event GraphConfigured, if it is better

What is recorded is the graph's own, and one event: `emgas replay undo` takes it back, `--undo` goes to the defaults.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError, InvalidMessageError
from emgas.messages.queries import Description
from emgas.wire import partition_of
from evaluation import command
from evaluation.bootstrap import Interval
from evaluation.fit import tuning
from evaluation.fit.tuning import Tuning, WeightsInForce
from evaluation.logged_memory import remember
from evaluation.measure import Examined
from evaluation.memory import EvaluatedMemory
from evaluation.questions import own_questions
from processors.recall.ranking.weights import DEFAULT_FLOW, of_graph
from processors.recall.retrieval.recall import DROP
from replay.rebuild.rebuild import graph_from
from state.store.store import MemoryStore
from streams.cli.shared import output
from streams.cli.shared.client import session
from streams.plugins import extractors
from streams.settings import WorkerSettings
from streams.transport.select import readable

SHOWN_POINTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0)


def tune(
    file: Annotated[
        Path | None,
        typer.Argument(
            help='Your questions, one {"question": …, "turns": [ids]} per line; or a file for `emgas measure eval`.',
            show_default=False,
        ),
    ] = None,
    *,
    graph: Annotated[
        str | None,
        typer.Option(help="Graph to tune; without it, results are only shown.", callback=output.graph_id),
    ] = None,
    by: Annotated[str, typer.Option(help=f"Metric that must improve: {', '.join(tuning.COMPARED)}.")] = tuning.BY,
    threshold: Annotated[
        bool, typer.Option("--threshold", help="Also tune the score threshold (`drop`) of a context.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the result, and record nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Record the weights even if held-out questions do not improve.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Reset the graph to the default weights; without FILE.")] = False,
    corpus: Annotated[
        Path | None, typer.Option(help="Passages of a file of questions, as for `emgas measure eval`.")
    ] = None,
    timeout: output.Timeout = 30.0,
    json: output.Json = False,
) -> None:
    """Tune recall to your own questions, and record the weights for a graph if held-out questions improve.

    With --force, they are recorded even if the held-out questions do not improve.
    """
    with output.explained():
        _check(file, graph, by, undo=undo)
        if undo and graph is not None:
            _print_undo(graph, output.run(_undone(graph, timeout)), json=json)
            return
        if file is None:  # `_check` has seen to it
            return
        raw = command.bytes_of(file)
        described = None if graph is None else output.run(_described(graph, timeout, needed=own_questions.are_own(raw)))
        examined = output.run(_examined(file, raw, corpus, graph))
        now = WeightsInForce() if described is None else _in_force(described)
        result = tuning.tune(
            tuning.in_folds(examined),
            now,
            clock=time.perf_counter,
            generator=np.random.default_rng(command.SEED),
            by=by,
        )
    report = _report(result, now)
    _show(result, now)
    changes = _changes(result, now, threshold=threshold, force=force)
    recorded = graph is not None and not dry_run and bool(changes)
    if recorded and graph is not None:
        output.run(_recorded(graph, changes, timeout))
    if json:
        output.print_json({"graph": graph, **report, "recorded": changes if recorded else None})
    _conclude(graph, changes, recorded=recorded, dry_run=dry_run)


def _check(file: Path | None, graph: str | None, by: str, *, undo: bool) -> None:
    """Raise InvalidMessageError for a call that makes no sense."""
    if by not in tuning.COMPARED:
        raise InvalidMessageError(f"--by {by}: choose one of {', '.join(tuning.COMPARED)}")
    if undo and (file is not None or graph is None):
        raise InvalidMessageError("--undo: takes --graph and no file")
    if not undo and file is None:
        raise InvalidMessageError("give a FILE with questions, or --undo")


async def _described(graph: str, timeout: float, *, needed: bool) -> Description | None:
    """Ask how a graph lives; None for one that no one wrote to, which may begin with what is recorded."""
    async with session(output.settings(), timeout, begins=not needed) as connected:
        described = await connected.memory.describe(graph)
    if not described.found and needed:
        output.fail_unknown(graph)
    return described if described.found else None


def _in_force(described: Description) -> WeightsInForce:
    return WeightsInForce(of_graph(described.weights), float(described.settings.get("drop", DROP)))


async def _examined(file: Path, raw: bytes, corpus: Path | None, graph: str | None) -> list[Examined]:
    settings = output.settings()
    if not own_questions.are_own(raw):
        data = command.read_file(file, corpus)
        with command.progress("publishing", len(data.turns)) as advance:
            return (await remember(data, settings, advance))[0]
    if graph is None:
        raise InvalidMessageError(f"{file} contains only questions: name their graph with --graph")
    try:
        questions = own_questions.read(raw)
    except InvalidMessageError as error:
        raise InvalidMessageError(f"{file}: {error}") from error
    memory = await _memory_of(settings, graph)
    own_questions.check_evidence(questions, memory.view.passage_id, graph)
    return [Examined(memory, questions)]


async def _memory_of(settings: WorkerSettings, name: str) -> EvaluatedMemory:
    """Fold a graph once more from its log.  Exits where there is none."""
    async with readable(settings) as topics:
        partition, log = partition_of(name, topics.partitions), topics.reader(settings.topics.events)
        _, end = await log.bounds(partition)
        graph = await graph_from(MemoryStore(), log, partition, name, end)
    if graph is None:
        output.fail_unknown(name)
    extractor = extractors.load(settings.extractor, settings.language, settings.own_words)
    return EvaluatedMemory(graph.view(), (), extractor)  # no method that is asked here reads texts


def _changes(result: Tuning, now: WeightsInForce, *, threshold: bool, force: bool) -> dict[str, Any]:
    """Return the settings to record: those that are better, or all with `force`."""
    changes: dict[str, Any] = {}
    if (force or result.weights_are_better) and result.weights != now.weights:
        changes["weights"] = result.weights.own()
    if threshold and (force or result.drop_is_better) and result.drop != now.drop:
        changes["drop"] = result.drop
    return changes


async def _recorded(graph: str, changes: Mapping[str, Any], timeout: float) -> None:
    async with session(output.settings(), timeout) as connected:
        await _configure(connected.memory, graph, **changes)


async def _undone(graph: str, timeout: float) -> bool:
    """Go back to the defaults; False where they are in force."""
    async with session(output.settings(), timeout, begins=False) as connected:
        described = await connected.memory.describe(graph)
        if not described.found:
            output.fail_unknown(graph)
        if not described.weights and described.settings.get("drop", DROP) == DROP:
            return False
        await _configure(connected.memory, graph, weights={}, drop=DROP)
        return True


async def _configure(memory: MemoryClient, graph: str, **changes: Any) -> None:
    """Make `changes` to how a graph recalls, and leave all else as it is."""
    described = await memory.describe(graph)
    settings = {**described.settings, **{name: value for name, value in changes.items() if name != "weights"}}
    outcome = await memory.configure(graph, described.preset, weights=changes.get("weights"), **settings)
    if outcome.status == "rejected":
        raise EmgasError(outcome.reason or "refused")


def _report(result: Tuning, now: WeightsInForce) -> dict[str, Any]:
    """Sum up as plain values; shares in percent."""
    measures = {
        name: {"before": _percent(result.before[name]), "after": _percent(result.after[name]), **_interval(gain)}
        for name, gain in result.gains.items()
    }
    return {
        "questions": result.questions,
        "folds": result.folds,
        "by": result.by,
        "held_out": measures,
        "better": result.weights_are_better,
        "weights": result.weights.own(),
        "drop": {
            "before": now.drop,
            "after": result.drop,
            "f1_before": _percent(result.drop_before),
            "f1_after": _percent(result.drop_after),
            **_interval(result.drop_gain),
            "better": result.drop_is_better,
            "points": [each._asdict() for each in result.points],
        },
    }


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _interval(gain: Interval) -> dict[str, float]:
    return {name: _percent(value) for name, value in gain._asdict().items()}


def _show(result: Tuning, now: WeightsInForce) -> None:
    title = (
        f"{result.questions} questions, each asked with weights fitted to the other folds of {result.folds}, in percent"
    )
    rows = output.table(title, "held out", "in force#", "fitted#", "difference, 95 %#")
    for name, gain in result.gains.items():
        before, after = result.before[name], result.after[name]
        rows.add_row(name.replace("_", " "), f"{100 * before:.1f}", f"{100 * after:.1f}", _difference(gain))
    rows.add_row(
        "F1 of what a context shows", f"{100 * result.drop_before:.1f}", f"{100 * result.drop_after:.1f}",
        _difference(result.drop_gain),
    )  # fmt: skip
    output.out.print(rows)
    weights = output.table("weights, fitted to all questions", "feature", "default#", "in force#", "fitted#")
    for name, weight in result.weights.items():
        style = "" if weight == now.weights[name] else "bold"
        weights.add_row(name, f"{DEFAULT_FLOW[name]:g}", f"{now.weights[name]:g}", f"{weight:g}", style=style)
    output.out.print(weights)
    points = output.table(
        "thresholds: how far scores may fall in a context", "drop#", "precision#", "recall#", "F1#", ""
    )
    for each in result.points:
        mark = " ".join(["best"] * (each.threshold == result.drop) + ["in force"] * (each.threshold == now.drop))
        if mark or each.threshold in SHOWN_POINTS:
            shares = (f"{100 * share:.1f}" for share in each[1:])
            points.add_row(f"{each.threshold:g}", *shares, mark)
    output.out.print(points)


def _difference(gain: Interval) -> str:
    return f"{100 * gain.mean:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"


def _conclude(graph: str | None, changes: Mapping[str, Any], *, recorded: bool, dry_run: bool) -> None:
    """Report the result of tuning.  Exits with 1 if it should have been recorded but is not better."""
    if recorded:
        output.tell(
            f"recorded as {graph}'s own: {', '.join(changes)}; `emgas measure tune --graph {graph} --undo` goes back"
        )
    elif changes:
        output.tell("nothing was recorded" + ("" if dry_run else ": say for which graph, with --graph"))
    elif graph is not None and not dry_run:
        output.fail(
            "not better on questions that were held out: nothing was recorded (--force records it all the same)"
        )
    else:
        output.tell("not better on questions that were held out")


def _print_undo(graph: str, changed: bool, *, json: bool) -> None:  # noqa: FBT001 - said of one thing
    if json:
        output.print_json({"graph": graph, "undone": changed})
    else:
        output.tell(f"{graph} recalls by the defaults" + (" again" if changed else " already"))
