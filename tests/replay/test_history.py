"""What was taken back never was, for whatever rebuilds a graph from the log: in steps, at an offset, beside a store."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay.as_of.graph_as_of import graph_as_of
from replay.as_of.history import History, counting_events, histories
from replay.rebuild.rebuild import graph_from
from state.events.events import GraphEvent, Retracted
from state.graph.graph import Graph
from state.store.store import MemoryStore
from streams.query.answers.as_of_cache import AsOfCache
from tests.support.builders import refolded
from tests.support.clocks import DAY, NOON
from tests.support.logs import LogWriter, fold, reader_of, records_of
from tests.support.strategies import GRAPHS, Step, steps_taken_back, written


@given(steps_taken_back())
async def test_a_history_holds_what_counts_and_knows_where_it_lies(happened: list[Step]) -> None:
    log = written(happened)
    partition = log.folded()
    result = await histories(reader_of(log), 0)
    assert sorted(result) == partition.graph_ids()
    for name, history in result.items():
        live = partition.graph(name)
        assert live is not None
        assert refolded(history.events(), Graph(name)).digest() == live.digest()
        assert len(history.every) == live.events
        assert [history.every[ordinal] for ordinal in history.ordinals] == [*zip(history.offsets, history.values)]  # noqa: B905
        yielded: list[GraphEvent] = [event async for event in counting_events(reader_of(log), 0, name)]
        assert yielded == list(history.events())
        assert not any(isinstance(event, Retracted) for event in yielded)


@given(steps_taken_back(), st.lists(st.integers(0, 41), max_size=4))
async def test_a_history_read_in_steps_is_that_read_at_once(happened: list[Step], stops: list[int]) -> None:
    log = written(happened)
    stepwise, at_once = History("ada"), History("ada")
    for end in [*sorted(stops), None]:
        await stepwise.read_on(reader_of(log), 0, end)
    await at_once.read_on(reader_of(log), 0)
    for column in ("values", "offsets", "ordinals", "times", "kinds", "every"):
        assert getattr(stepwise, column) == getattr(at_once, column)


@given(steps_taken_back(), st.integers(0, 41))
async def test_a_graph_from_a_store_and_what_came_after_is_the_live_one(happened: list[Step], stored: int) -> None:
    log, store = written(happened), MemoryStore()
    fold(log.records[:stored], log_folded := LogWriter(claimed=False).folded(store))
    log_folded.flush()
    for name in GRAPHS:
        live = log.folded().graph(name)
        result = await graph_from(store, reader_of(log), 0, name, log.next_offset)
        assert (result and result.digest()) == (live and live.digest())


async def test_what_was_taken_back_is_gone_from_the_past_too_and_before_the_undo_it_was_there() -> None:
    log = LogWriter()
    log.turn(id="kept", concepts="coffee", at=NOON)
    log.turn(id="wrong", concepts="falcon", at=NOON + 1)
    reader = reader_of(log)
    past, before = AsOfCache(reader), log.next_offset
    there = await past.graph("ada", NOON + DAY, partition=0, events=2, end=before, hides=False)
    assert there is not None
    assert there.graph.knows("wrong")
    log.undo(first=1, last=1)
    reader.records[0] = records_of(log)
    gone = await past.graph("ada", NOON + DAY, partition=0, events=3, end=log.next_offset, hides=False)
    assert gone is not None
    assert not gone.graph.knows("wrong")
    assert there.text_of(there.graph, 1).id == "wrong", "who asked before still reads what was answered then"
    earlier, later = History("ada"), History("ada")
    await earlier.read_on(reader_of(log), 0, before)
    await later.read_on(reader_of(log), 0)
    knows = [(graph_as_of(each, NOON + 2) or Graph("ada")).knows("wrong") for each in (earlier, later)]
    assert knows == [True, False]
