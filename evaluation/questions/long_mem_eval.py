"""LongMemEval: 500 questions, each with a history of its own between a user and an assistant (Wu et al. 2025).

    question, question_type, question_date     the question, its kind and its time
    haystack_sessions, _dates, _session_ids    the history: sessions of turns with a role and a content
    has_answer                                 marks a turn that holds the answer

A question whose id ends with `_abs` has no answer in its history: it counts as unanswerable.  A question without a
marked turn cannot be measured, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from emgas.errors import InvalidMessageError
from emgas.messages.turns import Turn
from emgas.times import MINUTE_MS
from emgas.validation import build

MARK: Final = "haystack_sessions"  # by which the format is recognised
UNANSWERABLE: Final = "_abs"
_DATE: Final = "%Y/%m/%d (%a) %H:%M"


def read_history(entry: Mapping[str, Any], where: str) -> tuple[list[Turn], frozenset[str]]:
    """Read the turns of one question's history, and the ids of those that hold the answer.

    Raises InvalidMessageError, naming `where`, for an entry that is not of this format.
    """
    try:
        graph = str(entry["question_id"])
        sessions = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry[MARK], strict=True)
        marked = [each for name, date, turns in sessions for each in _turns(graph, str(name), date, turns)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidMessageError(f"{where}: is no question of LongMemEval ({error})") from error
    return [turn for turn, _ in marked], frozenset(turn.id for turn, answers in marked if answers)


def _turns(graph: str, session: str, date: str, turns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Turn, bool]]:
    """Yield the turns of a session that say anything, a minute apart, and whether each holds the answer."""
    began = round(datetime.strptime(date, _DATE).replace(tzinfo=UTC).timestamp() * 1000)
    where = {"graph": graph, "session": session}
    for place, turn in enumerate(turns):
        utterance = {"speaker": turn["role"], "role": turn["role"], "text": turn["content"]}
        if turn["content"].strip():
            yield (
                build(Turn, where | {"id": f"{graph}/{session}/{place}", "at": began + place * MINUTE_MS, **utterance}),
                bool(turn.get("has_answer")),
            )
