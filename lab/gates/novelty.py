"""Score how much a turn says that is new to a graph: SimpleMem's score of information.  SEEDS P2, P5–P8, T13.

    H(W)  = α · new / max(1, n) + (1 − α) · (1 − cos(E(W), E(H)))                                       in [0, 1]
    E(H)  = β · E(W of the last turn) + (1 − β) · E(H before it)                       a moving average of what was said

    W     the turn, or where a graph counts by windows of tokens, the turn with as many before it in its session as fit
          into the share of a window that two of them have in common
    n     distinct concepts of W, no marks; new: those that nothing before W said.  `novelty_literal`: n is W's length
          in words, as the source has it, where 2 new names of 512 words are worth 0.004 and α decides nothing (T13)
    E     counts of the words, of length 1; the source's is a model's vector
    cos   with the average, or with the nearest of those turns if that is nearer: what was said once, days ago, and is
          said again adds nothing, though the average has moved on
    τ     `novelty_above`: W is redundant where H is less, unless it is less by `novelty_border` at most and something
          in it is new: what is like another, but not the same, is kept apart (pattern separation, P2)

The average is taken of the last LAST turns that count: what an older one adds is less than 0.9^64 = 0.1 % at β = 0.1.
A graph keeps nothing for it, and what was forgotten is not in it.  W without a word says nothing: H is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import sqrt
from typing import Final, NamedTuple

from msgspec.structs import replace

from lab.gates.worth import holds_fast
from state.events.events import TurnRecorded
from state.events.extraction_types import Concept
from state.graph.graph import Graph

LAST: Final = 64  # turns
DIGITS: Final = 4  # of a score, as it is recorded and judged

Vector = dict[str, float]  # concept id → weight


class Novelty(NamedTuple):
    """The score of a window, and how many of its concepts are new."""

    score: float
    new: int


def gate(turn: TurnRecorded, graph: Graph) -> TurnRecorded:
    """Score a turn, and find it redundant where too little of it is new.

    What must not be lost (worth.py `holds_fast`) counts however little of it is new; its score is recorded, too.
    """
    assessment = novelty(graph, turn.session, turn.concepts, turn.tokens)
    is_over = is_redundant(graph, assessment) and not holds_fast(turn)
    return replace(turn, novelty=assessment.score, uncounted="redundant" if is_over else turn.uncounted)


def novelty(graph: Graph, session: str, concepts: Sequence[Concept], tokens: int) -> Novelty:
    """Score a turn of `tokens` words in `session` that is about to be said; all before it must be folded."""
    graph.settle()
    settings = graph.settings
    before = _window(graph, session)
    words = _words(concepts)
    for passage in before:
        _add(words, _of(graph, passage), 1.0)
    if not words:
        return Novelty(0.0, 0)
    new = sum(_is_new(graph, word, before) for word in words)
    total = tokens + sum(graph.passages.tokens[passage] for passage in before)
    share = min(1.0, new / max(1, total if settings.novelty_literal else len(words)))
    apart = 1.0 - _nearest(words, _latest(graph, frozenset(before)), settings.novelty_beta)
    score = settings.novelty_alpha * share + (1 - settings.novelty_alpha) * apart
    return Novelty(round(min(1.0, max(0.0, score)), DIGITS), new)


def is_redundant(graph: Graph, assessment: Novelty) -> bool:
    """Return whether a score is too low for what it was given to: in doubt, what names something new is kept."""
    settings = graph.settings
    is_border = assessment.score >= settings.novelty_above - settings.novelty_border
    return assessment.score < settings.novelty_above and not (is_border and assessment.new)


def _window(graph: Graph, session: str) -> list[int]:
    """List the passages that the next turn of a session shares its window of tokens with, the last first."""
    passages, settings = graph.passages, graph.settings
    last = passages.last_of(session)
    room = settings.window_overlap * settings.window_tokens
    if last < 0 or passages.tokens[last] > room:
        return []
    return [last, *passages.before_within(last, room - passages.tokens[last])]


def _words(concepts: Iterable[Concept]) -> Vector:
    return {each.id: float(each.count) for each in concepts if each.id[:1] != "@" and not each.is_phrase}


def _of(graph: Graph, passage: int) -> Vector:
    """Count the words of a passage that are still here."""
    passages, concepts = graph.passages, graph.concepts
    start = passages.starts[passage]
    return {
        concepts.ids[number]: float(passages.posting_count[start + place])
        for place, number in enumerate(passages.concepts_of(passage))
        if concepts.alive[number] and not concepts.is_mark[number]
    }


def _is_new(graph: Graph, word: str, window: Sequence[int]) -> bool:
    """Return whether nothing that lies before a window says a word."""
    number = graph.concepts.numbers.get(word)
    if number is None:
        return True
    return graph.concepts.in_turns[number] == sum(number in graph.passages.concepts_of(passage) for passage in window)


def _latest(graph: Graph, window: frozenset[int]) -> list[Vector]:
    """List what each of the last turns before a window says, the latest first; what gates set aside is none of them."""
    passages = graph.passages
    counts = (n for n in range(len(passages) - 1, -1, -1) if passages.kept[n] and not passages.uncounted[n])
    return [_normed(_of(graph, passage)) for passage in islice((n for n in counts if n not in window), LAST)]


def _nearest(words: Vector, latest: Sequence[Vector], beta: float) -> float:
    """Return how near some words are to the average of turns, the later the more, or to the nearest of them."""
    average: Vector = {}
    for age, vector in enumerate(latest):
        _add(average, vector, beta * (1 - beta) ** age)
    return max((_cosine(words, vector) for vector in (average, *latest)), default=0.0)


def _add(vector: Vector, other: Mapping[str, float], weight: float) -> None:
    for word, value in other.items():
        vector[word] = vector.get(word, 0.0) + weight * value


def _normed(vector: Vector) -> Vector:
    length = sqrt(sum(value * value for value in vector.values()))
    return {word: value / length for word, value in vector.items()} if length else vector


def _cosine(left: Mapping[str, float], right: Mapping[str, float]) -> float:
    product = sum(value * right.get(word, 0.0) for word, value in left.items())
    lengths = sqrt(sum(value * value for value in left.values())) * sqrt(sum(value * value for value in right.values()))
    return product / lengths if lengths else 0.0
