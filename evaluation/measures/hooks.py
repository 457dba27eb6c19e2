"""Compare the context that hooks add to prompts with the five best turns of BM25, which others add to every prompt.

A conversation is taken as an agent's earlier sessions.  Each prompt is put to its memory while the worker runs, by the
function that a server runs for a prompt (gateway/doors/hooks.py), in a session of its own.

needing    the questions of the data set              ordinary   questions/data/ordinary.tsv: they need no memory

tokens     of what is injected, on average: ours with the tags and the heading around it, BM25's lines as they are
recall     share of the evidence that is in it        silent     share of prompts that get nothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from emgas.client.client import MemoryClient
from emgas.hooks.hosts import HOSTS, HookInput
from emgas.hooks.projects import PERSON
from evaluation.baselines.bm25 import bm25
from evaluation.bootstrap import Generator, paired
from evaluation.contexts import pack
from evaluation.measure import Examined
from evaluation.questions.datasets import PASSAGES
from evaluation.questions.labelled import UNANSWERABLE, DataSet, LabelledQuestion, is_chinese
from evaluation.questions.ordinary import read_ordinary
from gateway.doors.hooks import injection_for_prompt
from gateway.doors.injections import Injections
from processors.recall.context.context import tokens
from state.arrays import Floats

HOST: Final = HOSTS["claude-code"]
ALWAYS: Final = 5  # turns of BM25
UNBOUNDED: Final = 10**9  # tokens
METHODS: Final = ("emgas", "bm25")
KINDS: Final = ("needing", "ordinary")
T = TypeVar("T")


class Prompt(NamedTuple):
    """A prompt of a user.  `question`: the question of the data set, with its evidence, if it is one."""

    graph: str
    text: str
    question: LabelledQuestion | None


class PromptContext(NamedTuple):
    """The context that a prompt got: ids of turns, and tokens."""

    turns: Sequence[str] = ()
    tokens: int = 0


def prompts_of(data: DataSet) -> list[Prompt]:
    """List the prompts to put to the memories of conversations; none for passages."""
    ordinary, prompts = read_ordinary(), list[Prompt]()
    for graph, questions in data.questions.items():
        if graph != PASSAGES and questions:
            language = "zh" if is_chinese(questions) else "en"
            prompts += [Prompt(graph, each.text, each) for each in questions if each.category != UNANSWERABLE]
            prompts += [Prompt(graph, text, None) for text in ordinary[language]]
    return prompts


async def ask_hooks(memory: MemoryClient, prompts: Sequence[Prompt]) -> list[PromptContext]:
    """Return what each prompt gets from a hook."""
    return [await _ask(memory, f"prompt-{place}", each) for place, each in enumerate(prompts)]


async def _ask(memory: MemoryClient, session: str, prompt: Prompt) -> PromptContext:
    firing = HookInput("UserPromptSubmit", "prompt", session, "", prompt.text)
    graphs = [prompt.graph, PERSON]
    injected = await injection_for_prompt(memory, HOST, firing, graphs=graphs, injections=Injections())
    if injected is None:
        return PromptContext()
    return PromptContext([turn for _, turn in injected.record.turns], tokens(injected.text))


def five_of_bm25(examined: Sequence[Examined], prompts: Sequence[Prompt]) -> list[PromptContext]:
    """Return what each prompt gets where the first turns of BM25 are always injected."""
    memories = {each.graph.graph_id: (each, bm25(each.memory)) for each in examined if each.graph is not None}
    contexts = []
    for prompt in prompts:
        of, ranker = memories[prompt.graph]
        order = ranker(of.memory.question(prompt.text), prompt.text).listed[:ALWAYS].tolist()
        packed = pack(of, order, UNBOUNDED)
        contexts.append(PromptContext([of.memory.view.passage_id[number] for number in order], packed.tokens))
    return contexts


def measure_hooks(
    prompts: Sequence[Prompt], ours: Sequence[PromptContext], theirs: Sequence[PromptContext], generator: Generator
) -> dict[str, Any]:
    """Measure both ways on the same prompts; shares in percent, the difference of recall as [mean, low, high]."""
    contexts_by_method = dict(zip(METHODS, (ours, theirs), strict=True))
    report: dict[str, Any] = {
        kind: {"prompts": len(_of_kind(prompts, prompts, kind))}
        | {name: _summary(_of_kind(prompts, contexts, kind)) for name, contexts in contexts_by_method.items()}
        for kind in KINDS
    }
    recall = {name: _recall(prompts, contexts) for name, contexts in contexts_by_method.items()}
    for name, values in recall.items():
        report["needing"][name]["recall"] = round(100 * float(values.mean()), 1)
    gain = paired(recall["emgas"], recall["bm25"], generator)
    return report | {"gain": [round(100 * value, 1) for value in gain]}


def _of_kind(prompts: Sequence[Prompt], values: Sequence[T], kind: str) -> list[T]:
    return [
        value
        for prompt, value in zip(prompts, values, strict=True)
        if (prompt.question is not None) == (kind == "needing")
    ]


def _summary(contexts: Sequence[PromptContext]) -> dict[str, float]:
    counts = np.array([each.tokens for each in contexts])
    return {"tokens": round(float(counts.mean()), 1), "silent": round(100 * float((counts == 0).mean()), 1)}


def _recall(prompts: Sequence[Prompt], contexts: Sequence[PromptContext]) -> Floats:
    """Compute the share of the evidence in each context of a question: (q,)."""
    shares = []
    for prompt, context in zip(prompts, contexts, strict=True):
        if prompt.question is not None:
            needed = 1 if prompt.question.any_of else len(prompt.question.evidence)
            shares.append(min(1.0, len(prompt.question.evidence & set(context.turns)) / needed))
    return np.array(shares, np.float64)


HEAD: Final = (
    "data set", "prompts", "tokens", "of BM25", "evidence", "of BM25", "difference", "nothing",
    "ordinary prompts", "tokens", "of BM25", "nothing",
)  # fmt: skip


def table(results: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Write what was measured as rows of a table."""
    return [HEAD, *((name, *_cells(result["hooks"])) for name, result in results.items() if "hooks" in result)]


