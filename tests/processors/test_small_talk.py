"""Rules separate small talk at the beginning and the end of a turn from what it says, in texts by another hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.recall.context.context import ContextPacker, ContextPassage
from processors.recall.context.small_talk import bounds, is_small_talk

ROWS = [
    [*line.split("\t"), "", ""][1:4]
    for line in (Path(__file__).parent / "data" / "small_talk.tsv").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
RIGHT = 0.85  # of the messages, in which exactly the small talk goes: rules for the language reach no more


def left(text: str) -> str:
    start, end = bounds(text)
    return text[start:end].strip()


def test_nothing_that_a_message_says_is_lost() -> None:
    assert len(ROWS) == 100
    lost = [(rest, left(f"{opening}{rest}{closing}")) for opening, rest, closing in ROWS]
    assert [each for each in lost if each[0].strip() not in each[1]] == []


def test_small_talk_around_a_message_goes() -> None:
    exact = [left(f"{opening}{rest}{closing}") == rest.strip() for opening, rest, closing in ROWS]
    assert sum(exact) >= RIGHT * len(ROWS)


@pytest.mark.parametrize("text", ["Yes!", "No.", "Sure.", "是的。", "不。", "It was in Rome.", "Great white sharks."])
def test_an_answer_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@given(st.lists(st.sampled_from(["Hey Mel! ", "We met in May. ", "Thanks! ", "It rained. ", "Bye!"]), max_size=8))
def test_what_is_left_is_a_part_of_the_text_and_begins_and_ends_with_what_it_says(parts: list[str]) -> None:
    text = "".join(parts)
    start, end = bounds(text)
    says = [part for part in parts if not is_small_talk(part)]
    assert text[start:end] if says else (start, end) == (0, len(text))
    assert all(part in text[start:end] for part in says)


def test_a_context_shows_no_small_talk_around_a_turn_and_keeps_whom_its_pronouns_mean() -> None:
    text = "Hey Mel! That's great! He moved yesterday. How are you?"
    packer = ContextPacker(200)
    packer.add(ContextPassage(1, 0, "Ada", text, people=((text.index("He moved") + 2, "Tomas"),)))
    packer.add(ContextPassage(2, 0, "Bob", "Thanks, Ada!"))
    assert packer.context().text == "[1970-01-01 00:00]\nAda: He [Tomas] moved yesterday.\nBob: Thanks, Ada!"
