"""Options of a query for the spread of activation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from emgas.messages.fields import Message
from emgas.messages.relations import RelationType

Window = Literal["turn", "exchange", "round", "session"]


class Spreading(Message):
    """How activation spreads; what is not given takes the mode's own default (processors/recall/ranking/activation.py).

    window        what counts as said together: in a turn; in a turn or the one before it; in a round, which ends
                  before a speaker of it speaks again; in a session
    window_turns  in so many turns of a session, one after the other; in the place of `window`

    propagation_decay, max_iterations and delta are what each mode has of the kind: what a walk goes on with, how many
    edges far, when it stops.
    """

    firing_threshold: float | None = Field(None, ge=0, le=1)
    propagation_decay: float | None = Field(None, ge=0, le=1)
    max_iterations: int | None = Field(None, ge=0, le=10)
    delta: float | None = Field(None, ge=0)
    self_decay: bool | None = None
    convergence: float | None = Field(None, gt=0, le=1)
    recall_links: float | None = Field(None, ge=0, le=10)
    topic_links: float | None = Field(None, ge=0, le=10)
    window: Window | None = None
    window_turns: int | None = Field(None, ge=1, le=8, exclude_if=lambda turns: turns is None)
    type_weights: dict[RelationType, Annotated[float, Field(ge=0, le=10)]] | None = Field(
        None,
        description='links by what turns say of two concepts, by its type: none without, as {"cause": 0.5}',
        exclude_if=lambda weights: weights is None,
    )
