"""Telegram Desktop's export as JSON: result.json of one chat, or of all chats.

    {"name": "Ada", "type": "personal_chat", "id": 7, "messages": [
        {"id": 1, "type": "message", "date": "2023-05-08T15:56:00", "date_unixtime": "1683554160", "from": "Ada",
         "from_id": "user7", "text": "Hi" or ["see ", {"type": "link", "text": "emgas.example"}]}, …]}
    {"chats": {"list": [ …chats as above… ]}}

    graph     the given one, else telegram-<name>    session   <chat id>/<day, UTC>
    id        <chat id>/<message id>                 speaker   from, else from_id, else "unknown"
    at        date_unixtime; of older exports, which lack it, `date` in the given time zone
    metadata  {"origin": "import:telegram", "chat": "Ada"}, and reply_to, forwarded_from where there are any

System messages (`service`) are left out.  In the place of a photo, a sticker or a file stands a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import MESSAGES, Fit, Format, FormatSummary, Head
from emgas.importers.files.documents import at_of, load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, check_graph, graph_named, turns_of
from emgas.messages.turns import Turn
from emgas.times import datetime_of

FILE = re.compile(r"(^|/)result\.json$")
_CHATS = re.compile(
    rb'(?<!\\)"(type"\s*:\s*"(saved_messages|(personal|bot)_chat|(private|public)_(group|supergroup|channel))"'
    rb'|chats"\s*:\s*\{)'
)
SHARED = {
    "sticker": "a sticker",
    "voice_message": "a voice message",
    "video_message": "a video message",
    "animation": "an animation",
    "video_file": "a video",
    "audio_file": "an audio file",
}


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of every chat in a result.json."""
    if graph is not None:
        check_graph(graph)
    _ = options.zone  # before anything is read
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    chats = document.get("chats", document) if isinstance(document, dict) else None
    chats = chats.get("list", [chats]) if isinstance(chats, dict) else None
    if not isinstance(chats, list):
        yield BadLine(1, raw_of(document), "file: must be an object with messages, or with chats", "")
        return
    for number, chat in enumerate(chats, start=1):
        yield from _chat(number, chat, graph, options=options)


def _chat(number: int, chat: Any, graph: str | None, *, options: Options) -> Iterator[Item]:
    messages = chat.get("messages") if isinstance(chat, dict) else None
    identity = chat.get("id") if isinstance(chat, dict) else None
    if not isinstance(messages, list) or type(identity) not in (int, str):
        yield BadLine(number, raw_of(chat), "chat: must be an object with id and messages", "chat")
        return
    name = chat.get("name") or ("Saved Messages" if chat.get("type") == "saved_messages" else str(identity))
    if not isinstance(name, str):
        yield BadLine(number, raw_of(chat), "name: must be a string", "chat")
        return
    common = {"graph": graph or graph_named("telegram", name)}
    for message in messages:
        try:
            yield from _turns(message, str(identity), name, options=options, common=common)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), f"{_named(message)}: {error}", "chat")


def _named(message: Any) -> str:
    number = message.get("id") if isinstance(message, dict) else None
    return f"message {number}" if type(number) is int else "message"


def _turns(message: Any, chat: str, name: str, *, options: Options, common: dict[str, Any]) -> list[Turn]:
    """Read a message as turns, several if it is long; none for system messages and messages without text."""
    if not isinstance(message, dict) or type(message.get("id")) is not int:
        raise InvalidMessageError("must be an object with id, date and text")
    if message.get("type") != "message":
        return []
    text = " ".join(filter(None, (_text(message.get("text", "")), _shared(message)))).strip()
    if not text:
        return []
    at = _at(message, options)
    fields = {
        **common,
        "id": f"{chat}/{message['id']}",
        "session": f"{chat}/{_day(at)}",
        "speaker": message.get("from") or message.get("from_id") or "unknown",
        "text": text,
        "at": at,
        "metadata": {"origin": "import:telegram", "chat": name[:200], **_references(message)},
    }
    return turns_of(fields)


def _text(text: Any) -> str:
    """Read the text of a message: a string, or a list of strings and formatted parts."""
    parts = text if isinstance(text, list) else [text]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    strings = [text for text in texts if isinstance(text, str)]
    if len(strings) < len(texts):
        raise InvalidMessageError("text: must be a string, or a list of strings and of parts with text")
    return "".join(strings)


def _shared(message: dict[str, Any]) -> str:
    """Return a note for a file shared beside the text, "" for none."""
    if "photo" in message:
        return "[shares a photo]"
    if "file" in message or "media_type" in message:
        kind, emoji = message.get("media_type"), message.get("sticker_emoji")
        shared = SHARED.get(kind, "a file") if isinstance(kind, str) else "a file"
        return f"[shares {shared} {emoji}]" if isinstance(emoji, str) and emoji else f"[shares {shared}]"
    return ""


def _at(message: dict[str, Any], options: Options) -> int | None:
    if message.get("date_unixtime") is not None:
        return at_of(message["date_unixtime"])
    try:
        local = datetime.fromisoformat(message["date"])
        return int(local.replace(tzinfo=local.tzinfo or options.zone).timestamp()) * 1000
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InvalidMessageError("date: must be like 2023-05-08T15:56:00") from None


def _day(at: int | None) -> str:
    try:
        return "undated" if at is None else datetime_of(at).date().isoformat()
    except OverflowError:
        raise InvalidMessageError("date: lies outside the years 1 to 9999") from None


def _references(message: dict[str, Any]) -> dict[str, str | int]:
    replied, forwarded = message.get("reply_to_message_id"), message.get("forwarded_from")
    metadata: dict[str, str | int] = {"reply_to": replied} if type(replied) is int else {}
    return metadata | ({"forwarded_from": forwarded[:200]} if isinstance(forwarded, str) else {})


def _matches(head: Head) -> Fit:
    first = head.first_line
    in_a_line = MESSAGES.search(first) and _CHATS.search(first)
    in_many = first.strip() == b"{" and _CHATS.search(head.start)
    return Fit.SURE if head.is_object and (in_a_line or in_many) else Fit.NO


FORMAT = Format(
    name="telegram",
    order=30,
    summary=FormatSummary(
        file="result.json of one chat or all",
        graph="`telegram-<chat>`",
        session="the day (UTC)",
        time="`date_unixtime`",
    ),
    matches=_matches,
    read=read,
    files=FILE,
)
