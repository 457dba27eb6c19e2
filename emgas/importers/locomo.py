"""LoCoMo, and every data set in its format: one JSON array of conversations, each of dated sessions.

    [{"sample_id": "x", "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "…", "blip_caption": "a photo of …"}, …]}}, …]

    graph     locomo-<sample_id>           id        <sample_id>/<dia_id>
    session   session_1                    metadata  {"dia_id": "D1:1"}
    at        the session's date and time, as UTC, and 20 s for each turn before this one

A JSON array cannot be read line by line without a parser of its own, so the file is read whole, up to DOCUMENT_BYTES.
Questions and everything else beside `conversation` are not imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import USUAL, BadLine, Item, Options, check_graph, turns_of
from emgas.messages.turns import Turn

TURN_MS = 20_000  # the format times sessions, not turns: about how long reading one message and typing the next takes
UNIT = "conversation"
_CONVERSATION = json_key("(sample_id|conversation)")
_OTHERS = re.compile(rb'\[\s*([^\s{\]]|\{\s*"(?!qa"|event_summary"|observation"|session_summary"))')  # other arrays
DATE = "%I:%M %p on %d %B, %Y"


def read(stream: IO[bytes], graph: str | None = None, options: Options = USUAL) -> Iterator[Item]:
    """Yield every conversation's turns; all into `graph` if you pass one, with sessions prefixed by their sample."""
    if graph is not None:
        check_graph(graph)
    samples = load(stream, options)
    if isinstance(samples, BadLine):
        yield samples
        return
    if not isinstance(samples, list):
        yield BadLine(1, raw_of(samples), "file: must be a JSON array of conversations", "")
        return
    for number, sample in enumerate(samples, start=1):
        yield from _sample(number, sample, graph)


def _sample(number: int, sample: Any, graph: str | None) -> Iterator[Item]:
    """Yield the turns of one conversation, session by session."""
    name = sample.get("sample_id") if isinstance(sample, dict) else None
    conversation = sample.get("conversation") if isinstance(sample, dict) else None
    if not isinstance(name, str | int) or not isinstance(conversation, dict):
        yield BadLine(number, raw_of(sample), "conversation: must be an object with sample_id and conversation", UNIT)
        return
    for key in sorted(filter(_is_session, conversation), key=lambda key: int(key.removeprefix("session_"))):
        common = {
            "graph": graph or _graph_of(str(name)),
            # In a graph of their own, sessions keep their names; in a shared one, two samples' must not run together.
            "session": f"{name}/{key}" if graph else key,
        }
        yield from _session(
            number, str(name), conversation[key], date=conversation.get(f"{key}_date_time"), common=common
        )


def _is_session(key: str) -> bool:
    return re.fullmatch(r"session_[0-9]{1,9}", key) is not None


def _graph_of(sample: str) -> str:
    """Build a valid graph id for a sample."""
    return ("locomo-" + re.sub(r"[^A-Za-z0-9_.:@-]", "-", sample))[:128]


def _session(number: int, sample: str, turns: Any, *, date: Any, common: dict[str, Any]) -> Iterator[Item]:
    try:
        start = datetime.strptime(date, DATE).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        reason = f"{common['session']}_date_time: must be like 1:56 pm on 8 May, 2023"
        yield BadLine(number, raw_of(turns), reason, UNIT)
        return
    if not isinstance(turns, list):
        yield BadLine(number, raw_of(turns), f"{common['session']}: must be a list of turns", UNIT)
        return
    for position, turn in enumerate(turns):
        at = int(start.timestamp() * 1000) + position * TURN_MS
        yield from _items(number, sample, turn, common={**common, "at": at})


def _items(number: int, sample: str, turn: Any, *, common: dict[str, Any]) -> list[Item]:
    try:
        return [*_turns(sample, turn, common)]
    except InvalidMessageError as error:
        return [BadLine(number, raw_of(turn), str(error), UNIT)]


def _turns(sample: str, turn: Any, common: dict[str, Any]) -> list[Turn]:
    if not isinstance(turn, dict) or not isinstance(turn.get("dia_id"), str):
        raise InvalidMessageError("turn: must be an object with speaker, dia_id and text")
    text, caption = turn.get("text"), turn.get("blip_caption")
    if isinstance(text, str) and isinstance(caption, str) and caption:
        text = f"{text} [shares a photo: {caption}]".strip()
    fields = {
        **common,
        "id": f"{sample}/{turn['dia_id']}",
        "speaker": turn.get("speaker"),
        "text": text,
        "metadata": {"dia_id": turn["dia_id"]},
    }
    return turns_of(fields)


def _matches(head: Head) -> Fit:
    if not head.is_array:
        return Fit.NO
    if _CONVERSATION.search(head.start):
        return Fit.SURE
    return Fit.NO if _OTHERS.match(head.start) else Fit.MAYBE  # its questions may come first, and fill the head


FORMAT = Format(
    name="locomo",
    order=70,
    summary=FormatSummary(file="LoCoMo JSON", graph="`locomo-<sample>`", session="the session", time="the session's"),
    matches=_matches,
    read=read,
)
