"""BEAM, RealMem and LMEB: files in their documented formats become memories, questions and evidence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from emgas.errors import InvalidMessageError
from evaluation.__main__ import data_sets
from evaluation.command import read_file
from evaluation.folders import read_folder
from evaluation.questions.datasets import read

MARCH_15 = 1_710_460_800_000


def write(path: Path, *objects: Any) -> None:
    """Write objects as JSON, one a line if there are several."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in objects), "utf-8")


def message(number: int, role: str, content: str, **more: str) -> dict[str, Any]:
    return {"id": number, "role": role, "content": content, **more}


BATCH = {
    "batch_number": 1,
    "time_anchor": None,
    "turns": [
        [
            message(0, "user", "My kiln fires at 1,200 degrees. ->-> 1,1", time_anchor="March-15-2024"),
            message(1, "assistant", "That is hot enough for stoneware."),
        ],
        [message(2, "user", "I ordered cobalt glaze. ->-> 1,2")],
    ],
}
PROBING = {
    "abstention": [{"question": "Who taught me?", "rubric": ["nothing"]}],
    "information_extraction": [{"question": "How hot is my kiln?", "source_chat_ids": [0]}],
    "knowledge_update": [{"question": "Which glaze?", "source_chat_ids": {"old": [0], "new": [2, 99]}}],
}


def test_a_chat_of_beam_becomes_a_graph_with_the_messages_that_its_questions_name(tmp_path: Path) -> None:
    write(tmp_path / "100K" / "1" / "chat.json", [BATCH])
    write(tmp_path / "100K" / "1" / "probing_questions" / "probing_questions.json", PROBING)
    data = read_folder(tmp_path / "100K")
    graph = "beam-100K-1"
    assert [turn.id for turn in data.turns] == [f"{graph}/{number}" for number in range(3)]
    assert [turn.text for turn in data.turns][::2] == ["My kiln fires at 1,200 degrees.", "I ordered cobalt glaze."]
    assert [turn.role for turn in data.turns] == ["user", "assistant", "user"]
    assert [turn.at - MARCH_15 for turn in data.turns] == [0, 60_000, 120_000]
    assert {turn.session for turn in data.turns} == {"batch-1"}
    kiln, glaze = data.questions[graph]
    assert (kiln.category, kiln.evidence) == ("information_extraction", {f"{graph}/0"})
    assert glaze.evidence == {f"{graph}/0", f"{graph}/2"}
    assert data.unusable == 1


def test_the_plans_of_a_long_chat_are_read_one_after_the_other_and_the_cut_chat_is_preferred(tmp_path: Path) -> None:
    second = {**BATCH, "turns": [[message(3, "user", "The shelf holds.", time_anchor="March-15-2024")]]}
    write(tmp_path / "chat_trunecated.json", [{"plan-1": [BATCH]}, {"plan-2": [second]}])
    write(tmp_path / "chat.json", [])
    write(tmp_path / "probing_questions" / "probing_questions.json", PROBING)
    turns = read_folder(tmp_path).turns
    assert [turn.session for turn in turns] == ["plan-1/batch-1"] * 3 + ["plan-2/batch-1"]
    assert [turn.at for turn in turns] == sorted({turn.at for turn in turns})


