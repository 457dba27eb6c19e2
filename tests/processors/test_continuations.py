"""Which questions go on from what was said last, in English and Chinese, and which stand for themselves."""

from __future__ import annotations

import pytest

from processors.text.questions.continuations import continuation

ALONE = (
    """
then?|And then?|so what then|What happened next?|what happened after that?|go on|Tell me more!|what else?
and after that?|Then what?|what next|How did it end?
然后呢？|那然后呢|后来呢?|后来怎么样了？|接着说|继续说吧|之后呢|还有呢？|接下来呢|说下去
""".strip()
    .replace("\n", "|")
    .split("|")
)
BEGINS = [
    "And then what did the vet say?",
    "What about the drops?",
    "then who came?",
    "然后兽医说了什么？",
    "那咖啡呢",
    "后来她买了什么",
]
STANDS = [
    "What did the vet say then?",
    "Who came next to you in the race?",
    "Thensome?",
    "andes mountains",
    "兽医然后说了什么？",
    "我们继续讨论了什么项目？",
    "",
]


@pytest.mark.source("P31")
@pytest.mark.parametrize("text", ALONE)
def test_what_says_nothing_but_that_it_goes_on_is_known(text: str) -> None:
    assert continuation(text) == "alone"


@pytest.mark.parametrize("text", BEGINS)
def test_what_begins_so_and_asks_for_more_is_another_thing(text: str) -> None:
    assert continuation(text) == "begins"


@pytest.mark.parametrize("text", STANDS)
def test_what_stands_for_itself_goes_on_from_nothing(text: str) -> None:
    assert continuation(text) is None
