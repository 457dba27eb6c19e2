"""`emgas look extract` as a user runs it: a text or a file goes in, nothing is stored."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from streams.cli.main import app

MAY_8 = 1683554160000  # 2023-05-08T13:56
TURNS = [
    {"id": "1", "graph": "g", "speaker": "Ada", "text": "My friend Ilse moved to Porto yesterday.", "at": MAY_8},
    {"id": "2", "graph": "g", "speaker": "Ben", "text": "Does she like it?", "at": MAY_8},
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("EMGAS_BROKER", raising=False)
    return tmp_path / "data"


def test_a_text_is_read_and_no_memory_begins(data: Path) -> None:
    result = CliRunner().invoke(app, ["extract", "I moved to Porto.", "--speaker", "Ada"])
    assert result.exit_code == 0, result.output
    assert "Ada  home: Porto" in result.output
    assert not data.exists()


def test_a_file_is_read_as_one_session(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, TURNS)))
    result = CliRunner().invoke(app, ["extract", str(file), "--json"])
    first, second = orjson.loads(result.stdout)["turns"]
    assert [each["since"] for each in first["times"]] == ["2023-05-07T00:00:00"]
    assert second["mentions"][0]["means"] == "Ilse"
    assert not data.exists()
