"""How many things somebody can take in: an answer of 7 ± 2 items, by how busy who reads it is.  SEEDS P47.

    load 0     nothing else to do: 9        load 0.5   7        load 1   busy: 5

Miller 1956: working memory holds seven chunks, plus or minus two.  Off unless a question tells a load: a prompt for a
model is no reader, and takes as much as the question needs.
"""

from __future__ import annotations

from typing import Final

from emgas.messages.queries import Query

SPAN: Final = 7
SPREAD: Final = 2


def items(load: float) -> int:
    """Tell how many items a reader with a load in [0, 1] takes in."""
    return round(SPAN + SPREAD * (1 - 2 * load))


def eased(query: Query) -> Query:
    """Let a question ask for no more than its reader takes in; one that tells no load stays as it is."""
    if query.load is None:
        return query
    most = items(query.load)
    given = (query.top_passages, query.context_passages)
    listed, packed = (None if number is None else min(number, most) for number in given)
    return query.model_copy(update={"top_passages": listed, "context_passages": most if packed is None else packed})
