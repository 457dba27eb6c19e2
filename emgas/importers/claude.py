"""Claude.ai's export: a ZIP with conversations.json, or that file alone.

    [{"uuid": "c1", "name": "…", "created_at": "2024-05-08T13:56:02.123456Z", "chat_messages": [
        {"uuid": "m1", "sender": "human", "created_at": "…", "text": "Hi", "content": [{"type": "text", "text": "Hi"}],
         "attachments": [{"file_name": "a.txt"}], "files": [{"file_name": "b.png"}]}, …]}, …]

    graph     the given one, else claude-<conversation id>       session   the conversation id
    id        the message id                                     role      user or assistant; so is the speaker
    at        the message's time                                 metadata  {"origin": "import:claude", "title": "…"}

Of a message's content the text is kept, not what the model thought or called; a file is named, not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, graph_named, turns_of
from emgas.messages.turns import Turn

FILE = re.compile(r"(^|/)conversations\.json$")
UNIT = "conversation"
SPEAKERS = {"human": "user", "assistant": "assistant"}
_MESSAGES = json_key("chat_messages", r"\[")


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of every conversation."""
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    for number, conversation in enumerate(document if isinstance(document, list) else [document], start=1):
        yield from _conversation(number, conversation, graph)


def _conversation(number: int, conversation: Any, graph: str | None) -> Iterator[Item]:
    messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
    name = conversation.get("uuid") if isinstance(conversation, dict) else None
    if not isinstance(messages, list) or not isinstance(name, str):
        problem = "conversation: must be an object with uuid and chat_messages"
        yield BadLine(number, raw_of(conversation), problem, UNIT)
        return
    metadata = {"origin": "import:claude"}
    if isinstance(title := conversation.get("name"), str) and title:
        metadata["title"] = title[:200]
    common = {"graph": graph or graph_named("claude", name), "session": name, "metadata": metadata}
    for message in messages:
        try:
            yield from _turns(message, common)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), f"message: {error}", UNIT)


def _turns(message: Any, common: dict[str, Any]) -> list[Turn]:
    """Read a message as turns, several if it is long; none if it has no text."""
    if not isinstance(message, dict) or message.get("sender") not in SPEAKERS:
        raise InvalidMessageError("must be an object with uuid, sender (human or assistant) and text")
    text = "\n".join(filter(None, (_text(message), *_named_files(message))))
    role = SPEAKERS[message["sender"]]
    fields = {"id": message.get("uuid"), "speaker": role, "role": role, "text": text, "at": message.get("created_at")}
    return turns_of({**common, **fields}) if text else []


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if part.get("type") == "text"]
    text = "\n".join(part for part in texts if isinstance(part, str)) or message.get("text")
    return text.strip() if isinstance(text, str) else ""


def _named_files(message: dict[str, Any]) -> Iterator[str]:
    for key in ("attachments", "files"):
        listed = message.get(key)
        for file in listed if isinstance(listed, list) else ():
            if isinstance(file, dict) and isinstance(name := file.get("file_name"), str) and name:
                yield f"[shares {name}]"


def _matches(head: Head) -> Fit:
    return Fit.SURE if (head.is_array or head.is_object) and _MESSAGES.search(head.start) else Fit.NO


FORMAT = Format(
    name="claude",
    order=12,
    summary=FormatSummary(
        file="Claude.ai's ZIP, or conversations.json",
        graph="`claude-<conversation id>`",
        session="the conversation",
        time="the message's",
    ),
    matches=_matches,
    read=read,
    files=FILE,
)
