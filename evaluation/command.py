"""`emgas measure eval FILE…`: measure recall on labelled questions, beside other retrieval methods."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from emgas.errors import InvalidMessageError
from evaluation import contexts, summary
from evaluation.by_form import LEFT_OUT, MEAN, Part, by_form
from evaluation.fit import fitted
from evaluation.folders import read_folder
from evaluation.logged_memory import Advance, remember
from evaluation.measure import Examined, Scores, measured, shuffled
from evaluation.measures.abstraction import abstraction
from evaluation.measures.ageing import ageing, ages
from evaluation.measures.forgetting import forgetting
from evaluation.measures.patterns import patterns
from evaluation.measures.silence import silence as measure_silence
from evaluation.methods import ABLATIONS, METHODS, Method, dense_methods
from evaluation.metrics import METRICS, WITHIN_BUDGETS
from evaluation.questions.datasets import is_corpus, read
from evaluation.questions.forms import FORMS, UNCHANGED
from evaluation.questions.labelled import DataSet, LabelledQuestion
from evaluation.report import show
from processors.recall.ranking.weights import FlowWeights
from state.arrays import Floats
from streams.cli.shared import output
from streams.plugins.embedders import load
from streams.plugins.model_store import named

SEED = 20_240_229  # of the bootstrap and of shuffled evidence: the same numbers every time
CONTROLS = ("none", "shuffled")
CROSSED: tuple[tuple[fitted.Kind, str], ...] = (("conversation", "{}-fitted"), ("form", LEFT_OUT))


@dataclass(frozen=True)
class EvaluationResult:
    """All that was measured on one data set in one form: its questions, and every method's scores in their order."""

    file: str
    form: str
    examined: list[Examined]
    questions: list[LabelledQuestion]
    scores: dict[str, Scores]
    contexts: dict[str, Floats]
    graphs: int
    turns: int
    forgotten: int
    unusable: int
    ms_per_turn: float


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[FORM=]FILE[:CHANGED]…",
            help="LoCoMo, LongMemEval or RealMem, questions in HippoRAG's format, or a folder of BEAM or LMEB; "
            "FORM: kind of conversation; "
            "CHANGED: --form for this file only.",
        ),
    ],
    methods: Annotated[str | None, typer.Option(help=f"Comma-separated: {', '.join(METHODS)}; or all.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Passages of a file of questions; NAME_corpus.json beside it by default.")
    ] = None,
    form: Annotated[
        str, typer.Option(help=f"Rewrite the conversations into these forms, comma-separated: {', '.join(FORMS)}.")
    ] = UNCHANGED,
    merged: Annotated[bool, typer.Option("--merged", help="Put all conversations of a file into one graph.")] = False,
    dense: Annotated[
        Path | None,
        typer.Option(help="Embedding model (as EMGAS_EMBEDDER); adds default+dense, dense and bm25+dense."),
    ] = None,
    ablation: Annotated[bool, typer.Option("--ablation", help="Also measure without each edge type.")] = False,
    fit: Annotated[
        bool,
        typer.Option("--fit", help="Also measure with weights fitted to the other conversations (cross-validation)."),
    ] = False,
    measures: Annotated[
        bool,
        typer.Option("--measures", help="Also measure memory over time: habits, ageing, abstraction, forgetting."),
    ] = False,
    silence: Annotated[
        bool,
        typer.Option("--silence", help="Also measure silence: questions that a memory cannot answer, and `known`."),
    ] = False,
    control: Annotated[
        str, typer.Option(help="shuffled: random evidence, as a control that no method should find.")
    ] = "none",
    json: output.Json = False,
) -> None:
    """Benchmark recall on questions with known evidence: R@k, recall within a token budget, nDCG@10, MRR, times.

    The files are published into a temporary memory; yours is not changed.
    """
    if control not in CONTROLS:
        output.fail(f"--control {control}: choose one of {', '.join(CONTROLS)}", output.USAGE)
    with output.explained():
        if measures and methods is not None and summary.SUBJECT not in methods.split(","):
            raise InvalidMessageError(f"--measures are of the method {summary.SUBJECT}: name it among --methods")
        chosen = _chosen(methods, dense) | (ABLATIONS if ablation else {})
        sets = _sets(files, _forms(form), corpus, merged=merged)
        if fit:
            _check_groups(each.data for each in sets)
    results = [_measured(each, chosen, control) for each in sets]
    weights = _fit(results, chosen) if fit else {}
    whole = results if len(results) == 1 else [*results, _pooled(results)]
    reports = [_report(result, control) | (_silence(result) if silence else {}) for result in whole]
    if weights:
        reports[-1]["weights"] = {left_out: dict(chosen_without) for left_out, chosen_without in weights.items()}
    reports[-1] |= _by_form(results)
    if measures:
        reports[-1]["measures"] = over_time(whole[-1])
    if json:
        output.print_json(reports[-1] if len(reports) == 1 else {**reports[-1], "files": reports[:-1]})
        return
    for report in reports:
        show(report)


class _File(NamedTuple):
    """A file as it is named on the command line: the form of talk that it is of, and those to change it into."""

    path: Path
    form: str
    changed: list[str]


