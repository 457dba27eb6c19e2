"""ShareGPT, the format of training sets of chats: a JSON array, or one conversation per line.

{"id": "x1", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]}

graph    the given one, else sharegpt-<id>      session   the id, else conversation-<position in the file>
role     of `from`; the speaker is `from`       id        a hash of session, position and text
at       none: the log's timestamp counts       metadata  {"origin": "import:sharegpt"}

System prompts are left out: they are instructions to a model, not utterances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import CONVERSATIONS, Fit, Format, FormatSummary, Head
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import (
    BadLine,
    Item,
    Options,
    check_graph,
    graph_named,
    head_of,
    read_lines,
    stable_id,
    turns_of,
)
from emgas.messages.turns import Turn
from emgas.validation import not_json

ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "function_call": "tool",
    "function_response": "tool",
    "observation": "tool",
}


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield a turn per message."""
    if graph is not None:
        check_graph(graph)
    is_array = head_of(stream).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    for number, conversation in _conversations(stream, options, is_array=is_array):
        if isinstance(conversation, BadLine):
            yield conversation
            continue
        for item in _conversation(number, conversation, graph):
            yield replace(item, unit="conversation") if is_array and isinstance(item, BadLine) else item


def _conversations(stream: IO[bytes], options: Options, *, is_array: bool) -> Iterator[tuple[int, Any]]:
    """Yield each conversation with its position, or a BadLine in its place."""
    if is_array:
        document = load(stream, options)
        yield from [(1, document)] if isinstance(document, BadLine) else enumerate(document, start=1)
        return
    for line in read_lines(stream):
        if isinstance(line, BadLine):
            yield line.number, line
            continue
        try:
            yield line[0], orjson.loads(line[1])
        except orjson.JSONDecodeError as error:
            yield line[0], BadLine(*line, f"this {not_json(error)}")


def _conversation(number: int, conversation: Any, graph: str | None) -> Iterator[Item]:
    messages = conversation.get("conversations") if isinstance(conversation, dict) else None
    if not isinstance(messages, list):
        yield BadLine(number, raw_of(conversation), "conversation: must be an object with id and conversations")
        return
    name = conversation.get("id")
    name = str(name) if type(name) in (str, int) and name != "" else None
    if graph is None and name is None:
        yield BadLine(
            number, raw_of(conversation), "id: is missing: add one, or say which graph it belongs to (--graph NAME)"
        )
        return
    session = name or f"conversation-{number}"
    for position, message in enumerate(messages):
        if isinstance(message, dict) and message.get("from") == "system":
            continue  # an instruction to a model, not an utterance
        try:
            yield from _turns(graph or graph_named("sharegpt", session), session, position, message=message)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(message), f"conversations[{position}]: {error}")


def _turns(graph: str, session: str, position: int, *, message: Any) -> list[Turn]:
    speaker = message.get("from") if isinstance(message, dict) else None
    text = message.get("value") if isinstance(message, dict) else None
    if not isinstance(speaker, str) or speaker not in ROLES or not isinstance(text, str):
        raise InvalidMessageError(f"must be an object with from, one of {', '.join(ROLES)}, and value, a text")
    fields = {
        "id": stable_id(graph, session, position, text=text),
        "graph": graph,
        "session": session,
        "role": ROLES[speaker],
        "speaker": speaker,
        "text": text,
        "metadata": {"origin": "import:sharegpt"},
    }
    return turns_of(fields)


def _matches(head: Head) -> Fit:
    if head.is_array:
        return Fit.SURE if CONVERSATIONS.search(head.start) else Fit.NO
    return Fit.SURE if head.is_object and CONVERSATIONS.search(head.first_line) else Fit.NO


FORMAT = Format(
    name="sharegpt",
    order=60,
    summary=FormatSummary(
        file="JSON array, or JSONL", graph="`sharegpt-<id>`", session="the conversation", time="when imported"
    ),
    matches=_matches,
    read=read,
)
