"""Transcripts of Claude Code: ~/.claude/projects/<folder>/<session id>.jsonl, one entry a line.

    {"type": "user", "sessionId": "s1", "cwd": "/home/ada/shop", "timestamp": "2026-03-02T09:12:00.000Z",
     "isSidechain": false, "message": {"role": "user", "content": "Which port does staging use?"}}
    {"type": "assistant", …, "message": {"id": "msg_1", "role": "assistant", "stop_reason": "end_turn",
     "content": [{"type": "text", "text": "6543."}, {"type": "tool_use", …}]}}

A message of the agent may have several lines, one for each part of its content.  Left out: results of tools, what the
program adds to a prompt, subagents (`isSidechain`), summaries, and entries of other types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from emgas.importers.agent_sessions import Exchanges, entry_of, guarded, session_format, texts
from emgas.importers.chat_format import json_key
from emgas.importers.files.lines import BadLine, Item, Options

NAME = "claude-code"
FILE = re.compile(r"\.jsonl$")
LEFT_OUT = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_SESSION, _TYPE = json_key("sessionId", '"'), json_key("type", '"(?:user|assistant|system|queue-operation)"')


class ClaudeCodeSession:
    """Reads a transcript line by line."""

    def __init__(self, graph: str | None, options: Options) -> None:
        self._exchanges = Exchanges(NAME, graph, options.local)
        self._message, self._is_complete = "", False
        self._parts: list[str] = []

    def feed(self, number: int, raw: bytes) -> list[Item]:
        """Return what a line completes."""
        entry = entry_of(number, raw)
        return [entry] if isinstance(entry, BadLine) else guarded(number, raw, lambda: self._read(entry))

    def pause(self) -> list[Item]:
        """Return the last answer, if the agent waits for a prompt."""
        return self._exchanges.answered() if self._is_complete else []

    def end(self) -> list[Item]:
        """Return the last answer."""
        return self._exchanges.answered()

    def _read(self, entry: Mapping[str, Any]) -> list[Item]:
        message = entry.get("message")
        if entry.get("type") not in ("user", "assistant") or not isinstance(message, dict):
            return []
        if any(entry.get(name) for name in LEFT_OUT) or entry.get("toolUseResult") is not None:
            return []
        exchanges, at = self._exchanges, entry.get("timestamp")
        exchanges.session = str(entry.get("sessionId") or exchanges.session)
        exchanges.folder = exchanges.folder or str(entry.get("cwd") or "")
        if entry["type"] == "user":
            return exchanges.prompt(texts(message.get("content"), "text"), at)
        self._say(message, at)
        return []

    def _say(self, message: Mapping[str, Any], at: Any) -> None:
        text = texts(message.get("content"), "text")
        if message.get("id") != self._message or not self._message:
            self._message, self._parts = str(message.get("id") or ""), []
        if text.strip():
            self._parts.append(text)
            self._exchanges.says("\n".join(self._parts), at)
        self._is_complete = message.get("stop_reason") in ("end_turn", "stop_sequence")


FORMAT = session_format(
    NAME,
    13,
    folder="~/.claude/projects",
    files=FILE,
    below="*/*.jsonl",
    by_content=True,
    marks=(_SESSION, _TYPE),
    open_session=ClaudeCodeSession,
)
