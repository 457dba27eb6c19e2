"""What a text is seen to do, word for word from sayings.txt: it asks, greets, names, counts or tells a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors.extraction import tags
from processors.text.greetings import vocatives
from processors.text.questions import answer_kinds

MODULES = (tags, answer_kinds)  # the first that has a function of that name: tags asks in every language


def holds_name(text: str) -> bool:
    """Return whether a text names a person or a thing, other than the people it addresses."""
    return answer_kinds.holds_name(text, vocatives(text))


def sayings() -> Iterator[tuple[Callable[[str], bool], str, bool]]:
    """Yield function, text, and whether it is true."""
    for line in Path(__file__).with_name("sayings.txt").read_text("utf-8").split("\n\n", 1)[1].splitlines():
        name, _, texts = line.partition(":")
        word = name.removeprefix("not ")
        named = next(getattr(module, word) for module in MODULES if hasattr(module, word))
        function = holds_name if word == "holds_name" else named
        yield from ((function, text.strip(), word == name) for text in texts.split("|"))


@pytest.mark.parametrize(("function", "text", "expected"), list(sayings()))
def test_a_text_is_seen_to_do_what_it_does(function: Callable[[str], bool], text: str, expected: bool) -> None:
    assert function(text) is expected
