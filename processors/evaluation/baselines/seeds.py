"""Where every method starts that walks the graph: the same nodes that recall starts from."""

from __future__ import annotations

import numpy as np

from processors.extractor import Extraction
from processors.naming import named_speakers, speaker_mark
from state.view import GraphView, Integers


def seeds_of(view: GraphView, question: Extraction, text: str) -> Integers:
    """Return (k,) the distinct nodes of the question's concepts and marks, then of the speakers that it names."""
    speakers = [speaker_mark(view.speakers[number]) for number in named_speakers(text, view.speakers)]
    names = dict.fromkeys([*(concept.id for concept in question.concepts), *speakers])
    return np.array([view.numbers[name] for name in names if name in view.numbers], np.int64)
