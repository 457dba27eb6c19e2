"""Gates: whether a turn is counted, decided as it is recorded, and never again.  All are off by default.

    redundant  it says nothing that is new          novelty.py, setting `novelty_above`     SEEDS P5–P8
    unworthy   it says nothing worth remembering    worth.py, setting `worth_words`         SEEDS M11

A turn that is not counted is recorded as every turn is, with the score and the reason.  The graph has it as a turn that
was said, without a word: no question finds it, nothing is linked by it.  Another memory, made of the same log by other
settings (`emgas replay branch`), counts it.  SEEDS T16: what a filter drops is not lost.
"""

from __future__ import annotations

from msgspec.structs import replace

from processors.lifecycle.novelty import is_redundant, novelty
from processors.lifecycle.worth import Judge, holds_fast, worth_remembering
from state.events.events import TurnRecorded
from state.events.extraction_types import Uncounted
from state.graph.graph import Graph


def gated(turn: TurnRecorded, graph: Graph, judge: Judge = worth_remembering) -> TurnRecorded:
    """Decide whether a turn that is about to be recorded counts; all before it must be folded into `graph`.

    What must not be lost (worth.py `holds_fast`) counts however little of it is new; its score is recorded, too.
    """
    settings = graph.settings
    why: Uncounted = ""
    if settings.novelty_above:
        found = novelty(graph, turn.session, turn.concepts, turn.tokens)
        turn = replace(turn, novelty=found.score)
        why = "redundant" if is_redundant(graph, found) and not holds_fast(turn) else ""
    if settings.worth_words and not judge(turn, settings.worth_words):
        why = "unworthy"
    return replace(turn, uncounted=why) if why else turn