def sentences(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return sentences on what the prompts of all data sets got on average, each prompt with the same weight."""
    measured = [result["hooks"] for result in results.values() if "hooks" in result]
    needing, ordinary = ([each[kind] for each in measured] for kind in KINDS)

    def mean(reports: Sequence[Mapping[str, Any]], name: str, value: str) -> float:
        weights = [each["prompts"] for each in reports]
        return float(np.average([each[name][value] for each in reports], weights=weights))

    return (
        f"Measured on {sum(each['prompts'] for each in needing)} prompts that ask for something said earlier: hooks "
        f"add {mean(needing, 'emgas', 'tokens'):.0f} tokens on average, which hold "
        f"{mean(needing, 'emgas', 'recall'):.0f} % of what was needed. The five best turns of keyword search (BM25), "
        f"every time, are {mean(needing, 'bm25', 'tokens'):.0f} tokens and hold "
        f"{mean(needing, 'bm25', 'recall'):.0f} %. Of {sum(each['prompts'] for each in ordinary)} prompts that need no "
        f"memory, {mean(ordinary, 'emgas', 'silent'):.0f} % get nothing, and the average is "
        f"{mean(ordinary, 'emgas', 'tokens'):.0f} tokens instead of {mean(ordinary, 'bm25', 'tokens'):.0f} "
        "([results](results.md#what-prompts-to-an-agent-get))."
    )


def _cells(hooks: Mapping[str, Any]) -> tuple[str, ...]:
    needing, ordinary = (hooks[kind] for kind in KINDS)
    mean, low, high = hooks["gain"]
    return (
        str(needing["prompts"]),
        *(f"{needing[name]['tokens']:.0f}" for name in METHODS),
        *(f"{needing[name]['recall']:.1f}" for name in METHODS),
        f"{mean:+.1f} [{low:.1f}, {high:.1f}]",
        f"{needing['emgas']['silent']:.0f} %",
        str(ordinary["prompts"]),
        *(f"{ordinary[name]['tokens']:.0f}" for name in METHODS),
        f"{ordinary['emgas']['silent']:.0f} %",
    )
