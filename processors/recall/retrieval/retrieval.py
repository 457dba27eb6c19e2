"""The one path from a question to its RecallResult, for all retrievers.

the retriever (policies.py)  ─▶  a second round, if requested  ─▶  the best passages reranked, if requested
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from emgas.messages.settings.modes import Stage
from processors.extraction.extractor import Extraction
from processors.recall.ranking.archive import SHARE
from processors.recall.ranking.succession import current_first
from processors.recall.retrieval.policies import CORE, Policies, RecallRequest, Reranker
from processors.recall.retrieval.recall import RecallOptions, RecallResult, ranked
from state.arrays import Floats, Integers
from state.graph.view import GraphView


def retrieve(
    view: GraphView,
    question: Extraction,
    text: str,
    options: RecallOptions,
    cosine: Floats | None = None,
    *,
    policies: Policies = CORE,
) -> RecallResult:
    """Recall from `view` in the mode that is asked for; see `recall`.

    cosine  (p,) of each passage with the question, if there are embeddings

    Raises TooMuchAskedError where a retriever looks at the whole graph and that is too large, UnknownPolicyError where
    what is named is not installed.
    """
    retriever = policies.retriever(options.mode)
    reranker = None if options.rerank is None else policies.reranker(options.rerank)
    wide = options
    if reranker is not None and options.passages is not None:
        wide = replace(options, passages=reranker.fetches(options.memory) * options.passages)
    request = RecallRequest(view, question, text, wide, cosine)
    result = retriever.retrieve(request)
    if options.rounds > 1 and result.passages:
        result = policies.guide.second_round(request, retriever, result)
    if reranker is not None and result.passages:
        result = reordered(request, reranker, result, options.passages)
    return result


def reordered(request: RecallRequest, reranker: Reranker, result: RecallResult, limit: int | None) -> RecallResult:
    """Order what was found by another formula."""
    view = request.view
    numbers = np.array([each.number for each in result.passages], np.int64)
    scores = np.array([each.score for each in result.passages])
    order, scores, terms = reranker.reorder(request, numbers, scores)
    if request.options.kind.tells and not request.meant.past:
        terms["times_current"] = factor = current_first(view, numbers[order], scores)
        scores = scores * factor
        again = np.argsort(-scores, kind="stable")
        scores, order = scores[again], order[again]
        terms = {name: values[again] for name, values in terms.items()}
    order, scores = order[:limit], scores[:limit]
    passages = numbers[order]
    return replace(
        result,
        passages=ranked(passages, scores),
        terms=score_terms(view, passages, {name: values[: len(order)] for name, values in terms.items()}, was=False),
        stages=(*result.stages, Stage(name=f"rerank {reranker.name}", found=len(passages))),
    )


def score_terms(
    view: GraphView, passages: Integers, terms: Mapping[str, Floats], *, was: bool = True
) -> dict[int, dict[str, float]]:
    """Return what the score of each passage is made of, the archive's share of it with it."""
    archived = view.of_turns("archived", passages) > 0
    report = {name: values.tolist() for name, values in terms.items()}
    rows = {
        number: {name: values[row] for name, values in report.items()} for row, number in enumerate(passages.tolist())
    }
    for number in passages[archived].tolist() if was else ():
        rows[number]["times_archived"] = SHARE
    return rows
