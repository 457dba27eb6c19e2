"""Libraries for dates are held to the same tables as our grammar, and what is not installed is told."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from bench.date_libraries import LIBRARIES
from bench.time_expressions import ExpressionScores, expressions, inside, main, measured
from processors.dates.arithmetic import Days, day, month

UNSEEN = Path(__file__).parents[1] / "processors" / "data" / "time_expressions_unseen.tsv"
REFERENCE = date(2024, 4, 16)


def test_a_table_tells_the_day_the_text_and_what_it_means() -> None:
    rows = ("# told", "in May\t2024-05", "周五到周日\t2024-04-19 to 2024-04-21; 2023", "later\t-")
    read = list(expressions("\n2024-04-16\t".join(rows)))
    assert [each.language for each in read] == ["en", "zh", "en"]
    assert read[0].means == [month(date(2024, 5, 1))]
    assert read[1].means == [
        Days(date(2024, 4, 19), date(2024, 4, 21)),
        Days(date(2023, 1, 1), date(2023, 12, 31)),
    ]
    assert read[2].means == []


def test_a_day_inside_what_is_meant_is_about_it_and_counts_once() -> None:
    may, first = month(date(2024, 5, 1)), day(date(2024, 5, 1))
    assert inside([first], [may]) == 1
    assert inside([first, first], [may]) == 1
    assert inside([may], [first]) == 0
    assert inside([first, first], [may, first]) == 2


def test_what_is_noted_rightly_partly_and_for_nothing_is_counted_apart() -> None:
    table = "2024-04-16\tin May\t2024-05\n2024-04-16\ton the 17th\t2024-04-17\n2024-04-16\tlater\t-"
    scores = measured(lambda _, reference: [day(reference, 1)], expressions(table))
    assert scores[:4] == ExpressionScores(noted=3, meant=2, right=1, about=1, ms=[])[:4]
    assert len(scores.ms) == 3


def test_our_grammar_reads_the_last_set_as_its_own_test_says() -> None:
    table = list(expressions(UNSEEN.read_text("utf-8")))
    scores = measured(LIBRARIES["ours"].load("en"), table)
    assert scores.right / scores.noted >= 0.98
    assert scores.right / scores.meant >= 0.95
    assert scores.right <= scores.about <= scores.noted


def test_every_library_is_measured_or_told_to_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("2024-04-16\tsee you tomorrow\t2024-04-17\n2024-04-16\t明天见\t2024-04-17\n", "utf-8")
    main([str(table)])
    output = capsys.readouterr()
    assert "| ours | en | 1 | 100.0 | 100.0 | 100.0 | 100.0 |" in output.out
    assert "| ours | zh | 1 | 100.0 |" in output.out
    for name in LIBRARIES:
        assert (f"| {name} |" in output.out) != (f"NOT MEASURED: {name} " in output.err)
