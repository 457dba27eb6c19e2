"""A conversation of a year: what was told, written by hand (data/told_*.tsv), what recurs and small talk woven in.

    told      once each, on its day, in a session of that day; the assistant answers every second time
    recurs    on its weekdays, in the ways of saying it that are written down, but for the days when it did not
    chatter   a line on every third day

No chance is at work: the same files give the same turns, whose ids say where they come from (`ada-year/told/leeds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from emgas.messages.fields import Attachment
from emgas.messages.turns import Turn
from emgas.times import MINUTE_MS
from processors.text import tables

LANGUAGES: Final = ("en", "zh")
ZONES: Final = {"en": "Europe/London", "zh": "Asia/Shanghai"}
CHATTER_EVERY: Final = 3  # days
ANSWERED: Final = 2  # the assistant answers one in so many lines
STRIDE: Final = 7  # from one way of saying something to the next
ASSISTANTS: Final = ("Juno", "小舟")


class SpokenLine(NamedTuple):
    """One line of the year: when (ms), whose, what, and the key that questions name it by; "" for none."""

    at: int
    speaker: str
    text: str
    key: str = ""
    photo: tuple[str, str] | None = None


def graph_of(language: str) -> str:
    """Return the name of the graph that holds the year in a language."""
    return f"year-{language}"


def turns(language: str) -> list[Turn]:
    """Write the year in a language as turns, in the order in which they were said."""
    lines = sorted([*_story(language), *_woven(language), *_chatter(language)])
    return [_turn(language, place, line) for place, line in enumerate(lines)]


def keys(language: str) -> dict[str, frozenset[str]]:
    """Map each key to the ids of the turns that it names."""
    by_key: dict[str, set[str]] = {}
    for turn in turns(language):
        if isinstance(key := turn.metadata.get("key"), str):
            by_key.setdefault(key, set()).add(turn.id)
    return {key: frozenset(ids) for key, ids in by_key.items()}


def _turn(language: str, place: int, line: SpokenLine) -> Turn:
    day = datetime.fromtimestamp(line.at / 1000, UTC).date().isoformat()
    return Turn(
        id=f"{graph_of(language)}/{place:03d}",
        graph=graph_of(language),
        session=day,
        speaker=line.speaker,
        role="assistant" if line.speaker in ASSISTANTS else "user",
        at=line.at,
        text=line.text,
        metadata={"timezone": ZONES[language], **({"key": line.key} if line.key else {})},
        attachments=[_photo(*line.photo)] if line.photo else [],
    )


def _photo(uri: str, caption: str) -> Attachment:
    return Attachment(uri=uri, mime="image/png", kind="image", caption=caption)


def _story(language: str) -> Iterator[SpokenLine]:
    answers = [text for speaker, text in tables.rows("evaluation.year", f"chatter_{language}") if speaker in ASSISTANTS]
    assistant = ASSISTANTS[LANGUAGES.index(language)]
    for place, (day, time, speaker, key, text, *photo) in enumerate(tables.rows("evaluation.year", f"told_{language}")):
        at = _at(date.fromisoformat(day), time)
        yield SpokenLine(at, speaker, text, key, (photo[0], photo[1]) if photo else None)
        if place % ANSWERED:
            yield SpokenLine(at + MINUTE_MS, assistant, answers[place * STRIDE % len(answers)])


def _woven(language: str) -> Iterator[SpokenLine]:
    speaker = tables.rows("evaluation.year", f"told_{language}")[0][2]
    table = tables.rows("evaluation.year", f"woven_{language}")
    for name, weekdays, time, first, last in (row for row in table if len(row) == 5 and row[1].isdigit()):
        rows = [row[1:] for row in table if row[0] == name and row[1] != weekdays]
        ways = [row[0] for row in rows if len(row) == 1]
        off = [(date.fromisoformat(row[1]), date.fromisoformat(row[2])) for row in rows if row[0] == "off"]
        words = {date.fromisoformat(row[1]): (row[3], row[2]) for row in rows if row[0] == "says"}
        for place, day in enumerate(_days(first, last, weekdays)):
            if day in words:
                yield SpokenLine(_at(day, time), speaker, *words[day])
            elif not any(since <= day <= until for since, until in off):
                yield SpokenLine(_at(day, time), speaker, ways[place * STRIDE % len(ways)])


def _days(first: str, last: str, weekdays: str) -> Iterator[date]:
    day, end = date.fromisoformat(first), date.fromisoformat(last)
    while day <= end:
        if str(day.isoweekday()) in weekdays:
            yield day
        day += timedelta(days=1)


def _chatter(language: str) -> Iterator[SpokenLine]:
    table = tables.rows("evaluation.year", f"chatter_{language}")
    lines = [(speaker, text) for speaker, text in table if speaker not in ASSISTANTS]
    first = date(2025, 1, 10)
    for place in range(112):
        day = first + timedelta(days=CHATTER_EVERY * place)
        speaker, text = lines[place * STRIDE % len(lines)]
        yield SpokenLine(_at(day, "21:30" if speaker == "Nora" else "14:30"), speaker, text)


def _at(day: date, time: str) -> int:
    return round(datetime.fromisoformat(f"{day.isoformat()}T{time}:00+00:00").timestamp() * 1000)
