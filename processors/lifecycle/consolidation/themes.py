"""Decide how a graph's themes change in a window.  A theme is a group of words (clustering.py) that outlives windows.

    born      a group that comes from no topic
    changed   a topic goes on in the group that holds most of it, with other words or other strongest words
    merged    one group holds most of several topics: the largest goes on (of equals, the oldest), the others died
    split     a group comes mostly from a topic that goes on in another group, or not at all
    died      no group holds enough of the topic, or too few of its words are left

The ids of topics are numbered: "topic-7" is the eighth topic of the graph.  A topic that is not regrouped changes only
when words are forgotten: its label may hold a word that is gone, or too few words may be left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from processors.lifecycle.consolidation.clustering import LEAST, Region, grouped, links_around
from processors.text.shown import Shown
from state.events.events import Fate, TopicChange
from state.graph.graph import Graph
from state.graph.tables.theme_table import ThemeRow

LABELLED_BY = 3  # words
SAME = 0.25  # words in common (Jaccard) from which a group continues a topic that fell apart without a main part

Groups = Sequence[Sequence[int]]


def topic_changes(graph: Graph, mentioned: Mapping[int, int]) -> list[TopicChange]:
    """Decide what becomes of the topics of a graph.

    mentioned  living word's number → new turns that hold it
    """
    living = _living(graph)
    region = Region(living)
    groups = grouped(links_around(graph, region, mentioned))
    old = [topic for topic in living if topic.id in region.topics]
    untouched = [topic for topic in living if topic.id not in region.topics]
    author = _Author(graph)
    return [*author.regrouped(old, groups), *author.worn(untouched)]


def _living(graph: Graph) -> list[ThemeRow]:
    """Strip the topics of words that were forgotten: those may still have their rows."""
    active = graph.concepts.is_active()
    return [
        ThemeRow(topic.id, topic.label, tuple([word for word in topic.members if active[word]]), topic.born)
        for topic in graph.themes.themes.values()
    ]


def _continued(old: Sequence[ThemeRow], groups: Groups) -> dict[int, list[ThemeRow]]:
    """Map each group to the topics that live on in it, the one whose id it keeps first."""
    shared = _shared(old, groups)
    claims: dict[int, list[ThemeRow]] = {}
    for (topic, group), words in shared.items():
        if 2 * words > len(old[topic].members):
            claims.setdefault(group, []).append(old[topic])
    settled = {topic.id for topics in claims.values() for topic in topics}
    for topic, group in _likest(shared, old, groups):
        if group not in claims and old[topic].id not in settled:
            claims[group] = [old[topic]]
            settled.add(old[topic].id)
    # Sorting is stable and `old` is in order of birth: of equals, the oldest comes first.
    return {group: sorted(topics, key=lambda topic: -len(topic.members)) for group, topics in claims.items()}


def _shared(old: Sequence[ThemeRow], groups: Groups) -> Counter[tuple[int, int]]:
    """Count the words that (position of topic, position of group) have in common, in order of birth."""
    group_of = {word: position for position, group in enumerate(groups) for word in group}
    return Counter(
        (position, group_of[word]) for position, topic in enumerate(old) for word in topic.members if word in group_of
    )


def _likest(shared: Mapping[tuple[int, int], int], old: Sequence[ThemeRow], groups: Groups) -> list[tuple[int, int]]:
    """Find the pairs that are alike enough to be the same, most alike first; of equals, older topic first."""

    def alike(pair: tuple[int, int]) -> float:
        topic, group = pair
        return shared[pair] / (len(old[topic].members) + len(groups[group]) - shared[pair])

    return sorted((pair for pair in shared if alike(pair) >= SAME), key=lambda pair: (-alike(pair), pair))


class _Author:
    """Records changes, and counts the topics that they create."""

    def __init__(self, graph: Graph) -> None:
        self._ids = graph.concepts.ids
        self._shown = Shown(graph.concepts)
        self._labels = graph.concepts.labels()
        self._born = graph.themes.born

    def regrouped(self, old: Sequence[ThemeRow], groups: Groups) -> Iterator[TopicChange]:
        """Yield the changes of the topics `old`, from which `groups` were made."""
        continued = _continued(old, groups)
        surviving = {topics[0].id for topics in continued.values()}
        yield from (self._died(topic) for topic in old if topic.id not in surviving)
        topic_of = {word: topic.id for topic in old for word in topic.members}
        for position, group in enumerate(groups):
            if position in continued:
                yield from self._went_on(continued[position], group)
            else:
                yield self._new(group, _main_source(group, topic_of))

    def worn(self, untouched: Iterable[ThemeRow]) -> Iterator[TopicChange]:
        """Yield what forgetting did to topics that were not regrouped."""
        for topic in untouched:
            if len(topic.members) < LEAST:
                yield self._died(topic)
            elif topic.label != self._label(topic.members):
                yield self._change(topic.id, "changed", topic.members)

    def _went_on(self, topics: Sequence[ThemeRow], group: Sequence[int]) -> Iterator[TopicChange]:
        topic = topics[0]
        if len(topics) > 1:
            yield self._change(topic.id, "merged", group, [origin.id for origin in topics])
        # The order of weaker words shifts with every turn: that alone is not worth an event.
        elif set(topic.members) != set(group) or topic.label != self._label(group):
            yield self._change(topic.id, "changed", group)

    def _new(self, group: Sequence[int], source: str | None) -> TopicChange:
        name = f"topic-{self._born}"
        self._born += 1
        if source is None:
            return self._change(name, "born", group)
        return self._change(name, "split", group, [source])

    def _died(self, topic: ThemeRow) -> TopicChange:
        return TopicChange(id=topic.id, change="died", label=topic.label, concepts=[])

    def _change(self, name: str, change: Fate, group: Sequence[int], origins: Sequence[str] = ()) -> TopicChange:
        concepts = [self._ids[word] for word in group]
        label = self._label(group)
        return TopicChange(id=name, change=change, label=label, concepts=concepts, origins=list(origins))

    def _label(self, group: Sequence[int]) -> str:
        shown = [label for _, label in islice(self._shown.labels(group), LABELLED_BY)]
        return ", ".join(shown or [self._labels[word] for word in group[:LABELLED_BY]])


def _main_source(group: Sequence[int], topic_of: Mapping[int, str]) -> str | None:
    """Find the topic that more than half of `group` comes from."""
    sources = Counter(topic_of[word] for word in group if word in topic_of)
    return next((name for name, words in sources.items() if 2 * words > len(group)), None)
