"""What turns say of people: facts of one text, and cards that fold the facts of many."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.people import Profile
from processors.lifecycle.turns.people import cards_of
from processors.recall.reports.people import list_people
from processors.text.facts.card import CardChange, Cards, cards
from processors.text.facts.chinese import ChineseReading
from processors.text.facts.english import EnglishReading
from processors.text.facts.facts import facts
from processors.text.facts.frames import FactReading
from processors.text.questions.slots import slot_question
from state.events.extraction_types import Concept, Fact, Mention
from state.graph.graph import Graph
from tests.support.builders import forgotten
from tests.support.stories import Story, queried

SAID = [  # text, (subject, slot, operation, value) …
    ("I rent a small room in Ghent.", [("", "home", "set", "Ghent")]),
    ("My cousin Pavel works for Škoda.", [("", "relative", "add", "Pavel"), ("Pavel", "employer", "set", "Škoda")]),
    ("My aunt is allergic to bees.", [(".aunt", "allergy", "add", "bees")]),
    ("Ravi is my dentist.", [("", "dentist", "set", "Ravi")]),
    ("Have you met my husband, Tomas?", [("", "partner", "set", "Tomas")]),
    ("I swapped the Vespa for a Honda.", [("", "owns", "swap", "Honda")]),
    ("We switched from Slack to Teams at work.", [("", "uses", "swap", "Teams"), ("", "owns", "swap", "Teams")]),
    ("I switched from coffee to mint tea.", [("", "drinks", "swap", "mint tea")]),
    ("I was laid off.", [("", "employer", "end", ""), ("", "job", "end", "")]),
    ("I no longer work at Ikea.", [("", "employer", "end", "Ikea")]),
    ("My salary was raised to $5200.", [("", "salary", "set", "$5200")]),
    (
        "We love kayaking, silent films, and it rains.",
        [("", "likes", "add", "kayaking"), ("", "likes", "add", "silent films")],
    ),
    ("I enjoy books about trees and moss.", [("", "likes", "add", "books about trees and moss")]),
    ("She works in HR, and I work in logistics.", [("", "job", "set", "logistics")]),
    ("We had a baby girl in May.", [("", "child", "add", "baby girl")]),
    ("My uncle passed away.", [(".uncle", "status", "set", "passed away")]),
    ("I was born in 1979.", [("", "birth year", "set", "1979")]),
    ("I'm Nora's cousin.", [("Nora", "relative", "add", "")]),
    (
        "我下个月要搬去厦门，拿到了小米的工作",
        [("", "plan", "add", "下个月要搬去厦门"), ("", "employer", "set", "小米")],
    ),
    ("我爸是修车的。", [(".爸", "job", "set", "修车")]),
    ("Erik和表弟Tom去滑雪了。", [("Erik", "relative", "add", "Tom")]),
    ("我妹妹叫周宁，在图书馆上班。", [("", "sibling", "add", "周宁"), (".妹妹", "employer", "set", "图书馆")]),
    ("我闺女大名沈知夏。", [("", "child", "add", "沈知夏")]),
    ("大姑住在苏州。", [(".大姑", "home", "set", "苏州")]),
    ("这个是网名，本人叫郭秀英。", [("", "name", "set", "郭秀英")]),
    ("It's Gwen Pritchard if you need the full thing.", [("", "name", "set", "Gwen Pritchard")]),
    ("我搬到成都了", [("", "home", "set", "成都")]),
    ("我养了一只猫叫豆豆。", [("", "pet", "add", "豆豆")]),
    ("我不在银行上班了。", [("", "employer", "end", "银行")]),
    ("我对芒果过敏。", [("", "allergy", "add", "芒果")]),
    ("林涛是我房东。", [("", "房东", "set", "林涛")]),
    ("我儿子的班主任是王老师。", [(".儿子", "班主任", "set", "王老师")]),
    ("我妈妈的朋友叫李明，住在北京。", [(".妈妈", "friend", "add", "李明"), ("李明", "home", "set", "北京")]),
    ("Her husband Tom works at Siemens.", [("Tom", "employer", "set", "Siemens")]),
    ("I'm a bus driver for Arriva.", [("", "job", "set", "bus driver"), ("", "employer", "set", "Arriva")]),
    ("My aunt is a nurse at Barts.", [(".aunt", "job", "set", "nurse"), (".aunt", "employer", "set", "Barts")]),
    ("I've been at Ericsson since March.", [("", "employer", "set", "Ericsson")]),
    ("Been teaching physics at Northgate for ages.", [("", "employer", "set", "Northgate")]),
    ("I do plastering, mostly in old houses.", [("", "job", "set", "plastering")]),
    ("I repair clocks for a living.", [("", "job", "set", "repair clocks for a living")]),
    ("They made me head of sales.", [("", "job", "set", "head of sales")]),
    ("I'm a welder, if you must know.", [("", "job", "set", "welder")]),
    (
        "We've got a little house outside Bergen.",
        [("", "home", "set", "Bergen"), ("", "owns", "add", "house outside Bergen")],
    ),
    ("My brother is in Toronto now.", [(".brother", "home", "set", "Toronto")]),
    ("I'm based out of Tallinn.", [("", "home", "set", "Tallinn")]),
    ("Me and Tim have been together for years.", [("", "partner", "set", "Tim")]),
    ("I'm seeing someone, Paolo.", [("", "partner", "set", "Paolo")]),
    ("Me and Tim are over.", [("", "partner", "end", "Tim")]),
    ("I work nights.", [("", "shift", "set", "night")]),
    ("I used to smoke.", [("", "habit", "end", "smoking")]),
    ("Haven't touched a cigarette since May!", [("", "habit", "end", "smoking")]),
    ("I'm off coffee.", [("", "drinks", "end", "coffee")]),
    ("My laptop died.", [("", "any", "end", "laptop")]),
    ("They pushed the meeting to Friday.", [("meeting", "time", "set", "Friday")]),
    ("My pottery class is on Tuesdays.", [("pottery", "time", "set", "Tuesdays")]),
    ("Pottery's been moved to Mondays.", [("pottery", "time", "set", "Mondays")]),
    ("我在顺丰干了三年了。", [("", "employer", "set", "顺丰")]),
    ("我现在在华为，做硬件。", [("", "employer", "set", "华为")]),
    ("我从腾讯跳到了网易。", [("", "employer", "swap", "网易")]),
    ("我跑网约车的。", [("", "job", "set", "跑网约车")]),
    ("我是东北的。", [("", "hometown", "set", "东北")]),
    ("我家安在长春。", [("", "home", "set", "长春")]),
    ("我有对象了，叫周航。", [("", "status", "set", "恋爱"), ("", "partner", "set", "周航")]),
    ("我跟小杰分了。", [("", "partner", "end", "小杰")]),
    ("我们组长换人了，现在是孙敏。", [("", "boss", "set", "孙敏")]),
    ("小米摔坏了，换了台华为。", [("", "any", "correct", "华为")]),
    ("我牙医姓吴。", [("", "牙医", "set", "吴")]),
    ("例会挪到下午四点了。", [("例会", "time", "set", "下午四点")]),
    ("我奶奶八十五了。", [(".奶奶", "age", "set", "八十五")]),
    ("给儿子转学了，现在在育才小学。", [(".儿子", "school", "set", "育才小学")]),
    ("现在改坐地铁上班。", [("", "commute", "set", "地铁")]),
    ("我吃花生会过敏。", [("", "allergy", "add", "花生")]),
    ("我把猫送人了。", [("", "pet", "end", "猫")]),
    ("I drive a tram in Lisbon, been at it for years.", [("", "job", "set", "drive a tram")]),
    ("I've been driving lorries since March.", [("", "job", "set", "driving lorries")]),
    ("我开地铁的，在重庆。", [("", "job", "set", "开地铁")]),
    ("so I'm Marguerite Delacroix, but everyone says Margot", [("", "name", "set", "Marguerite Delacroix")]),
]
NOT_SAID = [
    "If I lived in Oslo, I would ski.", "I used to work at Nokia.", "Do you live in Rome?", "I want to move to Lima.",
    "She said she works at Shell.", "I almost joined the navy.", "I work hard.", "We live in hope of rain, don't we?",
    "Love the scarf!", "Got into an argument.", "People like tea.", "I can't have children.", "That is a song I love.",
    "我去了博物馆。", "我在一家公司工作。", "他觉得她喜欢跳舞，喜欢唱歌。", "我马上就回来。",
    "孩子出生以后再说。", "要是我住在海边就好了", "你在哪里上班？", "我以前在邮局工作。", "我打算搬到昆明。",
    "听说他在银行工作。",
    "I'd be a nurse at Barts if I could.", "I've been at Lisa's since noon.", "I'm a member at Joe's.", "I do sports.",
    "I do painting on weekends.", "They made me laugh.", "I'm on top of it.", "The night's young.",
    "I work days like this off.", "Tom proposed a toast.", "我在北京干了三年。", "我是新来的。", "我是开玩笑的。",
    "我从楼上跳到楼下。", "我在育才小学门口等你。", "骑车上班的人真多。", "我改主意了。", "给儿子买了书包。",
    "我跟他分了一半。", "I drive a bus to work.", "They drive a train of thought.", "我坐地铁的时候睡着了。",
]  # fmt: skip


def plain(text: str) -> list[tuple[str, str, str, str]]:
    """Return the facts of a text but for those that are only inferred."""
    return [(it.subject, it.slot, it.operation, it.value) for it in facts(text) if it.operation != "infer"]


@pytest.mark.source("P38")
@pytest.mark.parametrize(("text", "expected"), SAID)
def test_what_is_said_plainly_is_a_fact(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    found = plain(text)
    assert [each for each in expected if each not in found] == []
    wrong = {(who, slot) for who, slot, *_ in found} - {(who, slot) for who, slot, *_ in expected}
    assert {slot for _, slot in wrong} <= {"member", "plays", "studies", "drinks"}  # ends of what was never said


@pytest.mark.source("P38")
@pytest.mark.parametrize("text", NOT_SAID)
def test_a_wish_a_question_and_what_is_past_states_nothing(text: str) -> None:
    assert [each for each in plain(text) if each[1] not in ("visited", "plan")] == []


@pytest.mark.parametrize(
    ("text", "values"), [("I walked my guinea pig.", ["guinea pig"]), ("Good luck, my friend!", [])]
)
def test_my_with_a_word_of_kinship_is_inferred_but_from_a_call(text: str, values: list[str]) -> None:
    assert [fact.value for fact in facts(text)] == values


def test_what_was_dropped_off_is_no_class_that_ended() -> None:
    assert facts("I dropped off the stuff I baked.") == []


def test_her_is_the_person_of_the_sentence_before() -> None:
    her = (Mention(15, 18, "maria", 0.9),)
    found = facts(
        "Maria came by. Her husband Tom works at Ikea.", mentions=her, concepts=(Concept("maria", "Maria", 1.0, 1),)
    )
    assert [(it.subject, it.slot, it.value) for it in found] == [
        ("Maria", "partner", "Tom"),
        ("Tom", "employer", "Ikea"),
    ]


def test_a_fact_names_its_characters() -> None:
    text = "Well. My sister Ilse moved to Graz."
    home = next(each for each in facts(text) if each.slot == "home")
    assert text[home.start : home.end].strip(" .") == "moved to Graz"


def told(*texts: str) -> Cards:
    return cards((f"t{number}", "Ada", facts(text)) for number, text in enumerate(texts))


def test_a_path_becomes_the_alias_of_a_name() -> None:
    card = told("My brother lives in Cork.", "My brother is called Fionn.")
    assert card.current("Fionn", "home") == ["Cork"]
    assert card.aliases == {"Ada's brother": "Fionn"}


def test_what_is_inferred_never_changes_anything() -> None:
    card = told("My dog is ill.", "My dog is called Rex.", "My dog ate a shoe.")
    assert card.current("Ada", "pet") == ["Rex"]
    assert card.changes == []


def test_a_plan_that_came_true_is_history_and_no_change() -> None:
    card = told("I live in Berlin.", "I'm moving to Oslo in March.", "I moved to Oslo.")
    assert card.current("Ada", "plan") == []
    assert [each.value for each in card.entries["Ada", "plan"]] == ["moving to Oslo in March"]
    assert [change.slot for change in card.changes] == ["home"]


def test_a_change_keeps_what_held_before_with_its_evidence() -> None:
    card = told("I live in Berlin.", "I moved to Oslo.")
    assert card.changes == [CardChange("Ada", "home", "Berlin", "Oslo", "t1")]
    assert [(it.value, it.since, it.until, it.evidence) for it in card.entries["Ada", "home"]] == [
        ("Berlin", "t0", "t1", "t0"),
        ("Oslo", "t1", None, "t1"),
    ]


@pytest.mark.parametrize(
    ("question", "asker", "turns"),
    [
        ("Where do I live?", "Ada", ("t1",)),
        ("Where did I live before?", "Ada", ("t0",)),
        ("Where does Ada live?", "Ben", ("t1",)),
        ("What is my sister's job?", "Ada", ("t2",)),
        ("Where do I live?", "Ben", None),
        ("Could you tell me where in the world it is that I live?", "Ada", None),
        ("What did I cook?", "Ada", None),
        ("In which city do I live right now?", "Ada", ("t1",)),
        ("Where was I living?", "Ada", ("t0",)),
        ("What is my sister called?", "Ada", ("t2",)),
        ("What is my brother called?", "Ada", None),
        ("What does Lotte do?", "Ada", ("t2",)),
        ("What does my sister do now?", "Ada", ("t2",)),
        ("What does Lotte do on Sundays?", "Ada", None),
        ("What did Lotte do?", "Ada", None),
    ],
)
def test_a_short_question_asks_for_a_slot(question: str, asker: str, turns: tuple[str, ...] | None) -> None:
    card = told("I live in Berlin.", "I moved to Oslo.", "My sister Lotte is a vet.")
    asked = slot_question(card, question, asker)
    assert (asked.turns if asked else None) == turns


def test_the_turn_that_says_what_holds_now_comes_first() -> None:
    story = Story()
    story.tell("old", "I drive a Fiat.")
    for number in range(4):
        story.tell(f"n{number}", f"The garage has {number + 2} cars of Ada to repair.")
    story.tell("new", "I sold the Fiat and I've got a Kia now.")
    assert story.ask("What car do I drive?", asker="Ada").passages[0].id == "new"


def test_a_profile_has_values_history_ties_and_changes() -> None:
    story = Story()
    for name, text in {"a": "I live in Berlin.", "b": "My sister Lotte is a vet.", "c": "I moved to Oslo."}.items():
        story.tell(name, text)
    reply = list_people(queried(story.life.graph, story.turns), Profile(graph="ada", name="Ada"))
    (ada,) = reply.people
    assert [(it.value, it.turn) for it in ada.current["home"]] == [("Oslo", "c")]
    assert [(it.value, it.until) for it in ada.history["home"]] == [("Berlin", story.turns["c"].at)]
    assert [(it.slot, it.old, it.new, it.turn) for it in reply.changes] == [("home", "Berlin", "Oslo", "c")]
    (lotte,) = list_people(queried(story.life.graph, story.turns), Profile(graph="ada", name="Ada's sister")).people
    assert [(it.relation, it.of, it.role) for it in lotte.ties] == [("sibling", "Ada", "sister")]
    assert lotte.name == "Lotte"
    assert lotte.current["job"][0].value == "vet"


def test_semantic_memory_answers_only_what_is_asked() -> None:
    story = Story()
    for name, text in {"a": "I live in Berlin.", "b": "My boss is Ingrid Bakker.", "c": "I work at Bosch."}.items():
        story.tell(name, text)
    reply = story.ask("Who is my boss?", asker="Ada", memory="semantic")
    assert [(each.type, each.target_label) for each in reply.relations] == [("boss", "Ingrid Bakker")]


@pytest.mark.source("P16")
def test_filters_leave_turns_that_state_or_name_what_is_asked_for_and_such_relations() -> None:
    story = Story()
    said = {"a": "I live in Berlin.", "b": "My boss is Ingrid Bakker.", "c": "The tram was late.", "d": "I love trams."}
    for name, text in said.items():
        story.tell(name, text)

    def left(**only: list[str]) -> list[str]:
        return sorted(each.id for each in story.ask("Berlin, the boss and the tram", asker="Ada", only=only).passages)

    assert left(statements=["home"]) == left(statements=["lives-in"]) == ["a"]
    assert left(statements=["boss", "likes"]) == ["b", "d"]
    assert left(entities=["place"]) == ["a"]
    assert left(entities=["person"], statements=["home"]) == []
    asked = {"text": "Where do I live, and who is my boss?", "asker": "Ada", "memory": "semantic"}
    for only in ({"statements": ["boss"]}, {"entities": ["person"], "statements": ["boss"]}):
        assert {each.type for each in story.ask(**asked, only=only).relations} <= {"boss"}
    assert story.ask(**asked, only={"statements": ["allergy"]}).relations == []


TEXTS = [text for text, _ in SAID] + ["I live in Oslo.", "I moved to Bergen.", "I sold the Honda.", "My aunt is Vera."]
Said = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8)


@given(Said, st.data())
def test_forgetting_turns_leaves_the_cards_that_the_others_make(texts: list[str], data: st.DataObject) -> None:
    story = Story()
    for number, text in enumerate(texts):
        story.tell(f"t{number}", text)
    gone = data.draw(st.sets(st.sampled_from(list(story.turns))))
    story.life.fold(forgotten(turns=sorted(gone)))
    left = [(name, "Ada", turn.facts) for name, turn in story.turns.items() if name not in gone]
    assert cards_of(story.life.graph) == cards(left)


@given(Said)
def test_the_cards_of_a_graph_survive_a_snapshot_and_any_later_fold(texts: list[str]) -> None:
    story = Story()
    for number, text in enumerate(texts):
        story.tell(f"t{number}", text)
    again = Graph.unpack(story.life.graph.pack())
    assert cards_of(again) == cards_of(story.life.graph)
    assert again.digest() == story.life.graph.digest()


@given(Said, st.integers(0, 8))
def test_the_cards_as_of_a_time_are_the_fold_of_what_was_said_until_then(texts: list[str], most: int) -> None:
    said = [(f"t{number}", "Ada", facts(text)) for number, text in enumerate(texts)]
    story = Story()
    for number, text in enumerate(texts[:most]):
        story.tell(f"t{number}", text)
    assert cards_of(story.life.graph) == cards(said[:most])


def test_a_fact_with_defaults_is_written_shortly() -> None:
    (fact,) = (each for each in facts("I live in Rome.") if each.slot == "home")
    assert fact == Fact("home", "Rome", relation="lives-in", start=fact.start, end=fact.end)


@pytest.mark.parametrize("reading", [EnglishReading, ChineseReading])
def test_every_frame_has_a_pattern_that_compiles(reading: type[FactReading]) -> None:
    assert all(frame.pattern.pattern for frame in reading.frames.rules)


def test_a_frame_is_compiled_when_a_text_first_holds_one_of_its_words() -> None:
    script = (
        "from processors.text.facts import facts, frames; before = frames.compiled.cache_info().currsize; "
        "facts.facts('I rent a room in Ghent.'); print(before, frames.compiled.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before == 0
    assert 0 < after < 40


@pytest.mark.parametrize(
    ("slot", "texts"),
    [
        ("drinks", ["I drink coffee every morning.", "I stopped drinking coffee."]),
        ("drinks", ["I drink coffee every morning.", "I don't drink coffee any more."]),
        ("drinks", ["I drink coffee every morning.", "I've given up coffee."]),
        ("drinks", ["我每天喝咖啡", "我不再喝咖啡了"]),
        ("drinks", ["我每天喝咖啡", "我早就不喝咖啡了"]),
        ("hobby", ["I run every morning.", "I don't run any more."]),
        ("hobby", ["I run every morning.", "I gave up running."]),
        ("hobby", ["I go swimming every Tuesday.", "I've stopped going swimming."]),
    ],
)
def test_what_somebody_stopped_is_no_longer_on_their_card(slot: str, texts: list[str]) -> None:
    told = cards((str(number), "Ada", facts(text, speaker="@speaker:ada")) for number, text in enumerate(texts))
    assert told.current("Ada", slot) == []
    assert [(change.slot, change.new) for change in told.changes] == [(slot, None)]
    assert set(told.entries) == {("Ada", slot)}


def test_a_value_is_never_cut_in_the_middle_of_a_word() -> None:
    assert [fact.value for fact in facts("I don't eat meat any more.", speaker="@speaker:ada")] == ["meat"]
