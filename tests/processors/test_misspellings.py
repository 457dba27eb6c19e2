"""What was meant by a word that nobody ever said (tests/stories/asking.txt): for how much, and what is left alone."""

from __future__ import annotations

import pytest

from processors.recall.ranking.misspellings import WORTH, find_corrections
from tests.support.stories import Story

TEXTS = (
    "Biscuit the cat was at the vet.",
    "The winner of the race got a medal.",
    "我们在海边吃了饼干。",
    "Grandmother repairs clocks.",
)


@pytest.fixture
def story() -> Story:
    story = Story()
    for number, text in enumerate(TEXTS):
        story.tell(f"t{number}", text)
    return story


@pytest.mark.source("H11")
def test_an_explanation_says_for_how_much_a_misspelt_word_counts(story: Story) -> None:
    best = story.ask("What about bisciut?", explain=True).passages[0]
    assert best.why is not None
    (mention,) = [each for each in best.why.mentions if each.distance == 0]
    assert (mention.concept, 0 < mention.weight < WORTH) == ("biscuit", True)


@pytest.mark.parametrize("written", ["winter", "winners", "bat", "vat", "x1234", "饼千", "submarine", "grand"])
def test_what_stands_in_a_dictionary_or_is_too_short_is_no_error(story: Story, written: str) -> None:
    assert find_corrections(story.life.graph.view(), written) == {}
