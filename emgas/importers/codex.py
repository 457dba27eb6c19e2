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
from collections.abc import Mapping
from typing import Any

from emgas.importers.agent_sessions import Exchanges, entry_of, guarded, session_format, texts
from emgas.importers.chat_format import json_key
from emgas.importers.files.lines import BadLine, Item, Options

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


FORMAT = session_format(
    NAME,
    15,
    folder="~/.codex/sessions",
    files=FILE,
    below="*/*/*/*.jsonl",
    by_content=False,
    marks=(_META, _PAYLOAD),
    open_session=CodexSession,
)
