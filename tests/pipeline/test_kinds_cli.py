"""`emgas recent, end, pause, resume, grant, revoke`, and kinds of memory in `query`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import emgas, emgas_here
from tests.support.clocks import DAY, NOON

SAID = {
    "ada": ["Biscuit the cat has ear mites.", "The vet prescribed ear drops for Biscuit.", "Onions are cheap."],
    "team": ["The release is on Friday.", "Ear drops are no topic for a team."],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory where two graphs hold a conversation each."""
    data = tmp_path_factory.mktemp("data")
    turns = [
        {"id": f"t{n}", "graph": graph, "speaker": "Ada", "text": text, "session": "talk", "at": NOON + n}
        for graph, texts in SAID.items()
        for n, text in enumerate(texts)
    ]
    emgas(data, "publish", "-", stdin="\n".join(map(json.dumps, turns)).encode(), partitions="2")
    return data


@pytest.mark.source("H1", "S14")
def test_what_is_in_mind_is_told_and_asked(data: Path) -> None:
    told = emgas_here(data, "recent", "ada", "--limit", "2").out
    assert "talk  working" in told
    assert (SAID["ada"][0] in told, SAID["ada"][1] in told) == (False, True)
    assert emgas_here(data, "recent", "ada", "--json").json["total"] == 3
    assert "there is no graph eve" in emgas_here(data, "recent", "eve", code=3).err
    asked = ("query", "ada", "which drops?", "--kind", "working", "--in", "talk", "--json")
    assert [each["id"] for each in emgas_here(data, *asked).json["passages"]] == ["t1"]
    then = emgas_here(data, "query", "ada", "and then?", "--json").json
    assert [each["id"] for each in then["passages"]] == ["t2", "t1", "t0"]
    assert "choose one of all, working, episodic" in emgas_here(data, "query", "ada", "x", "--kind", "none", code=2).err


@pytest.mark.source("P44")
def test_several_graphs_are_asked_at_once(data: Path) -> None:
    merged = emgas_here(data, "query", "ada", "ear drops", "--also", "team", "--also", "eve", "--json").json
    assert [(each["graph"], each["passage"]["id"]) for each in merged["passages"][:2]] == [
        ("ada", "t1"),
        ("team", "t1"),
    ]
    told = emgas_here(data, "query", "ada", "ear drops", "--also", "team", "--also", "eve")
    assert "no topic for a team" in told.out
    assert "eve: there is no such graph yet" in told.err


@pytest.mark.source("M21")
def test_a_graph_is_paused_and_resumed(data: Path) -> None:
    told = emgas_here(data, "pause", "team", "--recording").out
    assert "recording is paused; recalling is on" in told
    turn = json.dumps({"id": "t9", "graph": "team", "speaker": "Ada", "text": "A secret."})
    emgas_here(data, "publish", "-", stdin=turn.encode(), code=1)
    paused = emgas_here(data, "pause", "team", "--recalling", "--json").json
    assert paused == {"graph": "team", "recording": False, "recalling": False, "unrecorded": 1}
    assert "recalling is paused in team" in emgas_here(data, "query", "team", "release?").out
    resumed = emgas_here(data, "resume", "team")
    assert "recording is on; recalling is on" in resumed.out
    assert "not recorded while paused: 1 turn" in resumed.err


@pytest.mark.source("P44")
def test_rights_are_granted_and_revoked(data: Path) -> None:
    assert "planner" in emgas_here(data, "grant", "team", "planner", "--right", "read", "--right", "write").out
    gone = emgas_here(data, "revoke", "team", "planner", "--right", "write", "--json").json
    assert gone == {"graph": "team", "access": {"planner": ["read"]}}
    assert "nothing to revoke" in emgas_here(data, "revoke", "team", "eve", "--right", "read", code=1).err
    assert "choose one of read, write" in emgas_here(data, "grant", "team", "eve", "--right", "all", code=2).err
    assert emgas_here(data, "query", "team", "release?", "--json").json["passages"], "who runs the memory may"


@pytest.mark.source("S1", "S16", "P38")
def test_a_conversation_is_ended_and_the_next_inherits_what_it_was_about(data: Path) -> None:
    ended = emgas_here(data, "end", "ada", "talk", "--json").json
    assert (ended["status"], ended["by"]) == ("accepted", "extractive 1")
    assert "ear mites" in ended["summary"]
    assert "nothing to end" in emgas_here(data, "end", "ada", "talk", code=1).err
    assert emgas_here(data, "end", "eve", code=3).err
    assert "(ended, said)" in emgas_here(data, "recap", "ada").out
    turn = json.dumps(
        {"id": "n", "graph": "ada", "speaker": "Ada", "text": "Hello!", "session": "new", "at": NOON + DAY}
    )
    emgas_here(data, "publish", "-", stdin=turn.encode())
    told = emgas_here(data, "recent", "ada").out
    assert "before, in talk" in told
    assert "ear mites" in told
