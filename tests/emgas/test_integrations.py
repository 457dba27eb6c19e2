"""What adapters share, where no framework is needed: names of graphs, and texts cut into turns."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emgas import limits
from emgas.integrations.graph_names import LONGEST, graph_for
from emgas.messages.turns import Turn
from emgas.pieces import PIECE_BYTES, fitted, pieces
from emgas.validation import build

TEXTS = st.text(st.characters(codec=None, exclude_categories=[]), max_size=40) | st.text("a:b.-g", max_size=6)
PARTS = st.lists(TEXTS, min_size=1, max_size=4).map(tuple)


@given(PARTS)
@example(("x" * 200,))
@example(("",))
def test_every_name_of_a_graph_is_one(parts: tuple[str, ...]) -> None:
    turn = {"id": "1", "graph": graph_for(*parts), "speaker": "Ada", "text": "x"}
    assert build(Turn, turn).graph == graph_for(*parts)
    assert len(graph_for(*parts)) <= LONGEST


@given(PARTS, PARTS)
@example(("a", "b"), ("a::b",))
@example(("a", ""), ("a",))
@example(("a:", "b"), ("a", ":b"))
@example(("g:-:",), ("",))
@example(("\ud800",), ("\ud801",))
@example(("x" * 200, "y"), ("x" * 200 + "::y",))
def test_different_parts_have_different_graphs(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    assert (graph_for(*one) == graph_for(*other)) == (one == other)


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("ada",), "ada"),
        (("ada@example.com",), "ada@example.com"),
        (("shop", "ada"), "shop::ada"),
        (("auth0|5f7c",), "auth0:7c:5f7c"),
        (("张伟",), "g:-::5f20.4f1f:"),
    ],
)
def test_the_name_of_a_graph_stays_what_it_is(parts: tuple[str, ...], name: str) -> None:
    assert graph_for(*parts) == name


def test_a_graph_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one part"):
        graph_for()


@given(st.text(st.characters(codec=None, exclude_categories=[]), max_size=60), st.integers(4, 30))
def test_pieces_of_a_text_are_short_and_lose_nothing_that_can_be_kept(text: str, most: int) -> None:
    results = pieces(text, most)
    assert all(len(piece.encode()) <= most and piece.strip() for piece in results)
    kept = re.sub(r"\s|\0", "", re.sub("[\ud800-\udfff]", "?", text))
    assert re.sub(r"\s", "", "".join(results)) == kept


def test_a_long_text_is_cut_between_lines_or_else_words() -> None:
    assert pieces("one two\nthree four five", 12) == ["one two", "three four", "five"]
    assert pieces("x" * (PIECE_BYTES + 1)) == ["x" * PIECE_BYTES, "x"]
    assert pieces(" \n\t\0") == []


def test_a_name_that_no_turn_can_bear_becomes_another_which_stays_the_same() -> None:
    assert fitted("Ada Lovelace") == "Ada Lovelace"
    odd = ["", "\0", "\ud800", "x" * (limits.NAME_CHARACTERS + 1), "x" * (limits.NAME_CHARACTERS + 2)]
    assert len({fitted(name) for name in odd}) == len(odd)
    assert all(re.fullmatch("[0-9a-f]{64}", fitted(name)) for name in odd)


def test_who_uses_no_adapter_imports_none() -> None:
    message = "import sys, emgas; print([name for name in sys.modules if name.startswith('emgas.integrations')])"
    assert subprocess.run([sys.executable, "-c", message], capture_output=True, text=True).stdout == "[]\n"
