"""Someone's own questions to a memory that exists: a file in, questions with the turns that answer them out.

    {"question": "When did Ada move?", "turns": ["t17", "t18"], "category": "temporal"}     category is optional

as a JSON array, or an object a line.  Turns are named by their ids in the graph (`emgas turns GRAPH`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import orjson

from emgas.errors import InvalidMessageError
from evaluation.questions.labelled import LabelledQuestion

CATEGORY: Final = "own"
NAMED: Final = 5  # unknown turns that an error lists


def are_own(raw: bytes) -> bool:
    """Return whether a file holds a user's own questions, and not a data set with turns."""
    first = raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first == b"{":
        return True
    try:
        data = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return False
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and {"question", "turns"} <= set(data[0])


def read(raw: bytes) -> list[LabelledQuestion]:
    """Read one's own questions.  Raises InvalidMessageError, saying which is wrong."""
    return [_question(number, each) for number, each in enumerate(_objects(raw), start=1)]


def _objects(raw: bytes) -> list[Any]:
    raw = raw.removeprefix(b"\xef\xbb\xbf").strip()
    lines = [raw] if raw[:1] == b"[" else raw.splitlines()
    try:
        objects = [orjson.loads(line) for line in lines if line.strip()]
    except orjson.JSONDecodeError as error:
        raise InvalidMessageError(f"file: is neither a JSON array nor an object a line ({error})") from error
    return objects[0] if raw[:1] == b"[" else objects


def _question(number: int, each: Any) -> LabelledQuestion:
    where = f"question {number}"
    if not isinstance(each, Mapping) or not isinstance(each.get("question"), str) or not each["question"].strip():
        raise InvalidMessageError(f'{where}: must be an object, as {{"question": "Who moved?", "turns": ["t17"]}}')
    turns, category = each.get("turns"), each.get("category", CATEGORY)
    if not isinstance(turns, list) or not turns or not all(isinstance(turn, str) for turn in turns):
        raise InvalidMessageError(f'{where}: "turns" must list the ids of the turns that answer it, at least one')
    if not isinstance(category, str):
        raise InvalidMessageError(f'{where}: "category" must be a text')
    return LabelledQuestion(each["question"], category, frozenset(turns), CATEGORY)


def check_evidence(questions: Collection[LabelledQuestion], turns: Collection[str], graph: str) -> None:
    """Raise InvalidMessageError when a question names turns that a graph does not hold."""
    ids = set(turns)
    unknown = sorted({turn for question in questions for turn in question.evidence} - ids)
    if unknown:
        more = f", and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
        raise InvalidMessageError(
            f"graph {graph!r} holds no turn {', '.join(unknown[:NAMED])}{more}: questions name turns by their ids "
            f"(`emgas turns {graph}`)"
        )
