"""Secrets in what people read: an address is told, what opens its door is not."""

from __future__ import annotations

import re

MASK = "***"
# user:password@, behind a scheme or without one: to the last @ of a word, as a password may hold one
_USER_INFO = re.compile(r"(^|[\s,;'\"(=]|://)(?!//)[^\s/:@,;'\"(=]*:(?!//)[^\s,;'\"]+@")
_QUERY = re.compile(
    r"([?&;][^=\s&?;]*(?:key|token|secret|passw|pwd|signature|sig|credential)[^=\s&?;]*=)[^&\s;'\",)]+", re.IGNORECASE
)


def masked(text: str) -> str:
    """Put MASK in place of the user and password, and of the values of telling query fields, of each URL in `text`."""
    return _QUERY.sub(rf"\g<1>{MASK}", _USER_INFO.sub(rf"\g<1>{MASK}@", text))
