"""Measure the size and structure of a memory.  SEEDS P27.

    Measures     active size and growth, path length, how much abstracts cover, share of what was said that is active

Measuring looks at some concepts only, the same every time: SAMPLED of them, drawn by the hash of their ids, and at most
REACHED nodes from each.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np

from emgas.times import DAY_MS
from processors.text import tables
from state.arrays import Integers
from state.graph.graph import Graph

RECENT: Final = 30 * DAY_MS
SAMPLED: Final = 16
REACHED: Final = 5_000
_WORD: Final = tables.lazy(r"[^\W_\u3400-\u9fff]+")
_HAN: Final = tables.lazy(r"[\u3400-\u9fff]")


class Measures(NamedTuple):
    """The size and structure of a graph.

    active, archived   turns in each tier
    words              those of all turns that are held;  active_words  those of the active ones and of abstracts
    growth             turns of the last 30 days of the graph's time, for each active turn that is older
    path_length        mean number of links on the shortest way between two concepts, over a sample; 0 without any
    reached            share of the concepts that a sampled one reaches at all, as far as it was looked
    covered            share of the turns that an abstract (a habit) holds
    in_themes          share of the active words that belong to a theme
    compression        active_words / words: what is left of what was said
    pace               by which windows consolidate, in steps
    """

    active: int = 0
    archived: int = 0
    words: int = 0
    active_words: int = 0
    growth: float = 0.0
    path_length: float = 0.0
    reached: float = 0.0
    covered: float = 0.0
    in_themes: float = 0.0
    compression: float = 0.0
    pace: int = 0


def measures(graph: Graph) -> Measures:
    """Measure a graph, which is settled first.  It takes some milliseconds, whatever its size."""
    graph.settle()
    passages = graph.passages
    kept, active = np.array(passages.kept, np.bool_), passages.is_active()
    tokens, at = np.array(passages.tokens, np.int64), np.array(passages.at, np.int64)
    abstracts = sum(_length(habit.text) for habit in graph.habits.habits.values())
    words, active_words = int(tokens[kept].sum()), int(tokens[active].sum()) + abstracts
    recent = int((active & (at > graph.clock - RECENT)).sum())
    count, total = int(active.sum()), int(kept.sum())
    hops, reached = path_length(graph)
    return Measures(
        active=count,
        archived=total - count,
        words=words,
        active_words=active_words,
        growth=recent / max(count - recent, 1),
        path_length=hops,
        reached=reached,
        covered=len(graph.habits.of_turn) / max(total, 1),
        in_themes=_in_themes(graph),
        compression=active_words / max(words, 1),
        pace=graph.pace,
    )


def _length(text: str) -> int:
    """Estimate the length of a text in words; a Chinese one has two characters on average."""
    return len(_WORD.findall(text)) + ceil(len(_HAN.findall(text)) / 2)


def _in_themes(graph: Graph) -> float:
    words = len(_words(graph))
    return len({word for theme in graph.themes.themes.values() for word in theme.members}) / max(words, 1)


def _words(graph: Graph) -> Integers:
    """List the active words, marks not among them."""
    concepts = graph.concepts
    alive, archived = np.array(concepts.alive, np.bool_), np.array(concepts.archived, np.bool_)
    return np.flatnonzero(alive & ~archived & ~np.array(concepts.is_mark, np.bool_))


def path_length(graph: Graph) -> tuple[float, float]:
    """Measure the mean number of links between concepts, and the share that a sampled one reaches.  See Measures."""
    words = _words(graph)
    if len(words) < 2:
        return 0.0, 0.0
    ids = graph.concepts.ids
    sample = sorted(words.tolist(), key=lambda number: (crc32(ids[number].encode()), number))[:SAMPLED]
    is_word = np.zeros(len(graph.concepts), np.bool_)
    is_word[words] = True
    hops = np.concatenate([np.array(list(_hops(graph, start, is_word)), np.int64) for start in sample])
    most = sum(min(len(words) - 1, REACHED) for _ in sample)
    return (float(hops.mean()), min(1.0, len(hops) / most)) if len(hops) else (0.0, 0.0)


def _hops(graph: Graph, start: int, is_word: np.ndarray[Any, np.dtype[np.bool_]]) -> Iterator[int]:
    """Yield how many links each word is away from `start`, the nearest first, REACHED of them or a layer more."""
    seen = ~is_word
    seen[start] = True
    layer, distance, reached = np.array([start]), 0, 0
    while len(layer) and reached < REACHED:
        distance += 1
        _, target, _ = graph.pairs["turn"].neighbours(layer)
        layer = np.unique(target[~seen[target]])
        seen[layer] = True
        reached += len(layer)
        yield from (distance for _ in range(len(layer)))
