"""Topics over several windows: which words they hold, and whether a topic is still the one it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.times import MINUTE_MS
from processors.lifecycle.consolidation.clustering import LEAST, MOST, REGION, Links, Region, grouped
from processors.lifecycle.consolidation.consolidation import consolidated
from state.events.events import ConsolidationWindowClosed, Forgotten, TopicChange
from state.graph.graph import Graph
from state.graph.tables.theme_table import ThemeRow
from tests.support.builders import UNLINKED, turn_recorded
from tests.support.clocks import NOON

ROOT = Path(__file__).resolve().parents[2]
MINUTE = MINUTE_MS


class Talk:
    """A graph, and what is said in it; `close` ends a consolidation window and returns what became of the topics."""

    def __init__(self) -> None:
        self.graph = Graph("ada")
        self._number = count()

    def say(self, words: str, times: int = 1) -> None:
        for _ in range(times):
            number = next(self._number)
            at = NOON + number * MINUTE
            self.graph.fold(turn_recorded(id=f"t{number}", concepts=words, at=at, live=True))

    def small_talk(self, turns: int = 20) -> None:
        """Say words that nothing can be made of: what is in every turn is associated with nothing."""
        for _ in range(turns):
            number = next(self._number)
            self.say(f"noise{number} sound{number}")

    def forget(self, *concepts: str) -> None:
        self.graph.fold(Forgotten(**UNLINKED, graph="ada", src=0, concepts=list(concepts), turns=[]))

    def close(self) -> dict[str, TopicChange]:
        at = self.graph.clock
        event = consolidated(self.graph, at)
        self.graph.fold(ConsolidationWindowClosed(**UNLINKED, graph="ada", at=at, **event._asdict()))
        assert len({change.id for change in event.topics}) == len(event.topics)
        return {change.id: change for change in event.topics}

    def topics(self) -> dict[str, set[str]]:
        ids = self.graph.concepts.ids
        return {topic.id: {ids[word] for word in topic.members} for topic in self.graph.themes.themes.values()}


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.small_talk()
    return talk


@pytest.mark.source("E1", "E3")
def test_words_that_are_said_together_become_a_topic(talk: Talk) -> None:
    talk.say("sugar milk", 1)
    talk.say("coffee tea milk", 3)
    talk.say("piano guitar violin", 2)
    changes = talk.close()
    assert {name: change.change for name, change in changes.items()} == {"topic-0": "born", "topic-1": "born"}
    assert talk.topics() == {"topic-0": {"coffee", "tea", "milk"}, "topic-1": {"piano", "guitar", "violin"}}


@pytest.mark.source("E3", "E40")
def test_a_topic_is_called_by_its_three_strongest_words(talk: Talk) -> None:
    talk.say("coffee tea", 4)
    talk.say("coffee tea milk", 3)
    talk.say("coffee tea milk sugar", 2)
    (change,) = talk.close().values()
    assert change.concepts == ["coffee", "tea", "milk", "sugar"]
    assert change.label == "coffee, tea, milk"


def test_words_that_met_once_are_no_topic(talk: Talk) -> None:
    talk.say("coffee tea milk sugar")
    assert talk.close() == {}


def test_two_words_are_no_topic(talk: Talk) -> None:
    talk.say("coffee tea", 5)
    assert talk.close() == {}


def test_marks_are_never_members(talk: Talk) -> None:
    talk.say("@speaker:ada @day:2023-05-08 coffee tea milk", 4)
    assert talk.close()["topic-0"].concepts == ["coffee", "tea", "milk"]


def test_a_topic_has_at_most_twenty_members(talk: Talk) -> None:
    talk.say(" ".join(f"word{number}" for number in range(50)), 3)
    talk.close()
    assert talk.topics()
    assert all(LEAST <= len(members) <= MOST for members in talk.topics().values())


def test_a_group_may_have_just_the_most_members_and_its_strength_is_that_of_its_own_links() -> None:
    """Two cliques, the second one stronger, with a link between them that counts for neither."""
    links: Links = {word: {} for word in range(2 * MOST)}
    for weight, first in ((2e8, 0), (3e8, MOST)):
        for one in range(first, first + MOST):
            links[one] = {other: weight for other in range(first, first + MOST) if other != one}
    links[5][MOST + 5] = links[MOST + 5][5] = 1e8
    assert grouped(links) == [list(range(MOST, 2 * MOST)), list(range(MOST))]


def test_a_topic_that_says_the_same_again_did_not_change(talk: Talk) -> None:
    talk.say("coffee tea milk", 3)
    talk.close()
    talk.small_talk()
    talk.say("coffee tea milk", 3)
    assert talk.close() == {}


def test_a_topic_that_takes_in_a_word_keeps_its_name(talk: Talk) -> None:
    talk.say("coffee tea milk", 3)
    talk.close()
    talk.say("coffee tea milk sugar", 3)
    talk.small_talk()
    changes = talk.close()
    assert {name: change.change for name, change in changes.items()} == {"topic-0": "changed"}
    assert talk.topics() == {"topic-0": {"coffee", "tea", "milk", "sugar"}}


def test_topics_that_become_one_keep_the_name_of_the_larger(talk: Talk) -> None:
    talk.say("piano guitar violin", 3)
    talk.say("coffee tea milk sugar", 3)
    talk.close()
    before = talk.topics()
    talk.say("piano guitar violin coffee tea milk sugar", 12)
    talk.small_talk(60)
    changes = talk.close()
    larger, smaller = sorted(before, key=lambda name: -len(before[name]))
    assert {name: change.change for name, change in changes.items()} == {smaller: "died", larger: "merged"}
    assert changes[larger].origins == [larger, smaller]
    assert talk.topics() == {larger: before[larger] | before[smaller]}


def test_of_equally_large_topics_the_older_one_lives_on(talk: Talk) -> None:
    talk.say("piano guitar violin", 3)
    talk.close()
    talk.say("coffee tea milk", 3)
    talk.close()
    talk.say("piano guitar violin coffee tea milk", 12)
    talk.small_talk(60)
    changes = talk.close()
    assert (changes["topic-0"].change, changes["topic-1"].change) == ("merged", "died")
    assert changes["topic-0"].origins == ["topic-0", "topic-1"]


def test_a_topic_that_falls_apart_lives_on_in_its_larger_part(talk: Talk) -> None:
    talk.say("coffee tea milk sugar piano guitar violin", 4)
    talk.close()
    assert list(talk.topics()) == ["topic-0"]
    talk.say("coffee tea milk sugar", 40)
    talk.say("piano guitar violin", 40)
    talk.small_talk()
    changes = talk.close()
    assert {name: change.change for name, change in changes.items()} == {"topic-0": "changed", "topic-1": "split"}
    assert changes["topic-1"].origins == ["topic-0"]
    assert talk.topics() == {"topic-0": {"coffee", "tea", "milk", "sugar"}, "topic-1": {"piano", "guitar", "violin"}}


def test_a_topic_dies_when_too_few_of_its_words_are_left(talk: Talk) -> None:
    talk.say("coffee tea milk", 3)
    talk.close()
    talk.forget("milk")
    talk.small_talk()
    assert [(change.id, change.change) for change in talk.close().values()] == [("topic-0", "died")]
    assert talk.topics() == {}


def test_a_label_does_not_name_what_was_forgotten(talk: Talk) -> None:
    talk.say("coffee tea milk sugar", 3)
    talk.close()
    talk.forget("coffee")
    talk.small_talk()
    change = talk.close()["topic-0"]
    assert (change.change, change.label) == ("changed", "tea, milk, sugar")


def test_a_name_is_never_given_again(talk: Talk) -> None:
    talk.say("coffee tea milk", 3)
    talk.close()
    talk.forget("coffee", "tea", "milk")
    talk.close()
    talk.say("coffee tea milk", 3)
    talk.small_talk()
    assert list(talk.close()) == ["topic-1"]


def test_topics_that_nobody_spoke_of_stay_as_they_are(talk: Talk) -> None:
    talk.say("piano guitar violin", 3)
    talk.say("coffee tea milk", 3)
    talk.close()
    untouched = talk.graph.themes.themes["topic-0"]
    # Its links grow with every turn that is about something else; it is looked at when it is spoken of.
    talk.small_talk(200)
    talk.say("coffee tea milk sugar", 4)
    assert "topic-0" not in talk.close()
    assert talk.graph.themes.themes["topic-0"] == untouched


@pytest.mark.source("S23")
def test_only_so_many_words_are_regrouped_at_once() -> None:
    topics = [ThemeRow(f"topic-{n}", "", tuple(range(n * MOST, (n + 1) * MOST)), NOON) for n in range(40)]
    region = Region(topics)
    for word in range(40 * MOST + 100):
        region.take(word)
    assert len(region.words) == REGION
    assert {word for topic in region.topics.values() for word in topic.members} <= region.words


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_topics_are_the_same_whatever_the_seed_of_hashes(seed: str) -> None:
    here = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
    code = "from tests.processors.test_themes import state_of_themes; print(state_of_themes())"
    shown = subprocess.run([sys.executable, "-c", code], env=here, cwd=ROOT, check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == state_of_themes()


def state_of_themes() -> str:
    """Return all changes of a conversation that goes through everything that can happen to topics."""
    talk, changes = Talk(), []
    for window in range(6):
        for turn in range(40):
            at = (turn * 7 + window * 3) % 60
            talk.say(" ".join(f"word{word}" for word in sorted({at, (at * at) % 60, (at * 3) % 20, (at + window) % 9})))
        changes += [msgspec.json.encode(change).decode() for change in talk.close().values()]
    assert len(changes) > 20
    return "\n".join(changes)


_word = st.integers(0, 25).map(lambda number: f"word{number}" if number else "@mark")
_turn = st.lists(_word, min_size=1, max_size=7, unique=True)
_windows = st.lists(st.lists(_turn, min_size=2, max_size=25), min_size=1, max_size=5)


def played(windows: Iterable[list[list[str]]], between: Callable[[Talk], None]) -> list[dict[str, TopicChange]]:
    """Return the changes of each window; `between` is called after every turn."""
    talk, changes = Talk(), []
    for number, window in enumerate(windows):
        for words in window:
            talk.say(" ".join(words))
            between(talk)
        talk.forget(f"word{number + 1}")
        between(talk)
        changes.append(talk.close())
        hold_together(talk)
    return changes


def hold_together(talk: Talk) -> None:
    members = [word for words in talk.topics().values() for word in words]
    assert len(members) == len(set(members)), "a word belongs to one topic at most"
    assert all(LEAST <= len(words) <= MOST for words in talk.topics().values())
    assert not any(word.startswith("@") for word in members)


def reloaded(talk: Talk) -> None:
    events = talk.graph.events
    talk.graph = Graph.unpack(talk.graph.pack())
    assert talk.graph.events == events


@settings(max_examples=60)
@given(_windows)
def test_topics_do_not_depend_on_when_a_graph_was_compacted_or_loaded(windows: list[list[list[str]]]) -> None:
    plain = played(windows, lambda talk: None)
    assert played(windows, lambda talk: talk.graph.compact()) == plain
    assert played(windows, reloaded) == plain


_weights = st.dictionaries(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([1e6, 3e6, 3e6, 4e6, 9e6]),
    max_size=150,
)


@pytest.mark.source("P21")
@given(_weights, st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order_of_links(weights: dict[tuple[int, int], float], random: object) -> None:
    def links(pairs: Iterable[tuple[int, int]]) -> Links:
        links: Links = {}
        for left, right in pairs:
            links.setdefault(left, {})[right] = links.setdefault(right, {})[left] = weights[left, right]
        return links

    shuffled = list(weights)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    groups = grouped(links(weights))
    assert grouped(links(shuffled)) == groups
    assert all(LEAST <= len(set(group)) <= MOST for group in groups)
    assert sum(map(len, groups)) == len({word for group in groups for word in group})
