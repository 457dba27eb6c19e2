"""The gateway's errors, and how every failure becomes `application/problem+json` (RFC 9457).

GatewayError
├── NotJsonError            the body is no JSON, or nested too deeply   400
├── NoKeyError              no key, or an unknown one                   401, asks for Bearer
├── NotAllowedError         a known key, another graph or right         403
├── UnknownGraphError       the graph does not exist                    404
├── UnknownConceptError     the graph exists, the concept does not      404
├── WrongMethodError        the path takes other methods                405, Allow
├── RequestRejectedError    the memory rejected a turn or a request     409 for an id with another text, 429 over a
│                                                                       quota, else 422
├── TooLargeError           more bytes than a record may have           413
├── WrongContentTypeError   the body is not declared as JSON            415
├── TooOftenError           the key's rate is used up                   429, Retry-After
├── ImportRunningError      the key's last import is still running      429, Retry-After
├── BusyError               too many requests wait for the same thing   503, Retry-After
├── NoModelError            no model was named to `emgas serve`         404
└── ModelError              the model is out of reach                   502
KeysFileError               the file of keys cannot be used: the gateway does not start

The memory's failures are mapped, too: an invalid message 422, `overloaded` 429, `not-yet`, a graph that is
`unavailable` and an unreachable memory 503, no answer in time 504.  No problem repeats a value of the request: what
people said does not belong in an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from starlette.responses import JSONResponse

from emgas.errors import EmgasError, InvalidMessageError, NoAnswerError, QueryFailedError
from emgas.messages.rights import OVER_QUOTA

RETRY_SECONDS = 1  # after which an overloaded memory may be asked again
PROBLEM_JSON = "application/problem+json"
NO_GRAPH = (
    "this graph does not exist, or did not exist at that time: list the graphs that you may read with GET /v1/graphs, "
    "or record a turn in it"
)

TITLES = {
    400: "Not JSON",
    401: "No valid key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Known with another content",
    413: "Too large",
    415: "Not JSON",
    421: "The graph was moved",
    422: "The message breaks the contract",
    429: "Too much at once",
    500: "The gateway failed",
    502: "The model cannot be reached",
    503: "The memory cannot answer now",
    504: "No answer in time",
}
OF_FAILURE = {
    "invalid": 422,
    "wrong-partition": 422,
    "not-yet": 503,
    "expired": 504,
    "overloaded": 429,
    "forbidden": 403,
    "unavailable": 503,
    "moved": 421,
    "internal": 503,
}


class Problem(BaseModel):
    """RFC 9457.  `code` is one word for programs, `detail` says to a person what to do."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str


# The failures that routes may have, as OpenAPI names them.
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": title} for status, title in TITLES.items() if status not in (408, 502)
}


class GatewayError(Exception):
    """A request that is refused before it reaches the memory."""

    status = 500
    code = "internal"
    headers: Mapping[str, str] = {}


class NotJsonError(GatewayError):
    """The body is no JSON in UTF-8, or nested too deeply.  Caller's fault."""

    status, code = 400, "not-json"


class NoKeyError(GatewayError):
    """No key came along, or one that is unknown."""

    status, code = 401, "unauthorized"
    headers: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


class NotAllowedError(GatewayError):
    """The key is known, but not for this graph or this right; or a web page asks that is not the gateway's."""

    status, code = 403, "forbidden"


class UnknownGraphError(GatewayError):
    """The graph does not exist."""

    status, code = 404, "unknown-graph"


class UnknownConceptError(GatewayError):
    """The graph exists, but holds no such concept."""

    status, code = 404, "unknown-concept"


class RequestRejectedError(GatewayError):
    """The memory refused a turn or a request: the message is its reason."""

    code = "rejected"

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason or "the memory refused it")
        self.status = 409 if "another text" in str(self) else 422
        if str(self).startswith(OVER_QUOTA):
            self.status, self.code = 429, "over-quota"


class NoModelError(GatewayError):
    """A completion was requested, and `emgas serve` has no model."""

    status, code = 404, "no-model"


class ModelError(GatewayError):
    """The model cannot be reached."""

    status, code = 502, "no-model"


class TooLargeError(GatewayError):
    """The body is larger than any record may be."""

    status, code = 413, "too-large"


class WrongContentTypeError(GatewayError):
    """The body is not declared as JSON.  This also keeps out what a web page may send without a preflight."""

    status, code = 415, "not-json"


class WrongMethodError(GatewayError):
    """The path takes other methods, which the header Allow names."""

    status, code = 405, "method"

    def __init__(self, methods: list[str]) -> None:
        super().__init__(f"this path takes {', '.join(methods)}: see /docs or /openapi.json")
        self.headers = {"Allow": ", ".join(methods)}


class TooOftenError(GatewayError):
    """The key's rate is used up.  `seconds` until it may ask again."""

    status, code = 429, "too-often"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many requests with this key: try again in {seconds} s")
        self.headers = {"Retry-After": str(seconds)}


class ImportRunningError(GatewayError):
    """An import of the same key runs, or as many as this server takes at once."""

    status, code = 429, "import-running"
    headers: Mapping[str, str] = {"Retry-After": "10"}


class BusyError(GatewayError):
    """Too many requests wait for what this one needs."""

    status, code = 503, "busy"
    headers: Mapping[str, str] = {"Retry-After": str(RETRY_SECONDS)}


class KeysFileError(EmgasError):
    """The file of keys cannot be read.  Operator action: mend it as docs/how-to.md shows."""


def problem(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Build the response for a problem."""
    body = Problem(title=TITLES.get(status, "Refused"), status=status, detail=detail, code=code)
    return JSONResponse(body.model_dump(), status, dict(headers or {}), media_type=PROBLEM_JSON)


def refused(error: GatewayError) -> JSONResponse:
    """Build the response for a refusal of the gateway."""
    return problem(error.status, error.code, str(error), error.headers)


def failed(error: EmgasError) -> JSONResponse:
    """Build the response for an error of the memory or of the connection to it."""
    if isinstance(error, InvalidMessageError):
        return problem(422, "invalid", str(error))
    if isinstance(error, NoAnswerError):
        return problem(504, "no-answer", str(error))
    retry = {"Retry-After": str(RETRY_SECONDS)}
    if isinstance(error, QueryFailedError):
        status = OF_FAILURE[error.code]
        return problem(status, error.code, error.message, retry if status in (429, 503) else None)
    return problem(503, "unreachable", str(error), retry)
