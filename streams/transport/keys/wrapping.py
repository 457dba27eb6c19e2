"""Keys at rest: as they are, or encrypted by a key of the operator's (KEK) that lies elsewhere (EMGAS_KEK_FILE).

    plain     JSON (state/sealing/graph_key.py)
    wrapped   K1 │ nonce, 12 bytes │ AES-256-GCM of the same, bound to where it is kept

With wrapping, the store of keys, or a backup of its disk, is useless alone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from emgas.errors import BadSettingError
from state.errors import KeysError, KeyStoreError

WRAPPED: Final = b"K1"
KEK_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_HOW = "make one: openssl rand -hex 32 > FILE"


class Wrapping:
    """Wraps and unwraps with a KEK; without one, leaves everything as it is."""

    def __init__(self, kek: bytes | None = None) -> None:
        self._cipher = None if kek is None else AESGCM(kek)

    def wrap(self, value: bytes, place: bytes) -> bytes:
        """Encrypt what is to be kept at `place`."""
        if self._cipher is None:
            return value
        nonce = os.urandom(_NONCE_BYTES)
        return WRAPPED + nonce + self._cipher.encrypt(nonce, value, place)

    def unwrap(self, value: bytes, place: bytes) -> bytes:
        """Decrypt what was kept at `place`.  Raises KeysError, KeyStoreError."""
        if not value.startswith(WRAPPED):
            return value
        if self._cipher is None:
            raise KeyStoreError("the keys are encrypted: name the file of the key that encrypts them, EMGAS_KEK_FILE")
        nonce, sealed = value[len(WRAPPED) :][:_NONCE_BYTES], value[len(WRAPPED) + _NONCE_BYTES :]
        try:
            return self._cipher.decrypt(nonce, sealed, place)
        except InvalidTag:
            raise KeysError(
                "a key does not open with EMGAS_KEK_FILE: it was encrypted by another one, or changed"
            ) from None


class KekFileError(KeysError, BadSettingError):
    """EMGAS_KEK_FILE names no file of a key.  Operator action: make one, as the text says."""


def wrapping_by(file: Path | None) -> Wrapping:
    """Read a KEK, 64 hexadecimal digits, from a file; without a file, nothing is wrapped.  Raises KekFileError."""
    if file is None:
        return Wrapping()
    try:
        kek = bytes.fromhex(file.expanduser().read_text("ascii").strip())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it does not hold 64 hexadecimal digits"
        raise KekFileError(f"EMGAS_KEK_FILE={file} cannot be used ({why}): {_HOW}") from None
    if len(kek) != KEK_BYTES:
        raise KekFileError(f"EMGAS_KEK_FILE={file} holds {len(kek)} bytes, not {KEK_BYTES}: {_HOW}")
    return Wrapping(kek)
