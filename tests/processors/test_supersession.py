"""What is history (tests/stories/history.txt) says by what, takes from its score, and outlives a snapshot."""

from __future__ import annotations

import pytest

from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import DAY
from tests.support.stories import Story

ENGLISH = {
    "berlin": "I live in Berlin, close to the zoo.",
    "zoo": "The zoo sells cake.",
    "lisbon": "I live in Lisbon now.",
}
CHINESE = {"北": "我住在北京,离动物园很近。", "糕": "动物园卖长颈鹿蛋糕。", "海": "我搬到上海了。"}


def told(texts: dict[str, str]) -> Story:
    story = Story()
    for number, (name, text) in enumerate(texts.items()):
        story.session = f"s{number}"
        story.tell(name, text)
        story.now += 10 * DAY
    return story


@pytest.mark.source("P38")
@pytest.mark.parametrize(
    ("texts", "question", "newer", "older"),
    [(ENGLISH, "Where do I live?", "lisbon", "berlin"), (CHINESE, "我住在哪里?", "海", "北")],
)
def test_what_is_history_says_by_what_and_its_score_adds_up(
    texts: dict[str, str], question: str, newer: str, older: str
) -> None:
    story = told(texts)
    assert [(each.older, each.newer, each.about) for each in story.history] == [([older], newer, "lives in")]
    reply = story.ask(question, asker="Ada", explain=True, top_passages=10)
    shown = {passage.id: passage for passage in reply.passages}
    assert (shown[older].superseded_by, shown[newer].superseded_by) == (newer, None)
    terms = {name: passage.why.terms for name, passage in shown.items() if passage.why is not None}
    assert terms[older]["history"] < 0
    assert {name: sum(parts.values()) for name, parts in terms.items()} == pytest.approx(
        {name: passage.score for name, passage in shown.items()}
    )


@pytest.mark.source("P38")
def test_a_graph_that_was_packed_and_unpacked_knows_what_is_history() -> None:
    story = told(ENGLISH)
    again = Graph.unpack(story.life.graph.pack())
    assert again.digest() == story.life.graph.digest()
    story.life.graph = again
    story.tell("oslo", "I moved to Oslo.")
    assert story.history[-1].older == ["lisbon"]


def test_a_graph_in_which_nothing_is_stated_has_the_digest_that_it_always_had() -> None:
    one, other = Graph("ada"), Graph("ada")
    one.fold(turn_recorded(id="t1", concepts="tea"))
    other.fold(turn_recorded(id="t1", concepts="tea", statements=[]))
    assert "statements" not in str(one.pack()[:2000])
    assert one.digest() == other.digest()
