"""RealMem: a person's projects with an assistant, over some 200 sessions (arXiv 2601.06966).

    {"_metadata": {"person_name": "…"}, "dialogues": [{
        "session_uuid": "d4b73923", "current_time": "2025-12-15 (Monday)",
        "dialogue_turns": [{"speaker": "User", "content": "…", "is_query": true},
                           {"speaker": "Assistant", "content": "…",
                            "memory_used": [{"session_uuid": "993311fa", "content": "…"}, …]}, …],
        "extracted_memory": [{"content": "…", "source_content_snapshot": "the turn that says it", …}, …]}, …]}

A query is asked of the sessions before its own, as its authors do, so each query has a graph of its own.  The answer to
it names what it used; the evidence are the turns that this was taken from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from emgas.errors import InvalidMessageError
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.pieces import pieces
from emgas.times import MINUTE_MS
from emgas.validation import build
from evaluation.questions.labelled import DataSet, LabelledQuestion

MARK: Final = "dialogues"
_DATE: Final = "%Y-%m-%d"


class _Utterance(NamedTuple):
    """A turn of a session, before it belongs to a graph."""

    session: str
    place: int
    at: int
    speaker: str
    text: str

    def id(self, graph: str) -> str:
        return f"{graph}/{self.session}/{self.place}"


def read_dialogues(data: Mapping[str, Any]) -> DataSet:
    """Read the dialogues of a person.  Raises InvalidMessageError for another form."""
    try:
        return _read("-".join(str(data["_metadata"]["person_name"]).split()), data[MARK])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidMessageError(f"file: is no file of RealMem ({error!r})") from error


def _read(person: str, sessions: Sequence[Mapping[str, Any]]) -> DataSet:
    made, before, unusable = DataSet([]), list[_Utterance](), 0
    sources = {each["session_uuid"]: _sources(each) for each in sessions}
    for session in sessions:
        for place, turn in enumerate(session["dialogue_turns"]):
            if turn.get("is_query"):
                graph = f"{person}-{session['session_uuid']}-{place}"
                used = _used(session["dialogue_turns"][place + 1 : place + 2], sources)
                evidence = frozenset(each.id(graph) for each in before if (each.session, each.place) in used)
                unusable += not evidence
                if evidence:
                    made.turns.extend(_turn(graph, each) for each in before)
                    kind = str(turn.get("category_name", "all"))
                    made.questions[graph] = [LabelledQuestion(turn["content"], kind, evidence, person)]
        before += _utterances(session, before[-1].at if before else 0)
    return DataSet(made.turns, made.questions, unusable)


def _utterances(session: Mapping[str, Any], latest: int) -> Iterator[_Utterance]:
    """Yield the turns of a session, a minute apart, after all that was said earlier."""
    day = datetime.strptime(session["current_time"][:10], _DATE).replace(tzinfo=UTC)
    at = max(round(day.timestamp() * 1000), latest + MINUTE_MS)
    for place, turn in enumerate(session["dialogue_turns"]):
        for text in pieces(turn["content"], TEXT_BYTES)[:1]:
            yield _Utterance(session["session_uuid"], place, at + place * MINUTE_MS, turn["speaker"], text)


def _sources(session: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """Return the session and place of the turn that each extracted memory was taken from, by its content."""
    places = {_plain(turn["content"]): place for place, turn in enumerate(session["dialogue_turns"])}
    taken = (
        (each["content"], _plain(each.get("source_content_snapshot") or "")) for each in session["extracted_memory"]
    )
    return {content: (session["session_uuid"], places[source]) for content, source in taken if source in places}


def _used(
    answer: Sequence[Mapping[str, Any]], sources: Mapping[str, Mapping[str, tuple[str, int]]]
) -> set[tuple[str, int]]:
    """List the turns that an answer rests on."""
    used = (memory for turn in answer for memory in turn.get("memory_used") or ())
    places = (sources.get(memory["session_uuid"], {}).get(memory["content"]) for memory in used)
    return {each for each in places if each is not None}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _turn(graph: str, utterance: _Utterance) -> Turn:
    speaker = utterance.speaker.lower()
    where = {"graph": graph, "session": utterance.session, "id": utterance.id(graph), "at": utterance.at}
    return build(Turn, {**where, "speaker": speaker, "role": speaker, "text": utterance.text})
