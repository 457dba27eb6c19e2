"""`emgas configure, forget, themes, timeline` as a user calls them, on one embedded log that the tests share."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from state.events.memory_settings import MemorySettings
from streams.cli.shared.line_chart import Series, line_chart
from streams.cli.shared.times import duration, spoken
from streams.settings import WorkerSettings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import ROOT, emgas, emgas_here
from tests.support.clocks import DAY, NOON

WEEKS = 6
TEXTS = [
    (0, "The ginger cat sleeps on the red kettle."),
    (1, "The ginger cat broke the red kettle."),
    (2, "The ginger cat sleeps again."),
    (WEEKS * 7, "A lighthouse, and nothing else."),
]


def turns(graph: str) -> bytes:
    lines = [
        {"id": f"t{number}", "graph": graph, "speaker": "Ada", "text": text, "at": NOON + day * DAY, "session": "s1"}
        for number, (day, text) in enumerate(TEXTS)
    ]
    return "\n".join(json.dumps(turn) for turn in lines).encode()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory whose log holds `ada`, who forgets within weeks, and `bob`, who lives by default."""
    data = tmp_path_factory.mktemp("data")
    emgas_here(data, "configure", "ada", "--preset", "forgetful", "--least-turns", "3", partitions="2")
    emgas(data, "publish", "-", stdin=turns("ada") + b"\n" + turns("bob"), partitions="2")
    return data


def test_the_timeline_shows_how_a_concept_faded_until_a_window_forgot_it(data: Path) -> None:
    traced = emgas_here(data, "timeline", "ada", "--concept", "ginger", "--points", "43", "--json").json
    assert (traced["times"][0], traced["times"][-1]) == (NOON, NOON + WEEKS * 7 * DAY)
    (ginger,) = traced["concepts"]
    there = [strength for strength in ginger["strength"] if strength is not None]
    assert ginger["strength"] == there + [None] * (43 - len(there))
    assert len(there) == 43, "what was archived goes on fading"
    assert there[-1] < there[3]


def test_the_timeline_is_drawn_for_people_as_a_table_and_as_svg(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "ada.svg"
    result = emgas_here(data, "timeline", "ada", "--svg", str(file))
    assert re.search(r"ginger +│ [▁▂▃▄▅▆▇█]+ +│", result.out)
    assert "2023-05-08" in result.out
    drawn = ElementTree.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314 - we have just written it
    words = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ginger", "2023-05-08"} <= set(words)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with `old`, which lives by default, and `new`, which came with a preset."""
    data = tmp_path_factory.mktemp("published")
    emgas(data, "publish", "-", stdin=turns("old"), partitions="2")
    emgas_here(data, "publish", "-", "--preset", "elephant", stdin=turns("old") + b"\n" + turns("new"), partitions="2")
    return data


def test_what_a_new_graph_is_told_comes_before_its_first_turn(published: Path) -> None:
    log = EmbeddedLog(WorkerSettings(data=published).home)
    records = [record for partition in range(2) for record in log.read("emgas.turns", partition, 0)]
    log.close()
    kinds = [json.loads(record.value or b"").get("kind", "turn") for record in records if record.key == b"new"]
    assert kinds[:2] == ["configure", "turn"]
    assert set(kinds[1:]) == {"turn"}


def test_a_drawing_holds_any_label_as_text_and_leaves_gaps_open() -> None:
    hostile = "</text><script>x</script>&\x01\ud800"
    values = [0.5, 0.6, None, 0.4, None, 0.1, 0.2]
    drawn = ElementTree.fromstring(line_chart(hostile, range(7), [Series(hostile, values)]))  # noqa: S314 - ours
    names = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert "script" not in names
    assert (names.count("polyline"), names.count("circle")) == (2, 1)
    assert drawn[0].text == "</text><script>x</script>&\ufffd\ufffd"


@pytest.mark.parametrize("values", [[], [Series("tea", [0.0])], [Series("tea", [None])], [Series("tea", [1e-9])]])
def test_a_drawing_of_next_to_nothing_is_a_drawing(values: list[Series]) -> None:
    assert line_chart("ada", [NOON], values).startswith("<svg ")


@pytest.mark.parametrize(
    ("text", "expected"), [("90m", 5_400_000), ("7d", 7 * DAY), ("2w", 14 * DAY), ("1.5h", 5_400_000), ("0s", 0)]
)
def test_durations_are_read_as_people_write_them(text: str, expected: int) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1y", "1d2h", "٣d", "soon", "1e3s"])
def test_what_is_no_duration_is_a_wrong_call(data: Path, text: str) -> None:
    assert "is not a duration" in " ".join(emgas_here(data, "configure", "ada", f"--idle={text}", code=2).err.split())


@pytest.mark.parametrize(
    ("duration", "expected"),
    [(0, "0"), (500, "500ms"), (90_000, "1.5m"), (7 * DAY, "7d"), (60 * DAY, "60d"), (59_887_916, "16.64h")],
)
def test_durations_are_shown_in_the_largest_unit_they_fill(duration: int, expected: str) -> None:
    assert spoken(duration) == expected


def test_every_setting_is_an_option_of_configure_that_says_what_it_is(data: Path) -> None:
    help_text = " ".join(emgas_here(data, "configure", "--help").out.replace("│", " ").split())
    for name, field in MemorySettings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in help_text
        assert (field.description or "")[1:40] in help_text


def test_the_tables_in_the_docs_are_what_the_code_says() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: run `scripts/docs`"
