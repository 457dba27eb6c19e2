r"""Messenger's and Instagram's export (Meta): a ZIP or folder with message_1.json … per chat, or one of these files.

    {"title": "Ben", "thread_path": "inbox/ben_17", "participants": [{"name": "Ada"}, {"name": "Ben"}], "messages": [
        {"sender_name": "Ada", "timestamp_ms": 1683554162123, "content": "Gr\u00c3\u00bc\u00c3\u009fe"}, …]}

    {"threadName": "Ben_17", "participants": ["Ada", "Ben"], "messages": [                end-to-end encrypted chats
        {"senderName": "Ada", "timestamp": 1683554162123, "text": "Hi", "type": "text"}, …]}

    graph     the given one, else messenger-<title>      session   the day (UTC)
    id        a hash of time, speaker and text           metadata  {"origin": "import:messenger", "chat": "…"}

Meta writes the bytes of UTF-8 as if each were a character: that is undone.  Messages come newest first, and are given
oldest first.  Unsent messages and messages without text are left out; a photo or a file leaves a note.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, graph_named, on_its_day, stable_id, turns_of
from emgas.messages.turns import Turn

KINDS = ("inbox", "e2ee_cutover", "archived_threads", "filtered_threads", "message_requests")
FILE = re.compile(rf"(^|/)({'|'.join(KINDS)})/[^/]+/message_\d+\.json$")
BELOW = tuple(
    f"{top}messages/{kind}/*/message_*.json"
    for top in ("", "your_instagram_activity/", "your_facebook_activity/")
    for kind in KINDS
)
NOTES = {"photos": "[shares a photo]", "videos": "[shares a video]", "audio_files": "[shares a recording]",
         "files": "[shares a file]", "gifs": "[shares a picture]", "sticker": "[shares a sticker]"}  # fmt: skip
_SENDER = json_key("(sender_name|senderName)")
_PARTICIPANTS = json_key("participants", r"\[")


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of one file of a chat, oldest first."""
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    messages = document.get("messages") if isinstance(document, dict) else None
    title = _mended(document.get("title") or document.get("threadName")) if isinstance(document, dict) else ""
    if not isinstance(messages, list) or not title:
        yield BadLine(1, raw_of(document), "file: must be an object with title and messages", "")
        return
    common = {
        "graph": graph or graph_named("messenger", title),
        "metadata": {"origin": "import:messenger", "chat": title[:200]},
    }
    seen: Counter[str] = Counter()
    for number, message in reversed(list(enumerate(messages, start=1))):
        try:
            yield from _turns(message, common, seen)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), str(error), "message")


def _turns(message: Any, common: dict[str, Any], seen: Counter[str]) -> list[Turn]:
    """Read a message as turns, several if it is long; none if it has no text or was unsent."""
    if not isinstance(message, dict):
        raise InvalidMessageError("must be an object with sender_name, timestamp_ms and content")
    text = "\n".join(filter(None, (_mended(message.get("content") or message.get("text")), *_notes(message))))
    if not text or message.get("is_unsent") or message.get("isUnsent"):
        return []
    at = message.get("timestamp_ms", message.get("timestamp"))
    speaker = _mended(message.get("sender_name") or message.get("senderName"))
    base = stable_id(common["graph"], str(at), 0, text=f"{speaker}\0{text}")
    seen[base] += 1
    name = base if seen[base] == 1 else f"{base}-{seen[base]}"
    return on_its_day(turns_of({**common, "id": name, "speaker": speaker, "text": text, "at": at}))


def _mended(text: Any) -> str:
    """Repair UTF-8 that was read as Latin-1; "" for anything but text."""
    if not isinstance(text, str):
        return ""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _notes(message: dict[str, Any]) -> Iterator[str]:
    yield from (note for key, note in NOTES.items() if message.get(key))
    if message.get("media"):
        yield "[shares a file]"


def _matches(head: Head) -> Fit:
    is_one = head.is_object and _PARTICIPANTS.search(head.start) and _SENDER.search(head.start)
    return Fit.SURE if is_one else Fit.NO


FORMAT = Format(
    name="messenger",
    order=16,
    summary=FormatSummary(
        file="Messenger's or Instagram's ZIP (JSON), its folder, or a message_1.json",
        graph="`messenger-<title>`",
        session="the day (UTC)",
        time="the message's",
    ),
    matches=_matches,
    read=read,
    files=FILE,
    below=BELOW,
)
