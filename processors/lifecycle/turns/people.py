"""The cards of the people of a graph: a fold of what its turns say of them (processors/text/facts/card.py).

Nothing is stored but the facts of each turn, so a card as of a time, after a replay or without a forgotten turn is the
fold of those facts that are there.
"""

from __future__ import annotations

from processors.text.facts.card import Cards, cards
from state.graph.graph import Graph


def cards_of(graph: Graph) -> Cards:
    """Return the cards of a graph; folded again only after its facts have changed.  Do not change them."""
    table = graph.people
    if table.folded is None or table.folded[0] != table.changes:
        at = graph.passages.at
        numbers = graph.passages.numbers
        stated = sorted(table, key=lambda each: at[numbers[each[0]]])  # of equal times in the order folded
        table.folded = table.changes, cards(stated)
    folded: Cards = table.folded[1]
    return folded
