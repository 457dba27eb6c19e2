"""Decide a consolidation window: words that become long-term, topics, and repeated turns.

    long-term    a word mentioned in `long_windows` windows, or recalled `long_recalls` times, that has not faded
    topics       processors/lifecycle/consolidation/themes.py, around the words of the new turns
    repeats      a new turn and another of the same conversation whose words are the same to more than
                 `duplicate_above` (Jaccard), both of at least LEAST_WORDS, of one speaker, both questions or both not:
                 the one that says less is archived, and linked to the other.  Which one that is its length tells, or
                 where a graph wants that (`keep_information`), what its words tell: −Σ log2 (n / N), n of N turns
                 hold the word
    links        lab/windows/links.py, for graphs that want them: none by default

Duplicates are counted exactly.  MinHash would spare comparing sets where there is no index; here the postings are one.
Two turns that share more than a share s of their words share one of the rarest (1 − s) of them too (prefix filtering:
Chaudhuri, Ganti & Kaushik 2006), so looking up one or two rare words of each new turn finds every candidate, and no
hash or seed decides what is forgotten.  Source: SEEDS E38, S18, S22, M7.

A turn that is said again on another day is no repetition: the fact that it was on 29 mornings is worth keeping.

Forgotten rows may still be in the tables: they are skipped here, because a compaction costs more than the window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from emgas.times import HOUR_MS
from processors.lifecycle.consolidation.themes import topic_changes
from processors.lifecycle.habits.affinity import LOOKED_THROUGH
from processors.lifecycle.policies import Linking, policy
from processors.lifecycle.steps import Steps, in_one_go
from state.events.events import TopicChange
from state.graph.graph import Graph
from state.graph.tables.decay import log2

LEAST_WORDS = 4  # fewer are a greeting, not a statement
UNTOLD = 50  # percent: the importance of an unrated turn
COMPARED_AT_ONCE = 256  # pairs of turns, in one step
CONVERSATION_MS = 12 * HOUR_MS  # further apart, two turns of a session are of two days: many senders have one session

# In which session, by which speaker, whether it asks: repetitions have these in common.
UtteranceKey = tuple[int, int, int]


class Consolidation(NamedTuple):
    """The decision to record: fields as in ConsolidationWindowClosed."""

    consolidated: list[str]
    topics: list[TopicChange]
    repeats: list[tuple[str, str]]
    links: list[tuple[str, str]]


def consolidated(graph: Graph, at: int) -> Consolidation:
    """Find what a window that ended at `at` (ms) records.  It may be nothing; the window is closed all the same."""
    return in_one_go(consolidated_steps(graph, at))


def consolidated_steps(graph: Graph, at: int) -> Steps[Consolidation]:
    """Find the same in steps.  The graph must not change meanwhile."""
    graph.settle()
    fresh = {passage: _words(graph, passage) for passage in fresh_passages(graph)}
    faded, archived = graph.concepts.archived, graph.passages.archived
    mentioned = Counter(word for words in fresh.values() for word in words if not faded[word])
    compared = batch(graph, [passage for passage in fresh if not archived[passage]])
    active = {passage: fresh[passage] for passage in compared}
    yield
    links, long_term = _links(graph, compared), _long_term(graph, at)
    yield
    topics = topic_changes(graph, mentioned)
    yield
    return Consolidation(long_term, topics, (yield from _repeats(graph, active)), links)


def fresh_passages(graph: Graph) -> list[int]:
    """Pick as many of the last kept passages as turns are new, in their order."""
    kept, fresh = graph.passages.kept, list[int]()
    for passage in range(len(kept) - 1, -1, -1):
        if len(fresh) == graph.fresh_turns:
            break
        if kept[passage]:
            fresh.append(passage)
    return fresh[::-1]


def batch(graph: Graph, fresh: Sequence[int]) -> list[int]:
    """Pick the new passages that a window compares, in their order: those that matter most, of equals the first."""
    most = graph.settings.consolidate_batch
    if not most or len(fresh) <= most:
        return list(fresh)
    return sorted(sorted(fresh, key=lambda passage: (-matters(graph, passage), passage))[:most])


def matters(graph: Graph, passage: int) -> int:
    """Return how much a passage matters, percent."""
    importance = graph.passages.importance[passage]
    return UNTOLD if importance < 0 else importance


def _links(graph: Graph, fresh: Sequence[int]) -> list[tuple[str, str]]:
    """Decide what is linked besides, where a graph wants that."""
    if not graph.settings.links_besides:
        return []
    linked: Linking = policy("decisions", "links")
    return linked(graph, fresh)


def _words(graph: Graph, passage: int) -> frozenset[int]:
    """Collect the living words of a passage."""
    alive, is_mark = graph.concepts.alive, graph.concepts.is_mark
    return frozenset([word for word in graph.passages.concepts_of(passage) if alive[word] and not is_mark[word]])


def _long_term(graph: Graph, at: int) -> list[str]:
    concepts, settings = graph.concepts, graph.settings
    seen, recalled = np.array(concepts.seen_windows), np.array(concepts.recalls)
    often = (seen >= settings.long_windows) & (settings.long_windows > 0)
    often |= (recalled >= settings.long_recalls) & (settings.long_recalls > 0)
    if not often.any():
        return []
    eligible = concepts.is_active() & ~np.array(concepts.is_mark, np.bool_)
    new = often & eligible & ~np.array(concepts.long_term, np.bool_)
    # What has faded goes with the next decay window: the slower curve is for what is still there.
    lasting = (number for number in np.flatnonzero(new).tolist() if concepts.expiry(number, settings) > at)
    return [concepts.ids[number] for number in lasting]


def _repeats(graph: Graph, fresh: Mapping[int, frozenset[int]]) -> Steps[list[tuple[str, str]]]:
    """Choose (kept turn, its repetition) by id.  Longer turns are checked first: a kept turn is no repetition."""
    alike = yield from _alike(graph, fresh)
    tells, ids = _tells(graph), graph.passages.ids
    repeated: set[int] = set()
    repeats = []
    for passage in sorted(alike, key=lambda passage: (-tells(passage), passage)):
        if passage not in repeated:
            less = sorted(n for n in alike[passage] - repeated if not graph.passages.stays(n))
            repeated.update(less)
            repeats += [(ids[passage], ids[other]) for other in less]
    return repeats


def _tells(graph: Graph) -> Callable[[int], float]:
    """Make a function that tells how much a passage says: its length, or the information of its words in bits."""
    if not graph.settings.keep_information:
        return lambda passage: graph.passages.tokens[passage]
    in_turns, counted = graph.concepts.in_turns, max(1, graph.turns)
    return lambda passage: sum(log2(counted / in_turns[word]) for word in sorted(_words(graph, passage)))


def _alike(graph: Graph, fresh: Mapping[int, frozenset[int]]) -> Steps[dict[int, set[int]]]:
    """Map each passage to those that say the same, both ways; one of two is among `fresh`."""
    share = graph.settings.duplicate_above
    words_of, alike = dict(fresh), dict[int, set[int]]()
    candidates = (yield from _candidates(graph, fresh, share)) if share < 1 else iter(())
    for place, (passage, other) in enumerate(candidates):
        if place % COMPARED_AT_ONCE == 0:
            yield
        words = words_of.get(other)
        if words is None:
            words = words_of[other] = _words(graph, other)
        if len(words) >= LEAST_WORDS and _jaccard(fresh[passage], words) > share:
            alike.setdefault(passage, set()).add(other)
            alike.setdefault(other, set()).add(passage)
    return alike


def _candidates(graph: Graph, new: Mapping[int, frozenset[int]], share: float) -> Steps[Iterator[tuple[int, int]]]:
    """Find every pair of a new passage and one that it may repeat, with more than `share` of their words in common."""
    rare = {passage: _rarest(graph, words, share) for passage, words in new.items() if len(words) >= LEAST_WORDS}
    rare_words = {word for words in rare.values() for word in words}
    yield
    return _sharing(graph, rare, (yield from _holders(graph, rare_words)) if rare_words else {})


def _sharing(
    graph: Graph, rare: Mapping[int, Collection[int]], holders: Mapping[tuple[int, UtteranceKey], Collection[int]]
) -> Iterator[tuple[int, int]]:
    """Yield each passage with those of its conversation that hold one of its `rare` words."""
    times = graph.passages.at
    for passage, words in rare.items():
        key, at = _utterance_key(graph, passage), times[passage]
        others = {holder for word in words for holder in holders.get((word, key), ())} - {passage}
        yield from ((passage, other) for other in sorted(others) if abs(at - times[other]) < CONVERSATION_MS)


def _rarest(graph: Graph, words: Collection[int], share: float) -> list[int]:
    """Pick so many of `words`, the rarest, that a passage with none of them has at most `share` in common.

    Those that no other passage can hold are left out.
    """
    in_turns = graph.concepts.in_turns
    missing = len(words) - int(share * len(words) - 1e-9)  # a product that was rounded up must not hide a candidate
    rarest = sorted(words, key=lambda word: (in_turns[word], word))[:missing]
    return [word for word in rarest if in_turns[word] > 1]  # what was said in one turn leads to no other


def _holders(graph: Graph, words: Collection[int]) -> Steps[dict[tuple[int, UtteranceKey], list[int]]]:
    """Read the active passages that hold each word, by what repetitions have in common: few of all are left."""
    active, is_rare = graph.passages.is_active(), np.zeros(len(graph.concepts), np.bool_)
    is_rare[list(words)] = True
    holders: dict[tuple[int, UtteranceKey], list[int]] = {}
    for first in range(0, len(active), LOOKED_THROUGH):
        postings = graph.passages.holding(is_rare, first, first + LOOKED_THROUGH)
        for word, passage in zip(*(column.tolist() for column in postings), strict=True):
            if active[passage]:
                holders.setdefault((word, _utterance_key(graph, passage)), []).append(passage)
        yield
    return holders


def _utterance_key(graph: Graph, passage: int) -> UtteranceKey:
    """Return a passage's session, speaker and question flag: an echo or an answer is no repetition."""
    passages = graph.passages
    return passages.session[passage], passages.speaker[passage], passages.question[passage]


def _jaccard(left: frozenset[int], right: frozenset[int]) -> float:
    both = len(left & right)
    return both / (len(left) + len(right) - both)
