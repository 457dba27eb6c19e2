"""Cluster words around the turns since the last window; topics are made from the clusters.

    region     words of the new turns, the topics that they belong to, and their strongest neighbours in no topic: at
               most REGION words.  Words outside stay as they are
    link       c(x,y) · ln( c(x,y) N / (c(x) c(y)) ), over turns: how much more often than by chance, in nats, times how
               often.  PPMI alone puts the rarest words first, and what they have in common is one odd turn
    hysteresis links inside a topic count more: a topic changes when there is reason to, not whenever there is a chance
    grouping   every word is a group; the two groups of the strongest linkage become one, again and again, while there
               is one above LINKAGE and the result has at most MOST words.  linkage = links between / sqrt(size · size):
               the sum would let large groups swallow all, the mean would let no group grow

No seed and no random order: one result.  A link is rounded to whole micronats, so sums are exact, do not depend on
their order, and are not decided by the last bit of a CPU's logarithm.  Source: SEEDS E3, E5, P21 (only the strongest
links count); Louvain was tried (docs/lifecycle.md).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from math import sqrt

import numpy as np

from processors.association import Edges
from state.arrays import Floats
from state.graph.graph import Graph
from state.graph.tables.theme_table import ThemeRow

REGION = 300  # words regrouped at once: bounds the work of a window, however much was said in it
LEAST, MOST = 3, 20  # words in a group that is a topic
TOGETHER = 2  # turns in which two words must have met: once is chance
STRONGEST = 6  # links of a word that count: with all of them, everything belongs to everything
LINKAGE = 2e6  # micronats
HYSTERESIS = 1.5  # a link inside a topic counts so many times: without it, three times as many topics die

Links = dict[int, dict[int, float]]  # word → word → micronats, both ways


class Region:
    """Words to be grouped again, and the topics among which they do: all words of a topic, or none of them."""

    def __init__(self, topics: Iterable[ThemeRow]) -> None:
        self.words: set[int] = set()
        self.topics: dict[str, ThemeRow] = {}
        self._topic_of = {member: topic for topic in topics for member in topic.members}

    def take(self, word: int) -> None:
        """Take in a word, with the topic that it belongs to, if there is room."""
        topic = self._topic_of.get(word)
        words = (word,) if topic is None else topic.members
        if word not in self.words and len(self.words) + len(words) <= REGION:
            self.words.update(words)
            if topic is not None:
                self.topics[topic.id] = topic

    def take_free(self, word: int) -> None:
        """Take in a word that belongs to no topic, if there is room."""
        if word not in self._topic_of:
            self.take(word)


def links_around(graph: Graph, region: Region, mentioned: Mapping[int, int]) -> Links:
    """Fill `region`, starting from `mentioned` (word → new turns with it), and return the links inside it."""
    in_turns = graph.concepts.in_turns
    for word in sorted(mentioned, key=lambda word: (-mentioned[word], word)):
        if in_turns[word] >= TOGETHER:  # else it has no link
            region.take(word)
    core = set(region.words)
    edges = _links_out(graph, core)
    if not len(edges.target):  # of a small graph, most often
        return {}
    for word in _strongest_first(_few(edges)):
        region.take_free(word)
    if len(region.words) > len(core):
        added = _links_out(graph, region.words - core)
        edges = Edges(*(np.concatenate(columns) for columns in zip(edges, added, strict=True)))
    is_inside = np.zeros(len(in_turns), np.bool_)
    is_inside[list(region.words)] = True
    return _mutual(_few(_with_hysteresis(edges.where(is_inside[edges.target]), region, len(in_turns))))


def _with_hysteresis(edges: Edges, region: Region, concepts: int) -> Edges:
    topic = -1 - np.arange(concepts)  # of each word; one without a topic shares it with none
    for number, members in enumerate(region.topics.values()):
        topic[list(members.members)] = number
    same = topic[edges.source] == topic[edges.target]
    return edges._replace(weight=edges.weight * np.where(same, HYSTERESIS, 1.0))


def _links_out(graph: Graph, words: Iterable[int]) -> Edges:
    """Collect every link that leaves `words`, which are alive, to living words; ordered by (source, target)."""
    sources = np.array(sorted(words), np.int64)
    position, target, together = graph.pairs["turn"].neighbours(sources)
    is_word = graph.concepts.is_active() & ~np.array(graph.concepts.is_mark, np.bool_)
    often = (together >= TOGETHER) & is_word[target]
    source, target, together = sources[position[often]], target[often], together[often]
    in_turns = np.array(graph.concepts.in_turns)
    lift = (together * graph.turns) / (in_turns[source] * in_turns[target])
    weight: Floats = np.rint(together * np.log(np.maximum(lift, 1.0)) * 1e6)
    return Edges(source, target, weight).where(weight > 0)


def _few(edges: Edges) -> Edges:
    """Keep the STRONGEST edges of each source; of equals, those to the words that were seen first."""
    order = np.lexsort((edges.target, -edges.weight, edges.source))
    edges = Edges(edges.source[order], edges.target[order], edges.weight[order])
    rank = np.arange(len(order)) - np.searchsorted(edges.source, edges.source)
    return edges.where(rank < STRONGEST)


def _strongest_first(edges: Edges) -> Iterator[int]:
    """Yield the targets, those of the strongest edges first."""
    yield from edges.target[np.lexsort((edges.source, edges.target, -edges.weight))].tolist()


def _mutual(edges: Edges) -> Links:
    """Make links of `edges`, both ways: one that is among the strongest of either end counts for both."""
    links: Links = {}
    for source, target, weight in zip(*(column.tolist() for column in edges), strict=True):
        links.setdefault(source, {})[target] = weight
        links.setdefault(target, {})[source] = weight
    return links


def grouped(links: Links) -> list[list[int]]:
    """Group words by their links: groups of LEAST words or more, the strongest first, as are their words."""
    groups = [_by_strength(group, links) for group in _agglomerated(links) if len(group) >= LEAST]
    return sorted(groups, key=lambda group: (-sum(_strength(word, set(group), links) for word in group), group))


def _by_strength(group: list[int], links: Links) -> list[int]:
    within = set(group)
    return sorted(group, key=lambda word: (-_strength(word, within, links), word))


def _strength(word: int, within: set[int], links: Links) -> float:
    return sum(weight for other, weight in links[word].items() if other in within)


def _agglomerated(links: Links) -> list[list[int]]:
    """Unite words into disjoint groups."""
    agglomeration = _Agglomeration(links)
    while agglomeration.step():
        pass
    return list(agglomeration.groups.values())


class _Agglomeration:
    """Groups that become fewer.  A group goes by the number of its first word.

    groups    its words
    between   the sum of the links to each other group
    """

    def __init__(self, links: Links) -> None:
        self.groups = {word: [word] for word in sorted(links)}
        self.between = {word: dict(links[word]) for word in self.groups}
        self._heap: list[tuple[float, int, int]] = []  # (-linkage, group, group): true once, and maybe not any more
        for word in self.groups:
            self._push(word, (other for other in links[word] if word < other))

    def step(self) -> bool:
        """Unite the two groups with the strongest linkage if they may be; return whether there is a linkage left."""
        if not self._heap:
            return False
        linkage, left, right = heapq.heappop(self._heap)
        # What was pushed and is not true any more was followed by what is.  A linkage can be the same again after both
        # groups have grown, so their size is asked again.
        if right in self.between.get(left, ()) and self._fits(left, right) and self._linkage(left, right) == -linkage:
            self._unite(left, right)
            self._push(left, self.between[left])
        return True

    def _fits(self, left: int, right: int) -> bool:
        return len(self.groups[left]) + len(self.groups[right]) <= MOST

    def _linkage(self, left: int, right: int) -> float:
        return self.between[left][right] / sqrt(len(self.groups[left]) * len(self.groups[right]))

    def _push(self, group: int, others: Iterable[int]) -> None:
        for other in others:
            if self._fits(group, other) and (linkage := self._linkage(group, other)) > LINKAGE:
                heapq.heappush(self._heap, (-linkage, min(group, other), max(group, other)))

    def _unite(self, left: int, right: int) -> None:
        self.groups[left] += self.groups.pop(right)
        into = self.between[left]
        for other, weight in self.between.pop(right).items():
            del self.between[other][right]
            if other != left:
                into[other] = self.between[other][left] = into.get(other, 0.0) + weight
