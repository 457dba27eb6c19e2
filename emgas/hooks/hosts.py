"""The programs that call hooks, in one table: their events, the meaning of each, and the format of a context.

    start    a session begins: it gets a short card       prompt  a user asks: store it, and add what is known
    answer   the agent has answered: store it             end     the session ends, or its context is cut

Bundles (bundles.py), the command (firing.py), the route (gateway/doors/hooks.py) and the docs follow this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

SESSION = ("session_id", "conversation_id", "sessionId")
FOLDER = ("cwd", "workspace_roots")
TEXT = {"prompt": ("prompt",), "answer": ("last_assistant_message", "text")}
FIELDS = (*SESSION, *FOLDER, *TEXT["prompt"], *TEXT["answer"], "hook_event_name", "source", "transcript_path")


class Host(NamedTuple):
    """A program that calls hooks.

    events   what each of its events is about
    injects  the events whose output reaches the model
    place    the file of its hooks, or the folder of its plug-ins, in the user's home
    flat     whether it takes a context as {"additional_context": …}, not as Claude Code does
    """

    name: str
    title: str
    events: Mapping[str, str]
    injects: tuple[str, ...]
    place: str
    flat: bool = False

    def output(self, event: str, context: str) -> dict[str, Any]:
        """Return what to print so that the model gets `context`."""
        if self.flat:
            return {"additional_context": context}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


class HookInput(NamedTuple):
    """The input of a hook from a host, with one name for each value; "" if the host passes none."""

    event: str
    about: str
    session: str
    folder: str
    text: str


_CLAUDE = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "answer", "PreCompact": "end"}
_SHOWN = ("SessionStart", "UserPromptSubmit")
_OF_CURSOR = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",  # its output cannot add to the prompt, so a session gets a card only
    "afterAgentResponse": "answer",
    "preCompact": "end",
    "sessionEnd": "end",
}
_OF_HERMES = {"prefetch": "prompt", "sync_turn": "answer"}
_OF_OPENCLAW = {"before_prompt_build": "prompt", "agent_end": "answer", "session_end": "end"}
HOSTS = {
    host.name: host
    for host in (
        Host("claude-code", "Claude Code", {**_CLAUDE, "SessionEnd": "end"}, _SHOWN, ".claude/settings.json"),
        Host("codex", "Codex", _CLAUDE, _SHOWN, ".codex/hooks.json"),
        Host("cursor", "Cursor", _OF_CURSOR, ("sessionStart",), ".cursor/hooks.json", flat=True),
        Host("openclaw", "OpenClaw", _OF_OPENCLAW, ("before_prompt_build",), ".openclaw/extensions/emgas"),
        Host(
            "hermes",
            "Hermes Agent",
            _OF_HERMES,
            ("prefetch",),
            ".hermes/plugins/emgas",
        ),
    )
}


def read_input(host: Host, payload: Mapping[str, Any], event: str = "") -> HookInput:
    """Read the JSON that a host passes to its hook; `event` if the JSON does not name it."""
    event = event or _first(payload, ("hook_event_name",))
    about = host.events.get(event) or next((each.events[event] for each in HOSTS.values() if event in each.events), "")
    return HookInput(
        event, about, _first(payload, SESSION), _first(payload, FOLDER), _first(payload, TEXT.get(about, ()))
    )


def _first(payload: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these fields that holds a text, or a list that begins with one."""
    for name in names:
        value = payload.get(name)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, str) and value.strip():
            return value
    return ""
