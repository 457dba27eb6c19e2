"""Gates: whether a turn is set aside, decided as it is recorded, and never again.  All are off by default.

    redundant  it says nothing that is new          lab/gates/novelty.py, setting `novelty_above`     SEEDS P5–P8
    unworthy   it says nothing worth remembering    lab/gates/worth.py, setting `worth_words`         SEEDS M11

A turn that is set aside is recorded as every turn is, with the score and the reason, and is in the archive from the
first moment: a question finds it behind what is active, habits and days count it, and a reinforcing question brings it
back.  Another memory, made of the same log by other settings (`emgas replay branch`), has it among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from state.events.events import TurnRecorded
from state.graph.graph import Graph

Gate = Callable[[TurnRecorded, Graph], TurnRecorded]  # adds what it found; pure, and it reads the graph's settings

# The setting that turns a gate on, by its name.  A later one may overrule an earlier one.
GATES: Final[Mapping[str, str]] = {"novelty": "novelty_above", "worth": "worth_words"}


def gated(turn: TurnRecorded, graph: Graph, load: Callable[[str], Gate]) -> TurnRecorded:
    """Decide whether a turn that is about to be recorded counts; all before it must be folded into `graph`.

    load  returns a gate by its name; called for those that the graph has turned on
    """
    for name, setting in GATES.items():
        if getattr(graph.settings, setting):
            turn = load(name)(turn, graph)
    return turn
