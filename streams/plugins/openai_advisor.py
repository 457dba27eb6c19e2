"""An advisor that asks a model over OpenAI's API of chat completions, wherever that is served.

    POST {url}/chat/completions   {"model": …, "messages": […], **options}      ──▶  choices[0].message.content

The server is not trusted: it may be slow, break off, send megabytes, redirect, or answer anything.  It gets only the
tasks and its key, its redirects are not followed, and at most ANSWER_BYTES of its answer are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import orjson

from emgas.errors import BadSettingError
from processors.advice.advisor import AdviceContent, AdviceError, Task
from processors.advice.prompts import VERSION, answers, messages

ANSWER_BYTES: Final = 256 * 1024
TOO_MANY, SERVER_ERRORS = 429, 500  # statuses; from the latter on it is the server that is at fault


class OpenAIAdvisor:
    """Asks one model.  It opens no connection before the first request."""

    def __init__(self, url: str, model: str, key: str | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Remember whom to ask.

        url      to which /chat/completions is appended     key   sent as a bearer's token, None: nothing is
        options  beside model and messages: temperature …

        Raises BadSettingError for an invalid address, and for a key that would be sent unencrypted over a network.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise BadSettingError("EMGAS_ADVISOR must be http(s)://host[:port]/path, and hold no name or password")
        if key is not None and parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise BadSettingError("EMGAS_ADVISOR: a key goes over https:// alone, but to this machine itself")
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._model, self._key = model, key
        self._options = dict(options or {})
        self._session: aiohttp.ClientSession | None = None

    @property
    def name(self) -> str:
        """The model, and the version of its prompts."""
        return f"{self._model} / prompts {VERSION}"[:256]

    async def advise(self, tasks: Sequence[Task]) -> Sequence[AdviceContent | None]:
        """Ask the model.  Raises AdviceError."""
        body = orjson.dumps({**self._options, "model": self._model, "messages": messages(tasks), "stream": False})
        raw = await self._posted(body)
        try:
            content = orjson.loads(raw)["choices"][0]["message"]["content"]
            return answers(tasks, content if isinstance(content, str) else "")
        except (ValueError, LookupError, TypeError) as error:
            raise AdviceError("unreadable", f"the advisor answered what cannot be read ({error})"[:300]) from None

    async def _posted(self, body: bytes) -> bytes:
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False)
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            async with self._session.post(self._url, data=body, headers=headers, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise _refusal(answer.status)
                return await _bounded(answer)
        except (aiohttp.ClientError, OSError) as error:
            reason = f"the advisor cannot be reached ({type(error).__name__})"
            raise AdviceError("unreachable", reason, again=True) from None

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


def key_in(file: Path | None) -> str | None:
    """Read a key from a file, None without one.  Raises BadSettingError; it never repeats what the file holds."""
    if file is None:
        return None
    try:
        key = file.expanduser().read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettingError(f"EMGAS_ADVISOR_KEY_FILE={file} cannot be read ({type(error).__name__})") from None
    if not key or not key.isprintable() or " " in key:
        raise BadSettingError(f"EMGAS_ADVISOR_KEY_FILE={file} must hold one key, on one line")
    return key


def _refusal(status: int) -> AdviceError:
    is_busy = status == TOO_MANY or status >= SERVER_ERRORS
    return AdviceError("busy" if is_busy else "refused", f"the advisor answered with status {status}", again=is_busy)


async def _bounded(answer: aiohttp.ClientResponse) -> bytes:
    """Read an answer.  Raises AdviceError as soon as it is too large."""
    read = bytearray()
    async for piece in answer.content.iter_chunked(16 * 1024):
        read += piece
        if len(read) > ANSWER_BYTES:
            raise AdviceError("huge", f"the advisor answers more than {ANSWER_BYTES} bytes")
    return bytes(read)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
