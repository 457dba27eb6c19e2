"""Print the results of `emgas measure eval`: a line for each method, categories, and the gains of the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape

from evaluation.contexts import COLUMNS
from evaluation.metrics import METRICS, PRECISION, WITHIN_BUDGETS
from evaluation.summary import OF_CATEGORY, SUBJECT
from streams.cli.shared import output

OF_CONTEXT = (*WITHIN_BUDGETS, PRECISION, "recall_shown", "precision_shown", "room_taken")
SHOWN = OF_CATEGORY[0]  # the one number of a category that has room in a table


def show(report: Mapping[str, Any]) -> None:
    """Print one file's numbers."""
    for table in _measures(report):
        output.out.print(table)
    for part, kinds in (("by_category", "category"), ("by_hop", "hops between question and evidence")):
        if any(part in method for method in report["methods"].values()):
            output.out.print(_parts(report["methods"], part, f"{_words(SHOWN)} by {kinds}"))
    if report["differences"]:
        output.out.print(_differences(report["differences"]))
    if "weights" in report:
        output.out.print(_weights(report["weights"]))
    if "by_form" in report:
        output.out.print(_by_form(report["by_form"]))
    if "silence" in report:
        output.out.print(_silence(report["silence"]))
    if "measures" in report:
        show_over_time(report["measures"])
    output.out.print(_about(report), style="dim")


def _measures(report: Mapping[str, Any]) -> tuple[Any, ...]:
    """Lay out how methods rank and how long they take, and what fits into a context: a terminal has room for either."""
    title = f"{escape(report['file'])}: share of the evidence found, in percent"
    if report["evidence"] == "shuffled":
        title += "; evidence shuffled, so only luck finds it"
    ranked = [metric for metric in METRICS if metric not in OF_CONTEXT]
    return (
        _table(report, title, ranked, {"ms p50": "ms_per_query_p50", "ms p99": "ms_per_query_p99"}),
        _table(report, "of that, in a context", OF_CONTEXT, {}),
        _contexts(report["methods"]),
    )


def _contexts(methods: Mapping[str, Any]) -> Any:
    """Lay out what a model gets: the evidence in the context that is shown, as a user asks."""
    rows = output.table(
        "in the context that a model gets, at 1,000 tokens", "method", "recall#", "precision#", "tokens#", "first turn#"
    )
    for name, method in methods.items():
        if COLUMNS[0] in method:
            rows.add_row(name, *(f"{method[column]:.1f}" for column in COLUMNS))
    return rows


def _silence(report: Mapping[str, Any]) -> Any:
    title = f"questions that the memory cannot answer (calibration error {report['calibration']:.3f})"
    columns = ("questions", "AUROC", "silent, %", "in inject, %", "tokens")
    rows = output.table(title, "kind", *(f"{name}#" for name in columns))
    for kind, count in report["questions"].items():
        of_kind = report[kind]
        rows.add_row(
            kind,
            str(count),
            f"{of_kind['auroc']:.3f}" if "auroc" in of_kind else "",
            f"{of_kind['silent_default']:.1f}",
            f"{of_kind['silent_inject']:.1f}",
            f"{of_kind['tokens']:.0f}",
        )
    own = report["own"]
    rows.caption = f"recall lost: {own['lost_default']:.1f} points, in inject {own['lost_inject']:.1f}"
    return rows


def _table(report: Mapping[str, Any], title: str, metrics: Sequence[str], times: Mapping[str, str]) -> Any:
    rows = output.table(title, "method", *(f"{_words(name)}#" for name in (*metrics, *times)))
    for name, method in report["methods"].items():
        rows.add_row(
            name, *(f"{method[metric]:.1f}" for metric in metrics), *(f"{method[at]:.2f}" for at in times.values())
        )
        if "chance" in method:
            chances = (_shown(method["chance"].get(metric)) for metric in metrics)
            rows.add_row("  by chance", *chances, *("" for _ in times))
    rows.columns[0].no_wrap = True
    return rows


def _words(metric: str) -> str:
    """Write a metric's name for people: recall within 973 tokens."""
    return metric.replace("_", " ")


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _parts(methods: Mapping[str, Any], part: str, title: str) -> Any:
    first = next(iter(methods.values()))[part]
    rows = output.table(title, "method", *(f"{kind} ({first[kind]['questions']})#" for kind in first))
    for name, method in methods.items():
        rows.add_row(name, *(f"{method[part][kind][SHOWN]:.1f}" for kind in first))
    rows.columns[0].no_wrap = True
    return rows


