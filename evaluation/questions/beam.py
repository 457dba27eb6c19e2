"""BEAM: chats of 128 thousand to 10 million tokens between a user and an assistant (Tavakoli et al. 2025).

    chat.json               [{"batch_number": 1, "turns": [[message, …], …]}, …];  of the longest chats
                            [{"plan-1": […as above…]}, {"plan-2": …}, …]
                            message: {"role": "user", "id": 0, "content": "… ->-> 1,1", "time_anchor": "March-15-2024"}
    probing_questions.json  {"temporal_reasoning": [{"question": "…", "source_chat_ids": [28] or {"…": [28], …}}, …], …}

A batch is a session; its messages are a minute apart, from the latest `time_anchor` on.  `->-> 1,1` is a number of the
generator, and is left out.  A question names the messages that answer it; those of `abstention` name none, and are left
out with all others that cannot be measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from emgas.errors import InvalidMessageError
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.pieces import pieces
from emgas.times import MINUTE_MS
from emgas.validation import build
from evaluation.questions.labelled import SPOKEN_AT, DataSet, LabelledQuestion

_ANCHOR: Final = "%B-%d-%Y"
_NUMBER: Final = re.compile(r"\s*->->\s*[\w,.\- ]*\Z")


def read_chat(graph: str, chat: Any, probing: Any) -> DataSet:
    """Read a chat and its questions.  Raises InvalidMessageError, naming the chat, for another form."""
    try:
        turns = list(_turns(graph, chat))
        ids = {turn.id for turn in turns}
        probes = [(kind, each) for kind, questions in probing.items() for each in questions]
        labelled = [_question(graph, kind, each, ids) for kind, each in probes]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidMessageError(f"{graph}: is no chat of BEAM ({error!r})") from error
    questions = [each for each in labelled if each is not None]
    return DataSet(turns, {graph: questions}, len(labelled) - len(questions))


def _turns(graph: str, chat: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    at = SPOKEN_AT
    for session, batch in _batches(chat):
        for message in (message for turn in batch["turns"] for message in turn):
            at = max(at + MINUTE_MS, _time_of(message.get("time_anchor")))
            for text in pieces(_NUMBER.sub("", message["content"]), TEXT_BYTES)[:1]:
                role = {"speaker": message["role"], "role": message["role"]}
                where = {"graph": graph, "session": session, "id": _id(graph, message["id"]), "at": at}
                yield build(Turn, {**where, **role, "text": text})


def _batches(chat: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the batches of a chat, and of all plans of a long one, by the names of their sessions."""
    for place, part in enumerate(chat, 1):
        if "turns" in part:
            yield f"batch-{place}", part
        else:
            for plan, batches in part.items():
                yield from ((f"{plan}/{name}", batch) for name, batch in _batches(batches))


def _time_of(anchor: str | None) -> int:
    if not anchor:
        return 0
    return round(datetime.strptime(anchor, _ANCHOR).replace(tzinfo=UTC).timestamp() * 1000)


def _question(graph: str, kind: str, each: Mapping[str, Any], turns: set[str]) -> LabelledQuestion | None:
    evidence = frozenset(_id(graph, number) for number in _numbers(each.get("source_chat_ids"))) & turns
    return LabelledQuestion(each["question"], kind, evidence, graph) if evidence else None


def _numbers(ids: Any) -> Iterator[int]:
    """Yield the ids of messages in a list, or in an object of lists."""
    if isinstance(ids, int):
        yield ids
    for each in ids.values() if isinstance(ids, dict) else ids if isinstance(ids, list) else ():
        yield from _numbers(each)


def _id(graph: str, number: int) -> str:
    return f"{graph}/{number}"
