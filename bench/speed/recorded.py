"""The event of a turn, for measurements that fold without a worker."""

from __future__ import annotations

from emgas.messages.turns import Turn
from processors.extraction.extractor import Extractor
from state.events.events import UNSTAMPED, TurnRecorded


def recorded(turn: Turn, extractor: Extractor) -> TurnRecorded:
    """Make the event of one turn, as a worker would append it."""
    assert turn.at is not None  # the format gives every session a date
    extraction = extractor.of_turn(turn.text, speaker=turn.speaker, at=turn.at)
    return TurnRecorded(
        **turn.model_dump(),
        **UNSTAMPED,
        src=0,
        clamped=False,
        live=False,
        question=extraction.question,
        tokens=extraction.tokens,
        concepts=[*extraction.concepts, *extraction.phrases],
        times=list(extraction.times),
        relations=list(extraction.relations),
        extractor=extractor.version,
    )
