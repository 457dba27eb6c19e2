"""What is understood of turns that are not stored: positions, meanings, facts and changes."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.messages.extracts import Extracted, TurnText
from processors.extraction.understanding import understand
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go

EXTRACTOR = YakeExtractor()
MAY_8 = 1683554160000  # 2023-05-08T13:56, a Monday


def read(*texts: str | dict[str, Any]) -> Extracted:
    fields = [{"speaker": "Ada", "text": each} if isinstance(each, str) else each for each in texts]
    turns = [TurnText.model_validate(each) for each in fields]
    return in_one_go(understand(turns, EXTRACTOR, "en", MAY_8))


@pytest.mark.parametrize(
    ("text", "words", "since", "until"),
    [
        ("We met yesterday, in the rain.", "yesterday", "2023-05-07T00:00:00", "2023-05-08T00:00:00"),
        ("我昨天去了深圳。", "昨天", "2023-05-07T00:00:00", "2023-05-08T00:00:00"),
    ],
)
def test_a_time_names_its_characters_and_its_days(text: str, words: str, since: str, until: str) -> None:
    (time,) = read(text).turns[0].times
    assert (text[time.start : time.end], time.kind, time.since, time.until) == (words, "span", since, until)


def test_a_length_has_seconds() -> None:
    (time,) = (each for each in read("I ran for two hours.").turns[0].times if each.kind == "length")
    assert time.seconds == 7200


def test_a_pronoun_of_a_later_turn_names_where_it_was_named() -> None:
    first, second = "My friend Ilse moved to Porto.", "Does she like it?"
    mention = read(first, {"speaker": "Ben", "text": second}).turns[1].mentions[0]
    assert (second[mention.start : mention.end], mention.means, mention.at) == ("she", "Ilse", [0, 10, 14])


def test_who_speaks_is_named_as_the_turn_names_them() -> None:
    (relation,) = read("I live in Lisbon.").turns[0].relations
    assert (relation.subject, relation.relation, relation.object) == ("Ada", "lives-in", "Lisbon")


def test_a_later_value_changes_the_card_and_is_reported() -> None:
    extracted = read("I live in Lisbon.", "I work at Siemens.", "I moved to Porto.", "I no longer work at Siemens.")
    assert extracted.card == {"Ada": {"home": ["Porto"]}}
    assert [(it.slot, it.old, it.new, it.turn) for it in extracted.changes] == [
        ("home", "Lisbon", "Porto", 2),
        ("employer", "Siemens", None, 3),
    ]


def test_two_speakers_have_two_cards_and_their_people_their_own() -> None:
    ben = {"speaker": "Ben", "text": "My sister lives in Oslo."}
    assert read("I live in Lisbon.", ben).card == {
        "Ada": {"home": ["Lisbon"]},
        "Ben": {"sibling": ["sister"]},
        "Ben's sister": {"home": ["Oslo"]},
    }


def test_what_somebody_drinks_is_on_the_card() -> None:
    assert read("I drink latte every morning.").card == {"Ada": {"drinks": ["latte"]}}


def test_the_language_of_a_turn_reads_its_times() -> None:
    german = {"text": "Wir sehen uns am 3.5.2023 yesterday.", "language": "de"}
    assert [each.text for each in read(german).turns[0].times if each.text == "yesterday"] == []
    assert [turn.language for turn in read(german, "hello there", "我去了").turns] == ["de", "en", "zh"]


def test_a_day_that_stands_alone_is_shown_there_and_not_inside_the_words_of_another_time() -> None:
    text = "7月25日早间，7月25日，7月25日早都可以"
    shown = [(each.start, each.text) for each in read({"text": text, "language": "zh"}).turns[0].times]
    assert (8, "7月25日") in shown
    assert (0, "7月25日") not in shown