def _differences(differences: Mapping[str, Any]) -> Any:
    columns = next(iter(differences.values()))
    rows = output.table(
        "difference in points, with 95 % intervals (paired bootstrap)",
        "",
        *(f"{_words(metric)}#" for metric in columns),
    )
    for name, gains in differences.items():
        rows.add_row(name, *map(_interval, gains.values()))
    rows.columns[0].no_wrap = True
    return rows


def _interval(gain: Mapping[str, float]) -> str:
    return f"{gain['mean']:+.1f} [{gain['low']:+.1f}, {gain['high']:+.1f}]"


def _by_form(forms: Mapping[str, Mapping[str, Any]]) -> Any:
    first = next(iter(forms.values()))
    title = f"{_words(SHOWN)} by form of talk; precision: share of the default's turns that are evidence"
    columns = (f"{name}#" for name in (*first[SHOWN], *first["differences"], "precision"))
    rows = output.table(title, "form", "questions#", *columns)
    for form, of_form in forms.items():
        shares = (f"{share:.1f}" for share in of_form[SHOWN].values())
        gains = (
            f"{each['mean']:+.1f} [{each['low']:+.1f}, {each['high']:+.1f}]" for each in of_form["differences"].values()
        )
        precision = _shown(of_form[PRECISION].get(SUBJECT))
        rows.add_row(escape(form), str(of_form["questions"]), *shares, *gains, precision)
    return rows


def show_over_time(report: Mapping[str, Any]) -> None:
    """Print what a memory does over time (evaluation/measures)."""
    rows = output.table("over time", "", "measure", "value#")
    shown, cover = report["patterns"], report["abstraction"]
    for name in ("habits", "expected"):
        rows.add_row("patterns", name, str(shown[name]))
    for name in ("precision", "recall", "f1"):
        rows.add_row("patterns", name, _share(shown[name]))
    for name in ("coverage", "detail", "rest", "balance"):
        rows.add_row("abstraction", name, _share(cover[name]))
    for age, part in report["ageing"]["by_age"].items():
        rows.add_row(
            "recall by age",
            f"up to {age}" if age != "older" else age,
            f"{_share(part['recall'])} ({part['questions']})",
        )
    if report["ageing"]["fall"]:
        fall = {name: 100 * value for name, value in report["ageing"]["fall"].items()}
        rows.add_row("recall by age", "older half less newer half", _interval(fall))
    output.out.print(rows)
    curves = report["forgetting"]
    of_days = output.table(
        "words still active after days, if nothing more were said",
        "said or recalled",
        *(f"{day}#" for day in curves["days"]),
    )
    for name, curve in curves["curves"].items():
        of_days.add_row(f"{name} ({curves['words'][name]})", *(f"{100 * share:.0f}" for share in curve))
    output.out.print(of_days)
    fit = curves["fit"]
    rises, kept_less = curves["falls"], curves["rehearsed"]
    fit_text = f"; e^(−t/{fit['days']:.0f} d) explains {100 * fit['explained']:.0f} % of it" if fit else ""
    output.out.print(
        f"{rises} times a curve rises, {kept_less} times what was rehearsed more is kept less{fit_text}", style="dim"
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _weights(weights: Mapping[str, Mapping[str, float]]) -> Any:
    rows = output.table("fitted weights", "weight", *(f"{left_out}#" for left_out in weights))
    for name in next(iter(weights.values())):
        rows.add_row(name, *(f"{each[name]:.3g}" for each in weights.values()))
    return rows


def _about(report: Mapping[str, Any]) -> str:
    ms_per_turn = next(iter(report["methods"].values()))["ms_per_turn"]
    return (
        f"{report['turns']} turns in {output.counted(report['graphs'], 'graph')}, "
        f"{report['forgotten']} forgotten or merged as they came; "
        f"{ms_per_turn:.2f} ms a turn; {report['questions']} questions, {report['headline']} of them in the headline, "
        f"{report['unusable']} left out because their evidence names no turn, or no turn holds their answer"
    )
