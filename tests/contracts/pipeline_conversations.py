"""The pipeline, conversations: what is in mind of one, how it ends, what the next one inherits; and switches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from emgas.client import switches
from emgas.client.several import query_several
from emgas.errors import InvalidMessageError, QueryFailedError
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession, Recent
from emgas.messages.turns import Undo
from emgas.messages.views import Explore, Recap
from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from state.events.events import (
    ConsolidationWindowClosed,
    SessionEnded,
    SessionSummarised,
    TurnNotRecorded,
    TurnRecorded,
    decode,
)
from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline
from tests.support.pipeline_steps import PipelineSteps

VET = (
    "Biscuit the cat has ear mites, the vet says.",
    "The vet prescribed ear drops for Biscuit, twice a day.",
    "Tomorrow we go to the lake with grandmother.",
)


class Conversations(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    async def converse(self, pipeline: Pipeline, graph: str, *, session: str = "vet", at: int = NOON) -> None:
        """Say VET, a minute apart."""
        for n, text in enumerate(VET):
            there = {"session": session, "speaker": "Ada", "at": at + n * MINUTE}
            await pipeline.record(graph, id=f"{session}{n}", text=text, **there)

    @contextmanager
    def on_behalf_of(self, pipeline: Pipeline, subject: str) -> Iterator[None]:
        """Let the pipeline's client call for a subject."""
        pipeline.subject = subject
        try:
            yield
        finally:
            pipeline.subject = None

    async def events(self, pipeline: Pipeline, graph: str) -> list[object]:
        """List the events of a graph."""
        records = await pipeline.records(pipeline.topics.events, pipeline.place(graph))
        results = [decode(record.value) for record in records]
        return [event for event in results if getattr(event, "graph", None) == graph]

    # what is in mind

    @pytest.mark.source("H1", "S14", "M14", "P28", "M10")
    async def test_the_last_turns_of_a_conversation_are_in_mind_with_its_keywords(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.converse(pipeline, graph, session="old", at=NOON - 2 * HOUR)
        await self.converse(pipeline, graph)
        answer = await pipeline.memory.send(Recent(graph=graph, session="vet", limit=2))
        assert (answer.found, answer.session, answer.state, answer.total) == (True, "vet", "working", 3)
        assert [turn.text for turn in answer.turns] == list(VET[1:])
        assert "grandmother" in answer.keywords
        assert len(answer.keywords) <= 8
        assert (await pipeline.memory.send(Recent(graph=graph))).session == "vet", "the latest, where none is named"
        old = await pipeline.memory.send(Recent(graph=graph, session="old"))
        assert (old.state, old.total, old.turns) == ("idle", 0, []), "an hour later nothing of it is in mind"
        then = await pipeline.memory.send(Recent(graph=graph, as_of=NOON - 2 * HOUR + MINUTE))
        assert [turn.id for turn in then.turns] == ["old0", "old1"]
        assert not (await pipeline.memory.send(Recent(graph="never-written"))).found

    @pytest.mark.source("M14", "E12")
    async def test_keywords_are_words_that_people_would_say(self, pipeline: Pipeline, graph: str) -> None:
        messages = ("鸳鸯锅皆大欢喜。", "她很喜欢郁金香。", "Half of it came back, thankfully, with the kettle.")
        for n, text in enumerate(messages):
            await pipeline.record(graph, id=f"k{n}", text=text, session="talk", at=NOON + n * MINUTE)
        keywords = {
            each.casefold() for each in (await pipeline.memory.send(Recent(graph=graph, session="talk"))).keywords
        }
        assert {"鸳鸯锅", "郁金香", "kettle"} <= keywords
        assert keywords.isdisjoint({"欢喜", "郁金", "喜欢", "half", "back", "thankfully"})
        near = await pipeline.memory.send(Explore(graph=graph, concept="皆大欢喜", hops=3))
        assert not {each.label for each in near.neighbours} & {"欢喜", "郁金", "金香"}

    @pytest.mark.source("H1")
    async def test_of_more_than_fifty_turns_those_that_matter_and_the_latest_stay_in_mind(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="first", text="Remember the code 4711.", importance=0.9, at=NOON)
        await pipeline.record(graph, id="second", text="The tea is green.", at=NOON + 1)
        for n in range(50):
            await pipeline.record(graph, id=f"t{n}", text=f"Sentence number {n}.", at=NOON + 2 + n)
        answer = await pipeline.memory.send(Recent(graph=graph, limit=50))
        ids = [turn.id for turn in answer.turns]
        assert answer.total == 50
        assert ids[0] == "first", "it matters more than all others"
        assert ids[1:] == [f"t{n}" for n in range(1, 50)], "of equal ones the oldest left"

    # kinds of memory

    @pytest.mark.source("H2", "H1")
    async def test_the_working_kind_answers_from_what_is_in_mind_alone(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph, id="long-ago", text="Biscuit had drops before.", session="vet", at=NOON - 3 * HOUR)
        await self.converse(pipeline, graph)
        working = {"memory": "working", "session": "vet"}
        reply = await pipeline.memory.query(graph, "Which drops does Biscuit get?", explain=True, **working)
        assert [passage.id for passage in reply.passages] == ["vet1", "vet0"]
        assert VET[1] in reply.context
        best = reply.passages[0]
        assert best.why is not None
        terms = best.why.terms
        assert best.score == pytest.approx(
            (terms["tf_idf"] + terms["keywords"]) * terms["times_decay"] * terms["times_importance"]
        )
        assert (terms["keywords"], terms["times_importance"]) == (pytest.approx(0.3), pytest.approx(1.0))
        assert not (await pipeline.memory.query(graph, "submarine", **working)).passages
        assert (await pipeline.memory.query(graph, "Which drops does Biscuit get?")).passages[-1:], "all of it"

    @pytest.mark.source("H5", "H6")
    async def test_the_episodic_kind_prefers_what_is_new_and_what_matters(self, pipeline: Pipeline, graph: str) -> None:
        for n, (day, importance) in enumerate([(0, 0.5), (30, 0.5), (30, 1.0), (0, 1.0)]):
            text = f"The kettle whistles {'loudly' if n % 2 else 'softly'}."
            there = {"at": NOON + day * DAY, "importance": importance, "session": f"s{n}"}
            await pipeline.record(graph, id=f"t{n}", text=text, **there)
        request = {"memory": "episodic", "explain": True, "top_passages": 4}
        reply = await pipeline.memory.query(graph, "kettle", **request)
        assert [passage.id for passage in reply.passages] == ["t2", "t1", "t3", "t0"]
        terms = {passage.id: passage.why.terms for passage in reply.passages if passage.why}
        assert terms["t0"]["recency"] == pytest.approx(-1.5), "30 days of −0.05"
        assert terms["t2"]["moment"] == pytest.approx(math.log(1.2))
        assert "importance" not in terms["t2"]
        only = await pipeline.memory.query(
            graph, "kettle", only={"since": NOON + DAY, "min_importance": 0.9}, **request
        )
        assert [passage.id for passage in only.passages] == ["t2"]

    @pytest.mark.source("P31")
    @pytest.mark.parametrize("text", ["then?", "And then?", "what happened next?", "然后呢？", "后来呢", "接着说"])
    async def test_and_then_is_answered_by_the_last_turns_of_the_conversation(
        self, pipeline: Pipeline, graph: str, text: str
    ) -> None:
        await self.converse(pipeline, graph, session="old", at=NOON - DAY)
        await pipeline.record(graph, id="before", text="Then we went home.", session="vet", at=NOON - 2 * HOUR)
        await self.converse(pipeline, graph)
        reply = await pipeline.memory.query(graph, text)
        assert reply.matched
        assert [passage.id for passage in reply.passages] == ["vet2", "vet1", "vet0"]
        assert VET[2] in reply.context.splitlines()[-1]
        other = await pipeline.memory.query(graph, text, session="old")
        assert [passage.id for passage in other.passages] == ["old2", "old1", "old0"], "it fell silent long ago"

    @pytest.mark.source("M14", "P31")
    async def test_a_question_that_goes_on_knows_what_the_conversation_was_about(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.converse(pipeline, graph)
        await pipeline.record(graph, id="other", text="Grandfather was twice at the dentist.", session="x", at=NOON)
        await pipeline.record(graph, id="drops", text="Ear drops are dear.", session="y", at=NOON - DAY)
        alone = await pipeline.memory.query(graph, "and what did she prescribe?")
        existing = await pipeline.memory.query(graph, "and what did she prescribe?", session="vet")
        assert {seed.id for seed in existing.seeds} > {seed.id for seed in alone.seeds}
        assert "drops" in {passage.id for passage in existing.passages}

    # its end

    @pytest.mark.source("S1", "S15", "S16", "S20", "P38")
    async def test_a_conversation_that_somebody_ends_is_summed_up_and_the_next_inherits_that(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.converse(pipeline, graph)
        outcome = await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        assert outcome.status == "accepted"
        answer = (await pipeline.memory.send(Recap(graph=graph), after=outcome.position.source)).sessions[0]
        assert answer.state == "ended"
        assert answer.ended is not None
        assert (answer.ended.reason, answer.ended.at, answer.ended.by) == ("said", NOON + 2 * MINUTE, "extractive 1")
        assert "Ada: Biscuit the cat has ear mites, the vet says." in answer.ended.summary
        mind = await pipeline.memory.send(Recent(graph=graph, session="vet"))
        assert (mind.state, mind.turns) == ("ended", []), "what ended is no longer in mind"
        await pipeline.record(graph, id="next", text="Good morning!", session="today", at=NOON + DAY)
        mind = await pipeline.memory.send(Recent(graph=graph, session="today"))
        assert mind.inherited is not None
        assert (mind.inherited.session, mind.inherited.recorded) == ("vet", True)
        assert mind.inherited.summary == answer.ended.summary
        recorded = [event for event in await self.events(pipeline, graph) if isinstance(event, SessionSummarised)]
        assert [(event.text, event.by) for event in recorded] == [(answer.ended.summary, "extractive 1")]
        assert set(recorded[0].turns) <= {"vet0", "vet1", "vet2"}

    @pytest.mark.source("P38", "S16")
    async def test_where_no_end_was_recorded_the_last_conversation_is_inherited_all_the_same(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.converse(pipeline, graph)
        await pipeline.record(graph, id="next", text="Good morning!", session="today", at=NOON + DAY)
        inherited = (await pipeline.memory.send(Recent(graph=graph))).inherited
        assert inherited is not None
        assert (inherited.session, inherited.recorded) == ("vet", False)
        assert "ear mites" in inherited.summary

    @pytest.mark.source("S15")
    async def test_what_is_said_behind_an_end_is_another_conversation_under_its_name(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.converse(pipeline, graph)
        await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        again = await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        assert again.status == "rejected"
        assert "nothing to end" in (again.reason or "")
        await pipeline.record(graph, id="more", text="Onions are cheap.", session="vet", at=NOON + HOUR)
        answer = await pipeline.memory.send(Recent(graph=graph, session="vet"))
        assert (answer.state, [turn.id for turn in answer.turns]) == ("working", ["more"])
        assert answer.inherited is not None
        assert answer.inherited.session == "vet"

    @pytest.mark.source("S1", "S15")
    async def test_a_short_conversation_is_consolidated_once_it_was_ended(self, pipeline: Pipeline, graph: str) -> None:
        await self.converse(pipeline, graph)
        await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        await pipeline.record(graph, id="later", text="Onions.", session="other", at=NOON + HOUR)
        windows = [each for each in await self.events(pipeline, graph) if isinstance(each, ConsolidationWindowClosed)]
        assert [window.at for window in windows] == [NOON + 2 * MINUTE]

    @pytest.mark.source("S1", "S15", "P38")
    async def test_conversations_end_by_silence_size_and_a_shift_of_topic_where_a_graph_wants_that(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.memory.configure(graph, end_sessions=1, session_turns=4, topic_shift=0.2)
        texts = [
            "The vet prescribed ear drops for Biscuit.",
            "Biscuit hates the ear drops of the vet.",
            "Grandmother repairs clocks in the old cellar.",
            "Old clocks fill the cellar of grandmother.",
            "Grandmother sells clocks from the cellar.",
            "The cellar of grandmother smells of old clocks.",
            "Clocks and the cellar make grandmother happy.",
        ]
        for n, text in enumerate(texts):
            await pipeline.record(graph, id=f"t{n}", text=text, at=NOON + n * MINUTE)
        await pipeline.record(graph, id="late", text="Hello again, dear diary.", at=NOON + 5 * HOUR)
        ends = [event for event in await self.events(pipeline, graph) if isinstance(event, SessionEnded)]
        assert [(end.reason, end.through) for end in ends] == [("topic shift", "t1"), ("size", "t5"), ("idle", "t6")]
        assert ends[-1].at == NOON + 6 * MINUTE + HOUR // 2

    async def test_an_end_that_is_taken_back_never_was(self, pipeline: Pipeline, graph: str) -> None:
        await self.converse(pipeline, graph)
        before = pipeline.graph(graph)
        assert before is not None
        digest, events = before.digest(), before.events
        await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        undone = await pipeline.memory.send(Undo(graph=graph, first=events))
        assert undone.status == "accepted"
        after = pipeline.graph(graph)
        assert after is not None
        assert after.digest() == digest
        assert (await pipeline.memory.send(Recent(graph=graph, session="vet"))).state == "working"

    async def test_a_summary_goes_with_a_turn_that_it_quotes(self, pipeline: Pipeline, graph: str) -> None:
        await self.converse(pipeline, graph)
        await pipeline.memory.send(EndSession(graph=graph, session="vet"))
        answer = (await pipeline.memory.send(Recap(graph=graph))).sessions[0].ended
        assert answer is not None
        await pipeline.memory.forget(graph, turns=answer.turns[:1])
        answer = (await pipeline.memory.send(Recap(graph=graph))).sessions[0].ended
        assert answer is not None
        assert (answer.reason, answer.summary, answer.turns) == ("said", "", [])

    # switches

    @pytest.mark.source("M21")
    async def test_while_recording_is_paused_nothing_is_kept_and_everybody_is_told(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="before", text="The kettle is broken.", at=NOON)
        assert (await switches.pause(pipeline.memory, graph, recalling=False)).status == "accepted"
        secret = {"id": "secret", "graph": graph, "speaker": "Ada", "text": "Xylophones are my secret.", "at": NOON}
        letters = len(await pipeline.records(pipeline.topics.dead_letters, 0))
        outcome = await pipeline.memory.record(secret)
        assert outcome.status == "rejected"
        assert "does not record at present" in (outcome.reason or "")
        assert len(await pipeline.records(pipeline.topics.dead_letters, 0)) == letters, "not even as a dead letter"
        assert [type(event) for event in (await self.events(pipeline, graph))[-1:]] == [TurnNotRecorded]
        answer = await pipeline.memory.describe(graph)
        assert (answer.turns, answer.unrecorded, answer.settings["recording"]) == (1, 1, 0)
        assert (await pipeline.memory.configure(graph, "elephant")).status == "accepted"
        assert (await pipeline.memory.record(secret)).status == "rejected", "a preset does not switch it on again"
        assert (await pipeline.memory.query(graph, "what is broken?")).passages, "what was recorded comes back"
        assert (await switches.resume(pipeline.memory, graph)).status == "accepted"
        assert (await pipeline.memory.record(secret)).status == "accepted"
        answer = await pipeline.memory.describe(graph)
        assert (answer.turns, answer.unrecorded, answer.preset) == (2, 2, "elephant")
        assert isinstance((await self.events(pipeline, graph))[-1], TurnRecorded)

    @pytest.mark.source("M21")
    async def test_while_recalling_is_paused_nothing_comes_back_and_the_asker_is_told(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="before", text="The kettle is broken.", at=NOON)
        assert not (await pipeline.memory.query(graph, "what is broken?")).paused
        there = (await switches.pause(pipeline.memory, graph, recording=False)).position.source
        reply = await pipeline.memory.query(graph, "what is broken?", reinforce=True, after=there)
        assert (reply.found, reply.paused, reply.matched, reply.passages, reply.context) == (True, True, False, [], "")
        mind = await pipeline.memory.send(Recent(graph=graph))
        assert (mind.found, mind.paused, mind.turns) == (True, True, [])
        await pipeline.record(graph, id="after", text="The kettle is repaired.", at=NOON + 1)
        there = (await switches.resume(pipeline.memory, graph)).position.source
        assert len((await pipeline.memory.query(graph, "what about the kettle?", after=there)).passages) == 2

    # several graphs

    @pytest.mark.source("P44")
    async def test_several_graphs_are_asked_at_once_and_each_passage_has_its_graph(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        ours, theirs, closed = (f"{graph}-{name}" for name in ("ours", "theirs", "closed"))
        for name in (ours, theirs, closed):
            for n, text in enumerate(("The kettle is broken.", "Who repairs the kettle?", "Onions are cheap.")):
                await pipeline.record(name, id=f"{name}-{n}", text=f"{text} So they say in {name}.", at=NOON + n)
        await pipeline.memory.send(Grant(graph=closed, subject="somebody", rights=["read"]))
        request = {"top_passages": 3, "budget": 200}
        with self.on_behalf_of(pipeline, "planner"):
            merged = await query_several(pipeline.memory, [ours, theirs, closed, "never-was"], "kettle", **request)
        answer = {each.graph: (each.found, each.failure and each.failure.code) for each in merged.graphs}
        assert answer == {
            ours: (True, None),
            theirs: (True, None),
            closed: (False, "forbidden"),
            "never-was": (False, None),
        }
        assert [(each.graph, each.rank) for each in merged.passages] == [(ours, 1), (theirs, 1), (ours, 2)]
        for name in (ours, theirs):
            alone = await pipeline.memory.query(name, "kettle", top_passages=3)
            ids = [passage.id for passage in alone.passages]
            assert [each.passage.id for each in merged.passages if each.graph == name] == ids[: 1 + (name == ours)]
            assert f"# {name}" in merged.context
        assert closed not in merged.context
        assert 0 < merged.tokens <= 200
        with pytest.raises(InvalidMessageError, match="name 1 to"):
            await query_several(pipeline.memory, [], "kettle")

    # rights

    @pytest.mark.source("P44")
    async def test_a_graph_that_grants_rights_serves_only_subjects_that_have_them(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="t1", text="The kettle is broken.", at=NOON)
        memory = pipeline.memory
        with self.on_behalf_of(pipeline, "stranger"):
            assert (await memory.query(graph, "kettle")).passages, "open, while nobody was granted anything"
        assert (await memory.send(Grant(graph=graph, subject="planner", rights=["read"]))).status == "accepted"
        with self.on_behalf_of(pipeline, "stranger"):
            for refused in (memory.query(graph, "kettle"), memory.turns(graph), memory.send(Recent(graph=graph))):
                with pytest.raises(QueryFailedError) as answer:
                    await refused
                assert answer.value.code == "forbidden"
        turn = {"id": "t2", "graph": graph, "speaker": "Bot", "text": "Buy a kettle."}
        with self.on_behalf_of(pipeline, "planner"):
            assert (await memory.query(graph, "kettle")).passages
            with pytest.raises(QueryFailedError, match="may not write"):
                await memory.query(graph, "kettle", reinforce=True)
            outcome = await memory.record(turn)
            assert (outcome.status, "may not write" in (outcome.reason or "")) == ("rejected", True)
            assert (await memory.send(Grant(graph=graph, subject="planner", rights=["write"]))).status == "rejected", (
                "only who may admin"
            )
        await memory.send(Grant(graph=graph, subject="planner", rights=["write"]))
        with self.on_behalf_of(pipeline, "planner"):
            assert (await memory.record(turn)).status == "accepted"
        assert (await memory.describe(graph)).access == {"planner": ["read", "write"]}
        await memory.send(Revoke(graph=graph, subject="planner", rights=["read", "write"]))
        with self.on_behalf_of(pipeline, "planner"), pytest.raises(QueryFailedError, match="may not read"):
            await memory.query(graph, "kettle")
        assert (await memory.query(graph, "kettle")).passages, "who runs the memory may do everything"
        again = await memory.send(Revoke(graph=graph, subject="planner", rights=["read"]))
        assert (again.status, "nothing to revoke" in (again.reason or "")) == ("rejected", True)

    async def test_who_may_only_forget_takes_back_no_revocation_and_no_grant(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        memory = pipeline.memory
        await pipeline.record(graph, id="t1", text="The kettle is broken.", at=NOON)
        await memory.send(Grant(graph=graph, subject="planner", rights=["write", "forget"]))
        await memory.send(Revoke(graph=graph, subject="planner", rights=["write"]))
        granted, revoked = 2, 3
        with self.on_behalf_of(pipeline, "planner"):
            for first, last in ((revoked, revoked), (granted, granted), (granted, revoked), (0, None)):
                outcome = await memory.send(Undo(graph=graph, first=first, last=last))
                assert (outcome.status, "right to admin" in (outcome.reason or "")) == ("rejected", True)
            turn = {"id": "t2", "graph": graph, "speaker": "Bot", "text": "Buy a kettle."}
            assert (await memory.record(turn)).status == "rejected"
            assert (await memory.send(Undo(graph=graph, first=1, last=1))).status == "accepted", "a turn"
        with self.on_behalf_of(pipeline, "stranger"), pytest.raises(QueryFailedError, match="may not read"):
            await memory.query(graph, "kettle")
        assert (await memory.describe(graph)).access == {"planner": ["forget"]}
        assert (await memory.send(Undo(graph=graph, first=revoked, last=revoked))).status == "accepted", (
            "who runs the memory may"
        )
        assert (await memory.describe(graph)).access == {"planner": ["forget", "write"]}