class _Set(NamedTuple):
    """A data set to measure on: what it is called, which form of talk it is of, and its turns and questions."""

    name: str
    form: str
    data: DataSet


def _sets(files: Iterable[Path], forms: Sequence[str], corpus: Path | None, *, merged: bool) -> list[_Set]:
    """Read the files, and change each into all of `forms`, or into its own."""
    named = {each.path: each for each in (_named(file, forms) for file in files)}
    sets = []
    for file in _of_questions(named):
        data = read_file(file, corpus, merged=merged)
        for form in named[file].changed:
            name = str(file) if form == UNCHANGED else f"{file} ({form})"
            sets.append(_Set(name, named[file].form if form == UNCHANGED else form, FORMS[form](data)))
    return sets


def _named(file: Path, forms: Sequence[str]) -> _File:
    """Split FORM=FILE:CHANGED; a file without a form is a form of its own.

    Raises InvalidMessageError for a form to change it into that is none.
    """
    form, sign, path = str(file).partition("=")
    named, form = (Path(path), form) if sign and not file.exists() else (file, "")
    before, colon, changed = str(named).rpartition(":")
    if colon and not named.exists() and Path(before).exists():
        named, forms = Path(before), _forms(changed)
    return _File(named, form or named.stem, list(forms))


def _forms(names: str) -> list[str]:
    """Return the named forms.  Raises InvalidMessageError for an unknown name."""
    names_of_forms = [name.strip() for name in names.split(",")]
    if unknown := [name for name in names_of_forms if name not in FORMS]:
        raise InvalidMessageError(f"form: there is no {unknown[0]!r}: choose from {', '.join(FORMS)}")
    return names_of_forms


def _chosen(names: str | None, dense: Path | None) -> dict[str, Method]:
    """Return the named methods.  Raises InvalidMessageError for an unknown method or an invalid model."""
    available = METHODS if dense is None else METHODS | dense_methods(load(_model(dense)))
    every = names in (None, "all")
    requested = list(available) if every else [name.strip() for name in (names or "").split(",")]
    if unknown := [name for name in requested if name not in available]:
        raise InvalidMessageError(f"methods: there is no {unknown[0]!r}: choose from {', '.join(available)}")
    return {name: available[name] for name in requested}


def _model(dense: Path) -> Path:
    """Find a model by the name that it was added under, or by its path."""
    return named(dense, output.settings().data) or dense


def _of_questions(files: Iterable[Path]) -> list[Path]:
    """Drop the corpora among the files: they belong to the questions that they are named after."""
    files = list(dict.fromkeys(files))
    beside = {_corpus_of(file) for file in files}
    questions = [file for file in files if file not in beside]
    for file in questions:
        if file.is_dir():
            continue
        contents = bytes_of(file)
        with output.naming(file):
            corpus = is_corpus(contents)
        if corpus:
            raise InvalidMessageError(f"{file} is a corpus: give the file of its questions, and this one as --corpus")
    return questions


def _corpus_of(file: Path) -> Path:
    return file.with_name(f"{file.stem}_corpus.json")


def read_file(file: Path, corpus: Path | None, *, merged: bool = False) -> DataSet:
    """Read a file or folder of conversations, or of questions with the passages beside it.

    Raises InvalidMessageError where it is none.
    """
    beside = _corpus_of(file)
    passages = corpus or (beside if beside.is_file() else None)
    try:
        if file.is_dir():
            data = read_folder(file)
        else:
            data = read(bytes_of(file), bytes_of(passages) if passages else None, merged=merged)
    except InvalidMessageError as error:
        raise InvalidMessageError(f"{file}: {error}") from error
    if not any(data.questions.values()):
        raise InvalidMessageError(f"{file}: has no question whose evidence is among its turns")
    return data


