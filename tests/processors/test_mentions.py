"""Whom and what pronouns mean: bound where one fits, and not where several do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extraction.yake_extractor import YakeExtractor
from processors.text.language import clean
from processors.text.pronouns.mentions import _KIND_OF, TurnBefore, mentions, pronouns, those_meant
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor("en")
Talk = list[tuple[str, str]]


def bound(*talk: tuple[str, str]) -> list[tuple[str, str, float]]:
    """Return what the pronouns of the last turn mean: word, concept, confidence."""
    before: list[TurnBefore] = []
    bindings: list[tuple[str, str, float]] = []
    for speaker, text in talk:
        extracted = EXTRACTOR.of_turn(text, speaker=speaker, at=NOON)
        concepts, tag = [*extracted.concepts, *extracted.phrases], f"@speaker:{speaker.lower()}"
        bound_here = mentions(text, concepts, tag, before)
        bindings = [(text[each.start : each.end], each.concept, each.confidence) for each in bound_here]
        before.insert(0, TurnBefore(tag, tuple(those_meant(concepts)), text))
    return bindings


@pytest.mark.source("P10")
@pytest.mark.parametrize(
    ("talk", "means"),
    [
        ([("Ada", "I am tired.")], ("I", "@speaker:ada", 1.0)),
        ([("Ada", "My kettle broke.")], ("My", "@speaker:ada", 1.0)),
        ([("Ben", "Hello!"), ("Ada", "How are you?")], ("you", "@speaker:ben", 0.9)),
        ([("Ben", "I met Mary."), ("Ada", "Did she sing?")], ("she", "mary", 0.884)),
        ([("Ben", "I saw Mary and John."), ("Ada", "Did he sing?")], ("he", "john", 0.884)),
        ([("Ada", "My sister sings when she cooks.")], ("she", "sister", 0.871)),
        ([("Ben", "We flew to Lisbon."), ("Ada", "Did it rain there?")], ("there", "lisbon", 0.8)),
        ([("Ada", "我累了。")], ("我", "@speaker:ada", 1.0)),
        ([("Ben", "你好。"), ("Ada", "你去哪里？")], ("你", "@speaker:ben", 0.9)),
        ([("Ben", "我妈妈来了。"), ("Ada", "她好吗？")], ("她", "妈妈", 0.9)),
        ([("Ben", "陈伟搬到里昂了。"), ("Ada", "他喜欢吗？")], ("他", "陈伟", 0.8)),
        ([("Ben", "陈伟搬家了，还带上了同事。"), ("Ada", "他喜欢吗？")], ("他", "陈伟", 0.6)),  # or the colleague
        ([("Ben", "我在深圳上班。"), ("Ada", "那里热吗？")], ("那里", "深圳", 0.8)),
    ],
)
def test_a_pronoun_means_the_only_one_who_fits(talk: Talk, means: tuple[str, str, float]) -> None:
    assert means in bound(*talk)


@pytest.mark.parametrize(
    "talk",
    [
        [("Ada", "She sings.")],
        [("Ben", "Hello!"), ("Cleo", "Hello!"), ("Ada", "How are you?")],
        [("Ada", "There is a problem.")],
        [("Ada", "They left.")],
        [("Ben", "We saw Lisbon and Porto."), ("Ada", "Was it hot there?")],
        [("Ben", "I met John."), ("Ada", "Did she sing?")],
        [("Ada", "他们走了，我们没走。")],
        [("Ben", "陈伟来了。"), ("Ada", "还有其他客人吗？吉他呢？")],
    ],
)
def test_nothing_is_bound_where_nobody_or_several_fit(talk: Talk) -> None:
    assert [mention for mention in bound(*talk) if mention[0] not in ("I", "我")] == []


def test_who_was_named_long_ago_is_not_meant_and_of_two_that_were_named_together_neither_surely() -> None:
    far = [("Ben", "I met Mary."), *(("Ben", "It rained.") for _ in range(13)), ("Ada", "Did she sing?")]
    assert bound(*far) == []
    (answer,) = bound(("Ben", "I saw Mary and Anna."), ("Ada", "Did she sing?"))
    assert answer[2] < 0.8


@pytest.mark.parametrize(
    ("talk", "meant"),
    [
        ([("Ada", "My brother called."), ("Ben", "What did he want?")], "brother"),
        ([("Ada", "Tom says hi."), ("Ben", "How is he?"), ("Ada", "He broke his leg.")], "tom"),
        ([("Ada", "Did Ben call?"), ("Cleo", "No, he forgot.")], "ben"),
        ([("Ada", "Nina's boss is strict, and she hates it.")], "nina"),
    ],
)
def test_he_and_she_mean_who_was_spoken_of(talk: Talk, meant: str) -> None:
    assert meant in [concept for word, concept, _ in bound(*talk) if word.lower() in ("he", "she", "his")]


@pytest.mark.parametrize(
    "talk",
    [
        [("Ada", "Ross, did you see what he did?")],  # who is spoken to is not spoken of
        [("Ada", "Joey saw him.")],  # the subject of its own clause is another
        [("Ada", "Somebody rang."), ("Ben", "He left.")],
    ],
)
def test_he_does_not_mean_who_cannot_be_meant(talk: Talk) -> None:
    assert [mention for mention in bound(*talk) if mention[0].lower() in ("he", "him") and mention[2] >= 0.8] == []


def test_a_chain_is_nearly_as_sure_as_its_first_pronoun_and_never_surer() -> None:
    talk = ("Ada", "Tomas moved to Lyon. He likes it. He found a flat. He called me and he sang.")
    sure = [confidence for word, concept, confidence in bound(talk) if concept == "tomas"]
    assert len(sure) == 4
    assert sure == sorted(sure, reverse=True)
    assert sure[-1] >= 0.8


def test_what_somebody_is_brings_nobody_new_and_a_title_is_no_part_of_a_name() -> None:
    said = bound(("Ada", "Tom called."), ("Ben", "He is a good guy."), ("Ada", "He helped me."))
    assert ("He", "tom") in [(word, concept) for word, concept, _ in said]
    assert bound(("Ada", "Mr. Lindqvist came. He was late."))[-1][:2] == ("He", "lindqvist")


WORD = re.compile(
    r"(?<![\w'])[A-Za-z]+(?:'[a-z]+)?(?![\w])|(?:我|你|您|她|它)(?!们)|(?<![其吉])他(?![们人乡])|那里|那儿|那边"
)
PRONOUNS = st.sampled_from([*_KIND_OF, *map(str.upper, _KIND_OF), *map(str.title, _KIND_OF)])
AROUND = st.sampled_from([*"' _-.3sSXé我们里\n\u2019\u0130\u017f", "'s", "'S", "'sx", "'sX", "the", "then"])


@given(st.lists(st.one_of(PRONOUNS, AROUND, st.characters()), max_size=8).map("".join))
def test_pronouns_are_those_of_all_words_that_are_in_the_list(text: str) -> None:
    cleaned = clean(text)
    plainly = [match for match in WORD.finditer(cleaned) if match.group().lower() in _KIND_OF]
    expected = [(match.span(), match.group()) for match in plainly] if len(cleaned) == len(text) else []
    assert [(match.span(), match.group()) for match in pronouns(text)] == expected
