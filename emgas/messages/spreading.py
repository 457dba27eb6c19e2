"""What a query may change about how activation spreads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from emgas.messages.fields import Message
from emgas.messages.relations import RelationType

Window = Literal["turn", "exchange"]


class Spreading(Message):
    """How activation spreads; what is not given takes the mode's own default (processors/recall/activation.py)."""

    firing_threshold: float | None = Field(None, ge=0, le=1)
    propagation_decay: float | None = Field(None, ge=0, le=1)
    max_iterations: int | None = Field(None, ge=0, le=10)
    delta: float | None = Field(None, ge=0)
    self_decay: bool | None = None
    convergence: float | None = Field(None, gt=0, le=1)
    recall_links: float | None = Field(None, ge=0, le=10)
    topic_links: float | None = Field(None, ge=0, le=10)
    window: Window | None = None
    type_weights: dict[RelationType, Annotated[float, Field(ge=0, le=10)]] | None = Field(
        None,
        description='links by what turns say of two concepts, by its type: none without, as {"cause": 0.5}',
        exclude_if=lambda weights: weights is None,
    )
