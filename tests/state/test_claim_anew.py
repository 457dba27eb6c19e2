"""A claim that starts the sources anew: what a restored log needs, because its topic `turns` is another one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from state.events.events import Claim, decode, encode
from state.log_position import Acceptance, LogPosition
from tests.support.builders import turn_recorded
from tests.support.logs import LogWriter


def claim(anew: bool) -> Claim:
    return Claim(writer="import", partitions=4, nonce="n", anew=anew)


def after(anew: bool) -> LogPosition:
    """Return the position of a log with two turns and one more claim."""
    log = LogWriter()
    log.turn()
    log.turn()
    event = claim(anew)
    position, acceptance = log.folded().position.after(log.next_offset, event, encode(event))
    assert acceptance is Acceptance.ACCEPTED
    return position


def test_an_ordinary_claim_is_written_as_it_always_was() -> None:
    assert encode(claim(False)) == b'{"v":2,"kind":"Claim","writer":"import","partitions":4,"nonce":"n"}'
    assert encode(claim(True)).endswith(b',"anew":true}')
    for anew in (False, True):
        assert decode(encode(claim(anew))) == claim(anew)


def test_only_a_claim_that_says_so_starts_the_sources_anew() -> None:
    assert (after(False).source, after(True).source) == (1, -1)
    assert after(True).epoch == after(False).epoch == 3


@pytest.mark.parametrize(("anew", "acceptance"), [(False, Acceptance.GAP), (True, Acceptance.ACCEPTED)])
def test_the_first_turn_of_a_new_topic_is_accepted_after_it(anew: bool, acceptance: Acceptance) -> None:
    position = after(anew)
    event = turn_recorded(id="new", src=0, **position.link)
    assert position.after(position.watermark + 1, event, encode(event))[1] is acceptance


def test_a_claim_for_another_topic_starts_the_sources_anew_and_one_for_the_same_goes_on() -> None:
    log = LogWriter()
    log.turn()
    sources, position = [], log.folded().position
    for topic in ("", "first", "first", "", "second"):
        event = Claim(writer="w", partitions=4, nonce=topic, source_topic=topic)
        position, _ = position.after(position.watermark + 1, event, encode(event))
        sources.append((position.source, position.source_topic))
    assert sources == [(0, ""), (0, "first"), (0, "first"), (0, "first"), (-1, "second")]


def test_a_position_without_a_topic_is_kept_as_it_always_was_and_one_with_it_can_be_read_again() -> None:
    plain = after(anew=False)
    assert b"source_topic" not in plain.to_bytes()
    assert LogPosition.of_bytes(plain.to_bytes()) == plain
    named = replace(plain, source_topic="an id")
    assert LogPosition.of_bytes(named.to_bytes()) == named
