"""A dump of mem0: the result of `get_all`, or its list alone.  Each memory becomes a turn of the person it is about.

{"results": [{"id": "m1", "memory": "Likes ginger tea", "user_id": "ada", "agent_id": null, "run_id": null,
"created_at": "2024-05-08T06:56:02.123456-07:00", "metadata": {"category": "food"}}, …]}

graph     the given one, else mem0-<user, agent or run>       session   the run, else main
id        the memory's                                        speaker   the user, agent or run, else user
at        when it was made                                    metadata  {"origin": "import:mem0"}, and its own
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, graph_named, turns_of
from emgas.messages.turns import Turn
from emgas.times import milliseconds

_MEMORY = json_key("memory", '"')
_KEYS = (json_key("hash"), json_key("user_id"), json_key("created_at"))


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield a turn per memory."""
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    memories = document.get("results", document.get("memories")) if isinstance(document, dict) else document
    if not isinstance(memories, list):
        yield BadLine(1, raw_of(document), "file: must be a list of memories, or an object with results", "")
        return
    for number, memory in enumerate(memories, start=1):
        try:
            yield from _turns(memory, graph)
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(memory), str(error), "memory")


def _turns(memory: Any, graph: str | None) -> list[Turn]:
    if not isinstance(memory, dict) or not isinstance(memory.get("memory"), str):
        raise InvalidMessageError("must be an object with id and memory")
    owners = [memory.get(key) for key in ("user_id", "agent_id", "run_id")]
    owner = next((name for name in owners if isinstance(name, str) and name), None)
    if graph is None and owner is None:
        raise InvalidMessageError("user_id: is missing: say which graph it belongs to (--graph NAME)")
    own, made = memory.get("metadata"), memory.get("created_at")
    kept = {name: value for name, value in own.items() if not isinstance(value, dict | list)} if own else {}
    fields = {
        "id": memory.get("id"),
        "graph": graph or graph_named("mem0", str(owner)),
        "session": memory.get("run_id") or "main",
        "speaker": owner or "user",
        "text": memory["memory"],
        "at": milliseconds(made) if isinstance(made, str) else made,  # its offset is the server's, no person's
        "metadata": {**kept, "origin": "import:mem0"},
    }
    return turns_of(fields)


def _matches(head: Head) -> Fit:
    is_one = (head.is_array or head.is_object) and _MEMORY.search(head.start)
    return Fit.SURE if is_one and any(key.search(head.start) for key in _KEYS) else Fit.NO


FORMAT = Format(
    name="mem0",
    order=25,
    summary=FormatSummary(
        file="what `get_all` returns", graph="`mem0-<user>`", session="the run", time="when it was made"
    ),
    matches=_matches,
    read=read,
)
