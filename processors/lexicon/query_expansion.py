"""Find words of a graph with nearly the same meaning as a word of the question: their mentions count in part.

    family    of one stem: paint, painter                          FAMILY    word_families.py
    synonym   of nearly one meaning: buy, purchase; 医生, doctor   SYNONYM   data/synonyms.tsv
    member    of the kind that is asked for: dessert, cake         MEMBER    hyponyms.py
    cue       mentioned when one speaks of it: work, payroll       ASSOCIATION, or ALONE  associations.py

The share is the fraction of a mention that such a word counts for.  A word of the question that the graph does not know
is expanded too: "physician" finds "doctor" though no one ever said it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from processors.lexicon.associations import ASSOCIATIONS
from processors.lexicon.word_families import family
from processors.text import tables
from state.arrays import Floats, Integers
from state.graph.view import GraphView


def _neighbours() -> Mapping[str, tuple[str, ...]]:
    """Map each word to those that stand in a group with it, in the order written."""
    neighbours: dict[str, dict[str, None]] = {}
    for _field, group in tables.rows(__package__, "synonyms"):
        words = group.split()
        for word in words:
            neighbours.setdefault(word, {}).update(dict.fromkeys(words))
    return {word: tuple(other for other in others if other != word) for word, others in neighbours.items()}


SYNONYMS: Final = _neighbours()


FAMILY: Final = 0.8
SYNONYM: Final = 0.3
ASSOCIATION: Final = 0.2
ALONE: Final = 0.35  # the same, in a question that has few words besides
MEMBER: Final = 0.15

Shares = dict[int, float]  # concept number → share


class Expansion(NamedTuple):
    """Concepts that count in part for a word of the question; none is a seed, none stands twice.

    concept  (r,) its number
    row      (r,) the word it counts for: its position among the words given, known ones first
    share    (r,) what a turn that holds it counts for, as a share of a mention
    """

    concept: Integers
    row: Integers
    share: Floats


def shares(
    view: GraphView,
    words: Iterable[str],
    hyponyms: Mapping[str, tuple[int, ...]],
    subjects: Iterable[str] | None = None,
) -> dict[str, Shares]:
    """Find what counts in part for each of `words`, and for each word that asks for a kind of thing.

    hyponyms  asking word → numbers of the kind's members
    subjects  of a question of few words: those that are no concepts (associations.py); None for a longer one
    """
    association = ASSOCIATION if subjects is None else ALONE
    by_cue: dict[str, Shares] = {word: _of_word(view, word, association) for word in words}
    by_cue |= {word: _known(view, dict.fromkeys(ASSOCIATIONS[word], association)) for word in subjects or ()}
    for cue, members in hyponyms.items():
        of_cue = by_cue.setdefault(cue, {})
        for member in members:
            of_cue[member] = max(of_cue.get(member, 0.0), MEMBER)
    return {word: of_cue for word, of_cue in by_cue.items() if of_cue}


def _of_word(view: GraphView, word: str, association: float) -> Shares:
    near = dict.fromkeys(ASSOCIATIONS.get(word, ()), association)
    near.update(dict.fromkeys(SYNONYMS.get(word, ()), SYNONYM))
    near.update(dict.fromkeys(family(word, view.words_beginning), FAMILY))
    return _known(view, near)


def _known(view: GraphView, near: Mapping[str, float]) -> Shares:
    return {number: share for name, share in near.items() if (number := view.number(name)) is not None}


def assigned(rows: Mapping[str, int], by_cue: Mapping[str, Shares], seeds: Iterable[int]) -> Expansion:
    """Assign each concept of `by_cue` to the word with its largest share; in a tie, to the word of the lowest row.

    rows   word → its row;  by_cue  what counts in part for it
    seeds  what counts in full already
    """
    best: dict[int, tuple[float, int]] = {}
    taken = frozenset(seeds)
    for word, row in sorted(rows.items(), key=lambda item: item[1]):
        for number, share in by_cue.get(word, {}).items():
            if number not in taken and share > best.get(number, (0.0, 0))[0]:
                best[number] = (share, row)
    return Expansion(
        np.array(list(best), np.int64),
        np.array([row for _, row in best.values()], np.int64),
        np.array([share for share, _ in best.values()], np.float64),
    )
