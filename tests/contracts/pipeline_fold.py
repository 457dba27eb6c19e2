"""The pipeline, the fold: the state is that of the log after every accident, and what halts a worker for good."""

from __future__ import annotations

import asyncio
import json
import shutil

import msgspec
import pytest

from emgas.errors import HaltedError
from state.errors import LogRewrittenError, UnreadableEventError
from state.events.events import (
    Claim,
    encode,
)
from streams.errors import FencedError
from streams.ingest.command_handler import CommandHandler
from streams.ingest.turn_processor import TurnProcessor
from streams.query.query_handler import QueryHandler
from tests.support.clocks import PATIENCE, eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, only
from tests.support.pipeline_steps import PipelineSteps, failing


class Folds(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    # the fold

    async def test_the_state_is_the_fold_of_the_log(self, pipeline: Pipeline, graph: str) -> None:
        await self.fill(pipeline, graph)
        verified = await pipeline.verified()
        assert [each.digest_live for each in verified] == [each.digest_replayed for each in verified]
        assert all(each.audit.each_once for each in verified)

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
        await pipeline.memory.query(graph, "the kettle", reinforce=True)
        await pipeline.record(graph, id="t2")

    async def claims(self, pipeline: Pipeline, partition: int) -> int:
        return sum(isinstance(event, Claim) for event in await pipeline.events(partition))

    # what halts a worker, for good

    async def test_an_event_of_unknown_kind_halts_the_worker_each_time_and_is_never_skipped(
        self, doomed: Pipeline
    ) -> None:
        partition = doomed.place("ada")
        await doomed.record("ada")
        newer = json.dumps({"v": 2, "kind": "GraphErased", "graph": "ada"}).encode()
        await doomed.produce(doomed.topics.events, b"ada", newer, partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition, doomed.address(b"unheard"))
        await eventually(lambda: doomed.app.halted)
        self.check_unreadable(doomed.app.halted)
        query = as_json({"kind": "query", "graph": "ada", "text": "what?"})
        await doomed.produce(doomed.topics.queries, b"ada", query, partition, doomed.address(b"unheard"))
        await doomed.stop()
        for _ in range(2):
            with pytest.raises(UnreadableEventError) as told:
                await doomed.start()
            self.check_unreadable(told.value)
        assert b"unheard" not in await doomed.correlations()

    def check_unreadable(self, error: BaseException | None) -> None:
        assert isinstance(error, UnreadableEventError)
        assert "Run the version that wrote it; do not skip it" in str(error)

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
        assert all(each.match for each in await doomed.verified())

    @pytest.mark.parametrize("where", ["turns", "queries", "reading"])
    async def test_a_bug_halts_the_worker_and_costs_no_turn(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch, where: str
    ) -> None:
        """Faust alone would ack the record at which an agent failed, and go on behind it."""
        partition, app = doomed.place("ada"), doomed.app
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
        assert all(each.match for each in await doomed.verified())

    async def test_turns_that_are_gone_unread_halt_the_worker(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        for number in range(4):
            turn = as_json(a_turn("ada", f"lost-{number}"))
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await doomed.transport.truncate(doomed.topics.turns, partition, 3)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(LogRewrittenError, match=r"no longer has .* offset 1"):
                await self.start_and_wait(doomed)

    async def test_an_event_log_without_its_beginning_halts_the_worker(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        await doomed.transport.truncate(doomed.topics.events, partition, 1)
        shutil.rmtree(doomed.settings.home / "partitions")
        with pytest.raises(LogRewrittenError, match="events are missing"):
            await self.start_and_wait(doomed)

    async def start_and_wait(self, doomed: Pipeline) -> None:
        """Start a worker that may notice only after it is ready that it cannot go on; raise why."""
        await doomed.start()
        await eventually(lambda: doomed.app.halted)
        halted = doomed.app.halted
        assert isinstance(halted, HaltedError)
        raise halted
