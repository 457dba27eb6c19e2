"""`emgas configure, forget, themes, timeline` as a user calls them, on one embedded log that the tests share."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from state.events.memory_settings import PRESETS, MemorySettings
from streams.cli.shared.durations import milliseconds, spoken
from streams.cli.shared.line_chart import Series, line_chart
from streams.settings import Settings
from streams.transport.embedded.log import EmbeddedLog
from tests.support.cli import ROOT, emgas, emgas_here
from tests.support.clocks import DAY, NOON

WEEKS = 6
SAID = [
    (0, "The ginger cat sleeps on the red kettle."),
    (1, "The ginger cat broke the red kettle."),
    (2, "The ginger cat sleeps again."),
    (WEEKS * 7, "A lighthouse, and nothing else."),
]


def turns(graph: str) -> bytes:
    said = [
        {"id": f"t{number}", "graph": graph, "speaker": "Ada", "text": text, "at": NOON + day * DAY, "session": "s1"}
        for number, (day, text) in enumerate(SAID)
    ]
    return "\n".join(json.dumps(turn) for turn in said).encode()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory whose log holds `ada`, who forgets within weeks, and `bob`, who lives by default."""
    data = tmp_path_factory.mktemp("data")
    emgas_here(data, "configure", "ada", "--preset", "forgetful", "--least-turns", "3", partitions="2")
    emgas(data, "publish", "-", stdin=turns("ada") + b"\n" + turns("bob"), partitions="2")
    return data


def test_graphs_and_what_was_said_in_them_are_shown(data: Path) -> None:
    assert emgas_here(data, "graphs").out.split() == ["ada", "bob"]
    assert emgas_here(data, "graphs", "--json").json == {"graphs": ["ada", "bob"]}
    held = {each["graph"]: each["turns"] for each in emgas_here(data, "graphs", "--long", "--json").json["graphs"]}
    assert held["bob"] == len(SAID)
    said = emgas_here(data, "turns", "bob").out
    assert [text for _, text in SAID if text in said] == [text for _, text in SAID]
    last = emgas_here(data, "turns", "bob", "--limit", "2", "--json").json
    assert (last["total"], [turn["id"] for turn in last["turns"]]) == (4, ["t2", "t3"])
    first = emgas_here(data, "turns", "bob", "--concept", "kettle", "--oldest", "--limit", "1", "--json").json
    assert (first["total"], [turn["id"] for turn in first["turns"]]) == (2, ["t0"])
    assert "there is no graph eve" in emgas_here(data, "turns", "eve", code=3).err


def test_a_graph_forgets_everything_only_if_somebody_is_sure(tmp_path: Path) -> None:
    emgas_here(tmp_path, "publish", "-", stdin=turns("ada"), partitions="2")
    assert "confirm with --yes" in emgas_here(tmp_path, "forget", "ada", "--all", "--ask", code=2).err
    assert "--all alone" in emgas_here(tmp_path, "forget", "ada", "--all", "--yes", "--turn", "t0", code=2).err
    told = emgas_here(tmp_path, "forget", "ada", "--all", "--yes", "--json").json
    assert told["turns"] == len(SAID)
    assert emgas_here(tmp_path, "turns", "ada", "--json").json["turns"] == []
    assert emgas_here(tmp_path, "graphs").out.split() == ["ada"]


def settings_of(data: Path, graph: str, *options: str) -> dict[str, Any]:
    described = emgas_here(data, "configure", graph, *options, "--json").json
    return {"preset": described["preset"], **described["settings"]}


