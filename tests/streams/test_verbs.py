"""Every kind of command has one decision, and each decision's file stays small."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from emgas.messages.rights import Right
from emgas.messages.topics import Command
from emgas.messages.turns import Pin, Turn
from streams.ingest import verbs
from streams.ingest.verbs import DECIDERS
from streams.ingest.verbs.deciding import Deciding, decides

REQUESTS = [message for message in get_args(Command) if message is not Turn]


def test_every_request_is_decided_by_one_function() -> None:
    assert set(DECIDERS) == set(REQUESTS)


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


@pytest.mark.parametrize("message", get_args(Command))
def test_every_command_declares_the_right_that_it_needs(message: type[Command]) -> None:
    assert message.right in get_args(Right)
    assert "right" not in message.model_fields, "no field: it is not on the wire"


def test_verbs_do_not_import_one_another_but_for_what_they_share() -> None:
    shared = {"deciding", "refusals", "unfolded", "rights"}
    folder = Path(verbs.__file__).parent
    for file in folder.glob("*.py"):
        lines = [line for line in file.read_text().splitlines() if line.startswith("from streams.ingest.verbs.")]
        assert {line.split()[1].rpartition(".")[2] for line in lines} <= shared, file.name
