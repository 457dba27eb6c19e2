"""ChatGPT's export: a ZIP with conversations.json (or conversations-000.json …), or that file alone.

    [{"conversation_id": "c1", "title": "…", "create_time": 1683554160.5, "current_node": "n3", "mapping": {
        "n3": {"parent": "n2", "message": {"id": "n3", "author": {"role": "user"}, "create_time": 1683554160.5,
               "content": {"content_type": "text", "parts": ["Hello"]}}}, …}}, …]

    graph     the given one, else chatgpt-<conversation id>      session   the conversation id
    id        the message id                                     role      user or assistant; so is the speaker
    at        the message's time, else the conversation's        metadata  {"origin": "import:chatgpt", "title": "…"}

`mapping` is a tree, since an edited question begins a new branch: what counts is the branch that ChatGPT shows, from
`current_node` back through the parents.  Content that ChatGPT does not show is left out: hidden and system messages,
tools and messages to them, thoughts, and messages without content.  A part that is not text is replaced by its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import at_of, load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, check_graph, graph_named, turns_of
from emgas.messages.turns import Turn

FILE = re.compile(r"(^|/)conversations(-[0-9]+)?\.json$")
UNIT = "conversation"
_OBJECTS = re.compile(rb"\[\s*\{")
_MAPPING = json_key("mapping", r"\{")
TITLE_CHARACTERS = 200
SHOWN = ("user", "assistant")
OTHER_PARTS = {
    "image_asset_pointer": "[shares an image]",
    "audio_asset_pointer": "[shares a recording]",
    "real_time_user_audio_video_asset_pointer": "[shares a recording]",
}


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield the turns of every conversation in a conversations.json."""
    if graph is not None:
        check_graph(graph)
    conversations = load(stream, options)
    if isinstance(conversations, BadLine):
        yield conversations
    elif not isinstance(conversations, list):
        yield BadLine(1, raw_of(conversations), "file: must be a JSON array of conversations", "")
    else:
        for number, conversation in enumerate(conversations, start=1):
            yield from _conversation(number, conversation, graph)


def _conversation(number: int, conversation: Any, graph: str | None) -> Iterator[Item]:
    try:
        name = _name(conversation)
        nodes = _branch(conversation)
    except InvalidMessageError as error:
        yield BadLine(number, raw_of(conversation), str(error), UNIT)
        return
    title = conversation.get("title")
    metadata = {"origin": "import:chatgpt"}
    if isinstance(title, str) and title:
        metadata["title"] = title[:TITLE_CHARACTERS]
    common = {"graph": graph or graph_named("chatgpt", name), "session": name, "metadata": metadata}
    for node in nodes:
        try:
            yield from _turns(node, conversation.get("create_time"), common)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(node), f"message: {error}", UNIT)


def _name(conversation: Any) -> str:
    if not isinstance(conversation, dict) or not isinstance(conversation.get("mapping"), dict):
        raise InvalidMessageError("conversation: must be an object with conversation_id, current_node and mapping")
    name = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(name, str):
        raise InvalidMessageError("conversation_id: is missing: it names the session")
    return name


def _branch(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """List the nodes that are shown, the first one first."""
    mapping, key = conversation["mapping"], conversation.get("current_node")
    branch: dict[str, dict[str, Any]] = {}
    while isinstance(key, str) and key not in branch:  # a circle of parents ends where it began
        node = mapping.get(key)
        if not isinstance(node, dict):
            raise InvalidMessageError("mapping: lacks a message on the way from current_node to the first one")
        branch[key] = node
        key = node.get("parent")
    if mapping and not branch:
        raise InvalidMessageError("current_node: is missing: it says which branch is shown")
    return list(branch.values())[::-1]


def _turns(node: dict[str, Any], begun: Any, common: dict[str, Any]) -> list[Turn]:
    """Read a message as turns, several if it is long; none for a hidden message."""
    message = node.get("message")
    if message is None:
        return []  # the root
    if not isinstance(message, dict):
        raise InvalidMessageError("must be an object with author and content")
    role = _within(message, "author", "role")
    hidden = _within(message, "metadata", "is_visually_hidden_from_conversation")
    if role not in SHOWN or hidden is True or message.get("recipient", "all") not in ("all", None):
        return []
    text = _text(message.get("content"))
    if not text:
        return []
    time = message.get("create_time")
    fields = {
        **common,
        "id": message.get("id"),
        "speaker": role,
        "role": role,
        "text": text,
        "at": at_of(begun if time is None else time),
    }
    return turns_of(fields)


def _within(message: dict[str, Any], outer: str, inner: str) -> Any:
    part = message.get(outer)
    return part.get(inner) if isinstance(part, dict) else None


def _text(content: Any) -> str:
    """Read the text of a message's content, "" for a kind that is not shown."""
    if not isinstance(content, dict):
        raise InvalidMessageError("content: must be an object with content_type")
    kind = content.get("content_type")
    if kind == "code" and isinstance(content.get("text"), str):
        return str(content["text"])
    parts = content.get("parts")
    if kind not in ("text", "multimodal_text") or not isinstance(parts, list):
        return ""
    return "\n".join(filter(None, map(_part, parts)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    kind = part.get("content_type") if isinstance(part, dict) else None
    if kind == "audio_transcription" and isinstance(part.get("text"), str):
        return str(part["text"])
    return OTHER_PARTS.get(kind, "[shares something that is not text]") if isinstance(kind, str) else ""


def _matches(head: Head) -> Fit:
    return Fit.SURE if _OBJECTS.match(head.start) and _MAPPING.search(head.start) else Fit.NO


FORMAT = Format(
    name="chatgpt",
    order=10,
    summary=FormatSummary(
        file="the export's ZIP, or conversations.json",
        graph="`chatgpt-<conversation id>`",
        session="the conversation",
        time="the message's",
    ),
    matches=_matches,
    read=read,
    files=FILE,
)
