"""The cipher: AES-256-GCM (cryptography), with a nonce that is a hash of what it seals.

    sealed = nonce, 12 bytes │ ciphertext │ tag, 16 bytes

The nonce is the beginning of HMAC-SHA256 over everything that is sealed and bound, under a secret of its own.  So
sealing is a function of its arguments, as everything below `streams` is, and no nonce meets two texts: a worker that
appends again, or a zombie, may seal another event under the same secret.  (RFC 5297 calls this a synthetic IV.)
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES: Final = 12
_FOR_TEXT, _FOR_NONCE = b"\x02", b"\x03"  # a child of a node hashes 0 or 1 behind it: state/sealing/graph_key.py


def encrypt(secret: bytes, text: bytes, bound: bytes) -> bytes:
    """Seal `text` under a secret of 32 bytes, so that it opens only together with `bound`."""
    derived = hmac.digest(_derived(secret, _FOR_NONCE), len(bound).to_bytes(8, "big") + bound + text, "sha256")
    nonce = derived[:NONCE_BYTES]
    return nonce + AESGCM(_derived(secret, _FOR_TEXT)).encrypt(nonce, text, bound)


def decrypt(secret: bytes, sealed: bytes, bound: bytes) -> bytes | None:
    """Open what `encrypt` sealed; None for what was not sealed under this secret, or with other `bound`."""
    try:
        return AESGCM(_derived(secret, _FOR_TEXT)).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound)
    except (InvalidTag, ValueError):  # a nonce that is too short is a ValueError
        return None


def _derived(secret: bytes, what_for: bytes) -> bytes:
    return hashlib.sha256(secret + what_for).digest()
