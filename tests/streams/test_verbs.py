"""Every message has a row in the table of verbs, one decision or answer, and becomes what its row says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from emgas.messages.topics import ANSWERS, COMMANDS, QUESTIONS, read_inbound
from emgas.messages.turns import Pin, Turn
from state.events.events import KINDS
from streams.ingest import verbs
from streams.ingest.verbs import DECIDERS
from streams.ingest.verbs.deciding import Deciding, decides
from tests.streams.test_rights import OPERATOR, Team
from tests.verbs import COMMAND_VERBS, VERBS, Fields, Verb

REFUSED = [(verb, fields) for verb in COMMAND_VERBS for fields in verb.refused]


def team_of(verb: Verb) -> Team:
    team = Team(encrypted=verb.encrypted)
    if verb.is_new:
        return team
    team.send(OPERATOR, "turn", id="t1", speaker="Ada", text="The kettle broke.")
    team.send(OPERATOR, "grant", subject="flo", rights=["forget"])
    return team


def name_of(value: object) -> str:
    return value.message.tag() if isinstance(value, Verb) else ""


def test_every_message_has_one_row() -> None:
    assert Counter(verb.message for verb in VERBS) == Counter([*COMMANDS, *QUESTIONS])


def test_every_request_is_decided_by_one_function() -> None:
    assert set(DECIDERS) == set(COMMANDS) - {Turn}


def test_every_question_has_an_answer_of_its_own() -> None:
    request = Counter(question.answer for question in QUESTIONS)
    assert set(request) < set(ANSWERS)
    assert set(request.values()) == {1}


def test_only_twins_share_a_decision() -> None:
    shared = Counter(decider.__name__ for decider in DECIDERS.values())
    assert {name for name, count in shared.items() if count > 1} == {"pin", "change_rights"}


def test_a_second_decision_of_a_request_is_refused() -> None:
    def also(request: Any, graph: Any, context: Deciding) -> list[Any]:
        return []

    before = dict(DECIDERS)
    with pytest.raises(ValueError, match="Pin is decided twice"):
        decides(Pin)(also)
    assert before == DECIDERS


@pytest.mark.parametrize("verb", VERBS, ids=name_of)
def test_every_message_declares_the_right_that_it_needs(verb: Verb) -> None:
    assert verb.message.right == verb.right
    assert "right" not in verb.message.model_fields, "no field: it is not on the wire"


@pytest.mark.parametrize("verb", COMMAND_VERBS, ids=name_of)
def test_a_command_becomes_the_event_of_its_row(verb: Verb) -> None:
    decision = team_of(verb).send(OPERATOR, verb.message.tag(), **verb.fields)
    assert (decision.status, decision.reason) == ("accepted", None)
    assert verb.event in {type(event) for event in decision.events}


@pytest.mark.parametrize("verb", COMMAND_VERBS, ids=name_of)
def test_a_subject_without_the_right_changes_nothing(verb: Verb) -> None:
    door = tuple({"read", "write", "forget", "admin"} - {verb.right})
    decision = team_of(verb).send((None, door), verb.message.tag(), **verb.fields)
    assert (decision.status, "may not" in str(decision.reason)) == ("rejected", True)


@pytest.mark.parametrize(("verb", "fields"), REFUSED, ids=name_of)
def test_a_command_that_cannot_be_carried_out_is_rejected_with_the_reason(verb: Verb, fields: Fields) -> None:
    decision = team_of(verb).send(OPERATOR, verb.message.tag(), **fields)
    assert (decision.status, bool(decision.reason)) == ("rejected", True)


@pytest.mark.parametrize("verb", COMMAND_VERBS, ids=name_of)
def test_a_command_is_read_from_the_wire_as_it_was_written(verb: Verb) -> None:
    command = verb.message.model_validate(verb.value(graph="ada"))
    assert read_inbound(command.model_dump_json().encode()) == command


def test_every_event_of_a_command_is_in_the_log_whose_digest_is_golden() -> None:
    assert {verb.event for verb in COMMAND_VERBS} <= set(KINDS), "tests/state/test_golden_logs.py has all kinds"


def test_verbs_do_not_import_one_another_but_for_what_they_share() -> None:
    shared = {"deciding", "refusals", "unfolded", "rights"}
    folder = Path(verbs.__file__).parent
    for file in folder.glob("*.py"):
        lines = [line for line in file.read_text().splitlines() if line.startswith("from streams.ingest.verbs.")]
        assert {line.split()[1].rpartition(".")[2] for line in lines} <= shared, file.name
