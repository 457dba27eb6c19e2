"""What recurs is found by windows, told in counts, linked to its turns; and what is said of it is true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import exp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from emgas.messages.filters import Filter
from emgas.messages.queries import Query, Reply
from emgas.messages.views import Habits, Recurring
from emgas.times import DAY_MS, HOUR_MS
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.consolidation.consolidation import fresh_passages
from processors.lifecycle.habits import habit_texts
from processors.lifecycle.habits.affinity import NEIGHBOURS, Affinities, clusters
from processors.lifecycle.habits.habits import recurring as recurring_habits
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.reports.habits import list_habits
from state.events.events import ConsolidationWindowClosed, GraphConfigured, MemoryConsolidated, TurnRecorded
from state.events.extraction_types import Concept, Exempt
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph
from tests.support.builders import UNLINKED, forgotten, turn_recorded
from tests.support.clocks import NOON
from tests.support.living import Life
from tests.support.stories import extracted, queried

EXTRACTOR = YakeExtractor()
MORNING = NOON - 4 * HOUR_MS  # 08:00
WAYS = (
    "A latte at the corner café.",
    "My latte with oat milk.",
    "Latte first, then the world.",
    "Had a latte, a large one.",
)
CHINESE = ("在街角喝了拿铁。", "照例一杯拿铁。", "先喝拿铁,再看世界。", "拿铁到手,大杯的。")


def a_turn(name: str, text: str, at: int, speaker: str = "Ada", **more: Any) -> TurnRecorded:
    return extracted(text, id=name, speaker=speaker, at=at, session=f"day {at // DAY_MS}", **more)


def mornings(days: Iterable[int], ways: tuple[str, ...] = WAYS, **more: Any) -> list[TurnRecorded]:
    return [a_turn(f"m{day:03d}", ways[day % len(ways)], MORNING + day * DAY_MS, **more) for day in days]


def lived(turns: Iterable[TurnRecorded], until: int = 400, **changed: Any) -> Life:
    """Live through turns, in the order of time, and let time pass."""
    how = PRESETS["elephant"].model_copy(update={"least_turns": 4, **changed})
    life = Life([GraphConfigured(**UNLINKED, graph="ada", preset="elephant", settings=how)])
    for turn in sorted(turns, key=lambda turn: turn.at):
        life.tell(turn)
    life.tick(NOON + until * DAY_MS)
    return life


def memory(life: Life) -> QueriedGraph:
    turns = {event.id: event for event in life.events if isinstance(event, TurnRecorded)}
    return queried(life.graph, turns)


def habits_about(life: Life, text: str | None = None, **more: Any) -> Recurring:
    return list_habits(memory(life), Habits(graph="ada", text=text, **more), EXTRACTOR)


def query(life: Life, text: str, **more: Any) -> Reply:
    return in_one_go(Answerer(EXTRACTOR).answer(Query(graph="ada", text=text, asker="Ada", **more), memory(life))).reply


@pytest.mark.source("P22", "P23", "P40")
def test_twenty_nine_lattes_are_a_habit_with_its_count_its_hours_and_its_exceptions() -> None:
    days = [day for day in range(35) if not 12 <= day <= 16]
    out = a_turn("out", "No latte today, the café was closed.", MORNING + 20 * DAY_MS)
    life = lived([*(turn for turn in mornings(days) if turn.id != "m020"), out])
    (habit,) = habits_about(life).habits
    assert habit.text == (
        "Ada: latte: 29 times on 29 days since 2023-05-08, about every day, in the morning; last on 2023-06-11; "
        "not from 2023-05-20 to 2023-05-24, on 2023-05-28"
    )
    assert (habit.turns, habit.days, habit.period, habit.hours[8]) == (29, 29, 1.0, 29)
    assert [each.turn for each in habit.exceptions] == [None, "out"]
    assert set(habit.members) == {f"m{day:03d}" for day in days} - {"m020"}
    assert "out" not in habit.members


@pytest.mark.source("P22")
def test_a_habit_in_chinese_is_told_in_chinese() -> None:
    (habit,) = habits_about(lived(mornings(range(0, 70, 7), CHINESE, ahead=480))).habits
    assert habit.text == "Ada:拿铁:自2023-05-08起共10次、10天,约每周,下午,在周一;最近一次2023-07-10"


@pytest.mark.source("P24", "P40", "H8")
@pytest.mark.parametrize(
    ("ways", "question"),
    [
        (WAYS, "How often do I drink latte, since when, and when not?"),
        (CHINESE, "我多久喝一次拿铁,从什么时候开始?"),
    ],
    ids=["English", "Chinese"],
)
def test_how_often_is_answered_by_the_habit_first_and_its_turns_are_still_found(
    ways: tuple[str, ...], question: str
) -> None:
    life = lived(mornings(range(20), ways))
    reply = query(life, question, top_passages=5)
    first, *others = reply.passages
    assert first.kind == "habit"
    assert "20" in first.text
    assert set(first.members) == {f"m{day:03d}" for day in range(20)}
    assert {each.id for each in others} <= set(first.members)
    assert first.text.removeprefix("Ada:").strip() in reply.context
    assert all(each.kind == "turn" for each in query(life, "What did I order at the corner?").passages)


def test_a_question_that_names_nothing_asks_for_all_habits_and_one_of_the_evening_for_those() -> None:
    ways = ("bowls", "cups", "glazing")
    evenings = (NOON + 7 * week * DAY_MS + 8 * HOUR_MS for week in range(9))
    pots = [a_turn(f"p{week}", f"Pottery {ways[week % 3]}.", at) for week, at in enumerate(evenings)]
    life = lived([*mornings(range(30)), *pots])
    assert [each.concepts[0].casefold() for each in habits_about(life).habits] == ["latte", "pottery"]
    assert [each.kind for each in query(life, "What are my habits?").passages][:2] == ["habit", "habit"]
    evening = query(life, "What do I usually do in the evening?").passages
    assert [each.text.split(":")[1].strip() for each in evening if each.kind == "habit"] == ["Pottery"]
    assert habits_about(life, "how often do I drink latte?").habits[0].concepts[0] == "latte"
    assert habits_about(life, speaker="Bob").habits == []


def test_only_questions_for_what_recurs_get_habits_and_no_filter_lets_one_through() -> None:
    life = lived(mornings(range(20)))
    for only in (Filter(sessions=["day 1"]), Filter(since=NOON), Filter(pinned=True), Filter(speakers=["Bob"])):
        assert all(each.kind == "turn" for each in query(life, "How often do I drink latte?", only=only).passages)
    assert query(life, "How often do I drink latte?", only=Filter(speakers=["Ada"])).passages[0].kind == "habit"


@pytest.mark.source("P21")
@pytest.mark.parametrize(
    "turns",
    [
        mornings(range(4)),
        [a_turn(f"s{n}", "A latte at the corner café.", MORNING + n * HOUR_MS) for n in range(9)],
        [a_turn(f"q{n}", "Shall we have a latte?", MORNING + n * DAY_MS) for n in range(9)],
        [a_turn(f"j{n}", WAYS[n % 4], MORNING + n * DAY_MS, role="assistant") for n in range(9)],
        [a_turn(f"b{n}", WAYS[n % 4], MORNING + n * DAY_MS, speaker=f"Guest {n}") for n in range(9)],
    ],
    ids=["too few", "on one day", "asked", "by an assistant", "by nobody twice"],
)
def test_what_is_no_habit(turns: list[TurnRecorded]) -> None:
    assert habits_about(lived(turns)).habits == []


@pytest.mark.source("P41")
def test_what_tells_a_time_may_hang_together_by_other_constants_than_what_tells_none() -> None:
    hours = zip((8, 9), WAYS[:2], strict=True)
    dated = [a_turn(f"d{n}", f"At {hour} o'clock: {text}", MORNING) for n, (hour, text) in enumerate(hours)]
    plain = [a_turn(f"p{n}", text, MORNING + n * 90 * DAY_MS) for n, text in enumerate(WAYS[:2])]

    def between(**changed: Any) -> tuple[float, float]:
        life = lived([*dated, *plain], until=300, **changed)
        graph = life.graph
        graph.settle()
        number, affinities = graph.passages.numbers, Affinities(graph)
        assert [affinities.tells_time(number[name]) for name in ("d0", "p0")] == [True, False]
        return affinities.between(number["d0"], number["d1"]), affinities.between(number["p0"], number["p1"])

    one, other = between()
    by_time, unchanged = between(affinity_dated=0.2)
    assert by_time > one, "said at one moment, and now that counts for more"
    assert unchanged == other
    assert between(affinity_tau_dated=DAY_MS)[1] == other
    assert between(affinity_dated=1.0, affinity_tau_dated=0) == (one, other)


@pytest.mark.source("P19", "P20", "P41")
def test_gamma_and_tau_are_settings_of_a_graph() -> None:
    turns = [a_turn(f"m{n}", text, MORNING + n * 40 * DAY_MS) for n, text in enumerate(WAYS * 3)]
    assert habits_about(lived(turns, until=900)).habits == []  # too far apart for months of habit
    assert len(habits_about(lived(turns, until=900, affinity_tau=400 * DAY_MS, affinity_gamma=0.3)).habits) == 1
    assert habits_about(lived(mornings(range(20)), habit_members=0)).habits == []


@pytest.mark.source("P23")
def test_a_habit_grows_by_what_is_new_and_names_only_that() -> None:
    life = lived(mornings(range(60)))
    events = [event for event in life.events if isinstance(event, MemoryConsolidated)]
    assert len(events) > 2
    assert len({event.id for event in events}) == 1
    named = Counter(turn for event in events for turn in event.members)
    assert set(named.values()) == {1}
    assert [event.count for event in events] == sorted({event.count for event in events})
    assert events[-1].count == sum(named.values())


def test_a_habit_goes_with_a_turn_or_a_word_that_is_forgotten_and_its_other_turns_stay() -> None:
    for gone in (forgotten(turns=["m003"]), forgotten(concepts=["latte"])):
        life = lived(mornings(range(20)))
        life.fold(gone)
        assert habits_about(life).habits == []
        assert "m004" in life.graph.passages.numbers


@pytest.mark.source("P18")
def test_affinity_is_of_words_and_of_time() -> None:
    turns = [*mornings(range(8)), a_turn("x", "The plumber repaired the tap.", MORNING + DAY_MS)]
    life = lived(turns, habit_members=0)
    life.graph.settle()
    near, numbers = Affinities(life.graph), life.graph.passages.numbers
    same_words = near.between(numbers["m000"], numbers["m004"])
    assert 0 < near.between(numbers["m000"], numbers["x"]) < same_words < 1
    assert near.between(numbers["m000"], numbers["m000"]) == pytest.approx(1)
    again, shift = (
        numbers["m004"],
        abs(life.graph.passages.at[numbers["m000"]] - life.graph.passages.at[numbers["m004"]]),
    )
    cosine = sum(share * near.vector(again).get(word, 0) for word, share in near.vector(numbers["m000"]).items())
    assert near.between(numbers["m000"], again) == pytest.approx(0.5 * cosine + 0.5 * exp(-shift / (30 * DAY_MS)))
    assert sum(share * share for share in near.vector(numbers["m000"]).values()) == pytest.approx(1)
    assert near.vector(numbers["x"]) == {}, "only what recurs tells two turns alike"
    assert near.between(numbers["m001"], numbers["m000"]) == near.between(numbers["m000"], numbers["m001"])


@given(
    some.lists(some.tuples(some.sets(some.integers(0, 9), max_size=6), some.integers(0, 30)), min_size=1, max_size=20),
    some.sampled_from([0.0, 1 / 3, 0.5, 0.75, 1.0]),
    some.booleans(),
)
def test_turns_compared_many_at_once_are_near_where_two_by_two_they_are(
    turns: list[tuple[set[int], int]], above: float, dated: bool
) -> None:
    changed = {"affinity_dated": 0.5, "affinity_tau_dated": DAY_MS} if dated else {}
    life = Life([GraphConfigured(**UNLINKED, graph="ada", preset="elephant", settings=MemorySettings(**changed))])
    for number, (words, day) in enumerate(turns):
        marks = ["@time"] * (number % 3 == 0)
        result = [Concept(name, name, 0.5, 1) for name in [*(f"word{word}" for word in sorted(words)), *marks]]
        life.fold(turn_recorded(id=f"t{number}", at=NOON + day * DAY_MS, concepts=result))
    life.graph.settle()
    near, passages = Affinities(life.graph), list(range(len(turns)))
    expected = [
        (left, right)
        for right in passages
        for left in passages[max(0, right - NEIGHBOURS) : right]
        if Affinities(life.graph).between(right, left) >= above
    ]
    assert sorted(near.joined(passages, above), key=lambda pair: pair[::-1]) == expected


@given(some.lists(some.tuples(some.integers(0, 20), some.integers(0, 20)), max_size=30))
def test_clusters_are_what_hangs_together(edges: list[tuple[int, int]]) -> None:
    groups = list(clusters(edges))
    assert sorted(node for cluster in groups for node in cluster) == sorted({node for edge in edges for node in edge})
    for left, right in edges:
        assert any(left in cluster and right in cluster for cluster in groups)
    assert groups == list(clusters(reversed(edges)))


@settings(max_examples=20)
@given(some.sets(some.integers(0, 60), min_size=5, max_size=40), some.randoms(use_true_random=False))
def test_however_often_time_is_told_and_whenever_a_graph_is_packed_the_same_habits_are_found(
    days: set[int], chance: Any
) -> None:
    once, often = lived(mornings(sorted(days))), Life([*lived([]).events[:1]])
    for turn in mornings(sorted(days)):
        often.tick(turn.at - chance.randrange(DAY_MS))
        often.tell(turn)
        if chance.random() < 0.2:
            often.graph = Graph.unpack(often.graph.pack())
    often.tick(NOON + 400 * DAY_MS)
    expected = [event for event in once.events if isinstance(event, MemoryConsolidated)]
    assert [event for event in often.events if isinstance(event, MemoryConsolidated)] == expected
    again = Graph("ada")
    for event in once.events:
        again.fold(event)
    assert again.digest() == once.graph.digest()


def test_a_window_that_was_cut_off_behind_a_habit_decides_no_habit_again() -> None:
    life = lived([], until=0)
    for turn in mornings(range(12)):
        life.fold(turn)
    (habit,) = recurring_habits(life.graph, fresh_passages(life.graph), NOON + 12 * DAY_MS)
    life.fold(habit)
    assert recurring_habits(life.graph, fresh_passages(life.graph), NOON + 12 * DAY_MS) == []
    life.close_due(NOON + 30 * DAY_MS)
    assert any(isinstance(event, ConsolidationWindowClosed) for event in life.events)


@pytest.mark.source("P21")
def test_habits_that_are_near_each_other_are_a_group_of_the_tree() -> None:
    runs = [a_turn(f"r{n}", "Ran along the towpath.", NOON + n * 7 * DAY_MS) for n in range(10)]
    late = [a_turn(f"l{n}", "Chess with Hamid.", NOON + (300 + n * 7) * DAY_MS) for n in range(10)]
    groups = habits_about(lived([*mornings(range(60)), *runs, *late], until=500)).groups
    assert [(group.above, len(group.habits)) for group in groups] == [(0.5, 2)]


MORNINGS = [0] * 8 + [7] + [0] * 11 + [3] + [0] * 3  # 7 of 10 at 8 o'clock
BREAKS = [Exempt(NOON + 10 * DAY_MS, NOON + 11 * DAY_MS), Exempt(NOON + 12 * DAY_MS, NOON + 15 * DAY_MS)]


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (
            ["latte", "corner café"],
            (
                "Ada: latte (corner café): 29 times on 20 days since 2023-05-08, about every 2 days, mostly in the "
                "morning, on weekdays; last on 2023-06-17; not on 2023-05-18, from 2023-05-20 to 2023-05-22"
            ),
        ),
        (
            ["拿铁", "街角"],
            (
                "Ada:拿铁(街角):自2023-05-08起共29次、20天,约每2天,多在早上,在工作日;最近一次2023-06-17"
                ";2023-05-18、2023-05-20至2023-05-22除外"
            ),
        ),
    ],
)
def test_a_text_says_how_often_when_and_when_not(labels: list[str], text: str) -> None:
    days = {"first": NOON, "last": NOON + 40 * DAY_MS, "period": 2 * DAY_MS, "weekdays": [3, 3, 3, 3, 3, 0, 0]}
    existing = habit_texts.Counts(count=29, days=20, hours=MORNINGS, exceptions=BREAKS, **days)  # type: ignore[arg-type]
    assert habit_texts.habit_text("Ada", habit_texts.Named(labels), existing) == text


ENDS = {
    "I stopped drinking latte.": WAYS,
    "I don't drink latte any more.": WAYS,
    "Gave up latte, finally.": WAYS,
    "我不再喝拿铁了。": CHINESE,
    "拿铁我戒了。": CHINESE,
}


@pytest.mark.parametrize(("text", "ways"), ENDS.items(), ids=list(ENDS))
def test_who_stopped_did_it_once_less_and_the_habit_says_that_it_is_over(text: str, ways: tuple[str, ...]) -> None:
    stop = a_turn("stop", text, MORNING + 12 * DAY_MS)
    (habit,) = habits_about(lived([*mornings(range(12), ways), stop])).habits
    assert habit.turns == 12
    assert "stop" not in habit.members
    assert habit.text.endswith("; over, as said on 2023-05-20" if text.isascii() else ";2023-05-20说已不再")


def test_a_habit_that_goes_on_after_its_end_is_not_over() -> None:
    stop = a_turn("stop", "I stopped drinking latte.", MORNING + 12 * DAY_MS)
    (habit,) = habits_about(lived([*mornings(range(12)), stop, *mornings(range(13, 20))])).habits
    assert habit.turns == 19
    assert "over" not in habit.text


@pytest.mark.parametrize(
    ("text", "ways"),
    [("I should have a latte some day.", WAYS), ("I used to have a latte here.", WAYS), ("真想喝拿铁啊。", CHINESE)],
)
def test_what_is_only_wished_for_or_remembered_is_not_done(text: str, ways: tuple[str, ...]) -> None:
    wish = a_turn("wish", text, MORNING + 12 * DAY_MS)
    (habit,) = habits_about(lived([*mornings(range(12), ways), wish])).habits
    assert "wish" not in habit.members
    assert "over" not in habit.text
    assert "不再" not in habit.text


def test_only_wishes_are_no_habit() -> None:
    wishes = [a_turn(f"w{day}", "I should go swimming some day.", MORNING + day * DAY_MS) for day in range(8)]
    assert habits_about(lived(wishes)).habits == []


def test_the_end_of_another_thing_whose_word_begins_alike_ends_no_habit() -> None:
    cups = [a_turn(f"c{day}", "A cup of tea in the garden.", MORNING + day * DAY_MS) for day in range(12)]
    stop = a_turn("stop", "I stopped going to teamwork classes.", MORNING + 12 * DAY_MS)
    (habit,) = habits_about(lived([*cups, stop])).habits
    assert "tea" in habit.concepts
    assert "over" not in habit.text
