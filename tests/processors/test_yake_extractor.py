"""What YAKE's extractor finds, in English, in Chinese and in both; and that it is the same on every run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from processors.extraction import yake_extractor
from processors.extraction.yake_extractor import YakeExtractor, _list_of_yake
from state.events.extraction_types import Concept
from tests.contracts.extractor_contract import AT, ExtractorContract

EXTRACTOR = YakeExtractor()


def concepts_by_id(text: str, extractor: YakeExtractor = EXTRACTOR) -> dict[str, Concept]:
    """Return the concepts of a turn that are not tags, by id."""
    turn = extractor.of_turn(text, speaker="Ann", at=AT)
    return {concept.id: concept for concept in turn.concepts if not concept.id.startswith("@")}


def ids(text: str) -> set[str]:
    return set(concepts_by_id(text))


class TestYakeExtractor(ExtractorContract):
    extractor = EXTRACTOR


@pytest.mark.source("P42")
def test_mixed_chinese_and_english_gives_its_four_concepts() -> None:
    assert ids("用 LangChain 框架存 API 密钥") == {"langchain", "框架", "api", "密钥"}


@pytest.mark.source("E13")
def test_run_running_ran_and_runs_are_one_node() -> None:
    assert ids("I run. Running? She ran, he runs.") == {"run"}
    assert concepts_by_id("I run. Running? She ran, he runs.")["run"].count == 4


def test_the_label_is_the_form_in_the_text() -> None:
    assert concepts_by_id("Frameworks matter")["framework"].label == "Frameworks"
    assert concepts_by_id("用密鑰")["密钥"].label == "密鑰"
    assert concepts_by_id("Caroline’s painting")["caroline"].label == "Caroline"


@pytest.mark.parametrize(
    "text",
    [
        "Hey John!", "Hi Caroline, how are you?", "Thanks, Melanie!", "Wow", "haha", "Hahaha lol", "Good morning!",
        "Hello there",
        "Good to see you! How have you been?", "Take care!", "Talk to you soon!", "Long time no see", "soooo coool!!!",
        "你好", "您好！", "哈哈", "哈哈哈哈哈", "嗯", "嗯嗯", "谢谢", "早上好！", "好久不见", "晚安", "你好吗？",
        "好的，再见",
    ],
)  # fmt: skip
def test_a_turn_that_only_greets_has_no_concepts(text: str) -> None:
    assert ids(text) == set()


@pytest.mark.parametrize(
    ("text", "named", "kept"),
    [
        ("Hey Caroline, the painting dried", "caroline", "painting"),
        ("That lighthouse is so cool, Caroline!", "caroline", "lighthouse"),
        ("Caroline, that lighthouse is tall", "caroline", "lighthouse"),
        ("Wow, Caroline! A lighthouse?", "caroline", "lighthouse"),
    ],
)
def test_a_name_that_is_called_is_no_concept(text: str, named: str, kept: str) -> None:
    assert named not in ids(text)
    assert ids(text) & {kept, "paint"}


@pytest.mark.parametrize(
    "text",
    ["My brother Tom sails", "This is my brother, Tom.", "Tom and Ann sail", "I met Tom yesterday!", "Tom's boat sank"],
)
def test_a_name_that_is_talked_about_is_a_concept(text: str) -> None:
    assert "tom" in ids(text)


def test_a_question_keeps_every_name() -> None:
    extraction = EXTRACTOR.of_query("Who is the dog of my neighbour, Tom?")
    assert {concept.id for concept in extraction.concepts} == {"dog", "neighbour", "tom", "@name"}


def test_two_places_are_not_a_call() -> None:
    assert {"boston", "massachusetts"} <= ids("We moved from Boston, Massachusetts.")


@pytest.mark.parametrize(
    "word", ["AI", "UI", "LA", "UK", "C++", "Wi-Fi", "node.js", "Qwen2.5", "张伟", "深圳", "框架", "猫"]
)
def test_short_and_odd_words_survive(word: str) -> None:
    kept = word.casefold().replace("-", "")
    assert kept in ids(f"the harbour, {word}, a lighthouse")


def test_go_is_a_language_when_it_is_written_as_a_name() -> None:
    assert "go" in ids("I write Go at home")
    assert "go" in ids("我用 Go 写后端")
    assert "go" not in ids("I go home")
    assert "go" not in ids("Go home")
    assert "go" not in ids("LET'S GO HOME")


def test_light_verbs_contractions_numbers_and_emojis_are_no_concepts() -> None:
    assert ids("I don’t make 14 things, they’re getting 3.5% 🎉 at 8:30pm on the 2nd, it's 1,000") == set()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("苏阳下周四办婚礼", "苏阳"),
        ("师傅约在哪天上门", "上门"),
        ("何伟带父母去泉州", "何伟"),
        ("喝咖啡的习惯", "咖啡"),
        ("在咖啡館等", "咖啡"),
        ("每周四捏陶", "周四"),
        ("买了T恤", "t恤"),
        ("A股跌了", "a股"),
        ("拍X光检查", "x光"),
        ("升级 K8s 集群", "k8s"),
        ("升级 k8s 集群", "k8s"),
    ],
)
def test_a_word_is_found_beside_and_inside_others(text: str, word: str) -> None:
    assert word in ids(text)


def test_a_relative_week_is_no_concept() -> None:
    assert ids("上周和下个星期，这个月") == set()


def test_words_of_ones_own_are_cut_whole_and_named_in_the_version() -> None:
    own = YakeExtractor(words=["機器學習", "", " 何伟 "])
    assert {"机器学习", "机器", "学习"} == set(concepts_by_id("机器学习", own))
    assert set(concepts_by_id("何伟带父母去泉州", own)) == {"何伟", "父母", "泉州"}
    assert " words 2:" in own.version
    assert own.version != YakeExtractor(words=["机器学习"]).version != EXTRACTOR.version
    assert own.version == YakeExtractor(words=["何伟", "机器学习"]).version


@pytest.mark.parametrize("word", ["Go", "猫", "深 度", "A股"])
def test_what_is_no_chinese_word_cannot_be_added(word: str) -> None:
    with pytest.raises(ValueError, match="two Han characters"):
        YakeExtractor(words=[word])


def test_words_inside_a_word_do_not_make_a_text_longer() -> None:
    assert EXTRACTOR.of_turn("咖啡馆", speaker="Ann", at=AT).tokens == 1
    assert concepts_by_id("咖啡館")["咖啡"].label == "咖啡"


def test_an_address_is_one_concept() -> None:
    text = "See https://www.GitHub.com/emgas?a=1 or write Jane.Doe@Example.org"
    assert ids(text) == {"github.com", "jane.doe@example.org", "write"}


def test_simplified_and_traditional_characters_are_one_node() -> None:
    assert ids("臺灣的框架") == ids("台湾的框架")


@pytest.mark.source("E9")
def test_a_name_weighs_more_than_a_plain_word() -> None:
    weights = {
        name: concept.weight
        for name, concept in concepts_by_id("The old lighthouse near Lisbon, a lighthouse of stone").items()
    }
    assert weights["lisbon"] > weights["stone"]


def test_tokens_counts_every_word() -> None:
    assert EXTRACTOR.of_turn("I don't like 3 cats.", speaker="Ann", at=AT).tokens == 5
    assert EXTRACTOR.of_turn("我的密钥", speaker="Ann", at=AT).tokens == 3


def test_another_language_brings_its_own_function_words() -> None:
    german = YakeExtractor("de")
    assert set(concepts_by_id("Die Häuser und das Haus gehören der Katze", german)) == {"haus", "gehören", "katze"}
    assert german.version.endswith(" de")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="ISO 639-1"):
        YakeExtractor("xx")


def test_the_version_names_every_package_and_our_rules() -> None:
    names = [*yake_extractor._PACKAGES, "rules"]  # noqa: SLF001 - a list of its own would repeat it
    assert [word for word in EXTRACTOR.version.split() if word in names] == names


def test_another_hash_seed_changes_nothing() -> None:
    text = "Caroline painted 框架 and a lighthouse; the dog, the cat and the boat slept near Lisbon."
    program = (
        "from processors.extraction.yake_extractor import YakeExtractor\n"
        f"print(ascii(YakeExtractor().of_turn({text!r}, speaker='Ann', at={AT})), end='')"
    )
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            capture_output=True, text=True, check=True, cwd=Path(yake_extractor.__file__).parents[1],
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert run.stdout == ascii(EXTRACTOR.of_turn(text, speaker="Ann", at=AT))


def test_importing_the_module_loads_no_dictionary() -> None:
    program = (
        "import sys, processors.extraction.yake_extractor\n"
        "print(sorted({'yake', 'rjieba', 'simplemma', 'opencc'} & set(sys.modules)))"
    )
    root = Path(yake_extractor.__file__).parents[1]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.strip() == "[]"


def test_the_list_of_function_words_that_is_read_is_the_one_that_yake_uses() -> None:
    import yake  # here: which takes a while, and is what reading the list avoids

    assert _list_of_yake() == frozenset(yake.KeywordExtractor(lan="en").stopword_set)


def test_another_layout_of_the_package_is_asked_for_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    read = _list_of_yake()
    monkeypatch.setattr(yake_extractor, "_WORD_LIST", "nowhere")
    assert _list_of_yake() == read
