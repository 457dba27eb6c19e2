"""Other names of what a question names, as turns say them: who asks for 沈知夏 means 西西, and Elizabeth is Bizzy.

    沈知夏 ── synonym ──▶ 西西        stated by a turn (data/relations.tsv); read both ways, over MOST steps

A turn that says another name counts as one that says the name that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from emgas.messages.relations import RELATION_TYPES
from processors.lexicon.query_expansion import Shares
from state.graph.view import GraphView

MOST: Final = 2  # steps from name to name: 闺女, 沈知夏, 西西
SHARE: Final = 1.0  # of a mention
_SYNONYM: Final = RELATION_TYPES.index("synonym")


def other_names(view: GraphView, words: Iterable[str]) -> dict[str, Shares]:
    """Find the numbers of the other names of words, and of phrases all of whose words are there, by their last word."""
    names = view.once("other names", _named_alike)
    if not names:
        return {}
    listed = list(words)
    asked = {number: word for word in listed if (number := view.number(word)) in names}
    for number in names.keys() & view.phrases:
        parts = view.ids[number].split(" ")
        if set(parts) <= set(listed):
            asked[number] = parts[-1]
    shares: dict[str, Shares] = {}
    for number, word in asked.items():
        shares.setdefault(word, {}).update(dict.fromkeys(_reached(names, number), SHARE))
    return shares


def _named_alike(view: GraphView) -> dict[int, set[int]]:
    """Map each concept that turns give another name to the other names, both ways."""
    names: dict[int, set[int]] = {}
    table = view.relations
    for row in np.flatnonzero(np.array(table.relation_type) == _SYNONYM).tolist():
        source, target = int(table.relation_source[row]), int(table.relation_target[row])
        names.setdefault(source, set()).add(target)
        names.setdefault(target, set()).add(source)
    return names


def _reached(names: Mapping[int, set[int]], number: int) -> list[int]:
    """List what is reached from a name in MOST steps, without it, nearest first."""
    reached = {number: None}
    for _ in range(MOST):
        reached |= dict.fromkeys(sorted(other for each in reached for other in names[each]))
    return [each for each in reached if each != number]
