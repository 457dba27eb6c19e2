"""The fast extractor keeps the contract of extractors, and differs from YAKE's in weights alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from processors.extraction.extractor import Extraction
from processors.extraction.fast_extractor import FastExtractor
from processors.extraction.yake_extractor import YakeExtractor
from streams.plugins import extractors
from tests.contracts.extractor_contract import AT, ExtractorContract

TEXTS = (
    "Yesterday Ada repaired the kettle in New York, and the kettle whistled.",
    "昨天艾达在深圳修好了水壶，水壶响了。",
    "I live in Lisbon now.",
)


class TestFastExtractor(ExtractorContract):
    extractor = FastExtractor()


@pytest.mark.source("M13")
@pytest.mark.parametrize("text", TEXTS)
def test_a_fast_extractor_and_a_precise_one_find_the_same_and_weigh_it_differently(text: str) -> None:
    names = ("yake_extractor.YakeExtractor", "fast_extractor.FastExtractor")
    precise, fast = (extractors.load(f"processors.extraction.{name}", "en") for name in names)
    one, other = (each.of_turn(text, speaker="Ada", at=AT) for each in (precise, fast))
    assert unweighed(one) == unweighed(other)
    assert {each.id: each.weight for each in one.concepts} != {each.id: each.weight for each in other.concepts}
    assert precise.version != fast.version, "what is recorded names who found it"


def unweighed(extraction: Extraction) -> tuple[object, ...]:
    every = (replace(each, weight=0.0) for each in (*extraction.concepts, *extraction.phrases))
    concepts = sorted(every, key=lambda each: each.id)
    return concepts, extraction.times, extraction.tokens, extraction.question, extraction.relations


@pytest.mark.source("M13")
def test_what_is_said_more_often_and_earlier_weighs_more_and_a_name_more_than_another_word() -> None:
    weights = {each.id: each.weight for each in FastExtractor().of_turn(TEXTS[0], speaker="Bob", at=AT).concepts}
    assert weights["kettle"] > weights["repair"]
    assert weights["ada"] > weights["repair"]


def test_the_fast_one_reads_no_score_of_yake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("processors.extraction.yake_extractor.word_scores", None)
    assert FastExtractor().of_turn(TEXTS[0], speaker="Ada", at=AT).concepts
    with pytest.raises(TypeError):
        YakeExtractor().of_turn(TEXTS[0], speaker="Ada", at=AT)
