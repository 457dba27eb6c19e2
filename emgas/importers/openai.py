"""OpenAI chat messages, one conversation per line, as in fine-tuning files and chat logs; or a plain array.

    {"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}
    [{"role":"user","content":"Hi"}, …]                                 one conversation
    [{"messages":[…]}, …]                                               several

The format names no graph (the caller does), no session (the line number is it; in an array, the place), no ids (a hash
is; the same file gives the same ids) and no times (the log's timestamp counts).  Of content parts the text is kept.  A
message without text, such as a bare tool call, is reported as a bad line.  System prompts are left out: they are
instructions to a model, not an utterance, and the same in every conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import MESSAGES, Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import USUAL, BadLine, Item, Options, head_of, read_lines, stable_id, turns_of
from emgas.messages.turns import Turn
from emgas.validation import not_json

ROLES = {"function": "tool"}  # what older files call it
PROMPTS = ("system", "developer")  # older and newer files


_ROLE, _CONTENT = json_key("role"), json_key("content")


def read(stream: IO[bytes], graph: str | None = None, options: Options = USUAL) -> Iterator[Item]:
    """Yield a turn per message.  Raises InvalidMessageError if no graph is given."""
    if graph is None:
        raise InvalidMessageError("graph: OpenAI messages name none: say which graph they belong to (--graph NAME)")
    if head_of(stream).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        yield from _array(stream, graph, options)
        return
    for line in read_lines(stream):
        if isinstance(line, BadLine):
            yield line
        else:
            yield from _conversation(*line, graph)


def _array(stream: IO[bytes], graph: str, options: Options) -> Iterator[Item]:
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    are_messages = all(isinstance(each, dict) and "role" in each for each in document)
    for number, conversation in enumerate([{"messages": document}] if are_messages else document, start=1):
        for item in _conversation(number, raw_of(conversation), graph):
            yield replace(item, unit="conversation") if isinstance(item, BadLine) else item


def _conversation(number: int, raw: bytes, graph: str) -> Iterator[Item]:
    try:
        messages = orjson.loads(raw)["messages"]
    except orjson.JSONDecodeError as error:
        yield BadLine(number, raw, f"this {not_json(error)}. Write one JSON object, in UTF-8")
    except (KeyError, TypeError, IndexError):
        yield BadLine(number, raw, "messages: is missing: add the list of messages")
    else:
        if not isinstance(messages, list):
            yield BadLine(number, raw, "messages: must be a list")
            return
        for position, message in enumerate(messages):
            if not isinstance(message, dict) or message.get("role") not in PROMPTS:
                yield from _items(number, raw, position, message=message, graph=graph)


def _items(number: int, raw: bytes, position: int, *, message: Any, graph: str) -> list[Item]:
    try:
        return [*_turns(number, position, message, graph=graph)]
    except InvalidMessageError as error:
        return [BadLine(number, raw, f"messages[{position}]: {error}")]


def _turns(number: int, position: int, message: Any, *, graph: str) -> list[Turn]:
    if not isinstance(message, dict) or "role" not in message:
        raise InvalidMessageError("must be an object with role and content")
    text, session, role = _text(message.get("content")), f"line-{number}", message.get("role")
    fields = {
        "id": stable_id(graph, session, position, text=text),
        "graph": graph,
        "session": session,
        "role": ROLES.get(role, role) if isinstance(role, str) else role,
        "speaker": message.get("name") or role,
        "text": text,
    }
    return turns_of(fields)


def _text(content: Any) -> str:
    """Read the text of a message's content: a string, or the text parts of a list, one per line."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content:
        raise InvalidMessageError("content: holds no text: only what was said can be remembered")
    return content


def _matches(head: Head) -> Fit:
    if head.is_array:
        is_one = MESSAGES.search(head.start) or (_ROLE.search(head.start) and _CONTENT.search(head.start))
        return Fit.SURE if is_one else Fit.NO
    return Fit.SURE if head.is_object and MESSAGES.search(head.first_line) else Fit.NO


FORMAT = Format(
    name="openai",
    order=50,
    summary=FormatSummary(
        file="messages JSONL, or an array of {role, content}",
        graph="must be given",
        session="the line",
        time="when imported",
    ),
    matches=_matches,
    read=read,
)
