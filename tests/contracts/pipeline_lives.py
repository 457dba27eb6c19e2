"""The pipeline, a memory that lives: what windows forget and others are told, what users forget or take back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from emgas.messages.turns import Feedback, Pin, Undo, Unpin
from state.events.events import (
    ConsolidationWindowClosed,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    MemoryArchived,
    Pinned,
    Retracted,
    TurnRecorded,
    Unpinned,
    WindowEvent,
    decode,
)
from streams.ingest.change_feed import EVENT_OFFSET
from tests.support.clocks import DAY, NOON, eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, only
from tests.support.pipeline_steps import WEEKS, PipelineSteps, failing
from tests.support.weeks import THINGS


class Lives(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    # a memory that lives

    async def test_a_new_graph_begins_with_how_it_lives(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        events = await pipeline.events(there.position.partition)
        born, spoken = [event for event in events if getattr(event, "graph", None) == graph]
        assert isinstance(born, GraphConfigured)
        assert isinstance(spoken, TurnRecorded)
        described = await pipeline.memory.describe(graph, after=there.position.source)
        assert (born.preset, dict(born.settings)) == (described.preset, described.settings)
        assert (born.preset, described.found, described.turns) == (pipeline.settings.preset, True, 1)

    async def test_what_fades_over_months_is_archived_and_still_found_and_the_state_is_still_the_fold(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        windows = [decode(value) for _, value in await self.windows(pipeline, graph)]
        decays = [event for event in windows if isinstance(event, MemoryArchived)]
        assert len(decays) >= 5
        assert any(isinstance(event, ConsolidationWindowClosed) for event in windows)
        assert [event.at for event in decays] == sorted({event.at for event in decays})
        contents = pipeline.graph(graph)
        assert contents is not None
        assert "anchor" in {name for event in decays for name in event.concepts}
        contents.settle()
        active = {name for name, number in contents.concepts.numbers.items() if not contents.concepts.archived[number]}
        assert {"kettle", THINGS[-1]} <= active
        assert "anchor" not in active
        result = await pipeline.memory.query(graph, "anchor")
        assert [seed.id for seed in result.seeds] == ["anchor"]
        assert any("anchor" in passage.text for passage in result.passages)
        verified = (await pipeline.verified())[pipeline.place(graph)]
        assert verified.digest_live == verified.digest_replayed
        assert verified.audit.each_once

    async def test_other_programs_are_told_what_windows_did_once_each_under_a_stable_id(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        partition = pipeline.place(graph)
        windows = await self.windows(pipeline, graph)
        assert windows
        expected = [(f"{partition}-{offset}".encode(), b"%d" % offset, value) for offset, value in windows]
        for number in range(2):
            records = await pipeline.records(pipeline.topics.changes, partition)
            answers = [(dict(each.headers), each) for each in records if each.key == graph.encode()]
            assert [(its["ce_id"], its[EVENT_OFFSET], each.value) for its, each in answers] == expected
            assert {its["ce_subject"] for its, _ in answers} == {graph.encode()}
            await pipeline.restart()  # the next owner sends nothing again
            await pipeline.record(f"{graph}-a", id=f"t{number}")
            await pipeline.app.ownership.timers[partition].catch_up()

    async def test_a_change_that_was_logged_but_not_sent_is_sent_by_the_next_owner(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        partition, there = doomed.place("ada"), len(WEEKS) // 2
        await self.live(doomed, "ada", WEEKS[:there])
        monkeypatch.setattr("streams.ingest.change_feed.ChangeFeed.publish", failing)
        turns = [as_json(a_turn("ada", id, text, at=at)) for id, at, text in WEEKS[there:]]
        for turn in turns:
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await eventually(lambda: doomed.app.halted)
        assert isinstance(doomed.app.halted, ZeroDivisionError)
        monkeypatch.undo()
        assert len(await self.window_times(doomed, partition)) < len(await self.windows(doomed, "ada"))
        await doomed.restart()
        await eventually(lambda: doomed.ids("ada")[-1:] == [WEEKS[-1][0]])
        await eventually(lambda: doomed.app.ownership.timers[partition].feed.caught_up)
        assert await self.window_times(doomed, partition) == [offset for offset, _ in await self.windows(doomed, "ada")]
        assert all(each.match for each in await doomed.verified())

    async def test_a_worker_that_stops_between_windows_holds_what_one_that_ran_through_holds(
        self, pipeline: Pipeline, doomed: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        await self.live(doomed, graph, [])
        for start in range(0, len(WEEKS), 5):
            await self.say(doomed, graph, WEEKS[start : start + 5])
            await doomed.restart()
        assert [self.facts(value) for _, value in await self.windows(doomed, graph)] == [
            self.facts(value) for _, value in await self.windows(pipeline, graph)
        ]
        there, here = doomed.graph(graph), pipeline.graph(graph)
        assert there is not None
        assert here is not None
        assert (there.clock, there.settings) == (here.clock, here.settings)
        assert doomed.digests()[graph] == pipeline.digests()[graph]

    async def test_a_user_lets_a_graph_forget_a_concept_a_turn_and_a_session(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        message = {"t1": "The kettle and the anchor.", "t2": "The kettle and the basil.", "t3": "The kettle whistles."}
        for id, text in message.items():
            await pipeline.record(graph, id=id, text=text, session="kept")
        await pipeline.record(graph, id="t4", text="The falcon and the kettle.", session="gone")
        await pipeline.record(graph, id="t5", text="The glacier and the kettle.", session="gone")
        before = await pipeline.memory.describe(graph)
        for request, turns, words in (
            ({"concepts": ["Anchor"], "word_only": True}, set(), {"anchor"}),
            ({"turns": ["t2"]}, {"t2"}, {"basil"}),
            ({"sessions": ["gone"]}, {"t4", "t5"}, {"falcon", "glacier"}),
        ):
            outcome = await pipeline.memory.forget(graph, **request)  # type: ignore[arg-type]
            assert outcome.status == "accepted", outcome.reason
            event = only(await self.event_of(pipeline, outcome))
            assert isinstance(event, Forgotten)
            assert (set(event.turns), words <= set(event.concepts)) == (turns, True)
            for word in words:
                reply = await pipeline.memory.query(graph, f"the {word}", after=outcome.position.source)
                assert word not in {concept.id for concept in (*reply.seeds, *reply.concepts)}
            reply = await pipeline.memory.query(graph, "the kettle", top_passages=100)
            assert not turns & {passage.id for passage in reply.passages}
        after = await pipeline.memory.describe(graph)
        assert (before.turns - after.turns, after.forgotten - before.forgotten) in {(3, 3), (0, 3)}
        assert after.concepts <= before.concepts - 4
        assert {passage.id for passage in reply.passages} == {"t1", "t3"}
        assert (await pipeline.memory.record(a_turn(graph, "t2", message["t2"]))).status == "duplicate"
        again = await pipeline.memory.forget(graph, turns=["t2"])
        assert (again.status, "nothing to forget" in (again.reason or "")) == ("rejected", True)
        assert all(each.match for each in await pipeline.verified())

    async def test_a_turn_too_long_for_a_record_is_found_pinned_and_forgotten_as_one(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        text = "\n\n".join(f"Paragraph {number}: the lamp stands on shelf {number}." for number in range(1000))
        outcome = await pipeline.memory.record(a_turn(graph, "d", f"{text}\n\nThe anchor hangs above the door."))
        assert (outcome.status, outcome.turn) == ("accepted", "d")
        await pipeline.record(graph, id="e", text="The kettle whistles.")
        await pipeline.record(graph, id="e/1", text="The basil grows.")  # a turn of its own: its sender chose the id
        listed = [turn.id for turn in (await pipeline.memory.turns(graph, limit=100)).turns]
        pieces = {id for id in listed if not id.startswith("e")}
        assert len(pieces) > 10
        reply = await pipeline.memory.query(graph, "Where does the anchor hang?")
        assert reply.passages[0].id == f"d/{len(pieces) - 1}"
        for request in (Pin(graph=graph, turns=["d"]), Unpin(graph=graph, turns=["d"])):
            pinned = only(await self.event_of(pipeline, await pipeline.memory.send(request)))
            assert isinstance(pinned, Pinned | Unpinned)
            assert set(pinned.turns) == pieces
        await pipeline.memory.forget(graph, turns=["d/2"])
        await pipeline.memory.forget(graph, turns=["d", "e"])
        assert [turn.id for turn in (await pipeline.memory.turns(graph)).turns] == ["e/1"]
        assert all(each.match for each in await pipeline.verified())

    @pytest.mark.source("S28")
    async def test_what_a_user_pins_is_kept_in_mind_until_it_is_unpinned(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.memory.configure(graph, "forgetful")
        await pipeline.record(graph, id="pin", text="The kettle and the anchor.", at=NOON)
        await pipeline.record(graph, id="other", text="The basil and the falcon.", at=NOON)
        outcome = await pipeline.memory.send(Pin(graph=graph, concepts=["Kettle"], turns=["pin"]))
        assert outcome.status == "accepted", outcome.reason
        assert isinstance(only(await self.event_of(pipeline, outcome)), Pinned)
        await pipeline.record(graph, id="later", text="The glacier melts.", at=NOON + 200 * DAY)
        described = await pipeline.memory.describe(graph)
        assert (described.pinned, described.pinned_concepts, described.archived) == (1, 1, 1)
        kept = {each.id: each for each in (await pipeline.memory.query(graph, "kettle or basil")).passages}
        assert [(each.pinned, each.archived) for each in (kept["pin"], kept["other"])] == [(True, False), (False, True)]
        outcome = await pipeline.memory.send(Unpin(graph=graph, concepts=["kettle"], turns=["pin"]))
        await pipeline.record(graph, id="last", text="The glacier is gone.", at=NOON + 300 * DAY)
        described = await pipeline.memory.describe(graph)
        assert (described.pinned, described.pinned_concepts, described.archived) == (0, 0, 3)
        refused = await pipeline.memory.send(Pin(graph=graph, turns=["no such turn"]))
        assert (refused.status, "nothing to pin" in (refused.reason or "")) == ("rejected", True)
        assert all(each.match for each in await pipeline.verified())

    @pytest.mark.source("S9", "S11")
    async def test_what_a_user_thinks_of_an_answer_changes_the_next_one(self, pipeline: Pipeline, graph: str) -> None:
        for id, text in {"a": "The kettle is in the cellar.", "b": "The kettle is in the attic."}.items():
            await pipeline.record(graph, id=id, text=text)
        question = "Where is the kettle?"
        first, second = [each.id for each in (await pipeline.memory.query(graph, question)).passages]
        before = pipeline.digests()[graph]
        assert (
            await pipeline.memory.send(Feedback(graph=graph, turns=[first], value=-1, query=question))
        ).status == "accepted"
        outcome = await pipeline.memory.send(Feedback(graph=graph, turns=[second], value=1, query=question))
        event = only(await self.event_of(pipeline, outcome))
        assert isinstance(event, FeedbackGiven)
        assert (event.turns, "kettle" in event.concepts) == ([second], True)
        reply = await pipeline.memory.query(graph, question, after=outcome.position.source, explain=True)
        assert [each.id for each in reply.passages] == [second, first]
        shown = [each.why.terms["feedback"] for each in reply.passages if each.why]
        assert [value > 0 for value in shown] == [True, False]
        refused = await pipeline.memory.send(Feedback(graph=graph, turns=["no such turn"], value=1))
        assert (refused.status, "none of these turns" in (refused.reason or "")) == ("rejected", True)
        assert all(each.match for each in await pipeline.verified())
        contents = pipeline.graph(graph)
        assert contents is not None
        assert (await pipeline.memory.send(Undo(graph=graph, first=contents.events - 2))).status == "accepted"
        assert pipeline.digests()[graph] == before

    @pytest.mark.source("S9", "S11")
    async def test_what_was_wrong_takes_back_what_a_word_for_it_had_linked(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        for id, text in {"a": "The kettle is in the cellar.", "b": "Basil grows in the attic."}.items():
            await pipeline.record(graph, id=id, text=text, session=id)

        async def links() -> list[tuple[list[str], int]]:
            await pipeline.memory.describe(graph)  # whatever was sent before is folded
            contents = pipeline.graph(graph)
            assert contents is not None
            contents.compact()
            keys, counts = contents.pairs["recall"].canonical()
            names = [
                [contents.concepts.ids[key >> 32], contents.concepts.ids[key & 0xFFFFFFFF]] for key in keys.tolist()
            ]
            return sorted(zip(names, counts.tolist(), strict=True))

        question = "Where is the kettle?"
        await pipeline.memory.send(Feedback(graph=graph, turns=["b"], value=1, query=question))
        linked = await links()
        assert (["kettle", "basil"], 2) in linked or (["basil", "kettle"], 2) in linked
        await pipeline.memory.send(Feedback(graph=graph, turns=["b"], value=1, query=question))
        assert {count for _, count in await links()} == {4}, "as much again"
        await pipeline.memory.send(Feedback(graph=graph, turns=["b"], value=-1, query=question))
        assert await links() == linked, "a wrong one takes as much as a right one brought"
        await pipeline.restart()
        assert await links() == linked
        await pipeline.memory.send(Feedback(graph=graph, turns=["b"], value=-1, query=question))
        await pipeline.memory.send(Feedback(graph=graph, turns=["b"], value=-1, query=question))
        assert await links() == [], "and never more than there is"
        assert all(each.match for each in await pipeline.verified())

    @pytest.mark.source("M24", "P16", "H3", "H5")
    async def test_a_turn_that_matters_says_so_and_is_not_archived(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.memory.configure(graph, "forgetful")
        message = {
            "told": ("The kettle is blue.", 0.95),
            "rule": ("Please remember that the alarm code is 4711.", None),
            "zh": ("请记住，我对花生过敏。", None),
            "plain": ("The basil is green.", None),
            "trifle": ("The falcon is grey.", 0.1),
        }
        for id, (text, importance) in message.items():
            role = "assistant" if id == "trifle" else "user"
            await pipeline.record(graph, id=id, text=text, at=NOON, importance=importance, role=role)
        await pipeline.record(graph, id="later", text="The glacier melts.", at=NOON + 200 * DAY)
        question = "kettle, alarm code, peanuts 花生 过敏, basil, falcon?"
        result = {each.id: each for each in (await pipeline.memory.query(graph, question, top_passages=10)).passages}
        assert {name for name, each in result.items() if not each.archived} == {"told", "rule", "zh", "later"}
        for expected, passes in (
            ({"min_importance": 0.9}, {"told", "rule", "zh"}),
            ({"min_importance": 0.2}, {"told", "rule", "zh", "plain", "later"}),
            ({"pinned": True}, set()),
            ({"roles": ["assistant"]}, {"trifle"}),
        ):
            listed = await pipeline.memory.query(graph, question, top_passages=10, only=expected)
            assert {each.id for each in listed.passages} == passes
        assert {name: result[name].importance for name in message} == {
            "told": 0.95,
            "rule": 0.9,
            "zh": 0.9,
            "plain": None,
            "trifle": 0.1,
        }

    async def test_what_was_taken_back_was_never_there_until_that_is_taken_back(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="t1", text="The kettle and the anchor.")
        before = pipeline.digests()[graph]
        await pipeline.record(graph, id="wrong", text="The falcon on the glacier.")
        outcome = await pipeline.memory.forget(graph, turns=["t1"])
        assert outcome.status == "accepted", outcome.reason
        with_both, contents = pipeline.digests()[graph], pipeline.graph(graph)
        assert contents is not None
        undone_at = contents.events
        undone = await pipeline.memory.send(Undo(graph=graph, first=2))  # after its birth and its first turn
        assert undone.status == "accepted", undone.reason
        assert isinstance(only(await self.event_of(pipeline, undone)), Retracted)
        assert (pipeline.digests()[graph], pipeline.ids(graph)) == (before, ["t1"])
        reply = await pipeline.memory.query(graph, "the falcon and the kettle", min_likelihood=0.0)
        assert {passage.id for passage in reply.passages} == {"t1"}
        refused = await pipeline.memory.send(Undo(graph=graph, first=2, last=3))
        assert (refused.status, "nothing left to undo" in (refused.reason or "")) == ("rejected", True)
        again = await pipeline.memory.send(Undo(graph=graph, first=undone_at, last=undone_at))
        assert (again.status, pipeline.digests()[graph]) == ("accepted", with_both)
        assert (await pipeline.memory.send(Undo(graph=graph, first=2))).status == "accepted"
        assert (await pipeline.memory.record(a_turn(graph, "wrong", "Another text."))).status == "accepted"
        digests_before = pipeline.digests()
        assert all(each.match for each in await pipeline.verified())
        await pipeline.restart()
        assert pipeline.digests() == digests_before

    async def test_what_is_configured_is_described_and_an_unknown_graph_is_told_so(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        assert not (await pipeline.memory.describe(graph)).found
        assert graph not in pipeline.digests(), "asking must not make a graph"
        refused = await pipeline.memory.forget(graph, turns=["t1"])
        assert (refused.status, graph in (refused.reason or "")) == ("rejected", True)
        outcome = await pipeline.memory.configure(graph, "elephant", idle=60_000)
        described = await pipeline.memory.describe(graph, after=outcome.position.source)
        assert (described.found, described.preset, described.turns) == (True, "elephant", 0)
        assert (described.settings["idle"], described.settings["prune_below"]) == (60_000, 0.0)
        assert described.position.source >= outcome.position.source

    async def windows(self, pipeline: Pipeline, graph: str) -> list[tuple[int, bytes]]:
        """Return offset and value of every window event of `graph`."""
        records = await pipeline.records(pipeline.topics.events, pipeline.place(graph))
        events = [(record.offset, record.value, decode(record.value)) for record in records]
        return [(at, value) for at, value, event in events if isinstance(event, WindowEvent) and event.graph == graph]

    async def window_times(self, pipeline: Pipeline, partition: int) -> list[int]:
        """Return the offsets of the events that were sent to `changes`."""
        records = await pipeline.records(pipeline.topics.changes, partition)
        return [int(dict(record.headers)[EVENT_OFFSET]) for record in records]

    def facts(self, value: bytes) -> dict[str, Any]:
        """Return what an event says, without its place in the log."""
        fields = msgspec.structs.asdict(decode(value))
        return {name: fact for name, fact in fields.items() if name not in {"epoch", "claim", "seq", "chain", "src"}}
