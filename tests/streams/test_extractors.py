"""The setting that names an extractor."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emgas.errors import HaltedError
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from state.events.extraction_types import Concept
from streams.plugins import extractors
from streams.settings import WorkerSettings


class Whole:
    """Takes a whole text for its only concept."""

    def __init__(self, language: str, words: Sequence[str] = ()) -> None:
        self.version = " ".join(["whole", language, *words])

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        return self.of_query(text)

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        return Extraction((Concept(text, text, 1.0, 1),), False, 1)


def test_the_default_is_yake() -> None:
    assert isinstance(extractors.load(WorkerSettings().extractor, "en"), YakeExtractor)


def test_another_extractor_is_found_by_its_import_path() -> None:
    assert extractors.load("tests.streams.test_extractors.Whole", "de").version == "whole de"


def test_it_gets_the_words_that_the_dictionary_lacks() -> None:
    assert extractors.load("tests.streams.test_extractors.Whole", "zh", ["蟳埔"]).version == "whole zh 蟳埔"


@pytest.mark.parametrize(
    "path",
    ["nothing.here", "processors.extraction.yake_extractor.Nothing", "unqualified", "emgas.limits.TOP", "builtins.str"],
)
def test_what_gives_no_extractor_is_refused_by_name(path: str) -> None:
    with pytest.raises(HaltedError, match=f"EMGAS_EXTRACTOR={path} names no extractor"):
        extractors.load(path, "en")


def test_a_language_that_nobody_knows_is_told_as_a_setting() -> None:
    with pytest.raises(HaltedError, match=r"EMGAS_LANGUAGE=xx: .*use a code of ISO 639-1, as 'en'"):
        extractors.load(WorkerSettings(broker=None).extractor, "xx")
