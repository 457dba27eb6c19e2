"""What messages are made of: their base, and the kinds of fields that several of them have, each with its bounds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from emgas import limits

Text = Annotated[str, AfterValidator(limits.utf8), AfterValidator(limits.short_enough)]
Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_CHARACTERS), AfterValidator(limits.utf8)]
GraphId = Annotated[str, Field(pattern=limits.GRAPH_ID)]
Milliseconds = Annotated[int, Field(ge=limits.EARLIEST_MS, le=limits.LATEST_MS)]
MetadataText = Annotated[str, Field(max_length=limits.METADATA_CHARACTERS), AfterValidator(limits.utf8)]
# The bound stands on the union: on `int` alone, an integer that is too large would pass as a rounded float.
MetadataValue = Annotated[MetadataText | int | float | bool | None, AfterValidator(limits.storable)]
Metadata = Annotated[dict[MetadataText, MetadataValue], Field(max_length=limits.METADATA_ENTRIES)]
Role = Literal["user", "assistant", "system", "tool"]


class Message(BaseModel):
    """Base of every model on the wire: strict, frozen, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Position(Message):
    """What the answer had seen: `watermark` is the offset in `events`, `source` the offset in `turns`, -1 for none."""

    partition: int
    watermark: int
    source: int
