"""The seeds of every mode: the same nodes, with the same strength, as recall's seeds."""

from __future__ import annotations

import numpy as np

from processors.extraction.extractor import Extraction
from processors.recall.ranking.query_terms import WEAK, QueryTerms
from state.arrays import Floats
from state.graph.view import GraphView


def put_in(view: GraphView, question: Extraction, terms: QueryTerms) -> Floats:
    """Put energy in: (n,), 1 at the question's concepts, marks and speakers, a share at relatives and weak words."""
    energy = np.zeros(view.concepts)
    energy[terms.relatives.concept] = terms.relatives.share
    energy[terms.seeds] = 1.0
    weak = terms.weight <= WEAK
    energy[terms.words[weak]] = terms.weight[weak]
    marks = (view.number(concept.id) for concept in question.concepts)
    energy[[number for number in marks if number is not None]] = 1.0
    return energy
