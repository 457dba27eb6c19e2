"""What a turn tells beside its words: what came with it, and what it states of how things are."""

from __future__ import annotations

import numpy as np

from emgas.logs import logger
from emgas.messages.turns import Turn
from processors.recall.answer.perceptual import Encoder, encoder_name
from processors.recall.ranking.dense import Vectors
from processors.text.statements import statements
from state.events.extraction_types import Statement

log = logger("ingest")


def read_by(encoder: Encoder, uri: str) -> Vectors | None:
    """Encode what lies at an address; None for what the encoder cannot read, or fails at: the turn is worth more."""
    try:
        vector = encoder.encode(uri)
    except Exception:  # of whichever encoder
        log.warning("attachment not encoded", model=encoder_name(encoder), exc_info=True)
        return None
    return vector if vector is not None and np.isfinite(vector).all() and vector.any() else None


def remembered(turn: Turn) -> str:
    """Give what a turn says, and what is on what came with it: the text that concepts are found in."""
    if not turn.attachments:
        return turn.text
    return "\n".join([turn.text, *(each.caption for each in turn.attachments if each.caption)])


def stated_by(turn: Turn) -> list[Statement]:
    """Find what a turn states of how things are; what an assistant says of itself does not count."""
    return [] if turn.role in ("assistant", "system", "tool") else statements(turn.text)
