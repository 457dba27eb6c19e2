"""How much of a question's evidence recall finds, on conversations in LoCoMo's format, through the product's own path.

    python -m bench.recall_locomo DATA [--modes default,default-D0,literal] [--merged]

    turn ── extractor ──▶ TurnRecorded ──▶ Graph.fold          question ── extractor ──▶ recall(view) ──▶ ranking

    R@k      share of a question's evidence turns among the first k passages
    T531/973 the same inside a budget of tokens (words × 1.3, rank order, stop at the first turn that does not fit):
             what SimpleMem and Mem0 spend per query
    1-4      categories multi-hop, temporal, open-domain and single-hop, every question weighing the same: the headline

`default-D0` is the control: the same structure and ranking with nothing spread.  `--merged` folds all conversations
into one graph (sessions stay apart by name), which is also where times at a few thousand turns come from.
Nothing is tuned here; the five dev conversations of RECALL.md were looked at, so numbers on them are optimistic.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from emgas.formats import locomo
from emgas.messages import Turn
from processors.activation import DEFAULT, LITERAL
from processors.concepts import YakeExtractor
from processors.extractor import Extractor
from processors.recall import Ranked, RecallOptions, recall
from state.events import TurnRecorded
from state.graph import Graph
from state.view import GraphView

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single", 5: "adversarial"}
BUDGETS = (531, 973)
METHODS = {
    "default": RecallOptions(spreading=DEFAULT),
    "default-D0": RecallOptions(spreading=replace(DEFAULT, propagation_decay=0.0)),
    "literal": RecallOptions("literal", LITERAL),
}


@dataclass(frozen=True)
class Question:
    """A question, its category, and the turn ids that hold its answer."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Memory:
    """A folded graph with its questions, and the words of each passage (a view holds no text)."""

    view: GraphView
    words: list[int]
    questions: list[Question]


def recorded(turn: Turn, extractor: Extractor) -> TurnRecorded:
    """Return the event of one turn, as the owner of a partition would append it."""
    assert turn.at is not None  # the format gives every session a date
    found = extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at)
    link = {"src": 0, "epoch": 0, "claim": "", "seq": 0, "chain": ""}
    return TurnRecorded(
        **turn.model_dump(),
        **link,
        clamped=False,
        live=False,
        question=found.question,
        tokens=found.tokens,
        concepts=list(found.concepts),
        times=list(found.times),
        extractor=extractor.version,
    )


def questions_of(conversation: dict[str, Any], turns: Container[str]) -> Iterator[Question]:
    """Yield the questions that have evidence among `turns`; a few ids in the data name no turn."""
    name = conversation["sample_id"]
    for asked in conversation["qa"]:
        parts = (part.strip() for given in asked["evidence"] for part in given.split(";"))
        evidence = frozenset(turn for part in parts if (turn := f"{name}/{part}") in turns)
        if evidence:
            yield Question(asked["question"], asked["category"], evidence)


def remember(conversations: list[dict[str, Any]], extractor: Extractor) -> Memory:
    """Fold `conversations` into one graph.  Raises ValueError for a turn that the import refuses."""
    graph, words = Graph("bench"), []
    for item in locomo.read(BytesIO(json.dumps(conversations).encode()), graph="bench"):
        if not isinstance(item, Turn):
            raise ValueError(f"cannot read the data: {item}")
        graph.fold(recorded(item, extractor))
        words.append(len(item.text.split()))
    known = graph.passages.numbers
    return Memory(graph.view(), words, [asked for given in conversations for asked in questions_of(given, known)])


def without_captions(conversations: list[dict[str, Any]]) -> None:
    """Take the captions of shared photos away; the import appends them to the text."""
    for given in conversations:
        for turns in given["conversation"].values():
            for turn in turns if isinstance(turns, list) else ():
                turn.pop("blip_caption", None)


def inside(ranked: tuple[Ranked, ...], words: list[int], budget: int) -> int:
    """Return how many of the first passages fit into `budget` tokens."""
    costs = np.cumsum([1.3 * words[passage.number] for passage in ranked])
    return int(np.searchsorted(costs, budget, side="right"))


def found(memory: Memory, question: Question, ranked: tuple[Ranked, ...]) -> list[float]:
    """Return the share of the evidence at each cut: R@5, R@10, R@20, T531, T973."""
    cuts = [5, 10, 20, *(inside(ranked, memory.words, budget) for budget in BUDGETS)]
    ids = [memory.view.passage_id[passage.number] for passage in ranked]
    return [len(question.evidence.intersection(ids[:cut])) / len(question.evidence) for cut in cuts]


def measure(memories: list[Memory], extractor: Extractor, options: RecallOptions) -> tuple[Any, Any, Any]:
    """Return categories (q,), shares (q, 5) and milliseconds of recall (q,) over all questions."""
    categories, shares, times = [], [], []
    for memory in memories:
        for question in memory.questions:
            extraction = extractor.of_query(question.text)
            began = time.perf_counter()
            recollection = recall(memory.view, extraction, question.text, options)
            times.append((time.perf_counter() - began) * 1000)
            categories.append(question.category)
            shares.append(found(memory, question, recollection.passages))
    return np.array(categories), np.array(shares), np.array(times)


def report(name: str, categories: Any, shares: Any, times: Any) -> None:
    """Print one method: the headline, then T973 by category, then speed."""
    headline = " ".join(f"{100 * value:6.1f}" for value in shares[categories <= 4].mean(axis=0))
    by_category = " ".join(
        f"{100 * shares[categories == number, 4].mean() if (categories == number).any() else np.nan:6.1f}"
        for number in CATEGORIES
    )
    print(f"{name:12} {headline}  | {by_category}  | {np.median(times):5.2f} {np.percentile(times, 99):6.2f}")


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--modes", default=",".join(METHODS))
    arguments.add_argument("--merged", action="store_true", help="one graph for all conversations")
    arguments.add_argument("--no-captions", action="store_true", help="leave the captions of shared photos out")
    given = arguments.parse_args()
    extractor = YakeExtractor()
    conversations = json.loads(given.data.read_text())
    if given.no_captions:
        without_captions(conversations)
    groups = [conversations] if given.merged else [[conversation] for conversation in conversations]
    memories = [remember(group, extractor) for group in groups]
    print(f"{sum(len(memory.words) for memory in memories)} turns, {sum(len(m.questions) for m in memories)} questions")
    print(f"{'':12}    R@5   R@10   R@20   T531   T973  |  multi   temp   open single  adver  | ms p50 p99")
    for name in given.modes.split(","):
        report(name, *measure(memories, extractor, METHODS[name]))


if __name__ == "__main__":
    main()
