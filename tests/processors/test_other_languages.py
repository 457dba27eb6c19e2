"""Texts in other languages than English and Chinese: recognised one by one, and read by rules of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from processors.extraction.yake_extractor import YakeExtractor
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor("en")
TALK = Path(__file__).parents[2] / "evaluation" / "languages" / "data"


def words(text: str) -> set[str]:
    return {each.id for each in EXTRACTOR.of_turn(text, speaker="A", at=NOON).concepts if each.id[0] != "@"}


def asked(question: str) -> set[str]:
    return {each.id for each in EXTRACTOR.of_query(question, NOON).concepts}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ich habe gestern mit meiner Tante die Küche gestrichen.", "de"),
        ("El médico me dijo que no puedo comer más queso.", "es"),
        ("Nous avons visité le musée avec les enfants.", "fr"),
        ("Ho comprato una bicicletta nuova per mia sorella.", "it"),
        ("Я вчера купила новую лампу.", "ru"),
        ("週末に京都へ行きました。", "ja"),
        ("주말에 부산에 갔어요.", "ko"),
        ("I painted the kitchen with my aunt yesterday.", "en"),
        ("Ha ha ha!", "en"),
        ("Die Hard is on tonight.", "en"),
        ("我昨天买了一盏灯。", "en"),
    ],
)
def test_the_language_of_a_text_is_recognised(text: str, code: str) -> None:
    assert EXTRACTOR.language.language_of(text) == code


@pytest.mark.parametrize(
    ("turn", "question", "shared"),
    [
        ("Wir haben im Garten zwei Apfelbäume gepflanzt.", "Was wurde im Garten gepflanzt?", "pflanzen"),
        ("Mis abuelos tienen tres gallinas en el jardín.", "¿Quién tiene gallinas en el jardin?", "jardin"),
        ("J'ai acheté des chaussures rouges pour le mariage.", "Pour quoi sont les chaussures ?", "chaussure"),
        ("妹は図書館で働いています。", "図書館で働いているのは誰？", "図書"),
        ("週末はスケートを習っています。", "スケートはいつ？", "スケート"),
        ("할머니가 된장찌개를 끓여 주셨어.", "된장찌개는 누가 끓였어?", "찌개"),
        ("귤은 정말 달아.", "귤이 어때?", "귤"),
        ("ฉันชอบกินข้าวเหนียวมะม่วง", "มะม่วงอร่อยไหม", "มะม"),
    ],
)
def test_a_question_and_a_turn_meet_in_other_languages(turn: str, question: str, shared: str) -> None:
    if shared == "図書":  # simplified, as all Han is
        assert words(turn) & asked(question)
    else:
        assert shared in words(turn) & asked(question)


def test_function_words_of_the_language_are_not_talked_about() -> None:
    assert not {"gestern", "ich", "mit", "der", "haben"} & words("Ich habe gestern mit der Nachbarin gesprochen.")
    assert not {"que", "no", "me", "más"} & words("El médico me dijo que no puedo comer más queso.")


@pytest.mark.parametrize(
    ("question", "tag"),
    [
        ("Wann beginnt der Kurs?", "@time"),
        ("¿Cuándo empieza el curso?", "@time"),
        ("Quand commence le cours ?", "@time"),
        ("会議はいつですか？", "@time"),
        ("회의는 언제야?", "@time"),
        ("Wer hat den Kuchen gebacken?", "@name"),
        ("¿Dónde vive tu primo?", "@name"),
        ("Où habite ton cousin ?", "@name"),
        ("駅はどこですか？", "@name"),
        ("누가 케이크를 구웠어?", "@name"),
        ("Wie viele Kinder hat sie?", "@number"),
        ("¿Cuántos hijos tiene?", "@number"),
        ("Combien d'enfants a-t-elle ?", "@number"),
        ("りんごはいくつありますか？", "@number"),
        ("사과가 몇 개야?", "@number"),
    ],
)
def test_question_words_say_what_kind_of_answer_is_wanted(question: str, tag: str) -> None:
    assert any(each.startswith(tag) for each in asked(question))


@pytest.mark.parametrize(
    "text",
    [
        "Wir treffen uns morgen in der Bibliothek.",
        "Nos vemos mañana en la biblioteca.",
        "On se voit demain à la bibliothèque avec les autres.",
        "明日図書館で会いましょう。",
        "내일 도서관에서 만나자.",
    ],
)
def test_relative_dates_are_read_in_the_language_of_the_text(text: str) -> None:
    times = EXTRACTOR.of_turn(text, speaker="A", at=NOON).times
    assert len(times) == 1
    assert times[0].since > NOON - 86_400_000


@pytest.mark.parametrize("code", ["de", "es", "fr", "ja", "ko"])
def test_the_development_talk_is_whole(code: str) -> None:
    (sample,) = json.loads((TALK / f"{code}.json").read_text("utf-8"))
    turns = {turn["dia_id"] for part in sample["conversation"].values() if isinstance(part, list) for turn in part}
    assert len(turns) >= 40
    assert len(sample["qa"]) == 20
    assert all(set(question["evidence"]) <= turns for question in sample["qa"])
