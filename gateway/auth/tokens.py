"""Tokens that an OpenID provider issues, whose claims say what a key's entry would: `graphs`, `rights`, `per_minute`.

    [oidc]
    issuer = "https://login.example.com/"    must be the token's `iss`
    audience = "emgas"                       must be among its `aud`
    jwks = "jwks.json"                       the issuer's public keys: a file beside the file of keys, or a URL

Only signatures by a private key count (RSA, elliptic curves): with a shared secret, who checks could also issue.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import jwt
from pydantic import BaseModel, ConfigDict, Field

from gateway.http.errors import BusyError, NoKeyError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30  # that clocks may differ
FRESH_SECONDS = 300.0  # how long fetched keys are believed
RETRY_SECONDS = 30.0  # between two fetches, whether the first failed or did not bring the key that a token names
FETCH_SECONDS = 5.0  # until a provider that does not answer counts as failed
WAITING = 64  # tokens that may wait for a fetch; others are refused at once


class Issuer(BaseModel):
    """An issuer of trusted tokens."""

    model_config = ConfigDict(extra="forbid")
    issuer: Annotated[str, Field(min_length=1)]
    audience: Annotated[str, Field(min_length=1)]
    jwks: Annotated[str, Field(min_length=1)]


class TokenVerifier:
    """Checks tokens.  `folder`: the base of a relative `jwks`."""

    def __init__(self, issuer: Issuer, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer, self._file = issuer, folder / issuer.jwks
        is_url = issuer.jwks.startswith(("https://", "http://"))
        self._fetched = FetchedKeys(issuer.jwks, clock) if is_url else None

    async def claims(self, token: str) -> dict[str, Any]:
        """Read a token's claims.  Raises NoKeyError for one that is not the issuer's, not for us or not of now.

        Raises BusyError while too many tokens wait for the issuer's keys.
        """
        try:
            return self._decoded(token, await self._key(token))
        except jwt.PyJWTError as error:
            raise NoKeyError(f"this token is not valid here ({type(error).__name__})") from None
        except (OSError, ValueError) as error:
            raise NoKeyError(f"the issuer's keys cannot be read ({type(error).__name__})") from None

    def _decoded(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            issuer=self._issuer.issuer,
            audience=self._issuer.audience,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        return claims

    async def _key(self, token: str) -> jwt.PyJWK:
        name = jwt.get_unverified_header(token).get("kid")
        if self._fetched is not None:
            return await self._fetched.key(name)
        keys = jwt.PyJWKSet.from_json(self._file.read_text(encoding="utf-8"))  # each time: keys are rotated
        return _named(keys, name)


class FetchedKeys:
    """The keys behind a URL.  One fetch at a time, in a thread of its own: a provider that hangs blocks nothing else.

    A token with a known key never waits.  A failed fetch, or one that did not bring the key, is not repeated for
    RETRY_SECONDS: otherwise anyone could make this server ask the provider with each invented token.
    """

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        self._client = jwt.PyJWKClient(url, cache_jwk_set=False, timeout=FETCH_SECONDS)
        self._clock = clock
        self._pool = ThreadPoolExecutor(1, "issuer-keys")
        self._keys: jwt.PyJWKSet | None = None
        self._fetched_at = self._tried_at = -float("inf")
        self._fetching: asyncio.Future[jwt.PyJWKSet] | None = None
        self._waiting = asyncio.Semaphore(WAITING)

    async def key(self, name: Any) -> jwt.PyJWK:
        """Return the key of this name.  Raises PyJWTError, BusyError."""
        now = self._clock()
        fresh = self._keys if now - self._fetched_at < FRESH_SECONDS else None
        may_fetch = self._fetching is not None or now - self._tried_at >= RETRY_SECONDS
        if fresh is not None and (not may_fetch or _has(fresh, name)):
            return _named(fresh, name)
        if not may_fetch:
            raise jwt.PyJWKClientConnectionError
        return _named(await self._refreshed(), name)

    async def _refreshed(self) -> jwt.PyJWKSet:
        """Wait for the running fetch, or start one."""
        if self._waiting.locked():
            raise BusyError("too many tokens wait for the issuer's keys: try again, or use a key of this server")
        async with self._waiting:
            if self._fetching is None:
                self._fetching = asyncio.ensure_future(self._fetch())
                self._fetching.add_done_callback(asyncio.Future.exception)  # all who waited may have left
            return await asyncio.shield(self._fetching)

    async def _fetch(self) -> jwt.PyJWKSet:
        try:
            async with asyncio.timeout(2 * FETCH_SECONDS):  # the client's own limit is of each read, not of all
                loop = asyncio.get_running_loop()
                self._keys = await loop.run_in_executor(self._pool, self._client.get_jwk_set)
            self._fetched_at = self._clock()
            return self._keys
        finally:
            self._tried_at, self._fetching = self._clock(), None


def _named(keys: jwt.PyJWKSet, name: Any) -> jwt.PyJWK:
    for key in keys.keys:
        if key.key_id == name and key.public_key_use in (None, "sig"):
            return key
    raise jwt.InvalidKeyError


def _has(keys: jwt.PyJWKSet, name: Any) -> bool:
    return any(key.key_id == name for key in keys.keys)
