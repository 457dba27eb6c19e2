"""`emgas look extract` as a user runs it: a text or a file goes in, nothing is stored."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.support.cli import emgas_here

MAY_8 = 1683554160000  # 2023-05-08T13:56
TURNS = [
    {"id": "1", "graph": "g", "speaker": "Ada", "text": "My friend Ilse moved to Porto yesterday.", "at": MAY_8},
    {"id": "2", "graph": "g", "speaker": "Ben", "text": "Does she like it?", "at": MAY_8},
]


def test_a_text_is_read_and_no_memory_begins(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shown = emgas_here(data, "extract", "I moved to Porto.", "--speaker", "Ada").out
    assert "Ada  home: Porto" in shown
    assert not data.exists()


def test_a_file_is_read_as_one_session(tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "talk.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, TURNS)))
    first, second = emgas_here(data, "extract", str(file), "--json").json["turns"]
    assert [each["since"] for each in first["times"]] == ["2023-05-07T00:00:00"]
    assert second["mentions"][0]["means"] == "Ilse"
    assert not data.exists()
