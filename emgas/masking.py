"""Mask the secrets of URLs in texts that people read."""

from __future__ import annotations

import re

MASK = "***"
# user:password@, behind a scheme or without one: to the last @ of a word, as a password may hold one
_USER_INFO = re.compile(r"(^|[\s,;'\"(=]|://)(?!//)[^\s/:@,;'\"(=]*:(?!//)[^\s,;'\"]+@")
_QUERY = re.compile(
    r"([?&;][^=\s&?;]*(?:key|token|secret|passw|pwd|signature|sig|credential)[^=\s&?;]*=)[^&\s;'\",)]+", re.IGNORECASE
)


def masked(text: str) -> str:
    """Replace by MASK the user and password, and the values of secret query fields, of each URL in `text`."""
    return _QUERY.sub(rf"\g<1>{MASK}", _USER_INFO.sub(rf"\g<1>{MASK}@", text))
