"""What people say and what they are answered, played from tests/stories; tests/support/stories.py tells how."""

from __future__ import annotations

import pytest

from tests.support.stories import FOLDER, play, stories

PLAYED = [
    pytest.param(lines, id=f"{path.stem}-{title}")
    for path in sorted(FOLDER.glob("*.txt"))
    for title, lines in stories(path.read_text("utf-8"))
]


@pytest.mark.parametrize("lines", PLAYED)
def test_a_story_goes_as_it_is_told(lines: list[str]) -> None:
    play(lines)


@pytest.mark.parametrize(
    "line", ["= other", "= -", "~ tea", "< milk tea", "seeds milk", "context tea: coffee", "archived tea"]
)
def test_a_story_that_does_not_hold_fails(line: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        play(["tea| Ada: The tea is green.", "+1h", "milk| Ada: The milk for the tea is cold.", "? green tea?", line])
