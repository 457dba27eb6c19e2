"""Whatever fails at one record is that record's outcome: every message that the wire admits is accounted for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas import limits
from emgas.errors import HaltedError, TransportError
from emgas.messages.settings.memory_settings import AllSettings
from processors.extraction.extractor import Extraction
from processors.recall.ranking.dense import Vectors
from state.events.events import TurnRecorded, TurnRejected
from state.events.extraction_types import Concept
from tests.support.command_handlers import a_handler, a_turn, decide, event_of, fold_into, reason_of
from tests.support.fakes import OneConcept, arrival
from tests.support.logs import LogWriter

POISON = "poison"
TEXTS = st.sampled_from(["The kettle broke.", POISON, "größer 咖啡", "", "\u202e\x1b[2J", "unreadable"])
NAMES = st.sampled_from(["t1", "t2", "kettle", "main", "é" * 40])
MANY = st.lists(NAMES, max_size=3)
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, 1, 2**53, 10**15]), st.floats(allow_nan=False, width=32)
)


class Failing(OneConcept):
    """An extractor that fails at one text for ever, and finds in another what no event can hold."""

    def __init__(
        self, failure: Callable[[], Exception] = lambda: RecursionError("too deep"), times: int = 10**9
    ) -> None:
        self._failure = failure
        self.left = times

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        if text == POISON and self.left:
            self.left -= 1
            raise self._failure()
        if text == "unreadable":
            return Extraction((Concept("kettle", "Kettle", float("nan"), 1),), False, 1)
        return super().of_turn(text, speaker=speaker, at=at)


class FailingModel:
    """A model of embeddings that fails at one text."""

    name, version = "failing", "1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        if "größer" in texts[0]:
            raise IndexError(0)
        return np.array([[1.0, float("inf") if texts[0] == "" else 0.5]] * len(texts), np.float32)


def _message(kind: str, **fields: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(kind), "id": NAMES, "graph": st.just("ada"), **fields})


_SETTINGS = st.dictionaries(st.sampled_from(sorted(AllSettings.model_fields)), NUMBERS, max_size=3)
MESSAGES = st.one_of(
    st.fixed_dictionaries(
        {"id": NAMES, "graph": st.just("ada"), "speaker": NAMES, "text": TEXTS},
        optional={
            "session": NAMES,
            "at": st.integers(limits.EARLIEST_MS, limits.LATEST_MS),
            "metadata": st.dictionaries(NAMES, NUMBERS, max_size=2),
        },
    ),
    _message("configure", preset=st.sampled_from(["default", "elephant", "mofox"]), settings=_SETTINGS),
    _message("forget", concepts=MANY, turns=MANY, sessions=MANY),
    _message("undo", first=st.integers(0, 9), last=st.none() | st.integers(0, 2**70)),
)


@settings(max_examples=60)
@given(st.lists(MESSAGES, max_size=6), st.booleans())
def test_every_message_that_the_wire_admits_is_appended_or_rejected_in_every_state(
    messages: list[dict[str, Any]], has_model: bool
) -> None:
    state = LogWriter(partitions=4).folded()
    handler = a_handler(state, extractor=Failing(), embedder=FailingModel() if has_model else None)
    for offset, message in enumerate(messages):
        value = json.dumps(message).encode()
        decision = decide(handler, arrival(value, offset, timestamp=1_700_000_000_000 + offset))
        assert decision.status in ("accepted", "duplicate", "rejected")
        assert (decision.status == "rejected") == (decision.reason is not None)
        fold_into(state, decision)
        handler.folded()
        assert state.position.source == offset


@pytest.mark.parametrize("text", [POISON, "unreadable"])
def test_a_text_at_which_the_extractor_fails_is_rejected_and_the_next_one_recorded(text: str) -> None:
    handler = a_handler(extractor=Failing())
    assert "twice" in reason_of(decide(handler, arrival(a_turn(text=text))))
    again = decide(handler, arrival(a_turn(text="The kettle broke."), offset=1))
    assert isinstance(event_of(again), TurnRecorded), "the graph is yet to be born, and the id is free"
    assert len(again.events) == 2


def test_an_extractor_that_fails_once_is_tried_again() -> None:
    assert isinstance(
        event_of(decide(a_handler(extractor=Failing(times=1)), arrival(a_turn(text=POISON)))), TurnRecorded
    )


def test_a_text_at_which_the_model_fails_is_rejected() -> None:
    handler = a_handler(embedder=FailingModel())
    decision = decide(handler, arrival(a_turn(text="größer 咖啡")))
    assert isinstance(event_of(decision), TurnRejected)


@pytest.mark.parametrize("failure", [HaltedError("x"), TransportError("x"), OSError("the disk is full"), MemoryError()])
def test_what_may_pass_on_another_day_is_no_records_outcome(failure: Exception) -> None:
    with pytest.raises(type(failure)):
        decide(a_handler(extractor=Failing(lambda: failure)), arrival(a_turn(text=POISON)))
