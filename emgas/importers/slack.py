"""Slack's export: a ZIP, or the folder it was unpacked into, with one file per channel and day.

    users.json                   [{"id": "U1", "name": "ada", "profile": {"display_name": "Ada", "real_name": "…"}}, …]
    general/2023-05-08.json      [{"type": "message", "user": "U1", "text": "Hi <@U2>", "ts": "1683554160.000200",
                                   "thread_ts": "1683554160.000200", "reply_count": 1}, …]

    graph     the given one, else slack-<channel>    session   the thread (<channel>/<its ts>), else <channel>/<day>
    id        <channel>/<ts>                         speaker   display name, else real name, else the user's id
    at        ts                                     metadata  {"origin": "import:slack", "channel": "general"}

Mentions become names, links their label, files a note.  System messages are left out: people joining, topics set,
and what stands in the place of deleted messages and files.  A message without text and files is left out too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.archives import Files
from emgas.importers.files.documents import at_of, check_values, raw_of
from emgas.importers.files.lines import LINE_BYTES, BadLine, Item, Options, check_graph, graph_named, turns_of
from emgas.messages.turns import Turn
from emgas.validation import not_json

DAY = re.compile(r"(?:^|/)([^/]+)/([0-9]{4}-[0-9]{2}-[0-9]{2})\.json$")
_TS = json_key("ts", r'"[0-9]+\.[0-9]+"')
SPOKEN = (None, "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment", "reply_broadcast")
_MARKUP = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Raise InvalidMessageError: a single file names neither its channel nor its users."""
    if graph is not None:
        check_graph(graph)
    raise InvalidMessageError("file: Slack exports a ZIP: import that, or the folder that it unpacks to")


def read_files(files: Files, graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of every channel, day by day."""
    if graph is not None:
        check_graph(graph)
    names = files.names(options.below)
    people: dict[str, str] = {}
    for name in names:
        if name.rpartition("/")[2] == "users.json":
            loaded = _load(files, name, options)
            if isinstance(loaded, BadLine):
                yield loaded
            else:
                people |= _people(loaded)
    for name in names:
        if match := DAY.search(name):
            yield from _day(_load(files, name, options), name, match[1], day=match[2], people=people, graph=graph)


def _load(files: Files, name: str, options: Options) -> list[Any] | BadLine:
    """Read the array in a file, or return a BadLine with the reason."""
    raw = b""
    try:
        raw = files.read(name)
        check_values(raw, options)
        loaded = orjson.loads(raw)
    except InvalidMessageError as error:
        return BadLine(1, raw[:LINE_BYTES], f"{name}: {error}", "")
    except orjson.JSONDecodeError as error:
        return BadLine(1, raw[:LINE_BYTES], f"{name}: {not_json(error)}", "")
    if not isinstance(loaded, list):
        return BadLine(1, raw[:LINE_BYTES], f"{name}: must be a JSON array", "")
    return loaded


def _people(users: list[Any]) -> dict[str, str]:
    """Map the ids of users to their names."""
    people: dict[str, str] = {}
    for user in users:
        if isinstance(user, dict) and isinstance(user.get("id"), str):
            profile = user.get("profile")
            profile = profile if isinstance(profile, dict) else {}
            names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
            people[user["id"]] = next((name for name in names if isinstance(name, str) and name), user["id"])
    return people


def _day(
    messages: list[Any] | BadLine, file: str, channel: str, *, day: str, people: dict[str, str], graph: str | None
) -> Iterator[Item]:
    if isinstance(messages, BadLine):
        yield messages
        return
    metadata = {"origin": "import:slack", "channel": channel[:200]}
    common = {"graph": graph or graph_named("slack", channel), "metadata": metadata}
    for number, message in enumerate(messages, start=1):
        try:
            yield from _turns(message, channel, day, people=people, common=common)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), f"{file}, message {number}: {error}", "")


def _turns(message: Any, channel: str, day: str, *, people: dict[str, str], common: dict[str, Any]) -> list[Turn]:
    """Read a message as turns, several if it is long; none for system messages and messages without text."""
    if not isinstance(message, dict):
        raise InvalidMessageError("must be an object with user, text and ts")
    if message.get("type", "message") != "message" or message.get("subtype") not in SPOKEN:
        return []
    text = _text(message, people)
    if not text:
        return []
    moment, thread = message.get("ts"), message.get("thread_ts")
    if not isinstance(moment, str) or not re.fullmatch(r"[0-9]{1,11}\.[0-9]{1,9}", moment):
        raise InvalidMessageError("ts: must be like 1683554160.000200")
    fields = {
        **common,
        "id": f"{channel}/{moment}",
        "session": f"{channel}/{thread if isinstance(thread, str) else day}",
        "speaker": _speaker(message, people),
        "text": text,
        "at": at_of(moment),
    }
    return turns_of(fields)


def _speaker(message: dict[str, Any], people: dict[str, str]) -> Any:
    user = message.get("user")
    if isinstance(user, str):
        return people.get(user, user)
    return message.get("username") or message.get("bot_id")


def _text(message: dict[str, Any], people: dict[str, str]) -> str:
    """Return a message's text as people read it, followed by what was shared."""
    text, files = message.get("text", ""), message.get("files", [])
    if not isinstance(text, str):
        raise InvalidMessageError("text: must be a string")
    parts = [html.unescape(_MARKUP.sub(lambda match: _meant(match, people), text)).strip()]
    for file in files if isinstance(files, list) else []:
        if isinstance(file, dict) and file.get("mode") == "tombstone":  # it was deleted
            continue
        title = file.get("title") or file.get("name") if isinstance(file, dict) else None
        parts.append(f"[shares a file: {title}]" if isinstance(title, str) and title else "[shares a file]")
    return " ".join(filter(None, parts))


def _meant(match: re.Match[str], people: dict[str, str]) -> str:
    kind, target, label = match.groups()
    if kind == "@":
        return f"@{label or people.get(target, target)}"
    if kind == "#":
        return f"#{label or target}"
    if kind == "!":
        return f"@{label or target.partition('^')[0]}"
    return label or target


def _matches(head: Head) -> Fit:
    return Fit.MAYBE if head.is_array and _TS.search(head.start) else Fit.NO


FORMAT = Format(
    name="slack",
    order=20,
    summary=FormatSummary(
        file="the export's ZIP, or its folder",
        graph="`slack-<channel>`",
        session="the thread, else the day",
        time="`ts`",
    ),
    matches=_matches,
    read=read,
    files=DAY,
    below=("*/*.json",),
    read_files=read_files,
)
