"""New keys and their digests, for `emgas serve --new-key`."""

from __future__ import annotations

import hashlib
import secrets

KEY_BYTES = 32


def digest(key: str) -> str:
    """Compute the digest of a key: sha256, hex."""
    return hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()


def entry(name: str, key: str, rights: tuple[str, ...]) -> str:
    """Write the entry of a key for the file of keys: for all graphs."""
    named = ", ".join(f'"{right}"' for right in rights)
    return f'[[key]]\nname = "{name}"\nsha256 = "{digest(key)}"\ngraphs = ["*"]\nrights = [{named}]\n'


def new_key() -> str:
    """Generate a random key."""
    return f"emgas_{secrets.token_urlsafe(KEY_BYTES)}"
