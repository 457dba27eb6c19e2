"""Sessions of Codex: ~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl, one entry a line.

    {"timestamp": "2026-03-02T09:12:00.000Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/home/ada/shop"}}
    {…, "type": "event_msg", "payload": {"type": "user_message", "message": "Which port does staging use?"}}
    {…, "type": "event_msg", "payload": {"type": "agent_message", "message": "6543."}}
    {…, "type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": "6543."}}
    {…, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", …}]}}

The same message is usually there as an event and as an item: it is one turn.  Left out: calls and results of tools,
reasoning, and what the program adds to a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from emgas.importers.agent_sessions import Exchanges, entry_of, guarded, read_session, texts
from emgas.importers.archives import Files, read_each
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.lines import BadLine, Item, Options

NAME = "codex"
FILE = re.compile(r"(^|/)rollout-[^/]*\.jsonl$")
COMPLETE = ("task_complete", "turn_complete")
_META, _PAYLOAD = json_key("type", '"session_meta"'), json_key("payload", r"\{")


class CodexSession:
    """Reads a session line by line."""

    def __init__(self, graph: str | None, options: Options) -> None:
        self._exchanges = Exchanges(NAME, graph, options.local)

    def feed(self, number: int, raw: bytes) -> list[Item]:
        """Return what a line completes."""
        entry = entry_of(number, raw)
        return [entry] if isinstance(entry, BadLine) else guarded(number, raw, lambda: self._read(entry))

    def pause(self) -> list[Item]:
        """Return nothing: an event says when the agent is done."""
        return []

    def end(self) -> list[Item]:
        """Return the last answer."""
        return self._exchanges.answered()

    def _read(self, entry: Mapping[str, Any]) -> list[Item]:
        payload, at = entry.get("payload"), entry.get("timestamp")
        if not isinstance(payload, dict):
            return []
        match entry.get("type"):
            case "session_meta" if not self._exchanges.session:  # a resumed one repeats those that it continues
                self._exchanges.session = str(payload.get("id") or "")
                self._exchanges.folder = str(payload.get("cwd") or "")
            case "event_msg":
                return self._event(payload, at)
            case "response_item" if payload.get("type") == "message":
                return self._message(payload, at)
        return []

    def _event(self, payload: Mapping[str, Any], at: Any) -> list[Item]:
        kind = payload.get("type")
        if kind == "user_message":
            return self._exchanges.prompt(_string(payload.get("message")), at)
        if kind == "agent_message":
            self._exchanges.says(_string(payload.get("message")), at)
        if kind in COMPLETE:
            self._exchanges.says(_string(payload.get("last_agent_message")), at)
            return self._exchanges.answered()
        return []

    def _message(self, payload: Mapping[str, Any], at: Any) -> list[Item]:
        if payload.get("role") == "user":
            return self._exchanges.prompt(texts(payload.get("content"), "input_text"), at)
        if payload.get("role") == "assistant":
            self._exchanges.says(texts(payload.get("content"), "output_text"), at)
        return []


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of a session."""
    return read_session(stream, graph, options, CodexSession)


def read_files(files: Files, graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of all sessions of a folder."""
    return read_each(files, FILE, read, graph=graph, options=options)


def _matches(head: Head) -> Fit:
    return Fit.SURE if head.is_object and _META.search(head.start) and _PAYLOAD.search(head.start) else Fit.NO


FORMAT = Format(
    name=NAME,
    order=15,
    summary=FormatSummary(
        file="`~/.codex/sessions`, or a session's JSONL",
        graph="`project/…` of its folder",
        session="the session",
        time="the message's",
    ),
    matches=_matches,
    read=read,
    files=FILE,
    below=("*/*/*/*.jsonl",),
    read_files=read_files,
    open_session=CodexSession,
)
