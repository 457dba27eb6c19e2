"""What people see is text, never markup: brackets in a turn must neither vanish nor break a table."""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from rich.text import Text

from emgas.logs import logger
from emgas.messages.fields import Position
from emgas.messages.queries import ActivatedConcept, RecalledPassage, Reply, Timing
from emgas.messages.views import Habit, HabitGroup, Recurring
from streams.cli.exchange.publish import Pace
from streams.cli.memory import query, views
from streams.cli.shared import output

JOINERS = "\u200c\u200d"  # Persian, Hindi, emoji
NUMBER_SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"  # are seen
HIEROGLYPHS = "".join(map(chr, range(0x13430, 0x13460)))  # how they stand to each other


@pytest.fixture
def logging_restored() -> Iterator[None]:
    yield
    logging.basicConfig(force=True)
    logging.getLogger("emgas").setLevel(logging.NOTSET)


@pytest.mark.usefixtures("logging_restored")
def test_what_a_library_logs_is_a_line_of_json_as_a_workers_own_are(capsys: pytest.CaptureFixture[str]) -> None:
    output.configure_logging("INFO", quiet=False)  # to the stderr that is captured
    logger("worker").info("owns", partitions=[1])
    logging.getLogger("aiokafka.conn").warning("lost %s", "node 1")
    logging.getLogger("aiokafka.conn").info("found %s", "node 1")
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("faust").exception("crashed")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    text = {line["event"]: line for line in lines}  # what the tests before left to be collected may speak up, too
    ours, lost, crashed = text["owns"], text["lost node 1"], text["crashed"]
    assert "found node 1" not in text
    assert [each["level"] for each in (ours, lost, crashed)] == ["info", "warning", "error"]
    assert lost["logger"] == "aiokafka.conn"
    assert "ValueError: two\nlines" in crashed["exception"]
    assert set(ours) - {"partitions"} <= set(lost) & set(crashed)


def test_brackets_in_a_turn_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    passage = RecalledPassage(
        id="t1", session="main", speaker="[b]Ada", role=None, text="a [/b] and [bold]x", at=0, score=1.0
    )
    concept = ActivatedConcept(id="x", label="[x]", energy=1.0, path=["[x]"])
    query.show(
        Reply(
            graph="ada",
            found=True,
            seeds=[concept],
            concepts=[concept],
            passages=[passage],
            context="",
            tokens=0,
            position=Position(partition=0, watermark=0, source=0),
            timing=Timing(waited_ms=0.0, recall_ms=0.0),
        )
    )
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("[b]Ada", "a [/b] and [bold]x", "[x]"))


def test_a_habit_does_not_look_like_something_that_a_person_said(capsys: pytest.CaptureFixture[str]) -> None:
    fields: dict[str, Any] = {"session": "main", "speaker": "Ada", "role": None, "at": 0, "score": 1.0}
    turn = RecalledPassage(id="t1", text="Ada: my favourite book.", **fields)
    habit = RecalledPassage(id="habit-1", text="Ada: latte: 15 times", kind="habit", **fields)
    position, timing = Position(partition=0, watermark=0, source=0), Timing(waited_ms=0.0, recall_ms=0.0)
    found: dict[str, Any] = {"found": True, "seeds": [], "concepts": [], "context": "", "tokens": 0}
    query.show(Reply(graph="ada", passages=[turn, habit], position=position, timing=timing, **found))
    shown = [re.sub(r"\s+", " ", line) for line in capsys.readouterr().out.splitlines()]
    assert any("│ Ada │ Ada: my favourite book. │" in line for line in shown), "a turn stays as it is"
    assert any("│ (habit of Ada) │ latte: 15 times │" in line for line in shown)


def test_similar_habits_are_named_by_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    common: dict[str, Any] = {"turns": 3, "days": 3, "first": 0, "last": 0, "period": 1.0, "hours": [], "weekdays": []}
    common |= {"exceptions": [], "members": ["t1"], "by": "rules", "speaker": "Ada"}
    rows = [
        Habit(id=f"habit-{name}", text=f"Ada: {name}: 3 times", concepts=[name], **common) for name in ("tea", "gym")
    ]
    group = HabitGroup(above=0.7, habits=["habit-tea", "habit-gym"])
    position = Position(partition=0, watermark=0, source=0)
    views.show_habits(Recurring(graph="ada", found=True, total=2, habits=rows, groups=[group], position=position))
    captured = capsys.readouterr()
    assert "similar habits: tea (Ada); gym (Ada)" in captured.err
    assert "2 of 2 habits" in captured.err
    assert "habit-tea, latest turns: t1" in captured.out


