"""Every method by name: how it ranks the turns of a memory.

    default               recall as a query gets it
    default-no-spreading  the control: nothing flows in the graph.  What a turn is in itself counts as before, with
                          weights that were fitted for this case (processors/recall/weights.py)
    literal               the seed's algorithm as written
    bm25                  baselines/bm25.py
    ppr                   HippoRAG's walk on our graph        baselines/ppr.py
    subtractive           memory_system's walk                baselines/subtractive.py
    steady-state          SoulMem's activation                baselines/steady_state.py
                          these three with all else that recall has, and weights of their own (baselines/structured.py)

For the ablation also `default without X`, where one edge type of the flow is switched off and nothing is fitted anew.
With a model of text embeddings (processors/recall/dense.py) also `dense`, the cosine alone, and `default+dense` and
`bm25+dense`, where it joins the score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from evaluation.baselines.bm25 import Vocabulary, bm25
from evaluation.baselines.ppr import ppr
from evaluation.baselines.steady_state import steady_state
from evaluation.baselines.structured import Walk, structured
from evaluation.baselines.subtractive import subtractive
from evaluation.baselines.weights import PPR, STEADY_STATE, SUBTRACTIVE
from evaluation.memory import DEPTH, Memory, Ranker, Ranking, best, ranking
from processors.extraction.extractor import Extraction
from processors.recall.activation import LITERAL
from processors.recall.dense import Embedder, Vectors, cosines, fused
from processors.recall.recall import RecallOptions, recall
from processors.recall.weights import DEFAULT_FLOW, FLOW_EDGES, NO_FLOW, FlowWeights
from state.arrays import Floats

Method = Callable[[Memory], Ranker]


def recalled(options: RecallOptions) -> Method:
    """Make a method of recall itself with `options`, as a query runs it."""
    options = replace(options, passages=DEPTH)

    def method(memory: Memory) -> Ranker:
        def rank(question: Extraction, text: str) -> Ranking:
            return ranking(memory.view, recall(memory.view, question, text, options).passages, options.mode)

        return rank

    return method


PEERS: dict[str, tuple[Walk, FlowWeights]] = {
    "ppr": (ppr, PPR),
    "subtractive": (subtractive, SUBTRACTIVE),
    "steady-state": (steady_state, STEADY_STATE),
}
METHODS: dict[str, Method] = {
    "default": recalled(RecallOptions()),
    "default-no-spreading": recalled(RecallOptions(flow=NO_FLOW)),
    "literal": recalled(RecallOptions("literal", LITERAL)),
    "bm25": bm25,
    **{name: structured(walk, weights) for name, (walk, weights) in PEERS.items()},
}


ABLATIONS: dict[str, Method] = {
    f"default without {edge}": recalled(RecallOptions(flow=DEFAULT_FLOW.replace(**{edge: 0.0}))) for edge in FLOW_EDGES
}


class _Dense:
    """The texts of one memory as vectors."""

    def __init__(self, memory: Memory, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: Vectors = embedder.embed(memory.texts)

    def cosines(self, text: str) -> Floats:
        """Measure how much each turn is like `text`: (p,), from -1 to 1."""
        return cosines(self._passages, self._embedder.embed([text]))


def dense_methods(embedder: Embedder) -> dict[str, Method]:
    """Make the methods that need embeddings."""

    def dense(memory: Memory) -> Ranker:
        view = _Dense(memory, embedder)
        return lambda _, text: best(2 + view.cosines(text))  # above 0, so that all are ranked

    def with_bm25(memory: Memory) -> Ranker:
        view, words = _Dense(memory, embedder), Vocabulary(memory)
        return lambda question, text: best(fused(words.index.scores(words.asked(question)), view.cosines(text)))

    def with_default(memory: Memory) -> Ranker:
        view, options = _Dense(memory, embedder), RecallOptions(passages=DEPTH)

        def rank(question: Extraction, text: str) -> Ranking:
            found = recall(memory.view, question, text, options, view.cosines(text))
            return ranking(memory.view, found.passages, options.mode)

        return rank

    return {"default+dense": with_default, "dense": dense, "bm25+dense": with_bm25}
