"""`emgas measure eval` as its users meet it: a small file, through the whole product, to tables or a line of JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console

from evaluation.contexts import COLUMNS
from evaluation.metrics import METRICS
from evaluation.report import show
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.ranking.weights import FEATURES, FLOW_EDGES
from streams.cli.shared import output
from tests.support.cli import emgas, emgas_here

TEXTS = {
    "session_1": [
        "I adopted a ginger cat.",
        "What is the name of the cat?",
        "Biscuit, he is four.",
        "The kettle broke today.",
    ],
    "session_2": ["我在泉州吃了面线糊。", "好吃吗？", "非常好吃。", "The vet prescribed ear drops for Biscuit."],
}
QUESTIONS = [
    ("What did the vet prescribe?", 4, ["D2:4"]),
    ("What is the cat called?", 1, ["D1:3; D1:1"]),
    ("在泉州吃了什么？", 3, ["D2:1"]),
    ("When did the kettle break?", 2, ["D1:4"]),
    ("Who broke the kettle?", 5, ["D1:4"]),
    ("What is not there?", 4, ["D9:9"]),
]


def conversation(name: str) -> dict[str, Any]:
    talk: dict[str, Any] = {}
    for number, (session, texts) in enumerate(TEXTS.items(), start=1):
        talk[f"{session}_date_time"] = f"1:56 pm on {number} May, 2023"
        talk[session] = [
            {"speaker": ("Ada", "Ben")[place % 2], "dia_id": f"D{number}:{place + 1}", "text": text}
            for place, text in enumerate(texts)
        ]
    entries = [{"question": text, "category": kind, "evidence": evidence} for text, kind, evidence in QUESTIONS]
    return {"sample_id": name, "conversation": talk, "qa": entries}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([conversation("x"), conversation("y")]))
    return path


def shown(report: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the tables of a report on a wide terminal: what the command prints without --json."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(output, "out", Console(width=400))
        show(report)
    return capsys.readouterr().out


def test_a_file_is_measured_by_every_method_and_nothing_is_left_behind(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    result = emgas(home, "eval", str(file), "--json")
    report = json.loads(result.out)  # nothing else is on stdout
    assert report["file"] == str(file)
    assert (report["graphs"], report["turns"], report["forgotten"]) == (2, 16, 0)
    assert (report["questions"], report["headline"], report["unusable"]) == (10, 8, 2)
    modes = ["literal", "ppr", "ppr-push", "steady-state", "subtractive", "path", "vector", "staged"]
    structured = ["ppr-structured", "subtractive-structured", "steady-state-structured"]
    expected = ["default", "default-no-spreading", "bm25", *modes, *structured]
    assert list(report["methods"]) == expected
    for method in report["methods"].values():
        times = {"ms_per_query_p50", "ms_per_query_p99", "ms_per_turn"}
        assert set(method) == {*METRICS, *COLUMNS, "by_category", *times}
        assert all(0 <= method[metric] <= 100 for metric in METRICS)
        assert min(method[name] for name in times) > 0
        assert {kind: part["questions"] for kind, part in method["by_category"].items()} == dict.fromkeys(
            ["adversarial", "multi-hop", "open-domain", "single-hop", "temporal"], 2
        )
    assert report["methods"]["default"]["R@5"] > 80
    assert list(report["differences"]) == [
        "default - default-no-spreading",
        "default - bm25",
        "default - ppr-structured",
    ]
    assert set(report["differences"]["default - bm25"]["recall_within_973_tokens"]) == {"mean", "low", "high"}
    tables = shown(report, capsys)
    for word in (*expected, "recall within 973 tokens by category", "single-hop", "16 turns in 2 graphs"):
        assert word in tables
    assert not home.exists(), "the memory of the measurement is not the user's"


class Listening(YakeExtractor):
    """Notes the texts that it is given."""

    turns: ClassVar[set[str]] = set()
    questions: ClassVar[set[str]] = set()

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        self.turns.add(text)
        return super().of_turn(text, speaker=speaker, at=at)

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        self.questions.add(text)
        return super().of_query(text, at)


def test_turns_and_questions_alike_are_extracted_by_the_extractor_of_the_settings(file: Path, tmp_path: Path) -> None:
    extractor = f"{__name__}.Listening"
    emgas_here(tmp_path / "home", "eval", str(file), "--methods", "default", extractor=extractor)
    assert {text for texts in TEXTS.values() for text in texts} <= Listening.turns
    assert {text for text, _, evidence in QUESTIONS if evidence != ["D9:9"]} <= Listening.questions


def test_the_same_file_gives_the_same_numbers(file: Path, tmp_path: Path) -> None:
    def shares() -> dict[str, Any]:
        report = emgas_here(tmp_path / "home", "eval", str(file), "--json", "--methods", "default,ppr-structured").json
        methods = {name: {each: method[each] for each in METRICS} for name, method in report["methods"].items()}
        return {**methods, "differences": report["differences"]}

    assert shares() == shares()


def test_forms_of_talk_are_told_side_by_side_and_weigh_the_same(file: Path, tmp_path: Path) -> None:
    arguments = (f"talk={file}", "--form", "as given,assistant,long", "--methods", "default,bm25", "--fit", "--json")
    report = emgas_here(tmp_path / "home", "eval", *arguments).json
    forms = report["by_form"]
    assert list(forms) == ["talk", "assistant", "long", "mean over forms"]
    for each in forms.values():
        assert list(each["recall_within_973_tokens"]) == ["default", "bm25", "default-fitted", "default-other-forms"]
        assert set(each["differences"]["default - bm25"]) == {"mean", "low", "high"}
    shares = [forms[form]["recall_within_973_tokens"]["default"] for form in ("talk", "assistant", "long")]
    assert forms["mean over forms"]["recall_within_973_tokens"]["default"] == pytest.approx(np.mean(shares), abs=0.01)
    assert set(report["weights"]) == {"none left out", "talk", "assistant", "long", "x", "y"}


def test_a_file_may_have_forms_of_its_own(file: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.json"
    notes.write_text(json.dumps([conversation("z")]))
    arguments = (f"talk={file}:as given,long", str(notes), "--methods", "bm25", "--json")
    report = emgas_here(tmp_path / "home", "eval", *arguments).json
    assert list(report["by_form"]) == ["talk", "long", "notes", "mean over forms"]
    assert [each["file"] for each in report["files"]] == [str(file), f"{file} (long)", str(notes)]


def test_questions_whose_evidence_nobody_labelled_are_measured_by_their_answers(tmp_path: Path) -> None:
    entries = [{"question": "What did the vet prescribe?", "category": 4, "answer": "ear drops"}]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{**conversation("x"), "qa": entries}]))
    report = emgas_here(tmp_path / "home", "eval", str(path), "--methods", "default", "--json").json
    assert (report["questions"], report["unusable"]) == (1, 0)
    assert report["methods"]["default"]["R@5"] == 100


def test_merged_conversations_are_one_graph(file: Path, tmp_path: Path) -> None:
    report = emgas_here(tmp_path, "eval", str(file), "--merged", "--methods", "bm25", "--json").json
    assert (report["graphs"], report["turns"]) == (1, 16)
    assert report["differences"] == {}


def test_shuffled_evidence_is_told_beside_chance(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = emgas_here(tmp_path, "eval", str(file), "--control", "shuffled", "--methods", "default", "--json").json
    assert report["evidence"] == "shuffled"
    assert 0 < report["methods"]["default"]["chance"]["R@5"] <= 62.5, "at most 5 of 8 turns"
    assert "by chance" in shown(report, capsys)


def test_several_files_are_told_apart_and_pooled(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps([conversation("z")]))
    report = emgas_here(tmp_path / "home", "eval", str(file), str(other), "--methods", "default", "--json").json
    assert [each["file"] for each in report["files"]] == [str(file), str(other)]
    assert report["questions"] == 15
    first, second = (each["methods"]["default"]["R@5"] for each in report["files"])
    assert report["methods"]["default"]["R@5"] == pytest.approx((2 * first + second) / 3, abs=0.02)


def test_each_edge_type_can_be_left_out(file: Path, tmp_path: Path) -> None:
    report = emgas_here(tmp_path / "home", "eval", str(file), "--methods", "default", "--ablation", "--json").json
    assert list(report["methods"]) == ["default", *(f"default without {edge}" for edge in FLOW_EDGES)]
    assert [name for name in report["differences"] if name.startswith("default - default without")]


def test_weights_are_fitted_without_the_conversation_that_is_asked(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = emgas_here(tmp_path / "home", "eval", str(file), "--methods", "default", "--fit", "--json").json
    assert list(report["methods"]) == ["default", "default-fitted"]
    assert list(report["weights"]) == ["none left out", "x", "y"]
    assert set(report["weights"]["x"]) == set(FEATURES)
    assert "fitted weights" in shown(report, capsys)


def passages(tmp_path: Path) -> Path:
    corpus = [
        {"title": "Ada Lovelace", "text": "Ada Lovelace wrote notes on the Analytical Engine.", "idx": 0},
        {"title": "Analytical Engine", "text": "The engine was designed by Charles Babbage.", "idx": 1},
        {"title": "Kettle", "text": "A kettle boils water.", "idx": 2},
    ]
    paragraphs = [{**corpus[0], "is_supporting": True}, {**corpus[1], "is_supporting": True}]
    entries = [{"id": "2hop__1", "question": "Who designed what Ada Lovelace wrote on?", "paragraphs": paragraphs}]
    (tmp_path / "tiny_corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "tiny.json").write_text(json.dumps(entries))
    return tmp_path / "tiny.json"


def test_questions_find_the_corpus_that_is_named_after_them(tmp_path: Path) -> None:
    questions = passages(tmp_path)
    alone = emgas_here(tmp_path / "home", "eval", str(questions), "--methods", "default", "--json").json
    assert (alone["turns"], alone["graphs"]) == (3, 1)
    assert alone["methods"]["default"]["R@5"] == 100
    assert list(alone["methods"]["default"]["by_category"]) == ["2-hop"]
    corpus = str(tmp_path / "tiny_corpus.json")
    assert (
        emgas_here(tmp_path / "home", "eval", str(questions), corpus, "--methods", "default", "--json").json["turns"]
        == 3
    )
    named = emgas_here(tmp_path / "home", "eval", str(questions), "--corpus", corpus, "--methods", "bm25", "--json")
    assert named.json["turns"] == 3


def test_a_model_adds_the_dense_methods(file: Path, tmp_path: Path) -> None:
    model = tmp_path / "tiny.npz"
    np.savez(model, words=np.array(["cat", "kettle", "vet", "泉州"]), vectors=np.eye(4))
    report = emgas_here(tmp_path / "home", "eval", str(file), "--dense", str(model), "--json").json
    assert list(report["methods"])[-3:] == ["default+dense", "dense", "bm25+dense"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, (), "cannot be read"),
        ("[{", (), "not valid JSON"),
        ("[]", (), "with at least one"),
        ('[{"text": "hello"}]', (), "neither LoCoMo"),
        ('[{"title": "Rome", "text": "A city."}]', (), "is a corpus: give the file of its questions"),
        ([conversation("x")], ("--methods", "default,magic"), "there is no 'magic'"),
        ([conversation("x")], ("--fit",), "needs two that have questions"),
        ([conversation("x")], ("--form", "longer"), "there is no 'longer'"),
        ([conversation("x")], ("--control", "none of it"), "choose one of none, shuffled"),
        ([conversation("x")], ("--dense", "nowhere"), "nowhere is no model"),
        ([{**conversation("x"), "qa": []}], (), "has no question whose evidence"),
    ],
)
def test_what_cannot_be_measured_is_told(
    tmp_path: Path, content: Any, arguments: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "talk.json"
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    result = emgas_here(tmp_path / "home", "eval", str(path), *arguments, code=2)
    assert message in result.err
    assert result.out == ""
