"""What every backend of the `Extractor` seam must do (processors/extraction/extractor.py)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emgas.limits import CONCEPTS_PER_TURN, EARLIEST_MS, LATEST_MS, SPANS_PER_TURN, TEXT_BYTES
from emgas.times import DAY_MS
from processors.extraction.extractor import Extraction, Extractor
from state.events.extraction_types import TimeSpan

AT = 1_683_553_000_000  # 2023-05-08T13:36:40Z
MAY_7 = 1_683_417_600_000  # 2023-05-07T00:00:00Z
SCRIPTS = st.sampled_from("aZé'’-. ,!?\n\t08٣你好密鑰的。，？かナ가ابֱनमस्\u200d\u0301\u202e\u0007🎉ﷺ﷼Ａ①ßİ@:/_#+&;")
TEXTS = (
    st.text()
    | st.text(SCRIPTS, max_size=60)
    | st.lists(st.sampled_from(["Go", "go", "用", "hey", "https://"])).map(" ".join)
)


def assert_invariants(extraction: Extraction) -> None:
    ids = [concept.id for concept in extraction.concepts]
    assert len(ids) == len(set(ids)) <= CONCEPTS_PER_TURN
    assert extraction.tokens >= 0
    assert list(extraction.concepts) == sorted(extraction.concepts, key=lambda concept: (-concept.weight, concept.id))
    assert len(extraction.times) <= SPANS_PER_TURN
    for span in extraction.times:
        assert EARLIEST_MS <= span.since < span.until <= LATEST_MS
    for concept in extraction.concepts:
        assert concept.id == concept.id.strip() != ""
        assert concept.label == concept.label.strip() != ""
        assert type(concept.weight) is float
        assert 0 < concept.weight <= 1
        assert concept.weight == round(concept.weight, 6)
        assert type(concept.count) is int
        assert concept.count >= 1


class ExtractorContract:
    """Inherit, and name the `extractor`: one for all tests, because loading dictionaries takes time."""

    extractor: Extractor

    # one contract, many extractors
    @settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors])
    @example("\u0301", "")
    @example("'s", "\u200b")
    @example("Go", "Will")
    @example("\u202eabc\u202c \u200dﷺ", "İ")
    @given(text=TEXTS, speaker=TEXTS)
    def test_any_text_gives_a_well_formed_extraction(self, text: str, speaker: str) -> None:
        assert_invariants(self.extractor.of_turn(text, speaker=speaker, at=AT))
        assert_invariants(self.extractor.of_query(text))
        assert_invariants(self.extractor.of_query(text, AT))

    def test_the_same_text_gives_the_same_extraction(self) -> None:
        text = "We saw 三只猫 near the old lighthouse, and the lighthouse keeper waved."
        first = self.extractor.of_turn(text, speaker="Ann", at=AT)
        self.extractor.of_turn("Something else entirely, about ships.", speaker="Bob", at=AT)
        assert self.extractor.of_turn(text, speaker="Ann", at=AT) == first

    @pytest.mark.parametrize("at", [EARLIEST_MS, -1, 0, AT, LATEST_MS])
    def test_every_time_within_the_limits_is_accepted(self, at: int) -> None:
        assert_invariants(self.extractor.of_turn("The harbour was empty.", speaker="Ann", at=at))

    @pytest.mark.parametrize(
        "unit", ["lighthouse ", "a-", "a@", "一", "密钥 ", "ﷺ", "a, Bob ", "thank you ", "1.", "? ", "'"]
    )
    def test_the_longest_text_is_read(self, unit: str) -> None:
        text = unit * (TEXT_BYTES // len(unit.encode()))
        assert_invariants(self.extractor.of_turn(text, speaker="Ann", at=AT))

    @pytest.mark.source("M13")
    def test_a_long_text_of_many_words_is_cut_to_the_limit(self) -> None:
        text = " ".join(f"harbour{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}" for i in range(600))
        assert len(self.extractor.of_turn(text, speaker="Ann", at=AT).concepts) == CONCEPTS_PER_TURN

    @pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "🎉🎉", "...", "\u0301"])
    def test_a_text_without_words_has_only_tags(self, text: str) -> None:
        result = self.extractor.of_turn(text, speaker="Ann", at=AT)
        assert [concept.id[0] for concept in result.concepts] == ["@"] * 3
        assert result.tokens == 0
        assert self.extractor.of_query(text) == Extraction((), False, 0)

    def test_a_turn_carries_its_speaker_and_its_date(self) -> None:
        ids = {concept.id for concept in self.extractor.of_turn("Lighthouses!", speaker="Ann Lee", at=AT).concepts}
        assert {"@speaker:ann lee", "@month:2023-05", "@day:2023-05-08"} < ids

    @pytest.mark.source("P11")
    def test_a_turn_tells_what_its_time_expressions_mean(self) -> None:
        result = self.extractor.of_turn("Yesterday the harbour froze.", speaker="Ann", at=AT)
        assert result.times == (TimeSpan("Yesterday", MAY_7, MAY_7 + DAY_MS),)
        assert {"@day:2023-05-07", "@day:2023-05-08"} <= {concept.id for concept in result.concepts}

    def test_a_question_is_resolved_against_the_time_it_is_asked_at(self) -> None:
        text = "What froze yesterday?"
        request = self.extractor.of_query(text, AT)
        assert [span.since for span in request.times] == [MAY_7]
        assert "@day:2023-05-07" in {concept.id for concept in request.concepts}
        assert self.extractor.of_query(text).times == ()

    def test_the_version_names_what_shaped_the_result(self) -> None:
        assert any(character.isdigit() for character in self.extractor.version)
        assert self.extractor.version == self.extractor.version.strip()
