"""Gemini's export by Google Takeout: My Activity, in JSON (not HTML): a ZIP, its folder, or MyActivity.json.

    [{"header": "Gemini Apps", "title": "Prompted what is a kettle?", "time": "2024-05-08T13:56:02.123Z",
      "safeHtmlItem": [{"html": "<p>A kettle is …</p>"}]}, …]

    graph     the given one, else gemini       session   the day (UTC)
    id        a hash of time and text          speaker   user, and assistant for the answer; so is the role
    at        the activity's time              metadata  {"origin": "import:gemini"}

Activities come newest first, and are given oldest first.  One that is no prompt (a setting, feedback) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import IO, Any

from emgas.errors import InvalidMessageError
from emgas.importers.chat_format import Fit, Format, FormatSummary, Head, json_key
from emgas.importers.files.documents import load, raw_of
from emgas.importers.files.lines import BadLine, Item, Options, on_its_day, stable_id, turns_of
from emgas.messages.turns import Turn

FILE = re.compile(r"(^|/)Gemini[^/]*/My ?Activity\.json$")
BELOW = tuple(
    f"{top}Gemini*/{name}.json"
    for top in ("", "My Activity/", "Takeout/My Activity/")
    for name in ("MyActivity", "My Activity")
)
PROMPTED = "Prompted "
BLOCKS = {"p", "br", "li", "div", "tr", "h1", "h2", "h3", "h4", "pre", "ul", "ol", "table"}
_GEMINI = re.compile(rb'"header"\s*:\s*"(Gemini|Bard)')


class _Plain(HTMLParser):
    """The text of HTML, a line for each block."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read(stream: IO[bytes], graph: str | None, options: Options) -> Iterator[Item]:
    """Yield a turn per prompt and one per answer, oldest first."""
    document = load(stream, options)
    if isinstance(document, BadLine):
        yield document
        return
    if not isinstance(document, list):
        yield BadLine(1, raw_of(document), "file: must be a JSON array of activities", "")
        return
    for number, activity in reversed(list(enumerate(document, start=1))):
        try:
            yield from _turns(activity, graph or "gemini")
        except InvalidMessageError as error:
            yield BadLine(number, raw_of(activity), str(error), "activity")


def _turns(activity: Any, graph: str) -> Iterator[Turn]:
    if not isinstance(activity, dict) or not isinstance(activity.get("title"), str):
        raise InvalidMessageError("must be an object with title and time")
    title, answer = activity["title"], _answer(activity)
    if not answer and not title.startswith(PROMPTED):
        return
    for role, text in (("user", title.removeprefix(PROMPTED)), ("assistant", answer)):
        if text:
            yield from _turns_of_one(activity, graph, role, text)


def _turns_of_one(activity: dict[str, Any], graph: str, role: str, text: str) -> list[Turn]:
    fields = {
        "id": stable_id(graph, str(activity.get("time")), 0, text=f"{role}\0{text}"),
        "graph": graph,
        "speaker": role,
        "role": role,
        "text": text,
        "at": activity.get("time"),
        "metadata": {"origin": "import:gemini"},
    }
    return on_its_day(turns_of(fields))


def _answer(activity: dict[str, Any]) -> str:
    items = activity.get("safeHtmlItem")
    plain = _Plain()
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(html := item.get("html"), str):
            plain.feed(html)
    plain.close()
    return re.sub(r"[^\S\n]*\n\s*", "\n", "".join(plain.parts)).strip()


def _matches(head: Head) -> Fit:
    return Fit.SURE if head.is_array and _GEMINI.search(head.start) and json_key("time").search(head.start) else Fit.NO


FORMAT = Format(
    name="gemini",
    order=19,
    summary=FormatSummary(
        file="Takeout's ZIP, its folder, or MyActivity.json",
        graph="`gemini`",
        session="the day (UTC)",
        time="the prompt's",
    ),
    matches=_matches,
    read=read,
    files=FILE,
    below=BELOW,
)
