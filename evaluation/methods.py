"""Every method by name: how it ranks the turns of a memory.

    default               recall as a query gets it
    default-no-spreading  the control: nothing flows in the graph.  What a turn is in itself counts as before, with
                          weights that were fitted for this case (processors/recall/ranking/weights.py)
    literal, ppr, ppr-push, steady-state, subtractive, path, vector, staged
                          the other modes of a query, as a query gets them (lab/retrievers/)
    bm25                  baselines/bm25.py
    ppr-structured        HippoRAG's walk, subtractive-structured, steady-state-structured: with all else that recall
                          has, and weights of their own (baselines/structured.py): what the walk alone is worth

For the ablation also `default without X`, where one edge type of the flow is switched off and nothing is fitted again.
With a model of text embeddings (ranking/dense.py) also `dense`, the cosine alone, and `default+dense` and
`bm25+dense`, where it joins the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from emgas.messages.settings.modes import Mode
from evaluation.baselines.bm25 import Vocabulary, bm25
from evaluation.baselines.structured import structured
from evaluation.baselines.walks import WALKS, Walk
from evaluation.baselines.weights import PPR, STEADY_STATE, SUBTRACTIVE
from evaluation.memory import DEPTH, EvaluatedMemory, Ranker, Ranking, best, ranking
from lab.catalogue import POLICIES
from processors.extraction.extractor import Extraction
from processors.recall.ranking.dense import Embedder, Vectors, cosines, fused
from processors.recall.ranking.weights import DEFAULT_FLOW, FLOW_EDGES, NO_FLOW, FlowWeights
from processors.recall.retrieval.recall import RecallOptions
from processors.recall.retrieval.retrieval import retrieve
from state.arrays import Floats

Method = Callable[[EvaluatedMemory], Ranker]


def recalled(options: RecallOptions) -> Method:
    """Make a method of recall itself with `options`, as a query runs it."""
    options = replace(options, passages=DEPTH)
    packed_as = options.mode if options.rerank is None else "vector"  # scores of another formula are no odds

    def method(memory: EvaluatedMemory) -> Ranker:
        def rank(question: Extraction, text: str) -> Ranking:
            result = retrieve(memory.view, question, text, options, policies=POLICIES)
            return ranking(memory.view, result.passages, packed_as)

        return rank

    return method


PEERS: dict[str, tuple[Walk, FlowWeights]] = {
    "ppr-structured": (WALKS["ppr"], PPR),
    "subtractive-structured": (WALKS["subtractive"], SUBTRACTIVE),
    "steady-state-structured": (WALKS["steady-state"], STEADY_STATE),
}
MODES: dict[str, Method] = {
    mode: recalled(RecallOptions(mode, POLICIES.retriever(mode).spreading))
    for mode in get_args(Mode)
    if mode != "inject"  # ranks as the default does
}
METHODS: dict[str, Method] = {
    "default": MODES["default"],
    "default-no-spreading": recalled(RecallOptions(flow=NO_FLOW)),
    "bm25": bm25,
    **{name: method for name, method in MODES.items() if name != "default"},
    **{name: structured(walk, weights) for name, (walk, weights) in PEERS.items()},
}


ABLATIONS: dict[str, Method] = {
    f"default without {edge}": recalled(RecallOptions(flow=DEFAULT_FLOW.replace(**{edge: 0.0}))) for edge in FLOW_EDGES
}


class _Dense:
    """The texts of one memory as vectors."""

    def __init__(self, memory: EvaluatedMemory, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: Vectors = embedder.embed(memory.texts)

    def cosines(self, text: str) -> Floats:
        """Measure how much each turn is like `text`: (p,), from -1 to 1."""
        return cosines(self._passages, self._embedder.embed([text]))


def dense_methods(embedder: Embedder) -> dict[str, Method]:
    """Make the methods that need embeddings."""

    def dense(memory: EvaluatedMemory) -> Ranker:
        view = _Dense(memory, embedder)
        return lambda _, text: best(2 + view.cosines(text))  # above 0, so that all are ranked

    def with_bm25(memory: EvaluatedMemory) -> Ranker:
        view, words = _Dense(memory, embedder), Vocabulary(memory)
        return lambda question, text: best(fused(words.index.scores(words.query_ids(question)), view.cosines(text)))

    def with_default(memory: EvaluatedMemory) -> Ranker:
        view, options = _Dense(memory, embedder), RecallOptions(passages=DEPTH)

        def rank(question: Extraction, text: str) -> Ranking:
            result = retrieve(memory.view, question, text, options, view.cosines(text))
            return ranking(memory.view, result.passages, options.mode)

        return rank

    return {"default+dense": with_default, "dense": dense, "bm25+dense": with_bm25}
