"""`emgas admin quota`, as an operator runs it."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import emgas_here


def test_a_quota_is_set_shown_used_up_and_lifted(tmp_path: Path) -> None:
    assert emgas_here(tmp_path, "quota", "ada", "--turns", "2", "--json").json["turns"] == 2
    for number in range(2):
        emgas_here(tmp_path, "add", "ada", f"The kettle number {number} is red.")
    refused = emgas_here(tmp_path, "add", "ada", "The kettle number 3 is red.", code=1)
    assert "over quota: the quota of graph 'ada' is used up: 2 turns" in refused.err
    assert "2 of 2 turns used" in emgas_here(tmp_path, "quota", "ada").out
    assert "of the former quota, 2 turns" in emgas_here(tmp_path, "quota", "ada", "--lift").out
    emgas_here(tmp_path, "add", "ada", "The kettle number 3 is red.")
    assert "ada has no quota: set one with --turns" in emgas_here(tmp_path, "quota", "ada").out
    assert emgas_here(tmp_path, "quota", "ada", "--json").json["turns"] is None
    assert "bob in ada has no quota" in emgas_here(tmp_path, "quota", "ada", "--subject", "bob").out
    assert "there is no graph adda" in emgas_here(tmp_path, "quota", "adda", code=3).err
    assert "--lift takes no limit" in emgas_here(tmp_path, "quota", "ada", "--lift", "--turns", "2", code=2).err
