"""The base of all messages, and fields that several messages have, each with its bounds."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from emgas import limits
from emgas.errors import InvalidMessageError
from emgas.times import SECONDS, datetime_of, milliseconds, valid_zone

Text = Annotated[str, AfterValidator(limits.utf8), AfterValidator(limits.short_enough)]
Name = Annotated[str, Field(min_length=1, max_length=limits.NAME_CHARACTERS), AfterValidator(limits.utf8)]
# What of it JSON Schema can say; unassigned and private characters, and . and .. as a part, are refused as well.
_GRAPH_ID = {
    "minLength": 1,
    "maxLength": limits.GRAPH_ID_CHARACTERS,
    "pattern": r"^[^\x00-\x20\x7f-\xa0]([^\x00-\x1f\x7f-\xa0]*[^\x00-\x20\x7f-\xa0])?$",
}
GraphId = Annotated[str, AfterValidator(limits.graph_id), Field(json_schema_extra=_GRAPH_ID)]


TIME_RULE = "must be a time: 2023-05-08T14:00 (UTC, or with +02:00), or whole ms since 1970, in the years 1 to 9999"


def _time(value: object) -> object:
    """Parse a time in text or a date; leave other values to the bounds, but refuse seconds.

    No error repeats the value: it may be what a person said.
    """
    if isinstance(value, int) and value in SECONDS:
        raise ValueError("looks like seconds: give milliseconds since 1970, or ISO 8601 if 1970 is meant")
    try:
        return milliseconds(value) if isinstance(value, str | datetime) else value
    except InvalidMessageError:
        raise ValueError(TIME_RULE) from None


def _written(at: int) -> int | str:
    """Write a time that could be mistaken for seconds as ISO 8601, which readers cannot mistake."""
    return f"{datetime_of(at).replace(tzinfo=None).isoformat()}Z" if at in SECONDS else at


_TIMES = {
    "anyOf": [
        {"type": "integer", "minimum": limits.EARLIEST_MS, "maximum": SECONDS.start - 1},
        {"type": "integer", "minimum": SECONDS.stop, "maximum": limits.LATEST_MS},
        {"type": "string", "format": "date-time"},
    ],
}
Milliseconds = Annotated[
    int,
    BeforeValidator(_time),
    Field(ge=limits.EARLIEST_MS, le=limits.LATEST_MS),
    PlainSerializer(_written, when_used="json"),
    WithJsonSchema(_TIMES),
]
Zone = Annotated[str, AfterValidator(valid_zone)]
MetadataText = Annotated[str, Field(max_length=limits.METADATA_CHARACTERS), AfterValidator(limits.utf8)]
# The bound stands on the union: on `int` alone, an integer that is too large would pass as a rounded float.
MetadataValue = Annotated[MetadataText | int | float | bool | None, AfterValidator(limits.storable)]
Metadata = Annotated[dict[MetadataText, MetadataValue], Field(max_length=limits.METADATA_ENTRIES)]
Role = Literal["user", "assistant", "system", "tool"]
Origin = Literal["user", "assistant", "tool", "web"]  # where the text of a turn comes from
EntityKind = Literal["person", "place", "organisation", "product"]
Modality = Literal["image", "audio", "video", "file"]  # of what comes with a turn


class Message(BaseModel):
    """Base of every model on the wire: strict, frozen, no unknown fields, no NaN or infinity."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Position(Message):
    """What the answer had seen: `watermark` is the offset in `events`, `source` the offset in `turns`, -1 for none."""

    partition: int
    watermark: int
    source: int


class Attachment(Message):
    """A file that came with a turn: a photo, a voice note.  Only its address and its caption are stored.

    caption  what is on it, or said in it: remembered like a part of the turn's text
    sha256   of its bytes, hex, to recognise the same file later
    """

    uri: str = Field(min_length=1, max_length=2000)
    mime: str = Field("", max_length=200)
    kind: Modality = "image"
    caption: str = Field("", max_length=2000)
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$")
