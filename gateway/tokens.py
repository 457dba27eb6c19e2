"""Tokens that an OpenID provider issues, whose claims say what a key's entry would: `graphs`, `rights`, `per_minute`.

    [oidc]
    issuer = "https://login.example.com/"    must be the token's `iss`
    audience = "emgas"                       must be among its `aud`
    jwks = "jwks.json"                       the issuer's public keys: a file beside the file of keys, or a URL

Only signatures by a private key count (RSA, elliptic curves): with a shared secret, who checks could also issue.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import jwt
from pydantic import BaseModel, ConfigDict, Field

from gateway.errors import NoKeyError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30  # that clocks may differ


class Issuer(BaseModel):
    """Whose tokens are believed."""

    model_config = ConfigDict(extra="forbid")
    issuer: Annotated[str, Field(min_length=1)]
    audience: Annotated[str, Field(min_length=1)]
    jwks: Annotated[str, Field(min_length=1)]


class Tokens:
    """Checks tokens.  `folder`: where a relative `jwks` lies."""

    def __init__(self, issuer: Issuer, folder: Path) -> None:
        self._issuer, self._file = issuer, folder / issuer.jwks
        is_url = issuer.jwks.startswith(("https://", "http://"))
        self._client = jwt.PyJWKClient(issuer.jwks, timeout=5) if is_url else None

    def claims(self, token: str) -> dict[str, Any]:
        """Read a token's claims.  Raises NoKeyError for one that is not the issuer's, not for us or not of now."""
        try:
            found: dict[str, Any] = jwt.decode(
                token,
                self._key(token),
                algorithms=ALGORITHMS,
                issuer=self._issuer.issuer,
                audience=self._issuer.audience,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise NoKeyError(f"this token is not valid here ({type(error).__name__})") from None
        except (OSError, ValueError) as error:
            raise NoKeyError(f"the issuer's keys cannot be read ({type(error).__name__})") from None
        return found

    def _key(self, token: str) -> jwt.PyJWK:
        if self._client is not None:
            return self._client.get_signing_key_from_jwt(token)
        wanted = jwt.get_unverified_header(token).get("kid")
        keys = jwt.PyJWKSet.from_json(self._file.read_text(encoding="utf-8")).keys  # read anew: keys are rotated
        for key in keys:
            if key.key_id == wanted:
                return key
        raise jwt.InvalidKeyError
