"""What changed between two moments of a graph, checked by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.diff import ConceptChange, Difference, PairGrowth, ThemeChange, diff
from state.events.events import GraphEvent
from state.graph.graph import Graph
from tests.support.builders import (
    concept,
    concepts_recalled,
    consolidation_closed,
    decay_closed,
    folded,
    forgotten,
    graph_configured,
    refolded,
    ticked,
    topic_change,
    turn_recorded,
)
from tests.support.clocks import DAY, NOON
from tests.support.lives import configurations, happenings
from tests.support.living import Happening, live

WEEKLY = graph_configured(half_life=7 * DAY)


def changed(before: list[GraphEvent], between: list[GraphEvent]) -> Difference:
    """Return what `between` changed in the graph of `before`."""
    return diff(folded(*before), folded(*before, *between))


def rounded(changes: list[ConceptChange]) -> list[tuple[str, float, float]]:
    return [(each.id, round(each.before, 6), round(each.after, 6)) for each in changes]


def with_themes(*themes: str) -> list[GraphEvent]:
    """Return the events of a graph with themes of these words, each said once."""
    words = turn_recorded(id="words", concepts=" ".join(dict.fromkeys(" ".join(themes).split())))
    return [words, consolidation_closed(topics=[topic_change(f"topic-{n}", these) for n, these in enumerate(themes)])]


def what(change: ThemeChange) -> tuple[str, str, str | None]:
    return change.id, change.change, change.other


def test_concepts_are_born_and_forgotten() -> None:
    before: list[GraphEvent] = [WEEKLY, turn_recorded(id="t0", concepts="tea milk")]
    between: list[GraphEvent] = [
        forgotten(concepts="milk"),
        turn_recorded(id="t1", concepts=[concept("cup", "Cups", 0.25)]),
    ]
    difference = changed(before, between)
    assert difference.born == [ConceptChange("cup", "Cups", 0.0, 0.25)]
    assert difference.forgotten == [ConceptChange("milk", "milk", 0.5, 0.0)]
    assert (difference.stronger, difference.weaker) == ([], [])


def test_what_is_said_again_grows_and_what_is_not_fades_each_by_what_it_is_worth_at_the_two_clocks() -> None:
    before: list[GraphEvent] = [WEEKLY, turn_recorded(id="t0", concepts="tea milk sugar")]
    between: list[GraphEvent] = [
        turn_recorded(id="t1", at=NOON + 7 * DAY, concepts=[concept("tea", weight=0.75)]),
        concepts_recalled(at=NOON + 7 * DAY, concepts="sugar"),
    ]
    difference = changed(before, between)
    assert rounded(difference.stronger) == [("tea", 0.5, 1.0), ("sugar", 0.5, 0.75)]
    assert rounded(difference.weaker) == [("milk", 0.5, 0.25)]
    assert [round(each.by, 6) for each in (*difference.stronger, *difference.weaker)] == [0.5, 0.25, -0.25]
    assert difference.clocks == (NOON, NOON + 7 * DAY)


def test_what_only_kept_its_strength_is_neither_stronger_nor_weaker() -> None:
    difference = changed([turn_recorded(id="t0", concepts="tea")], [turn_recorded(id="t1", concepts="milk")])
    assert (difference.stronger, difference.weaker) == ([], [])


def test_concepts_become_long_term_once_and_marks_are_no_concepts() -> None:
    before: list[GraphEvent] = [
        turn_recorded(concepts="tea milk @day:2023-05-08"),
        consolidation_closed(consolidated="tea"),
    ]
    between: list[GraphEvent] = [
        turn_recorded(id="t1", concepts="cup @day:2023-05-09"),
        consolidation_closed(consolidated="tea milk cup"),
    ]
    difference = changed(before, between)
    assert [each.id for each in difference.long_term] == ["cup", "milk"]
    assert [each.id for each in difference.born] == ["cup"]


def test_themes_are_born_and_die_and_change() -> None:
    before = with_themes("tea milk", "cat dog")
    between: list[GraphEvent] = [
        consolidation_closed(topics=[topic_change("topic-1", "", "died"), topic_change("topic-2", "sun moon")]),
        turn_recorded(id="t1", concepts="sun moon honey"),
        consolidation_closed(
            topics=[topic_change("topic-3", "sun moon"), topic_change("topic-0", "tea honey", "changed")]
        ),
    ]
    assert changed(before, between).themes == [
        ThemeChange("topic-1", "cat, dog", "died", None, [], ["cat", "dog"]),
        ThemeChange("topic-0", "tea, honey", "changed", None, ["honey"], ["milk"]),
        ThemeChange("topic-3", "sun, moon", "born", None, ["sun", "moon"], []),
    ]


def test_a_theme_whose_words_another_took_over_is_merged_and_one_made_of_anothers_words_is_split_off() -> None:
    merging = [topic_change("topic-1", "", "died"), topic_change("topic-0", "tea milk cat dog", "merged")]
    difference = changed(with_themes("tea milk", "cat dog fox"), [consolidation_closed(topics=merging)])
    assert [what(each) for each in difference.themes] == [
        ("topic-1", "merged", "topic-0"),
        ("topic-0", "changed", None),
    ]
    splitting = [topic_change("topic-0", "tea milk", "changed"), topic_change("topic-1", "cat dog", "split")]
    difference = changed(with_themes("tea milk cat dog"), [consolidation_closed(topics=splitting)])
    assert [what(each) for each in difference.themes] == [("topic-0", "changed", None), ("topic-1", "split", "topic-0")]
    assert difference.themes[0].left == ["cat", "dog"]


def test_half_of_its_words_is_no_inheritance() -> None:
    difference = changed(
        with_themes("tea milk cat dog"),
        [consolidation_closed(topics=[topic_change("topic-0", "", "died"), topic_change("topic-1", "tea milk sun")])],
    )
    assert [what(each) for each in difference.themes] == [("topic-0", "died", None), ("topic-1", "split", "topic-0")]


def test_themes_that_only_lost_a_forgotten_word_have_changed_and_untouched_ones_have_not() -> None:
    difference = changed(with_themes("tea milk", "cat dog"), [forgotten(concepts="dog")])
    assert difference.themes == [ThemeChange("topic-1", "cat", "changed", None, [], ["dog"])]


def test_turns_are_added_and_archived_and_counted_though_they_came_and_went() -> None:
    before: list[GraphEvent] = [turn_recorded(id="t0"), turn_recorded(id="t1")]
    between: list[GraphEvent] = [
        turn_recorded(id="t2"),
        turn_recorded(id="t3"),
        decay_closed(turns="t0 t2"),
    ]
    difference = changed(before, between)
    assert (difference.turns, difference.added, difference.archived) == ((2, 4), ["t3"], ["t0"])


def test_pairs_that_grew_most_come_first_and_forgotten_concepts_count_for_nothing() -> None:
    before: list[GraphEvent] = [turn_recorded(id="t0", session="a", concepts="tea milk @mark:x")]
    between: list[GraphEvent] = [
        forgotten(concepts="@mark:x"),
        *(turn_recorded(id=f"m{n}", session=f"m{n}", concepts="milk tea") for n in range(2)),
        *(turn_recorded(id=f"c{n}", session=f"c{n}", concepts="cup tea @mark:y") for n in range(3)),
    ]
    assert changed(before, between).pairs == [PairGrowth("tea", "cup", 0, 3), PairGrowth("tea", "milk", 1, 3)]


def test_from_nothing_everything_is_born() -> None:
    difference = diff(Graph("ada"), folded(turn_recorded(id="t0", concepts="tea milk")))
    assert [each.id for each in difference.born] == ["milk", "tea"]
    assert (difference.turns, difference.added, difference.pairs) == ((0, 1), ["t0"], [PairGrowth("tea", "milk", 0, 1)])


def active(graph: Graph) -> set[str]:
    """Return the ids of the concepts that are not in the archive."""
    return {name for name, number in graph.concepts.numbers.items() if not graph.concepts.archived[number]}


@settings(max_examples=60)
@given(happenings(), configurations(), st.randoms(use_true_random=False))
def test_two_moments_of_any_life_add_up_and_one_moment_has_no_difference(
    happened: list[Happening], birth: GraphEvent, seeded: random.Random
) -> None:
    events = live(happened, [birth]).events
    cut = seeded.randint(0, len(events))
    before, after = refolded(events[:cut], Graph("ada")), refolded(events, Graph("ada"))
    digests = before.digest(), after.digest()
    difference, nothing = diff(before, after), diff(after, after)
    old, new = ({name for name in active(graph) if name[0] != "@"} for graph in (before, after))
    assert {each.id for each in difference.born} == new - old
    assert {each.id for each in difference.forgotten} == old - new
    existing = [int(graph.passages.is_active().sum()) for graph in (before, after)]
    assert len(difference.added) - len(difference.archived) == existing[1] - existing[0]
    assert not any((nothing.born, nothing.stronger, nothing.weaker, nothing.forgotten, nothing.long_term))
    assert not any((nothing.themes, nothing.added, nothing.archived, nothing.pairs))
    assert (before.digest(), after.digest()) == digests, "comparing changes nothing"


@pytest.mark.parametrize("days", [1, 30])
def test_a_graph_that_was_only_told_the_time_is_weaker_by_what_it_faded(days: int) -> None:
    difference = changed([WEEKLY, turn_recorded(concepts="tea")], [ticked(at=NOON + days * DAY)])
    assert rounded(difference.weaker) == [("tea", 0.5, round(0.5 * 2 ** (-days / 7), 6))]