def test_what_is_configured_is_in_force_and_what_is_not_given_stays(data: Path) -> None:
    before = settings_of(data, "ada")
    assert before == {"preset": "forgetful", **dict(PRESETS["forgetful"]), "least_turns": 3}
    after = settings_of(data, "ada", "--idle", "90m", "--prune-below", "0.2")
    assert after == {**before, "idle": 90 * 60_000, "prune_below": 0.2}
    assert settings_of(data, "ada", "--preset", "forgetful", "--least-turns", "3") == before


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--prune-below", "2", "prune_below: must be less than or equal to 1"),
        ("--half-life", "40000d", "'--half-life': 40000d is out of bounds: use 1ms to 36600d"),
        ("--half-life", "0s", "'--half-life': 0s is out of bounds: use 1ms to 36600d"),
        ("--grace", "99999999999w", "'--grace': 99999999999w is out of bounds: use 0 to 366d"),
        ("--long-windows", "1" + "0" * 30, "long_windows: must be less than or equal to 9007199254740992"),
        ("--long-recalls", "1" + "0" * 30, "long_recalls: must be less than or equal to 9007199254740992"),
        ("--preset", "goldfish", "there is no preset goldfish: choose one of default, forgetful, elephant"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_the_setting_and_the_memory_goes_on(
    data: Path, option: str, value: str, told: str
) -> None:
    before = settings_of(data, "ada")
    said = emgas_here(data, "configure", "ada", option, value, code=2).err
    assert told in " ".join(said.replace("│", " ").split())
    assert settings_of(data, "ada") == before


@pytest.mark.parametrize("command", ["configure", "themes", "timeline"])
def test_an_unknown_graph_is_told_with_its_own_exit_code(data: Path, command: str) -> None:
    assert "there is no graph nobody" in emgas_here(data, command, "nobody", code=3).err


def test_forgetting_in_an_unknown_graph_or_naming_nothing_is_refused(data: Path) -> None:
    assert "there is no graph" in emgas_here(data, "forget", "nobody", "--concept", "cat", code=3).err
    assert "nothing named to forget" in emgas_here(data, "forget", "ada", code=2).err
    assert "nothing to forget" in emgas_here(data, "forget", "bob", "--concept", "submarine", code=1).err


def test_what_is_pinned_is_counted_until_it_is_unpinned(data: Path) -> None:
    assert "there is no graph" in emgas_here(data, "pin", "nobody", "--concept", "cat", code=3).err
    assert "nothing to pin" in emgas_here(data, "pin", "ada", code=2).err
    assert "nothing to unpin" in emgas_here(data, "unpin", "bob", "--concept", "submarine", code=1).err
    told = emgas_here(data, "pin", "bob", "--concept", "kettle", "--turn", "t3")
    assert "bob has 1 turn and 1 concept pinned" in told.out
    after = json.loads(emgas_here(data, "unpin", "bob", "--concept", "kettle", "--turn", "t3", "--json").out)
    assert (after["status"], after["pinned"], after["pinned_concepts"]) == ("accepted", 0, 0)


def test_a_user_says_whether_an_answer_was_right(data: Path) -> None:
    assert "there is no graph" in emgas_here(data, "feedback", "nobody", "--right", "t3", code=3).err
    assert "no turns named" in emgas_here(data, "feedback", "bob", code=2).err
    assert "none of these turns" in emgas_here(data, "feedback", "bob", "--wrong", "never", code=1).err
    told = emgas_here(data, "feedback", "bob", "--right", "t3", "--wrong", "t2", "--query", "which kettle?")
    assert "bob took note: 1 right, 1 wrong" in told.out


def test_a_forgotten_concept_is_gone_and_the_log_still_shows_that_it_was_there(data: Path) -> None:
    said = emgas_here(data, "forget", "bob", "--concept", "kettle", "--turn", "t3")
    assert "bob forgot" in said.out
    assert "The log keeps the past" in said.err
    reply = emgas_here(data, "query", "bob", "the kettle and the lighthouse", "--json").json
    assert "t3" not in {passage["id"] for passage in reply["passages"]}
    (kettle,) = emgas_here(data, "timeline", "bob", "--concept", "kettle", "--json").json["concepts"]
    assert kettle["strength"][-1] is None
    assert max(strength or 0 for strength in kettle["strength"]) > 0


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
    said = emgas_here(data, "timeline", "ada", "--svg", str(file))
    assert re.search(r"ginger +│ [▁▂▃▄▅▆▇█]+ +│", said.out)
    assert "2023-05-08" in said.out
    drawn = ElementTree.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314 - we have just written it
    words = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"ginger", "2023-05-08"} <= set(words)


