"""What the demo names to go on with runs as it is pasted, also where no environment is active."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from streams.cli.memory.demo import _print_next_steps


@pytest.mark.parametrize(("is_present", "command"), [(True, "emgas"), (False, ".venv/bin/emgas")])
def test_the_commands_to_go_on_with_can_be_pasted(
    is_present: bool, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / ".venv" / "bin" / "emgas"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", str(program.parent) if is_present else str(tmp_path))
    _print_next_steps(Path("kept"))
    answer = capsys.readouterr().out.splitlines()
    assert f"  {command} --data kept look timeline demo" in answer
    assert sum(line.startswith(f"  {command} ") for line in answer) == 3
