"""Keep the prose of a prompt or an answer, and compute the id of its turn, which is the same by hook and by import.

    <system-reminder>…</system-reminder>      left out, like all other additions of programs
    ```…``` of more than three lines          [code: 12 lines]
    /clear, Caveat: The messages below …      no prompt at all
    id                                        hash of session, role and text, blanks counted as one

So a prompt that a hook stored, and the same prompt in a transcript, are one turn.  So are two equal prompts of one
session, such as "continue".
"""

from __future__ import annotations

import hashlib
import re

from emgas.redaction import redact

PROSE_BYTES = 16 * 1024  # of a message: what is longer was pasted
CODE_LINES = 3
_END = re.compile(r"[.!?;](?=\s)|[。！？；\n]")
MEMORY_TAG = "emgas-memory"  # around what a hook injects: some hosts write it into their transcript
_ADDED = (
    MEMORY_TAG, "system-reminder", "command-name", "command-message", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr", "environment_context", "user_instructions",
    "INSTRUCTIONS", "permissions instructions", "collaboration_mode", "skills_instructions", "turn_aborted",
    "subagent_notification", "user_action", "ide_opened_file", "ide_selection", "ide_diagnostics",
    "task-notification", "user-prompt-submit-hook", "attached_files", "open_and_recently_viewed_files", "rules",
    "system_reminder", "user_info", "project_layout", "git_status", "tool_use_error", "teammate-message",
)  # fmt: skip
_BLOCK = re.compile(rf"<({'|'.join(_ADDED)})(?:\s[^>]*)?>.*?(?:</\1>|\Z)", re.DOTALL)
_ARGUMENTS = re.compile(r"</?(?:command-args|user_query|user-query)>")  # what a user typed, in the program's brackets
_CODE = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_NO_PROMPT = re.compile(
    r"/[a-z][\w:-]*\s*\Z|Caveat: The messages below were generated|\[Request interrupted by user|"
    r"# AGENTS\.md instructions for|This session is being continued from a previous conversation|"
    r"No response requested\.?\s*\Z|\(no content\)\s*\Z"
)


def prose(text: str) -> str:
    """Return the prose of a message, with its secrets replaced; "" if a program wrote it, or if nothing is left."""
    text = redact(text.replace("\0", "").encode(errors="replace").decode())  # first: a hook's spool is redacted, too
    text = _ARGUMENTS.sub("", _BLOCK.sub("", text))
    text = _CODE.sub(_short_code, text).strip()
    if not text or _NO_PROMPT.match(text):
        return ""
    return text.encode()[:PROSE_BYTES].decode(errors="ignore").strip()


def turn_id(session: str, role: str, text: str) -> str:
    """Compute the id of a message from its prose."""
    parts = (session, role, " ".join(text.split()))
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]


def only_asks(text: str) -> bool:
    """Check whether a text is one question: an earlier one holds no answer to the next."""
    sentence, mark = text.strip()[:-1], text.strip()[-1:]
    return mark in ("?", "？") and not _END.search(sentence)


def _short_code(match: re.Match[str]) -> str:
    lines = match[2].count("\n")
    return match[0] if lines <= CODE_LINES else f"[code: {lines} lines]"