def test_a_concept_that_never_was_is_told_with_the_exit_code_of_what_is_not_there(data: Path) -> None:
    said = emgas_here(data, "timeline", "ada", "--concept", "cat", "--concept", "submarine", code=3)
    assert "graph ada has never contained submarine" in said.err


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory with `old`, which lives by default, and `new`, which came with a preset."""
    data = tmp_path_factory.mktemp("published")
    emgas(data, "publish", "-", stdin=turns("old"), partitions="2")
    emgas_here(data, "publish", "-", "--preset", "elephant", stdin=turns("old") + b"\n" + turns("new"), partitions="2")
    return data


def test_publishing_with_a_preset_configures_graphs_that_are_new_and_leaves_others_alone(published: Path) -> None:
    assert settings_of(published, "new") == {"preset": "elephant", **dict(PRESETS["elephant"])}
    assert settings_of(published, "old")["preset"] == "default"
    emgas_here(published, "publish", "-", "--preset", "mofox", stdin=turns("new"), partitions="2")
    assert settings_of(published, "new")["preset"] == "elephant", "it is not new any more"


def test_what_a_new_graph_is_told_comes_before_its_first_turn(published: Path) -> None:
    log = EmbeddedLog(Settings(data=published).home)
    records = [record for partition in range(2) for record in log.read("emgas.turns", partition, 0)]
    log.close()
    kinds = [json.loads(record.value or b"").get("kind", "turn") for record in records if record.key == b"new"]
    assert kinds[:2] == ["configure", "turn"]
    assert set(kinds[1:]) == {"turn"}


def test_an_unknown_preset_is_a_wrong_call_and_nothing_is_published(published: Path) -> None:
    said = emgas_here(published, "publish", "-", "--preset", "goldfish", stdin=turns("goldie"), code=2)
    assert "there is no preset goldfish: choose one of default, forgetful," in said.err
    assert emgas_here(published, "configure", "goldie", code=3).code == 3


def test_the_doctor_counts_what_is_alive_and_what_has_left(tmp_path: Path) -> None:
    emgas_here(tmp_path, "publish", "-", "--preset", "elephant", stdin=turns("ada"), partitions="2")
    before = emgas_here(tmp_path, "doctor", "--json").json
    emgas_here(tmp_path, "forget", "ada", "--concept", "kettle", "--turn", "t3")
    after = emgas_here(tmp_path, "doctor", "--json").json
    assert {name: before[name] for name in ("graphs", "turns", "topics", "forgotten")} == {
        "graphs": 1,
        "turns": len(SAID),
        "topics": 0,
        "forgotten": 0,
    }
    assert after["turns"] == before["turns"], "ids are known for ever"
    lost = before["concepts"] - after["concepts"]
    assert lost >= 2, "the kettle, and what only t3 said"
    assert after["forgotten"] == lost + 1, "the concepts, and t3"
    assert after["pairs"] < before["pairs"]
    assert f"{after['forgotten']} forgotten" in emgas_here(tmp_path, "doctor").out


def test_themes_are_listed_with_their_concepts_and_since_when(data: Path) -> None:
    listed = emgas_here(data, "themes", "bob", "--json").json
    assert (listed["graph"], listed["found"]) == ("bob", True)
    assert all(set(theme) == {"id", "label", "concepts", "born"} for theme in listed["themes"])
    assert "bob: " in emgas_here(data, "themes", "bob").out


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
    assert milliseconds(text) == expected


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
    said = " ".join(emgas_here(data, "configure", "--help").out.replace("│", " ").split())
    for name, field in MemorySettings.model_fields.items():
        assert f"--{name.replace('_', '-')}" in said
        assert (field.description or "")[1:40] in said


def test_the_tables_in_the_docs_are_what_the_code_says() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: run `scripts/docs`"