def session(name: str, day: str, *turns: dict[str, Any], memories: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {
        "session_identifier": f"Pottery_1:{name}",
        "session_uuid": name,
        "current_time": day,
        "dialogue_turns": list(turns),
        "extracted_memory": list(memories),
    }


def person() -> dict[str, Any]:
    """Write a person with three sessions and two queries."""
    first = session(
        "aa",
        "2025-12-15 (Monday)",
        {"speaker": "User", "content": "My kiln fires at  1,200 degrees.", "is_query": False},
        {"speaker": "Assistant", "content": "Noted."},
        memories=[{"content": "kiln: 1,200", "source_content_snapshot": "My kiln fires at 1,200 degrees."}],
    )
    used = [{"session_uuid": "aa", "content": "kiln: 1,200"}]
    second = session(
        "bb",
        "2025-12-15 (Monday)",
        {"speaker": "User", "content": "How hot is my kiln?", "is_query": True, "category_name": "Static"},
        {"speaker": "Assistant", "content": "1,200 degrees.", "memory_used": used},
        {"speaker": "User", "content": "And my oven?", "is_query": True},
        {"speaker": "Assistant", "content": "You never said.", "memory_used": []},
    )
    return {"_metadata": {"person_name": "Ada Lo"}, "dialogues": [first, second]}


def test_a_query_of_realmem_is_asked_of_the_sessions_before_its_own(tmp_path: Path) -> None:
    data = read(json.dumps(person()).encode())
    assert list(data.questions) == ["Ada-Lo-bb-0"]
    (question,) = data.questions["Ada-Lo-bb-0"]
    assert (question.text, question.category) == ("How hot is my kiln?", "Static")
    assert question.evidence == {"Ada-Lo-bb-0/aa/0"}
    assert [(turn.id, turn.role, turn.session) for turn in data.turns] == [
        ("Ada-Lo-bb-0/aa/0", "user", "aa"),
        ("Ada-Lo-bb-0/aa/1", "assistant", "aa"),
    ]
    assert data.unusable == 1, "nothing was used to answer the other"
    write(tmp_path / "Ada_Lo_dialogues_256k.json", person())
    assert read_file(tmp_path, None) == data


def task(folder: Path, *, queries: list[dict[str, str]], qrels: str) -> None:
    write(folder / "queries.jsonl", *queries)
    (folder / "qrels.tsv").write_text(qrels, "utf-8")


def test_the_candidates_of_a_scene_of_lmeb_become_a_graph(tmp_path: Path) -> None:
    place = tmp_path / "Talk"
    write(
        place / "corpus.jsonl",
        {"id": "d1", "title": "", "text": "The kiln is hot."},
        {"id": "d2", "title": "Glaze", "text": "Cobalt."},
        {"id": "d3", "title": None, "text": "Another conversation."},
    )
    write(
        place / "candidates.jsonl",
        {"scene_id": "conv_1", "candidate_doc_ids": ["d1", "d2"]},
        {"scene_id": "conv_2", "candidate_doc_ids": ["d3"]},
    )
    one = {"id": "conv_1_q1", "text": "How is the kiln?"}
    other, third = {"id": "conv_2_q1", "text": "Which?"}, {"id": "conv_1_q2", "text": "Which glaze?"}
    task(place / "single", queries=[one, other], qrels="conv_1_q1\td1\t1\nconv_2_q1\td1\t1")
    task(place / "multi", queries=[third], qrels="conv_1_q2\td2\t1\nconv_1_q2\td1\t0")
    data = read_folder(place)
    assert {turn.graph: turn.text for turn in data.turns if turn.graph == "Talk-conv_2"} == {
        "Talk-conv_2": "Another conversation."
    }
    assert [turn.text for turn in data.turns if turn.graph == "Talk-conv_1"] == ["The kiln is hot.", "Glaze\nCobalt."]
    glaze, kiln = data.questions["Talk-conv_1"]
    assert (glaze.category, glaze.evidence) == ("Talk/multi", {"Talk-conv_1/d2"})
    assert (kiln.category, kiln.evidence) == ("Talk/single", {"Talk-conv_1/d1"})
    assert data.questions["Talk-conv_2"] == []
    assert data.unusable == 1, "its document is no candidate"


def test_without_candidates_all_documents_of_lmeb_are_one_graph(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", {"id": "d1", "text": "A kiln."}, {"id": "d2", "text": "A glaze."})
    task(tmp_path, queries=[{"id": "q", "text": "Kiln?"}], qrels="query-id\tcorpus-id\tscore\nq\td1\t1\n")
    data = read_folder(tmp_path)
    assert len({turn.graph for turn in data.turns}) == 1
    assert len({turn.session for turn in data.turns}) == len(data.turns) == 2


def test_folders_of_a_folder_are_data_sets_where_beam_or_lmeb_is_in_them(tmp_path: Path) -> None:
    write(tmp_path / "beam" / "1" / "probing_questions" / "probing_questions.json", PROBING)
    write(tmp_path / "lmeb" / "queries.jsonl", {})
    write(tmp_path / "other" / "notes.json", {})
    write(tmp_path / "talk.json", [])
    assert [each.name for each in data_sets(tmp_path, "")] == ["talk.json", "beam", "lmeb"]


DOCUMENT = {"id": "d", "text": "x"}
NO_PERSON = {"dialogues": [{}], "_metadata": {"person_name": "x"}}
PLACE = "probing_questions/probing_questions.json"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "is no data set"),
        ({PLACE: PROBING}, "no chat.json beside it"),
        ({PLACE: PROBING, "chat.json": [{"turns": [["x"]]}]}, "no chat of BEAM"),
        ({"queries.jsonl": {"id": "q", "text": "?"}}, "no corpus.jsonl in it or above"),
        ({"queries.jsonl": DOCUMENT, "corpus.jsonl": DOCUMENT}, "qrels.tsv cannot be read"),
        ({"queries.jsonl": DOCUMENT, "corpus.jsonl": DOCUMENT, "qrels.tsv": "q"}, "must be query, document and score"),
        ({"queries.jsonl": DOCUMENT, "corpus.jsonl": {"id": "d"}, "qrels.tsv": "q"}, "line 1: must be an object"),
        ({"people.json": NO_PERSON}, "people.json: file: is no file of RealMem"),
    ],
)
def test_a_folder_of_another_form_is_refused_with_what_is_missing(
    files: dict[str, Any], message: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        write(tmp_path / name, content)
    with pytest.raises(InvalidMessageError, match=message):
        read_folder(tmp_path)
