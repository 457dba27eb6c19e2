"""Why a record is refused before anything is made of it: it is too large, or not what it should be."""

from __future__ import annotations

from pydantic import ValidationError

from emgas import limits
from emgas.validation import describe
from streams.errors import RejectedError

REASON_CHARACTERS = 1000  # a record can hold thousands of unknown fields


def check_size(value: bytes) -> None:
    """Raise RejectedError when a record is over the limit, before anything parses it."""
    if len(value) > limits.RECORD_BYTES:
        raise RejectedError(f"the record is {len(value)} bytes, the limit is {limits.RECORD_BYTES}: shorten it")


def explained(error: ValidationError) -> str:
    """Say in one sentence per problem what is wrong, without the offending content (it may be private)."""
    return describe(error)[:REASON_CHARACTERS]
