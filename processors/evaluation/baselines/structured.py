"""What every peer that walks the graph gets on top of its own scores: the same episodic structure.

Without it a comparison would only show that conversations have structure, which is no merit of a way of spreading.
"""

from __future__ import annotations

from processors.naming import named_speakers
from processors.ranking import matched, with_structure
from state.view import Floats, GraphView


def of_passages(view: GraphView, scores: Floats, text: str) -> Floats:
    """Return (p,) the `scores` of passages with session, neighbours, question → answer and speaker."""
    return with_structure(view, scores, named_speakers(text, view.speakers))


def of_concepts(view: GraphView, energy: Floats, text: str) -> Floats:
    """Return (p,) what the energies (n,) of concepts give: passages match them BM25-like, then structure."""
    return of_passages(view, matched(view, energy), text)
