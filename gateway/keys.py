"""Who may do what: keys bound to graphs and rights, from a file that only the operator can read.

    [[key]]
    name = "ada-app"                    shown in logs, never the key
    sha256 = "…"                        hex digest of the key; `emgas serve --new-key NAME` prints both
    graphs = ["ada", "team-*"]          exact names, or a prefix and *
    rights = ["read", "write"]          of read, write, forget, admin
    per_minute = 600                    optional: requests a minute

Without a file everybody may do everything, so the gateway then listens on loopback only (gateway/serve.py).
A key is compared by its digest: the time that takes tells nothing about it.
"""

from __future__ import annotations

import hashlib
import secrets
import time
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emgas.validation import describe
from gateway.errors import KeysFileError, NoKeyError, NotAllowedError, TooOftenError

Right = Literal["read", "write", "forget", "admin"]
RIGHTS: frozenset[Right] = frozenset({"read", "write", "forget", "admin"})
KEY_BYTES = 32


class Caller(BaseModel):
    """Somebody with a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: Annotated[str, Field(min_length=1, max_length=100)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = ""
    graphs: tuple[Annotated[str, Field(min_length=1)], ...] = ("*",)
    rights: frozenset[Right] = RIGHTS
    per_minute: Annotated[int, Field(ge=1)] | None = None

    def check(self, right: Right, graph_id: str | None) -> None:
        """Raise NotAllowedError unless this caller has the right, in the graph if one is named."""
        if right not in self.rights:
            raise NotAllowedError(f"this key lacks the right to {right}")
        if graph_id is not None and not self.may_see(graph_id):
            raise NotAllowedError("this key does not belong to this graph")

    def may_see(self, graph_id: str) -> bool:
        """Tell whether one of the caller's graph patterns fits."""
        return any(_fits(pattern, graph_id) for pattern in self.graphs)


def _fits(pattern: str, graph_id: str) -> bool:
    return graph_id.startswith(pattern[:-1]) if pattern.endswith("*") else graph_id == pattern


ANYBODY = Caller(name="anybody")


class Keys:
    """All callers, by the digest of their key; `None` stands for a gateway without keys."""

    def __init__(self, callers: Iterable[Caller] | None) -> None:
        self._callers: Mapping[str, Caller] | None = None
        if callers is not None:
            self._callers = {caller.sha256: caller for caller in callers}
        self._rates = MovingWindowRateLimiter(MemoryStorage())

    @property
    def are_wanted(self) -> bool:
        """Tell whether a request needs a key."""
        return self._callers is not None

    def caller(self, authorization: str | None) -> Caller:
        """Find who sent this Authorization header.  Raises NoKeyError, TooOftenError."""
        if self._callers is None:
            return ANYBODY
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise NoKeyError("send the header Authorization: Bearer KEY")
        found = self._callers.get(digest(key.strip()))
        if found is None:
            raise NoKeyError("this key is unknown")
        self._count(found)
        return found

    def _count(self, caller: Caller) -> None:
        if caller.per_minute is None:
            return
        rate = RateLimitItemPerMinute(caller.per_minute)
        if not self._rates.hit(rate, caller.sha256):
            until, now = self._rates.get_window_stats(rate, caller.sha256).reset_time, time.time()
            raise TooOftenError(max(1, round(until - now)))


def digest(key: str) -> str:
    """Hash a key as the file has it: sha256, hex."""
    return hashlib.sha256(key.encode()).hexdigest()


def new_key() -> str:
    """Make a key that nobody can guess."""
    return f"emgas_{secrets.token_urlsafe(KEY_BYTES)}"


def read_keys(path: Path) -> Keys:
    """Read the file of keys.  Raises KeysFileError, which says what is wrong in it."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("key", [])
        callers = [Caller.model_validate(each) for each in found]
    except OSError as error:
        raise KeysFileError(f"{path}: cannot be read ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KeysFileError(f"{path}: is not TOML ({error})") from None
    except ValidationError as error:
        raise KeysFileError(f"{path}: a key is not as it must be: {describe(error)}") from None
    if not callers or not all(caller.sha256 for caller in callers):
        raise KeysFileError(f"{path}: name at least one [[key]], each with its sha256")
    return Keys(callers)
