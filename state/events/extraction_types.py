"""What extraction finds in a text, as events record it: concepts, and the times that expressions mean.

Concept    ["framework", "frameworks", 0.87, 1]
TimeSpan   ["last week", 1682899200000, 1683504000000]
Anchor     ["remember", "forced"]
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from emgas import limits

Milliseconds = Annotated[int, Meta(ge=limits.EARLIEST_MS, le=limits.LATEST_MS)]


class Concept(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A concept found in one turn.

    id      normalised text: the node's name ("framework"); marks that are not words start with "@" ("@day:2023-05-08")
    label   the surface form as it stood in the text ("frameworks")
    weight  importance in (0, 1], higher is more important, rounded to 6 digits (1 / (1 + YAKE score))
    count   how often it occurs in the turn, >= 1
    """

    id: str
    label: str
    weight: Annotated[float, Meta(ge=0, le=1)]
    count: Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Anchor(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Why a turn holds faster than others: SEEDS S28.

    rule  its name (processors/text/anchors.py)
    kind  "forced": somebody asked to keep it; "spontaneous": what people keep unasked, as a first meeting
    """

    rule: str
    kind: Literal["forced", "spontaneous"]


class TimeSpan(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A time expression of a turn and the time that it means, as the turn's event time resolves it.

    text   the expression as it stood in the text ("last week")
    since  ms since 1970, UTC: its first
    until  ms since 1970, UTC: the first that it no longer means; > since
    """

    text: str
    since: Milliseconds
    until: Milliseconds

    def __post_init__(self) -> None:
        """Raise ValueError for a span that ends before it begins: nobody could tell its days."""
        if self.until <= self.since:
            raise ValueError("times: `until` must be later than `since`")
