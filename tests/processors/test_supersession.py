"""What holds now ranks before what it replaced, which is history: decided by when it was said, and undone for good."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from emgas.messages.fields import Position
from emgas.messages.queries import Query, Reply
from emgas.times import DAY_MS
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.lifecycle.supersession import superseded
from processors.recall.answer.answer import Answerer, QueriedGraph
from processors.text.statements import statements
from state.events.events import Forgotten, Superseded, TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import forgotten, turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor()


class Told:
    """A graph to which texts were told, with what they made history."""

    def __init__(self, *said: tuple[str, str, int]) -> None:
        self.graph = Graph("ada")
        self.turns: dict[int, TurnRecorded] = {}
        self.history: list[Superseded] = []
        for name, text, day in said:
            self.tell(name, text, day)

    def tell(self, name: str, text: str, day: int, speaker: str = "Ada") -> None:
        found = EXTRACTOR.of_turn(text, speaker=speaker, at=NOON + day * DAY_MS)
        event = turn_recorded(
            id=name,
            text=text,
            speaker=speaker,
            at=NOON + day * DAY_MS,
            session=f"day {day}",
            concepts=list(found.concepts),
            statements=statements(text),
        )
        made = list(superseded(self.graph, name, speaker=speaker, at=event.at, stated=event.statements))
        self.turns[self.graph.events] = event
        self.graph.fold(event)
        for each in made:
            self.history.append(each)
            self.graph.fold(each)

    def ask(self, text: str, **more: object) -> Reply:
        memory = QueriedGraph(self.graph, lambda graph, n: self.turns[graph.passages.event[n]], Position(**POSITION))
        return in_one_go(Answerer(EXTRACTOR).answer(Query(graph="ada", text=text, **more), memory)).reply

    def ids(self, text: str) -> Sequence[str]:
        return [passage.id for passage in self.ask(text, asker="Ada").passages]


POSITION = {"partition": 0, "watermark": 0, "source": 0}
ENGLISH = (
    ("berlin", "I live in Berlin, close to the zoo.", 0),
    ("cake", "The zoo sells a cake shaped like a giraffe.", 1),
    ("lisbon", "I live in Lisbon now.", 30),
    ("tram", "The yellow tram stops at the door.", 31),
)
CHINESE = (
    ("北", "我住在北京,离动物园很近。", 0),
    ("糕", "动物园卖长颈鹿蛋糕。", 1),
    ("海", "我搬到上海了。", 30),
    ("车", "电车就停在门口。", 31),
)


@pytest.mark.source("P38")
@pytest.mark.parametrize(
    ("said", "asked", "newer", "older"),
    [(ENGLISH, "Where do I live?", "lisbon", "berlin"), (CHINESE, "我住在哪里?", "海", "北")],
    ids=["English", "Chinese"],
)
def test_what_holds_now_ranks_before_what_it_replaced_which_says_that_it_is_history(
    said: Sequence[tuple[str, str, int]], asked: str, newer: str, older: str
) -> None:
    told = Told(*said)
    assert [(each.older, each.newer, each.about) for each in told.history] == [([older], newer, "lives in")]
    reply = told.ask(asked, asker="Ada", explain=True, top_passages=10)
    found = [passage.id for passage in reply.passages]
    assert found.index(newer) < found.index(older)
    shown = {passage.id: passage for passage in reply.passages}
    assert shown[older].superseded_by == newer
    assert shown[newer].superseded_by is None
    assert shown[older].why is not None
    assert shown[older].why.terms["history"] < 0
    for passage in reply.passages:
        assert passage.why is not None
        assert sum(passage.why.terms.values()) == pytest.approx(passage.score)


def test_a_context_says_since_when_a_line_is_history() -> None:
    told = Told(*ENGLISH)
    line = next(line for line in told.ask("Where do I live?", asker="Ada").context.splitlines() if "Berlin" in line)
    assert line.endswith("[history: changed 2023-06-07]"), line


@pytest.mark.parametrize(("asked", "first"), [("Where did I live before?", "berlin"), ("Where do I live?", "lisbon")])
def test_whoever_asks_for_the_past_gets_it(asked: str, first: str) -> None:
    assert Told(*ENGLISH).ids(asked)[0] == first


def test_what_answers_now_is_found_though_it_says_no_word_of_the_question() -> None:
    told = Told(("old", "I live in Berlin.", 0), ("new", "We moved to Lisbon last week!", 20), ("x", "What a day.", 21))
    assert told.ids("Where do I live?")[0] == "new"


def test_a_chain_of_changes_leads_to_the_last() -> None:
    told = Told(
        ("a", "I live in Berlin.", 0), ("b", "We moved to Lisbon!", 20), ("c", "I moved to Oslo, it snows.", 40)
    )
    assert [(each.older, each.newer) for each in told.history] == [(["a"], "b"), (["b"], "c")]
    assert told.ids("Where do I live?")[0] == "c"


def test_what_was_said_earlier_and_comes_late_is_history_at_once() -> None:
    told = Told(("new", "I live in Lisbon.", 30), ("late", "I live in Berlin.", 0))
    assert [(each.older, each.newer, each.at) for each in told.history] == [(["late"], "new", NOON + 30 * DAY_MS)]


def test_who_says_the_same_again_or_is_somebody_else_changes_nothing() -> None:
    told = Told(("a", "I live in Lisbon.", 0), ("b", "I live in Lisbon now, in the old town... I mean it.", 5))
    told.tell("c", "I live in Berlin.", 6, speaker="Bob")
    told.tell("d", "My sister lives in Porto.", 7)
    assert told.history == []


def test_what_is_over_is_history_and_what_begins_again_is_not() -> None:
    told = Told(
        ("yes", "I drink coffee every morning.", 0),
        ("no", "I no longer drink coffee.", 10),
        ("again", "I started drinking coffee again.", 20),
    )
    assert [(each.older, each.newer) for each in told.history] == [(["yes"], "no"), (["no"], "again")]


def test_what_the_newer_turn_is_forgotten_with_makes_nothing_history_any_more() -> None:
    told = Told(*ENGLISH)
    event = forgotten(turns=["lisbon"])
    assert isinstance(event, Forgotten)
    told.graph.fold(event)
    shown = {passage.id: passage for passage in told.ask("Where do I live?", top_passages=10).passages}
    assert shown["berlin"].superseded_by is None


@pytest.mark.source("P38")
def test_a_graph_that_was_packed_and_unpacked_knows_what_is_history() -> None:
    told = Told(*ENGLISH)
    again = Graph.unpack(told.graph.pack())
    assert again.digest() == told.graph.digest()
    told.graph = again
    told.tell("oslo", "I moved to Oslo.", 60)
    assert told.history[-1].older == ["lisbon"]


def test_a_graph_in_which_nothing_is_stated_has_the_digest_that_it_always_had() -> None:
    one, other = Graph("ada"), Graph("ada")
    one.fold(turn_recorded(id="t1", concepts="tea"))
    other.fold(turn_recorded(id="t1", concepts="tea", statements=[]))
    assert "statements" not in str(one.pack()[:2000])
    assert one.digest() == other.digest()
