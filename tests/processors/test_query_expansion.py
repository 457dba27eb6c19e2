"""Words that mean nearly the same: families of one stem, synonyms, members of a kind, and how they count."""

from __future__ import annotations

import numpy as np
import pytest

from lab.catalogue import POLICIES
from lab.retrievers.literal import LITERAL
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from processors.lexicon.associations import ASSOCIATIONS
from processors.lexicon.query_expansion import ALONE, ASSOCIATION, FAMILY, MEMBER, SYNONYM, SYNONYMS
from processors.lexicon.word_families import akin, family
from processors.recall.answer.explanation import explanations
from processors.recall.ranking.edge_scores import find_mentions
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.retrieval.recall import RecallOptions, recall
from processors.recall.retrieval.retrieval import retrieve
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.graph.view import GraphView
from tests.support.builders import turn_recorded


def concepts(text: str) -> tuple[Concept, ...]:
    return tuple(Concept(word, word, 0.5, 1) for word in dict.fromkeys(text.split()))


def question(text: str) -> Extraction:
    return Extraction(concepts(text), True, len(text.split()))


def talk(*turns: str) -> GraphView:
    """Fold turns of concepts, each in a session of its own."""
    graph = Graph("g")
    for number, text in enumerate(turns):
        where = {"id": f"t{number}", "session": f"s{number}", "speaker": "Ada", "text": text, "at": 1_000_000 + number}
        facts = {"question": False, "tokens": len(text.split()), "concepts": list(concepts(text))}
        graph.fold(turn_recorded(**where, **facts, graph="g", role=None, extractor="by hand"))
    return graph.view()


def shares(view: GraphView, words: str, text: str = "") -> dict[tuple[str, str], float]:
    """Return (word of the question, relative) → share."""
    meant = find_query_terms(view, question(words), text or words)
    existing = [view.ids[number] for number in meant.words]
    names = dict(enumerate([*existing, *("" for _ in (*meant.dates, *meant.speakers)), *meant.unknown]))
    relatives = zip(meant.relatives.concept, meant.relatives.row, meant.relatives.share, strict=True)
    return {(names[row], view.ids[concept]): share for concept, row, share in relatives}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paint", "painter"),
        ("inspire", "inspiration"),
        ("allergy", "allergic"),
        ("write", "writer"),
        ("donate", "donation"),
        ("creative", "creativity"),
        ("swim", "swimmer"),
        ("happy", "happiness"),
        ("adopt", "adoption"),
    ],
)
def test_words_of_one_stem_are_a_family_both_ways(one: str, other: str) -> None:
    assert akin(one, other)
    assert akin(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("care", "career"),
        ("part", "party"),
        ("store", "story"),
        ("plan", "plant"),
        ("star", "start"),
        ("mean", "mental"),
    ],
)
def test_words_that_only_begin_alike_are_no_family(one: str, other: str) -> None:
    assert not akin(one, other)
    assert not akin(other, one)


def test_a_family_is_found_among_lines_without_the_word_itself() -> None:
    words = ["paint", "painter", "pain", "repaint", "painting", "art", "artist", "咖啡", "喝咖啡"]

    def alike(prefix: str) -> list[str]:
        return [word for word in words if word.startswith(prefix)]

    assert list(family("paint", alike)) == ["painter", "painting"]
    assert list(family("art", alike)) == []  # too short to tell
    assert list(family("喝咖啡", alike)) == []


def test_every_synonym_is_written_as_the_id_of_a_concept_and_goes_both_ways() -> None:
    language = YakeExtractor().language
    for word, others in SYNONYMS.items():
        assert word not in others
        assert all(word in SYNONYMS[other] for other in others)
        if word.isascii():
            assert language.normal_form(word) == word


@pytest.mark.source("M5")
def test_what_means_nearly_the_same_counts_in_part() -> None:
    view = talk("painter", "purchase", "scooter", "sun")
    by_word = shares(view, "paint buy vehicle")
    assert by_word == {("paint", "painter"): FAMILY, ("buy", "purchase"): SYNONYM, ("vehicle", "scooter"): MEMBER}


def test_a_question_in_one_language_reaches_turns_in_the_other() -> None:
    view = talk("医生", "doctor", "太阳")
    assert shares(view, "hospital", "Which hospital?")[("hospital", "医生")] > 0
    assert shares(view, "医院")[("医院", "doctor")] > 0


def test_a_word_that_is_asked_for_itself_is_nobodys_relative() -> None:
    view = talk("buy", "purchase")
    assert shares(view, "buy purchase") == {}


def test_a_relative_of_two_words_counts_for_the_one_it_is_nearest_to() -> None:
    view = talk("painter", "art", "paint")
    by_word = shares(view, "art paint")
    assert [pair for pair in by_word if pair[1] == "painter"] == [("paint", "painter")]


def test_a_turn_that_says_the_word_and_a_relative_mentions_it_once() -> None:
    view = talk("buy purchase", "purchase", "sun")
    mentions, near = find_mentions(
        Inquiry(view, find_query_terms(view, question("buy"), "buy"), np.zeros(view.concepts)).everything
    )
    assert mentions.counts.tolist() == [[1, 0, 0]]
    assert near.counts.tolist() == [[1, SYNONYM, 0]]


def test_a_word_that_nobody_ever_said_finds_its_relatives_and_says_so() -> None:
    view = talk("purchase", "sun", "sea")
    (passage,) = recall(view, question("buy"), "buy?", RecallOptions()).passages
    explained = next(explanations(view, question("buy"), "buy?", passages=[passage.number]))
    assert view.passage_id[passage.number] == "t0"
    assert sum(explained.terms.values()) == pytest.approx(passage.score)
    assert [(each.concept, each.distance, each.weight) for each in explained.mentions] == [("purchase", 0, SYNONYM)]
    assert not retrieve(view, question("buy"), "buy?", RecallOptions("literal", LITERAL), policies=POLICIES).passages


@pytest.mark.parametrize(
    ("asked", "mentioned", "language"),
    [("work", "payroll", "en"), ("pet", "leash", "en"), ("工作", "入职", "zh"), ("对象", "领证", "zh")],
)
def test_what_is_mentioned_of_a_subject_counts_in_part_for_it(asked: str, mentioned: str, language: str) -> None:
    assert mentioned in ASSOCIATIONS[asked], language
    view = talk(mentioned, "volcano")
    assert shares(view, asked) == {(asked, mentioned): ALONE}
    longer = f"{asked} winter lake"
    assert shares(view, longer) == {(asked, mentioned): ASSOCIATION}


@pytest.mark.parametrize(
    ("text", "subject", "mentioned"),
    [
        ("What does she own?", "own", "truck"),
        ("Where is he from?", "from", "accent"),
        ("他是哪里人？", "哪里人", "口音"),
    ],
)
def test_a_subject_that_is_no_concept_is_found_in_the_text(text: str, subject: str, mentioned: str) -> None:
    view = talk(mentioned, "volcano")
    assert shares(view, "", text) == {(subject, mentioned): ALONE}
    assert not shares(view, "winter lake moon", text)
