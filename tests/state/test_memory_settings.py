"""Settings of a memory: what the wire lets through can be recorded and read back, because both have the same bounds."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from emgas.messages.settings.memory_settings import PRESETS as NAMED
from emgas.messages.settings.memory_settings import AllSettings, Settings
from emgas.messages.topics import INBOUND
from emgas.messages.turns import Configure
from emgas.times import DAY_MS
from state.events.events import GraphConfigured, decode, encode
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph
from tests.support.builders import UNLINKED, turn_recorded
from tests.support.clocks import NOON

FIELDS = sorted(AllSettings.model_fields)


def bounds(name: str) -> tuple[float, float]:
    """Give the smallest and the largest value that a setting may have."""
    schema = AllSettings.model_json_schema()["properties"][name]
    low = schema["minimum"] if "minimum" in schema else math.nextafter(schema["exclusiveMinimum"], math.inf)
    return low, schema["maximum"]


def beyond(name: str) -> list[float]:
    """Give values just outside a setting's bounds, and some that are far beyond any."""
    low, high = bounds(name)
    if AllSettings.model_fields[name].annotation is int:
        return [int(low) - 1, int(high) + 1, 10**15 * int(high), 1e30]
    return [math.nextafter(low, -math.inf), math.nextafter(high, math.inf), 1e30, 10**30]


def sent(preset: str = "default", **settings: Any) -> bytes:
    message = {"kind": "configure", "id": "c1", "graph": "ada", "preset": preset, "settings": settings}
    return json.dumps(message).encode()


def recorded(value: bytes) -> GraphConfigured:
    """Write and read back the event of a request to configure.  Raises ValidationError if the wire refuses it."""
    message = INBOUND.validate_json(value)
    assert isinstance(message, Configure)
    settings = PRESETS[message.preset].changed(message.settings)
    event = GraphConfigured(**UNLINKED, graph=message.graph, preset=message.preset, settings=settings)
    read = decode(encode(event))
    assert isinstance(read, GraphConfigured)
    assert read == event
    return read


numbers = (
    st.integers(-2, 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**63, 10**30, 1e30, 5e-324, 0.05, 2.0])
)
changes = st.dictionaries(st.sampled_from(FIELDS), numbers, max_size=4)


@given(st.sampled_from(sorted(PRESETS)), changes)
@example("default", {"half_life": 40_000 * DAY_MS})
@example("forgetful", {"grace": 10**15})
@example("elephant", {"long_windows": 2**64, "long_recalls": 2**64})
def test_every_configuration_that_the_wire_accepts_can_be_recorded_read_back_and_folded(
    preset: str, settings: dict[str, float]
) -> None:
    try:
        event = recorded(sent(preset, **settings))
    except ValidationError:
        assert any(not bounds(name)[0] <= value <= bounds(name)[1] or type(value) is float
                   for name, value in settings.items())  # fmt: skip
        return
    graph = Graph("ada")
    graph.fold(event)
    graph.fold(turn_recorded(id="t1", at=NOON))
    assert graph.settings == event.settings


@pytest.mark.parametrize("name", FIELDS)
def test_a_setting_at_either_bound_is_accepted_and_recorded(name: str) -> None:
    for value in bounds(name):
        assert getattr(recorded(sent(**{name: value})).settings, name) == value


@pytest.mark.parametrize("name", FIELDS)
def test_a_setting_beyond_its_bounds_is_refused_by_the_wire_and_by_the_event(name: str) -> None:
    for value in beyond(name):
        with pytest.raises(ValidationError, match=name):
            recorded(sent(**{name: value}))
        with pytest.raises(ValidationError, match=name):
            MemorySettings(**{name: value})  # type: ignore[arg-type]


def test_the_wire_knows_the_settings_and_the_presets_that_are_recorded() -> None:
    assert list(Settings.model_fields) == list(MemorySettings.model_fields)
    assert list(NAMED) == list(PRESETS)
    with pytest.raises(ValidationError, match="choose one of default, forgetful, elephant, memorybank, mofox"):
        recorded(sent("goldfish"))


def test_what_is_changed_is_checked_once_more_so_that_nothing_is_recorded_that_cannot_be_read() -> None:
    with pytest.raises(ValidationError, match="half_life"):
        MemorySettings().changed(Settings.model_construct(half_life=10**30))
