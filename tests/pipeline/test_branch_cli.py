"""`emgas replay branch` and `compare` as a user calls them: the demo conversation, folded twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.messages.sessions import EndSession
from emgas.times import DAY_MS
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from streams.cli.replay import branch as branching
from tests.support.cli import ROOT, emgas, emgas_here

DEMO = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"


class Lone:
    """An extractor that finds the longest word of a text, and no other."""

    def __init__(self, language: str) -> None:
        self._yake = YakeExtractor(language)
        self.version = "lone 1"

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        return self._first(self._yake.of_turn(text, speaker=speaker, at=at))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        return self._first(self._yake.of_query(text, at))

    @staticmethod
    def _first(extraction: Extraction) -> Extraction:
        words = [concept for concept in extraction.concepts if not concept.id.startswith("@")]
        kept = tuple(sorted(words, key=lambda concept: (-len(concept.id), concept.id))[:1])
        return Extraction(kept, question=extraction.question, tokens=extraction.tokens)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data directory that holds the demo conversation."""
    data = tmp_path_factory.mktemp("data")
    emgas_here(data, "publish", str(DEMO), partitions="2")
    return data


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    entries = [
        {"graph": "demo", "text": "What did Dr. Okafor prescribe for Biscuit's ear?", "evidence": ["demo-033"]},
        {"graph": "demo", "text": "敦煌的民宿叫什么名字？"},
    ]
    file.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return file


def digests(data: Path) -> dict[str, str]:
    digest_of = emgas_here(data, "replay", "digest", "--json", partitions="2").json["graphs"]
    assert len(digest_of) == 2
    return dict(digest_of)


def test_a_branch_that_changes_nothing_is_the_same_memory(data: Path, tmp_path: Path) -> None:
    into = str(tmp_path / "branch")
    first = emgas_here(data, "replay", "branch", "--into", into, "--json", partitions="2").json
    assert (first["turns"], first["accepted"], first["rejected"]) == (119, 119, 0)
    assert digests(tmp_path / "branch") == digests(data)
    again = emgas_here(data, "replay", "branch", "--into", into, "--json", partitions="2").json
    assert (again["turns"], again["requests"]) == (0, 0), "what was sent is not sent again"
    assert digests(tmp_path / "branch") == digests(data)


def test_a_branch_that_is_brought_up_to_date_keeps_what_was_said_again_after_it_was_forgotten(tmp_path: Path) -> None:
    data, branch = tmp_path / "memory", tmp_path / "branch"

    def say(name: str, text: str) -> None:
        turn = {"id": name, "graph": "g", "speaker": "Ada", "text": text, "at": 1_700_000_000_000}
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(turn), encoding="utf-8")
        emgas_here(data, "publish", str(file), partitions="1")

    def brought_up_to_date() -> dict[str, str]:
        emgas_here(data, "replay", "branch", "--into", str(branch), partitions="1")
        return dict(emgas_here(branch, "replay", "digest", "--json", partitions="1").json["graphs"])

    say("t1", "The kettle broke.")
    emgas_here(data, "forget", "g", "--concept", "kettle", partitions="1")
    say("t2", "The kettle is repaired.")
    first = brought_up_to_date()
    assert brought_up_to_date() == first, "nothing was said, so nothing changes"
    say("t3", "The kettle whistles.")
    assert brought_up_to_date() == emgas_here(data, "replay", "digest", "--json", partitions="1").json["graphs"]
    reply = emgas_here(branch, "query", "g", "kettle?", "--json", partitions="1").json
    assert [seed["id"] for seed in reply["seeds"]] == ["kettle"]


def lived(tmp_path: Path) -> Path:
    """Return a data directory in which more was forgotten at once than a request may name, and a graph is shared."""
    data, file = tmp_path / "memory", tmp_path / "many.jsonl"
    turns = [
        {"id": f"t{n}", "graph": graph, "speaker": "Ada", "text": f"Kettle number{n} whistles.", "session": "s"}
        | {"at": 1_700_000_000_000 + n}
        for graph in ("g", "h")
        for n in range(130)
    ]
    file.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    emgas_here(data, "publish", str(file), partitions="1")
    emgas_here(data, "forget", "g", "--session", "s", partitions="1")
    emgas_here(data, "end", "h", "s", partitions="1")
    emgas_here(data, "grant", "h", "bob", "--right", "read", partitions="1")
    return data


def test_a_branch_of_a_memory_that_forgot_very_many_turns_at_once_is_the_same_memory(tmp_path: Path) -> None:
    data, branch = lived(tmp_path), tmp_path / "branch"
    made = emgas_here(data, "replay", "branch", "--into", str(branch), "--json", partitions="1").json
    assert (made["turns"], made["accepted"], made["rejected"]) == (260, 260, 0)
    here = emgas_here(data, "replay", "digest", "--json", partitions="1").json["graphs"]
    assert emgas_here(branch, "replay", "digest", "--json", partitions="1").json["graphs"] == here
    assert emgas_here(branch, "replay", "verify", "--json", partitions="1").json["match"]