@pytest.mark.parametrize("how", ["string", "cell", "text"])
def test_a_text_gives_no_orders_to_the_terminal(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\x1b]0;owned\x07\x1b[2Jhi\x9b31m\x7f"
    if how == "cell":
        rows = output.table("", "text")
        rows.add_row(text)
        output.out.print(rows)
    else:
        output.out.print(text if how == "string" else Text(text), markup=False)
    printed = capsys.readouterr().out
    assert not output.CONTROL.search(printed)
    assert "\\x1b[2Jhi\\x9b31m\\x7f" in printed.replace("\n", "")


DECEIVING = {
    "bidi": "pay \u202e001 \u2066me\u2069\u061c\u200f",
    "unseen": "pay\u200b\u2060\ufeff\xad me",
    "lines": "one\u2028two\u2029three",
    "tags": "hi\U000e0041\U000e007f",
    "half a pair": "a\ud83d",
}


@pytest.mark.parametrize("text", DECEIVING.values(), ids=DECEIVING)
@pytest.mark.parametrize("how", ["string", "cell", "text", "log"])
def test_a_text_shows_what_would_turn_or_hide_it(how: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    if how == "cell":
        rows = output.table("", "text")
        rows.add_row(text)
        output.out.print(rows)
    elif how == "log":
        print(output.PlainLines().format(logging.makeLogRecord({"msg": "%s", "args": (text,)})))
    else:
        output.out.print(text if how == "string" else Text(text), markup=False)
    printed = capsys.readouterr().out
    assert not output.CONTROL.search(printed)
    answer = printed.encode().decode("unicode-escape", "surrogatepass")
    assert all(sign in answer for sign in output.CONTROL.findall(text)), "each is told by its number"


def test_every_sign_that_cannot_be_seen_is_shown_but_for_those_that_writing_needs() -> None:
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    unseen = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in kinds}
    needed = {*"\t\n", *NUMBER_SIGNS, *JOINERS, *HIEROGLYPHS}
    assert {sign for sign in unseen if not output.CONTROL.search(sign)} == unseen & needed


@pytest.mark.parametrize(
    "text", ["\N{WOMAN}\u200d\N{PERSONAL COMPUTER}", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"]
)
def test_what_writing_needs_is_shown_as_it_is(text: str) -> None:
    assert output.shown(text) == text


def test_json_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    text = "pay \u202e001 \x1b[2J"
    output.print_json({"text": text})
    assert json.loads(capsys.readouterr().out) == {"text": text}


def test_what_programs_read_is_untouched(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"text": "\x1b[2J\n"})
    assert json.loads(capsys.readouterr().out) == {"text": "\x1b[2J\n"}
    with pytest.raises(typer.Exit):
        output.fail("kafka://ada:geheim@host \x1b[2J")
    assert capsys.readouterr().err == "error: kafka://***@host \\x1b[2J\n"


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize("quiet", [True, False])
def test_a_traceback_shows_no_values_and_no_secret(quiet: bool, capsys: pytest.CaptureFixture[str]) -> None:
    output.configure_logging("INFO", quiet=quiet)
    private = "what somebody " + "said"
    try:
        raise ValueError("s3://ada:geheim@bucket")
    except ValueError:
        logger("query").exception("answer failed")
    answer = capsys.readouterr().err
    assert "answer failed" in answer
    assert private not in answer
    assert "geheim" not in answer


def test_progress_tells_the_rate_and_what_is_left_and_is_due_each_ten_seconds() -> None:
    now = 100.0
    pace = Pace(lambda: now)
    assert not pace.is_due()
    now = 110.0
    assert pace.describe(500, 1000, 4000) == "500 turns, 50/s, about 30 s left"
    assert pace.describe(500, 1000, 400_000) == "500 turns, 50/s, about 66 min left"
    assert pace.describe(500, 0, None) == "500 turns, 50/s"
    assert (pace.is_due(), pace.is_due()) == (True, False)


def test_a_wrong_setting_is_told_in_our_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMGAS_PARTITIONS", "abc")
    with pytest.raises(typer.Exit):
        output.settings()
    told = capsys.readouterr().err
    assert "EMGAS_PARTITIONS: must be a whole number" in told
    assert "Input should" not in told
