"""The pipeline, the fold: the state is that of the log after every accident, and what halts a worker for good."""

from __future__ import annotations

import asyncio
import json
import shutil
from typing import Any

import msgspec
import pytest

from emgas.errors import QueryFailedError
from replay.skipped_records import decision
from state.errors import StoreCorruptError, UnreadableEventError
from state.events.events import Claim, TurnsLost, encode
from state.events.upcasting import VERSION
from streams.errors import FencedError
from streams.ingest.command_handler import CommandHandler
from streams.ingest.turn_processor import TurnProcessor
from streams.query.handler import QueryHandler
from tests.support.clocks import PATIENCE, eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, only
from tests.support.pipeline_steps import PipelineSteps, failing


class Folds(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    # the fold

    @pytest.mark.source("E11")
    async def test_the_state_is_the_fold_of_the_log(self, pipeline: Pipeline, graph: str) -> None:
        await self.fill(pipeline, graph)
        verified = await pipeline.verified()
        assert [each.digest_live for each in verified] == [each.digest_replayed for each in verified]
        assert all(each.audit.each_once for each in verified)

    @pytest.mark.source("S21")
    async def test_a_restart_loses_nothing_and_folds_what_came_meanwhile(self, pipeline: Pipeline, graph: str) -> None:
        await self.fill(pipeline, graph)
        before, partition = pipeline.digests(), pipeline.place(graph)
        claims = await self.claims(pipeline, partition)
        await pipeline.restart()
        assert pipeline.digests() == before
        assert await self.claims(pipeline, partition) == claims + 1
        await pipeline.stop()
        for number in range(3):
            turn = as_json(a_turn(graph, f"meanwhile-{number}"))
            await pipeline.produce(pipeline.topics.turns, graph.encode(), turn, partition)
        await pipeline.start()
        await eventually(lambda: "meanwhile-2" in pipeline.ids(graph))
        assert pipeline.ids(graph)[-3:] == [f"meanwhile-{number}" for number in range(3)]
        await pipeline.lives()
        assert all(each.match for each in await pipeline.verified())

    async def test_a_store_that_is_thrown_away_is_folded_again_to_the_same_graphs(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.fill(pipeline, graph)
        before = pipeline.digests()
        await pipeline.stop()
        shutil.rmtree(pipeline.settings.home / "partitions")
        await pipeline.start()
        assert pipeline.digests() == before
        assert (await pipeline.memory.record(a_turn(graph))).status == "duplicate"
        await pipeline.lives()
        assert all(each.match for each in await pipeline.verified())

    async def test_an_event_of_an_earlier_owner_is_ignored(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        partition = there.position.partition
        mine = only(await self.event_of(pipeline, there))
        await pipeline.restart()
        head = pipeline.app.ownership.writers[partition].state.position
        zombie = msgspec.structs.replace(mine, seq=head.seq + 1, src=head.source + 1, id="zombie")
        assert zombie.epoch < head.epoch
        for event in (zombie, mine):  # what a frozen worker writes when it wakes up, and an append that is repeated
            await pipeline.produce(pipeline.topics.events, graph.encode(), encode(event), partition)
        await pipeline.record(graph, id="t2")
        assert pipeline.ids(graph) == ["t1", "t2"]
        await pipeline.lives()
        verified = (await pipeline.verified())[partition]
        assert verified.match
        assert verified.audit.ignored >= 2

    async def fill(self, pipeline: Pipeline, graph: str) -> None:
        """Have a little of everything in the log."""
        for number in range(3):
            await pipeline.record(f"{graph}-{number}", text=f"The kettle number {number} whistles.")
        await pipeline.record(graph)
        await pipeline.memory.record(a_turn(graph))
        await pipeline.memory.record(a_turn(graph, text="Another text."))
        contents = pipeline.graph(graph)
        assert contents is not None
        folded = contents.events
        await pipeline.memory.query(graph, "the kettle", reinforce=True)
        await eventually(lambda: contents.events > folded)  # where a reader answers, the writer hears of it afterwards
        await pipeline.record(graph, id="t2")

    async def claims(self, pipeline: Pipeline, partition: int) -> int:
        return sum(isinstance(event, Claim) for event in await pipeline.events(partition))

    # what halts a worker, for good

    async def test_an_event_of_unknown_kind_halts_its_partition_alone_each_time_and_is_never_skipped(
        self, doomed: Pipeline
    ) -> None:
        partition, other = doomed.place("ada"), elsewhere(doomed, "ada")
        await doomed.record("ada")
        newer = json.dumps({"v": VERSION, "kind": "GraphErased", "graph": "ada"}).encode()
        await doomed.produce(doomed.topics.events, b"ada", newer, partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition, doomed.address(b"unheard"))
        for time in range(3):
            await eventually(lambda: partition in doomed.app.ownership.halted_partitions)
            error = doomed.app.ownership.halted_partitions[partition]
            assert isinstance(error, UnreadableEventError)
            assert "Run the version that wrote it; do not skip it" in str(error)
            with pytest.raises(QueryFailedError, match="has halted: cannot read an event of the log"):
                await doomed.memory.query("ada", "what?")
            with pytest.raises(QueryFailedError, match="the turn is kept and will be read when it goes on"):
                await doomed.memory.record(a_turn("ada", f"told-{time}"))
            await doomed.record(other, id=f"t{time}")
            await doomed.lives(but=[partition])
            assert doomed.app.halted is None
            await doomed.restart()

    async def test_a_worker_whose_partition_was_claimed_by_another_stops_and_its_successor_goes_on(
        self, doomed: Pipeline
    ) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        claim = encode(Claim(writer="another worker", partitions=doomed.partitions, nonce="its own"))
        await doomed.produce(doomed.topics.events, None, claim, partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition, doomed.address(b"unheard"))
        await eventually(lambda: doomed.app.halted)
        assert isinstance(doomed.app.halted, FencedError)
        assert b"unheard" not in await doomed.correlations()
        await doomed.stop()
        await doomed.start()
        await eventually(lambda: doomed.ids("ada") == ["t1", "t2"])
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())

    @pytest.mark.parametrize("where", ["turns", "queries", "reading"])
    async def test_a_bug_halts_the_worker_and_costs_no_turn(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch, where: str
    ) -> None:
        """Faust alone would ack the record at which an agent failed, and go on behind it."""
        partition, app = doomed.place("ada"), doomed.reader if where == "queries" else doomed.app
        await doomed.record("ada")
        owner, name = {
            "turns": (TurnProcessor, "put"),
            "queries": (QueryHandler, "take"),
            "reading": (CommandHandler, "read"),
        }[where]
        monkeypatch.setattr(owner, name, failing)
        query = as_json({"kind": "query", "graph": "ada", "text": "what?"})
        turn = as_json(a_turn("ada", "t2", "The teapot leaks."))
        if where == "queries":
            await doomed.produce(doomed.topics.queries, b"ada", query, partition)
            await eventually(lambda: app.halted)
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await eventually(lambda: app.halted)
        assert isinstance(app.halted, ZeroDivisionError)
        assert await doomed.letters(doomed.topics.turns, partition, 1) == []
        monkeypatch.undo()
        await doomed.restart()
        await eventually(lambda: doomed.ids("ada") == ["t1", "t2"])
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())

    async def test_a_question_that_its_owner_let_go_of_is_answered_by_the_next_one(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        value = as_json({"kind": "query", "graph": "ada", "text": "kettle"})
        async with doomed.reader._query_handler._schedule.short:  # noqa: SLF001 - another one is being answered
            place, headers = doomed.place("ada"), doomed.address(b"left")
            await doomed.produce(doomed.topics.queries, b"ada", value, place, headers)
            await eventually(lambda: doomed.reader.answering == 1)
            await doomed.stop()
        assert b"left" not in await doomed.correlations()
        await doomed.start()
        async with asyncio.timeout(PATIENCE):
            while b"left" not in await doomed.correlations():  # noqa: ASYNC110 - a log that is asked
                await asyncio.sleep(0.01)

    async def test_turns_that_are_gone_unread_are_recorded_as_lost_and_it_goes_on(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        for number in range(4):
            turn = as_json(a_turn("ada", f"lost-{number}"))
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await doomed.transport.truncate(doomed.topics.turns, partition, 3)
        await doomed.start()
        await doomed.record("ada", id="t9")
        assert doomed.ids("ada") == ["t1", "lost-2", "lost-3", "t9"]
        lost = [event for event in await doomed.events(partition) if isinstance(event, TurnsLost)]
        assert [(event.src, event.first, event.last) for event in lost] == [(2, 1, 2)]
        assert doomed.app.metrics.registry.get_sample_value("emgas_lost_turns_total") == 2
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())

    async def test_turns_that_were_made_anew_are_read_from_their_beginning(self, doomed: Pipeline) -> None:
        for number in range(5):
            await doomed.record("ada", id=f"old-{number}")
        partition = doomed.place("ada")
        await doomed.stop()
        await doomed.transport.recreate(doomed.topics.turns)
        for number in range(8):
            turn = as_json(a_turn("ada", f"new-{number}"))
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await doomed.start()
        expected = [*(f"old-{number}" for number in range(5)), *(f"new-{number}" for number in range(8))]
        await eventually(lambda: doomed.ids("ada") == expected)
        await doomed.record("ada", id="newest")
        claims = [event for event in await doomed.events(partition) if isinstance(event, Claim)]
        assert (claims[-1].anew, claims[-1].source_topic != claims[0].source_topic != "") == (True, True)
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())

    async def test_a_record_that_nobody_can_read_is_skipped_once_the_log_says_so(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        bad = await doomed.produce(doomed.topics.events, None, b"garbage", partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await eventually(lambda: partition in doomed.app.ownership.halted_partitions)
        (garbage,) = [each for each in await doomed.records(doomed.topics.events, partition) if each.offset == bad]
        await doomed.produce(doomed.topics.events, None, decision(garbage, "a slip"), partition)
        await eventually(lambda: partition in doomed.app.ownership.writers)
        await eventually(lambda: doomed.ids("ada") == ["t1", "t2"])
        await doomed.record("ada", id="t3")
        await eventually(lambda: partition in doomed.reader.ownership.queryable)  # it tries again at its own times
        assert (await doomed.memory.query("ada", "the kettle")).passages
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())
        await doomed.restart()
        assert doomed.ids("ada") == ["t1", "t2", "t3"]
        await doomed.lives()

    async def test_a_damaged_store_costs_nothing_but_time(self, doomed: Pipeline) -> None:
        await self.fill(doomed, "ada")
        digests = doomed.digests()
        store = doomed.settings.store_of(doomed.place("ada"))
        for file in ("CURRENT", "MANIFEST-*"):
            await doomed.stop()
            for damaged in store.glob(file):
                damaged.write_bytes(b"damaged")
            await doomed.start()
            assert doomed.digests() == digests
            assert store.with_name(f"{store.name}.damaged").is_dir()
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())

    async def test_damage_that_shows_while_a_worker_runs_stops_its_graph_alone_and_is_mended(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await doomed.record("ada")
        partition, other = doomed.place("ada"), elsewhere(doomed, "ada")
        before = doomed.reader.ownership.queryable[partition]

        def damaged(*_: object) -> Any:
            raise StoreCorruptError("a block is damaged")

        monkeypatch.setattr(before.state, "text_of", damaged)
        with pytest.raises(QueryFailedError, match="ask again"):
            await doomed.memory.query("ada", "the kettle")
        monkeypatch.undo()
        await doomed.record(other)
        await eventually(lambda: not before.state.unavailable)
        assert (await doomed.memory.query("ada", "the kettle")).passages
        await doomed.record("ada", id="t2")
        assert doomed.app.halted is doomed.reader.halted is None
        assert doomed.reader.ownership.queryable[partition] is before, "the partition went on"
        await doomed.lives()
        assert all(each.match for each in await doomed.verified())
        await doomed.stop()
        assert doomed.reader_settings.store_of(partition).with_name(f"{partition}.damaged").is_dir()

    async def test_an_event_log_without_its_beginning_halts_the_worker(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        await doomed.transport.truncate(doomed.topics.events, partition, 1)
        shutil.rmtree(doomed.settings.home / "partitions")
        await doomed.start()
        assert "events are missing" in str(doomed.app.ownership.halted_partitions[partition])
        await doomed.lives(but=[partition])


def elsewhere(pipeline: Pipeline, graph: str) -> str:
    """Name a graph that lives in another partition than `graph`."""
    names = (f"other-{number}" for number in range(100))
    return next(name for name in names if pipeline.place(name) != pipeline.place(graph))
