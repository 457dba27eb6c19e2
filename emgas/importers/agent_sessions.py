"""Common code for transcripts of coding agents: prompts and final answers become turns, as a hook stores them.

of an exchange  the prompt, and the last text of the agent before the next prompt; what it says between calls of tools
                is no answer
id              of session, role and text (emgas/hooks/prose.py): a turn that a hook stored is the same turn
graph           the given one, else that of the session's folder (emgas/hooks/projects.py)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.hooks.projects import graph_of
from emgas.hooks.prose import prose, turn_id
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, Transcript
from emgas.importers.files.lines import BadLine, Item, Options, read_lines
from emgas.messages.turns import Turn
from emgas.pieces import fitted, in_pieces
from emgas.validation import build, not_json


@dataclass
class Exchanges:
    """The turns of a session, in the order in which they are said.

    origin  the format            graph  where the turns go; None: by `folder`
    local   whether folders are on this machine
    """

    origin: str
    graph: str | None
    local: bool
    session: str = ""
    folder: str = ""
    _answer: tuple[str, Any] | None = None
    _seen: set[str] = field(default_factory=set)

    def prompt(self, text: str, at: Any) -> list[Item]:
        """Return the answer to the last prompt, and this one."""
        return [*self.answered(), *self._turns("user", text, at)] if prose(text) else []

    def says(self, text: str, at: Any) -> None:
        """Note what the agent says: its answer, if nothing follows."""
        if text.strip():
            self._answer = (text, at)

    def answered(self) -> list[Item]:
        """Return the answer to the last prompt; nothing if it was returned before."""
        answer, self._answer = self._answer, None
        return [] if answer is None else self._turns("assistant", *answer)

    def _turns(self, role: str, text: str, at: Any) -> list[Item]:
        text, session = prose(text), fitted(self.session or "main")
        identity = turn_id(session, role, text)
        if not text or identity in self._seen:
            return []
        self._seen.add(identity)
        common = {
            "graph": self.graph or graph_of(self.folder, local=self.local),
            "session": session,
            "speaker": role,
            "role": role,
            "metadata": {"origin": f"import:{self.origin}"},
            **({} if at is None else {"at": at}),
        }
        return [build(Turn, piece) for piece in in_pieces({**common, "id": identity, "text": text})]


def session_format(
    name: str,
    order: int,
    *,
    folder: str,
    files: re.Pattern[str],
    below: str,
    by_content: bool,
    marks: tuple[re.Pattern[bytes], ...],
    open_session: Callable[[str | None, Options], Transcript],
) -> Format:
    """Build the format of an agent's transcripts: one JSON object a line, one file a session.

    folder  where the agent keeps them       marks  what the first lines of each hold
    The others are as in Format.
    """

    def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
        transcript = open_session(graph, options)
        for line in read_lines(stream):
            yield from [line] if isinstance(line, BadLine) else transcript.feed(*line)
        yield from transcript.end()

    def matches(head: Head) -> Fit:
        return Fit.SURE if head.is_object and all(mark.search(head.start) for mark in marks) else Fit.NO

    return Format(
        name=name,
        order=order,
        summary=FormatSummary(
            file=f"`{folder}`, or a session's JSONL",
            graph="`project/…` of its folder",
            session="the session",
            time="the message's",
        ),
        matches=matches,
        read=read,
        files=files,
        by_content=by_content,
        below=(below,),
        open_session=open_session,
    )


def entry_of(number: int, raw: bytes) -> Mapping[str, Any] | BadLine:
    """Read a line as a JSON object."""
    try:
        entry = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return BadLine(number, raw, f"this {not_json(error)}")
    return entry if isinstance(entry, dict) else BadLine(number, raw, "this must be a JSON object")


def guarded(number: int, raw: bytes, read: Callable[[], list[Item]]) -> list[Item]:
    """Return what `read` returns, or the line with the reason why it cannot become a turn."""
    try:
        return read()
    except InvalidMessageError as error:
        return [BadLine(number, raw, str(error))]


def texts(content: Any, *types: str) -> str:
    """Return the text of a message's content: a string, or the parts of these types."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if part.get("type") in types]
    return "\n".join(part for part in texts if isinstance(part, str))
