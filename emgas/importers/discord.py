"""Discord, as DiscordChatExporter writes a channel: one JSON document.

    {"guild": {"name": "Tea"}, "channel": {"id": "9", "name": "general"}, "messages": [
        {"id": "1", "type": "Default", "timestamp": "2023-05-08T13:56:02.123+00:00", "content": "Hi",
         "author": {"name": "ada", "nickname": "Ada"}, "attachments": [{"fileName": "a.png"}],
         "reference": {"messageId": "0"}}, …]}

    graph     the given one, else discord-<guild>-<channel>     session   the day (UTC)
    id        the message id                                    speaker   the nickname, else the name
    at        the message's time                                metadata  {"origin": "import:discord", "channel": "…"}

Discord's own messages (joined, pinned, called) are left out.  A file is replaced by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import MESSAGES, Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, graph_named, on_its_day, turns_of
from emgas.messages.turns import Turn

CHAT_TYPES = ("Default", "Reply")
_CHANNEL = json_key("channel", r"\{")
_GUILD = json_key("guild", r"\{")


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of a channel."""
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    messages = document.get("messages") if isinstance(document, dict) else None
    channel, guild = _name(document, "channel"), _name(document, "guild")
    if not isinstance(messages, list) or not channel:
        yield BadLine(1, raw_of(document), "file: must be an object with channel and messages", "")
        return
    metadata = {"origin": "import:discord", "channel": channel[:200]}
    common = {"graph": graph or graph_named("discord", f"{guild} {channel}".strip()), "metadata": metadata}
    for number, message in enumerate(messages, start=1):
        try:
            yield from _turns(message, common)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), str(error), "message")


def _name(document: Any, key: str) -> str:
    inner = document.get(key) if isinstance(document, dict) else None
    name = inner.get("name") if isinstance(inner, dict) else None
    return name if isinstance(name, str) else ""


def _turns(message: Any, common: dict[str, Any]) -> list[Turn]:
    """Read a message as turns, several if it is long; none for system messages and messages without text."""
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(author, dict):
        raise InvalidMessageError("must be an object with id, timestamp, author and content")
    if message.get("type", "Default") not in CHAT_TYPES:
        return []
    text = "\n".join(filter(None, (_content(message), *_named_files(message))))
    fields = {"speaker": author.get("nickname") or author.get("name"), "text": text, "at": message.get("timestamp")}
    if not text:
        return []
    metadata = {**common["metadata"], **_reply(message)}
    return on_its_day(turns_of({**common, "id": message.get("id"), **fields, "metadata": metadata}))


def _content(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content.strip() if isinstance(content, str) else ""


def _named_files(message: dict[str, Any]) -> Iterator[str]:
    files = message.get("attachments")
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict) and isinstance(name := file.get("fileName"), str):
            yield f"[shares {name}]"


def _reply(message: dict[str, Any]) -> dict[str, str]:
    answered = message.get("reference")
    to = answered.get("messageId") if isinstance(answered, dict) else None
    return {"reply_to": to} if isinstance(to, str) else {}


def _matches(head: Head) -> Fit:
    is_one = head.is_object and _CHANNEL.search(head.start) and _GUILD.search(head.start)
    return Fit.SURE if is_one and MESSAGES.search(head.start) else Fit.NO


FORMAT = Format(
    name="discord",
    order=14,
    summary=FormatSummary(
        file="DiscordChatExporter's JSON of a channel",
        graph="`discord-<guild>-<channel>`",
        session="the day (UTC)",
        time="the message's",
    ),
    matches=_matches,
    read=read,
)
