"""Keys bound to graphs and rights, from a file that only the operator can read.

    [[key]]
    name = "ada-app"                    shown in logs, never the key
    sha256 = "…"                        hex digest of the key; `emgas serve --new-key NAME` prints both
    graphs = ["ada", "team-*"]          exact names, or a prefix and *; ["*"] is every graph
    rights = ["read", "write"]          of read, write, forget, admin
    per_minute = 600                    optional: requests a minute

    [oidc]                              optional: tokens of an OpenID provider (gateway/auth/tokens.py)

Without a file, every caller may do everything, so the gateway listens on loopback only (gateway/commands.py).
A key is looked up by its digest, so the time of the lookup reveals nothing about the key.
"""

from __future__ import annotations

import math
import time
import tomllib
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from emgas.limits import GRAPH_ID_CHARACTERS
from emgas.messages.contents import fits
from emgas.validation import describe
from gateway.auth.new_keys import digest
from gateway.auth.tokens import Issuer, TokenVerifier
from gateway.http.errors import KeysFileError, NoKeyError, NotAllowedError, TooOftenError

Right = Literal["read", "write", "forget", "admin"]
RIGHTS: frozenset[Right] = frozenset({"read", "write", "forget", "admin"})
MINUTE = 60.0  # seconds
SCHEMES = ("bearer", "token")  # the second is what mem0's clients say

Pattern = Annotated[
    str, Field(min_length=1, max_length=GRAPH_ID_CHARACTERS + 1), AfterValidator(partial(unicodedata.normalize, "NFC"))
]


class Caller(BaseModel):
    """The holder of a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(min_length=1, max_length=256)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = ""
    graphs: tuple[Pattern, ...] = ()
    rights: frozenset[Right] = frozenset()
    per_minute: Annotated[int, Field(ge=1)] | None = None

    def check(self, right: Right, graph_id: str | None) -> None:
        """Raise NotAllowedError unless this caller has the right, in that graph; None: in all graphs there are."""
        self.check_right(right)
        if graph_id is None and "*" not in self.graphs:
            raise NotAllowedError('this request reads every graph: use a key for all of them (graphs = ["*"])')
        if graph_id is not None and not self.may_see(graph_id):
            raise NotAllowedError("this key does not belong to this graph")

    def check_right(self, right: Right) -> None:
        """Raise NotAllowedError unless this caller has the right, wherever it may be."""
        if right not in self.rights:
            raise NotAllowedError(f"this key lacks the right to {right}")

    def may_see(self, graph_id: str) -> bool:
        """Check whether one of the caller's graph patterns matches."""
        return fits(self.graphs, graph_id)

    @property
    def patterns(self) -> list[str] | None:
        """The patterns that a list of graphs has to fit for this caller; None: it sees every graph."""
        return None if "*" in self.graphs else list(self.graphs)


ANYBODY = Caller(name="anybody", graphs=("*",), rights=RIGHTS)


class Rates:
    """Limits each caller to `per_minute` requests a minute, in bursts or evenly (GCRA: one number per caller).

    clock    seconds that only grow
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spent: dict[str, float] = {}  # caller → until when what it has asked so far would last, evenly

    def count(self, caller: Caller) -> None:
        """Count one request.  Raises TooOftenError."""
        if caller.per_minute is None:
            return
        now, share = self._clock(), MINUTE / caller.per_minute
        spent = max(now, self._spent.get(caller.name, now)) + share
        if spent - now > MINUTE + share / 2:  # half a share: sums of floats do not come out even
            raise TooOftenError(max(1, math.ceil(spent - now - MINUTE)))
        self._spent[caller.name] = spent


class Keys:
    """All callers, by the digest of their key; `None` stands for a gateway without keys."""

    def __init__(self, callers: Iterable[Caller] | None, *, tokens: TokenVerifier | None = None) -> None:
        self._callers: dict[str, Caller] | None = None
        if callers is not None:
            self._callers = {caller.sha256: caller for caller in callers}
        self._tokens = tokens
        self._rates = Rates()

    @property
    def are_required(self) -> bool:
        """Check whether a request needs a key."""
        return self._callers is not None

    def add(self, caller: Caller) -> None:
        """Add a caller, if this gateway has keys."""
        if self._callers is not None:
            self._callers[caller.sha256] = caller

    async def caller(self, authorization: str | None) -> Caller:
        """Return the caller with this Authorization header.  Raises NoKeyError, TooOftenError."""
        if self._callers is None:
            return ANYBODY
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() not in SCHEMES or not key:
            raise NoKeyError("send the header Authorization: Bearer KEY")
        caller = self._callers.get(digest(key.strip())) or await self._token_caller(key.strip())
        self._rates.count(caller)
        return caller

    async def _token_caller(self, token: str) -> Caller:
        if self._tokens is None or token.count(".") != 2:
            raise NoKeyError("this key is unknown")
        claims = await self._tokens.claims(token)
        named = {name: claims[name] for name in ("graphs", "rights", "per_minute") if name in claims}
        try:
            return Caller.model_validate({"name": f"oidc:{claims['sub']}", **named})
        except ValidationError as error:
            raise NoKeyError(f"this token's claims are not as they must be: {describe(error)}") from None


class KeysFile(BaseModel):
    """The file as it is written."""

    model_config = ConfigDict(extra="forbid")
    key: list[Caller] = Field(default_factory=list)
    oidc: Issuer | None = None


def read_keys(path: Path) -> Keys:
    """Read the file of keys.  Raises KeysFileError, which says what is wrong in it."""
    try:
        file = KeysFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise KeysFileError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KeysFileError(f"{path}: is not TOML ({error})") from None
    except ValidationError as error:
        raise KeysFileError(f"{path}: a key is not as it must be: {describe(error)}") from None
    _check(path, file)
    return Keys(file.key, tokens=None if file.oidc is None else TokenVerifier(file.oidc, path.parent))


def _check(path: Path, file: KeysFile) -> None:
    if not file.key and file.oidc is None:
        raise KeysFileError(f"{path}: name at least one [[key]], or an [oidc]")
    if not all(caller.sha256 for caller in file.key):
        raise KeysFileError(f"{path}: each [[key]] needs its sha256 (`emgas serve --new-key NAME` prints one)")
    for what in ("name", "sha256"):
        if len({getattr(caller, what) for caller in file.key}) < len(file.key):
            raise KeysFileError(f"{path}: two [[key]] have the same {what}")
