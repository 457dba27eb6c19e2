"""Concepts found in other processes: the same as here, whoever dies meanwhile, and nobody is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.extraction.extractor import Utterance
from processors.extraction.yake_extractor import YakeExtractor
from state.log_position import draft
from streams.ingest.command_handler import CommandHandler
from streams.plugins.extraction_pool import ExtractionPool, Loading
from tests.support.clocks import NOW, eventually
from tests.support.command_handlers import a_handler, a_turn, decide
from tests.support.deadly import DEADLY, Deadly
from tests.support.fakes import arrival
from tests.support.logged import capture_logs

YAKE = YakeExtractor("en")
LOADING = Loading("processors.extraction.yake_extractor.YakeExtractor", "en", [], YAKE.version)
DYING = Loading("tests.support.deadly.Deadly", "en", [], Deadly("en").version)
WORDS = st.sampled_from(
    ["kettle", "Lisbon", "the", "vet", "yesterday", "3 May 2023", "我们", "去了", "公园", "C++", "!", "\n"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=20).map(" ".join)
TURNS = st.lists(
    st.fixed_dictionaries(
        {"text": TEXTS, "speaker": st.sampled_from(["Ada", "小明"])},
        optional={
            "at": st.integers(NOW - 10**10, NOW + 10**7),  # some of it is clamped
            "metadata": st.just({"timezone": "Asia/Shanghai"}),
        },
    ),
    min_size=1,
    max_size=30,
)


async def started(loading: Loading = LOADING, processes: int = 2) -> ExtractionPool:
    pool = ExtractionPool(processes, loading)
    pool.start()
    await eventually(lambda: pool.ready == processes)
    return pool


def is_there(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pool(runner: asyncio.Runner) -> Iterator[ExtractionPool]:
    pool = runner.run(started())
    yield pool
    runner.run(pool.close())


def values(handler: CommandHandler, turns: list[dict[str, object]]) -> list[bytes]:
    """Return the record values of all events that the turns become."""
    came = [arrival(a_turn(id=f"t{n}", **turn), n) for n, turn in enumerate(turns)]
    return [draft(event) for each in came for event in decide(handler, each).events]


@given(TURNS)
@settings(max_examples=30)
def test_the_events_are_the_same_byte_for_byte_wherever_their_concepts_are_found(
    runner: asyncio.Runner, pool: ExtractionPool, turns: list[dict[str, object]]
) -> None:
    ahead, here = a_handler(extractor=Nowhere()), a_handler(extractor=YAKE)
    came = [arrival(a_turn(id=f"t{n}", **turn), n) for n, turn in enumerate(unlike(turns))]
    runner.run(ahead.extract_ahead(pool, came))
    results = [draft(event) for each in came for event in decide(ahead, each).events]
    assert results == values(here, unlike(turns))
    before = a_handler(extractor=YAKE)
    for text in [before.extraction_request(each) for each in came]:
        if text is not None:
            before.extract(text)
    assert [draft(event) for each in came for event in decide(before, each).events] == results


def unlike(turns: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out what is said twice: what is taken once is found once."""
    return [turn for n, turn in enumerate(turns) if turn not in turns[:n]]


class Nowhere(YakeExtractor):
    """Finds nothing itself: whatever it is asked for was not found ahead."""

    def of_turn(self, text: str, *, speaker: str, at: int) -> object:  # type: ignore[override]
        raise AssertionError(f"{text!r} was not found ahead")


def some(count: int, text: str = "The kettle number") -> list[Utterance]:
    return [Utterance(f"{text} {n} whistles in the garden of Lisbon.", "Ada", NOW) for n in range(count)]


async def test_nothing_runs_before_it_is_wanted_and_all_of_it_ends_with_the_pool() -> None:
    pool = ExtractionPool(1, LOADING)
    assert not pool.is_ready
    assert pool.pids == []
    pool.start()
    pool.start()
    await eventually(lambda: pool.is_ready)
    (pid,) = pool.pids
    await pool.close()
    assert not is_there(pid)


async def test_a_process_that_is_killed_is_replaced_and_what_it_had_is_found_nevertheless() -> None:
    pool = await started()
    try:
        first = set(pool.pids)
        with capture_logs() as logs:
            task = asyncio.create_task(pool.extract(some(400)))
            await asyncio.sleep(0)
            os.kill(min(first), signal.SIGKILL)
            result = await task
            assert result == {each: YAKE.of_turn(each.text, speaker="Ada", at=NOW) for each in some(400)}
            await eventually(lambda: pool.ready == 2)
        assert min(first) not in pool.pids
        assert "extraction process died" in {line["event"] for line in logs}
    finally:
        await pool.close()


async def test_what_kills_every_process_is_left_to_who_asked_and_the_rest_is_found() -> None:
    pool = await started(DYING, processes=1)
    try:
        texts = [
            *some(20),
            Utterance(DEADLY, "Ada", NOW),
            Utterance("fail here", "Ada", NOW),
            *some(20, "Another kettle"),
        ]
        result = await pool.extract(texts)
        assert {each for each in texts if each not in result} <= {*texts[16:24]}, "its portion, at most"
        assert not {texts[20], texts[21]} & result.keys()
        assert (await pool.extract(some(9))).keys() == set(some(9))
    finally:
        await pool.close()


async def test_where_no_process_can_be_started_nobody_waits_for_one() -> None:
    pool = ExtractionPool(1, DYING._replace(version="of another installation"))
    with capture_logs() as logs:
        pool.start()
        await eventually(lambda: any(line["event"] == "extraction process not started" for line in logs))
        await eventually(lambda: not pool._serving)  # noqa: SLF001 - nobody else asks
    pool.start()
    assert not pool.is_ready
    assert await pool.extract(some(3)) == {}
    await pool.close()


PARENT = """
import asyncio, sys
from tests.streams.test_extraction_pool import started
async def main():
    pool = await started()
    print(*pool.pids, flush=True)
    await pool.extract([])
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_no_process_outlives_a_parent_that_is_killed(number: signal.Signals) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout
    pids = [int(pid) for pid in (await parent.stdout.readline()).split()]
    assert len(pids) == 2
    parent.send_signal(number)
    await parent.wait()
    await eventually(lambda: not any(map(is_there, pids)))