def test_an_unfinished_branch_does_not_open_until_the_same_command_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, branch = lived(tmp_path), tmp_path / "branch"

    async def refuse(*_: object) -> None:
        raise TransportError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(branching, "_request", refuse)
        result = emgas_here(data, "replay", "branch", "--into", str(branch), code=1, partitions="1")
        assert "the disk is full" in result.err
    for command in (["query", "g", "kettle?"], ["replay", "verify"], ["graphs"], ["replay", "digest"]):
        result = emgas_here(branch, *command, code=1, partitions="1")
        error = " ".join(result.err.split())
        assert "is an unfinished branch of" in error
        assert "Run that command again to finish it, or remove the directory" in error
    emgas_here(data, "replay", "branch", "--into", str(branch), partitions="1")
    here = emgas_here(data, "replay", "digest", "--json", partitions="1").json["graphs"]
    assert emgas_here(branch, "replay", "digest", "--json", partitions="1").json["graphs"] == here


def test_what_was_forgotten_is_not_forgotten_again_when_a_branch_was_cut_off_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cut comes after the request and what was said since: sent again, it would forget that too."""
    data, branch = tmp_path / "memory", tmp_path / "branch"
    for name, text in (("t1", "The kettle broke."), ("t2", "The kettle is repaired.")):
        file = tmp_path / f"{name}.jsonl"
        turn = {"id": name, "graph": "g", "speaker": "Ada", "text": text, "at": 1_700_000_000_000}
        file.write_text(json.dumps(turn), encoding="utf-8")
        emgas_here(data, "publish", str(file), partitions="1")
        if name == "t1":
            emgas_here(data, "forget", "g", "--concept", "kettle", partitions="1")
    emgas_here(data, "end", "g", partitions="1")
    sent = branching._request  # noqa: SLF001 - what a kill would interrupt

    async def killed_at_the_end(memory: Any, request: Any) -> None:
        if isinstance(request, EndSession):
            raise TransportError("killed")
        await sent(memory, request)

    with monkeypatch.context() as broken:
        broken.setattr(branching, "_request", killed_at_the_end)
        emgas_here(data, "replay", "branch", "--into", str(branch), code=1, partitions="1")
    emgas_here(data, "replay", "branch", "--into", str(branch), partitions="1")
    here = emgas_here(data, "replay", "digest", "--json", partitions="1").json["graphs"]
    assert emgas_here(branch, "replay", "digest", "--json", partitions="1").json["graphs"] == here


def test_a_memory_that_is_no_branch_is_not_made_one(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    emgas_here(other, "publish", str(DEMO), partitions="2")
    result = emgas_here(data, "replay", "branch", "--into", str(other), code=2, partitions="2")
    assert "holds a memory that is not a branch" in " ".join(result.err.split())
    assert digests(other)


def test_a_branch_of_one_memory_is_not_taken_for_one_of_another(data: Path, tmp_path: Path) -> None:
    emgas_here(data, "replay", "branch", "--into", str(tmp_path / "branch"), partitions="2")
    emgas_here(tmp_path / "other", "publish", str(DEMO), partitions="2")
    result = emgas_here(
        tmp_path / "other", "replay", "branch", "--into", str(tmp_path / "branch"), code=2, partitions="2"
    )
    assert "is a branch of" in " ".join(result.err.split())


def test_a_branch_with_another_extractor_and_life_is_compared_question_by_question(
    data: Path, tmp_path: Path, questions: Path
) -> None:
    into = str(tmp_path / "branch")
    options = "--extractor", "tests.pipeline.test_branch_cli.Lone", "--preset", "elephant", "--set", "half-life=1d"
    before = digests(data)
    emgas_here(data, "replay", "branch", "--into", into, *options, partitions="2")
    assert digests(data) == before, "a branch changes nothing of what it is made from"
    lived = emgas_here(tmp_path / "branch", "configure", "demo", "--json", partitions="2").json
    assert (lived["preset"], lived["settings"]["half_life"]) == ("elephant", DAY_MS)
    compared = emgas(data, "replay", "compare", str(questions), "--into", into, "--json", partitions="2").json
    assert compared["here"]["turns"] == compared["there"]["turns"] == 119
    assert compared["there"]["concepts"] < compared["here"]["concepts"]
    assert compared["recall"]["here"] == 1.0
    assert "demo-033" in compared["questions"][0]["here"]
    assert 0 <= compared["overlap"] < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the branch needs a place"),
        (["--into", "{data}"], "is the memory's own place"),
        (["--into", "{tmp}", "--set", "half-life=long"], "is not a duration"),
        (["--into", "{tmp}", "--set", "haste=3"], "haste"),
        (["--into", "{tmp}", "--preset", "goldfish"], "choose one of default"),
        (["--to-prefix", "two", "--extractor", "a.b"], "--extractor needs --into"),
    ],
)
def test_a_wrong_call_is_refused_and_says_what_to_do(
    data: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    arguments = [option.format(data=data, tmp=tmp_path / "b") for option in options]
    result = emgas_here(data, "replay", "branch", *arguments, code=2, partitions="2")
    assert message in " ".join(result.err.split())


def test_a_bad_line_of_questions_is_named(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"graph": "demo", "text": "ok"}\n{"graph": "demo"}\n', encoding="utf-8")
    result = emgas_here(data, "replay", "compare", str(file), "--into", str(tmp_path / "b"), code=2, partitions="2")
    assert "line 2: text" in " ".join(result.err.split())
