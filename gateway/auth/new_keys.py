"""A new key, and the digest by which the file of keys knows it: all that `emgas serve --new-key` needs."""

from __future__ import annotations

import hashlib
import secrets

KEY_BYTES = 32


def digest(key: str) -> str:
    """Hash a key as the file has it: sha256, hex."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


def new_key() -> str:
    """Make a key that nobody can guess."""
    return f"emgas_{secrets.token_urlsafe(KEY_BYTES)}"