def bytes_of(file: Path) -> bytes:
    """Read a file.  Raises InvalidMessageError where that cannot be done."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidMessageError(f"{file} cannot be read: {error.strerror}") from error


def _check_groups(sets: Iterable[DataSet]) -> None:
    groups = {question.group for data in sets for questions in data.questions.values() for question in questions}
    if len(groups) < 2:
        raise InvalidMessageError("--fit leaves one conversation out, so it needs two that have questions")


def _fit(results: Sequence[EvaluationResult], chosen: Iterable[str]) -> dict[str, FlowWeights]:
    """Fit weights to all files together, and measure each file with those that have not seen its questions.

    Conversations are left out one by one and, where there are several forms of talk, whole forms.  Returns the weights
    of the default; the peers that are `chosen` get theirs in the same way.
    """
    examined = [each for result in results for each in result.examined]
    kinds = CROSSED if len({result.form for result in results}) > 1 else CROSSED[:1]
    fitted_weights: dict[str, dict[str, FlowWeights]] = {}
    for name, method in fitted.FITTABLE.items():
        for kind, called in kinds if name == summary.SUBJECT or name in chosen else ():
            weights = fitted.weights(examined, method, kind)
            fitted_weights[name] = weights | fitted_weights.get(name, {})
            for result in results:
                result.scores[called.format(name)] = fitted.measured_apart(
                    result.examined, weights, time.perf_counter, method, kind
                )
    return fitted_weights[summary.SUBJECT]


def _measured(of: _Set, methods: dict[str, Method], control: str) -> EvaluationResult:
    data = of.data
    with progress("publishing", len(data.turns)) as advance:
        examined, ms_per_turn = output.run(remember(data, output.settings(), advance))
    examined = [replace(each, form=of.form, part=of.name) for each in examined]
    if control == "shuffled":
        examined = _with_shuffled(examined)
    with progress("asking", len(methods) * len(examined)) as advance:
        scores = {name: _scores(examined, method, advance) for name, method in methods.items()}
    with progress("packing", len(methods) * len(examined)) as advance:
        shown = {name: _contexts(examined, name, method, advance) for name, method in methods.items()}
    return EvaluationResult(
        file=of.name,
        form=of.form,
        examined=examined,
        questions=[question for each in examined for question in each.questions],
        scores=scores,
        contexts=shown,
        graphs=len(examined),
        turns=len(data.turns),
        forgotten=len(data.turns) - sum(len(each.memory.texts) for each in examined),
        unusable=data.unusable,
        ms_per_turn=ms_per_turn,
    )


def _with_shuffled(examined: Sequence[Examined]) -> list[Examined]:
    generator = np.random.default_rng(SEED)
    return [
        replace(each, questions=shuffled(each.questions, each.memory.view.passage_id, generator)) for each in examined
    ]


def _scores(examined: Sequence[Examined], method: Method, advance: Advance) -> Scores:
    parts = []
    for each in examined:
        if each.questions:
            parts.append(measured(each, method, time.perf_counter))
        advance()
    return Scores.joined(parts)


def _contexts(examined: Sequence[Examined], name: str, method: Method, advance: Advance) -> Floats:
    """Measure the contexts of one method: the default's are the product's own."""
    rows = [np.zeros((0, len(contexts.COLUMNS)))]
    for each in examined:
        rows.append(contexts.of_product(each) if name == summary.SUBJECT else contexts.of_method(each, method))
        advance()
    return np.concatenate(rows)


def _pooled(results: Sequence[EvaluationResult]) -> EvaluationResult:
    """Join the files into one: every question weighs the same."""
    turns = sum(result.turns for result in results)
    return EvaluationResult(
        file=", ".join(result.file for result in results),
        form=MEAN,
        examined=[each for result in results for each in result.examined],
        questions=[question for result in results for question in result.questions],
        scores={name: Scores.joined([result.scores[name] for result in results]) for name in results[0].scores},
        contexts={name: np.concatenate([each.contexts[name] for each in results]) for name in results[0].contexts},
        graphs=sum(result.graphs for result in results),
        turns=turns,
        forgotten=sum(result.forgotten for result in results),
        unusable=sum(result.unusable for result in results),
        ms_per_turn=sum(result.ms_per_turn * result.turns for result in results) / turns,
    )


def _by_form(results: Sequence[EvaluationResult]) -> dict[str, Any]:
    if len(results) == 1:
        return {}
    parts = [Part(result.form, result.questions, result.scores) for result in results]
    return {"by_form": by_form(parts, np.random.default_rng(SEED))}


def _silence(result: EvaluationResult) -> dict[str, Any]:
    return {"silence": measure_silence(result.examined, np.random.default_rng(SEED))}


def over_time(result: EvaluationResult) -> dict[str, Any]:
    """Measure what the memories of a result do over time (evaluation/measures)."""
    generator = np.random.default_rng(SEED)
    recalled = result.scores[summary.SUBJECT].values[:, METRICS.index(WITHIN_BUDGETS[-1])]
    kept = [(each, each.graph) for each in result.examined if each.graph is not None]
    age = np.concatenate([ages(each.memory.view, each.questions) for each in result.examined])
    extracted = patterns((graph, each.patterns) for each, graph in kept)
    return {
        "patterns": extracted,
        "ageing": ageing(age, recalled, generator),
        "abstraction": abstraction([(graph, each.questions) for each, graph in kept], recalled, extracted["recall"]),
        "forgetting": forgetting([graph for _, graph in kept]),
    }


def _report(result: EvaluationResult, control: str) -> dict[str, Any]:
    """Sum up a result as plain values, to be printed; every share in percent."""
    by_chance, generator = control == "shuffled", np.random.default_rng(SEED)
    methods = {
        name: summary.of_method(scores, result.questions, result.ms_per_turn, chance=by_chance)
        for name, scores in result.scores.items()
    }
    for name, rows in result.contexts.items():
        methods[name] |= summary.of_contexts(rows, result.questions)
    return {
        "file": result.file,
        "unit": "percent",
        "evidence": "shuffled" if by_chance else "as given",
        "graphs": result.graphs,
        "turns": result.turns,
        "forgotten": result.forgotten,
        "questions": len(result.questions),
        "headline": int(summary.headline(result.questions).sum()),
        "unusable": result.unusable,
        "methods": methods,
        "differences": summary.differences(result.scores, result.questions, generator),
    }


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Show how far something is, for as long as the block lasts."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=output.err, transient=True) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda: progress.advance(bar)
