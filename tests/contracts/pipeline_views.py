"""The pipeline, what else may be asked: what talks were about, how often something comes up, what a concept is."""

from __future__ import annotations

import pytest

from emgas.errors import InvalidMessageError
from emgas.messages.turns import Undo
from emgas.messages.views import Explore, Habits, Recap, Trend
from emgas.times import HOUR_MS as HOUR
from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline
from tests.support.pipeline_steps import PipelineSteps

TALKS = {
    "vet": (
        "Biscuit the cat has ear mites, the vet says.",
        "Poor Biscuit! What did the vet prescribe?",
        "The vet prescribed ear drops for Biscuit, twice a day.",
    ),
    "clocks": (
        "Grandfather repairs old clocks in the cellar.",
        "The cellar is full of onions.",
        "The dog hates onions.",
    ),
}


class Views(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    async def talk(self, pipeline: Pipeline, graph: str) -> None:
        """Say TALKS, a day apart, each in its session."""
        for day, (session, texts) in enumerate(TALKS.items()):
            for n, text in enumerate(texts):
                at = NOON + day * DAY + n
                await pipeline.record(graph, id=f"{session}{n}", text=text, session=session, speaker="Ada", at=at)

    @pytest.mark.source("S16", "P38", "H7")
    async def test_the_last_conversations_are_recapped_in_their_own_words(self, pipeline: Pipeline, graph: str) -> None:
        await self.talk(pipeline, graph)
        answer = await pipeline.memory.send(Recap(graph=graph, words=20))
        assert (answer.found, answer.total, [each.session for each in answer.sessions]) == (True, 2, ["clocks", "vet"])
        vet = answer.sessions[1]
        assert (vet.turns, vet.since, vet.speakers) == (3, NOON, ["Ada"])
        assert {"Biscuit", "vet", "ear"} <= set(vet.concepts)
        assert vet.summary
        assert all(quote.text in TALKS["vet"][int(quote.turn[-1])] for quote in vet.summary)
        assert not any(quote.text.endswith("?") for quote in vet.summary)
        assert sum(len(quote.text.split()) for quote in vet.summary) <= 20
        assert [
            each.session
            for each in (await pipeline.memory.send(Recap(graph=graph, sessions=["vet", "never"]))).sessions
        ] == ["vet"]
        then = await pipeline.memory.send(Recap(graph=graph, as_of=NOON + HOUR))
        assert [each.session for each in then.sessions] == ["vet"]
        assert not (await pipeline.memory.send(Recap(graph="never-written"))).found

    @pytest.mark.source("P22")
    async def test_how_often_since_when_and_when_not_is_counted(self, pipeline: Pipeline, graph: str) -> None:
        mornings = [0, 1, 2, 3, 12, 13]
        for day in mornings:
            text = f"I had a large latte, number {day}."
            await pipeline.record(graph, id=f"latte{day}", text=text, at=NOON + day * DAY)
        await pipeline.record(graph, id="tea", text="I drink tea.", at=NOON + 5 * DAY)
        answer = await pipeline.memory.send(Trend(graph=graph, text="How often do I drink latte?"))
        assert (answer.concepts, answer.turns, answer.days, answer.every) == (["latte"], 6, 6, 1.0)
        assert (answer.first, answer.last) == (NOON, NOON + 13 * DAY)
        assert [period.since for period in answer.periods] == [NOON - 12 * HOUR + day * DAY for day in mornings]
        assert [(pause.since, pause.until) for pause in answer.pauses] == [(NOON + 3.5 * DAY, NOON + 11.5 * DAY)]
        assert (sum(answer.hours), answer.hours[12], sum(answer.weekdays)) == (6, 6, 6)
        assert answer.ids[0] == "latte13"
        some = await pipeline.memory.send(Trend(graph=graph, text="latte", only={"until": NOON + 2 * DAY}, by="month"))
        assert (some.turns, len(some.periods)) == (2, 1)
        none = await pipeline.memory.send(Trend(graph=graph, text="submarine"))
        assert (none.found, none.turns, none.first) == (True, 0, None)
        assert not (await pipeline.memory.send(Trend(graph="never-written", text="latte"))).found

    @pytest.mark.source("P22", "P23", "P40")
    async def test_a_habit_is_told_with_its_turns_and_comes_first_where_that_is_asked(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.memory.configure(graph, "elephant", least_turns=4)
        for day in range(14):
            text = "No latte today, I am ill." if day == 9 else "A latte at the corner."
            await pipeline.record(
                graph, id=f"latte{day}", text=text, speaker="Ada", session=f"{day}", at=NOON + day * DAY
            )
        answer = await pipeline.memory.send(Habits(graph=graph, text="how often do I drink latte?"))
        (habit,) = answer.habits
        assert (habit.speaker, habit.turns, habit.first, habit.last) == ("Ada", 13, NOON, NOON + 13 * DAY)
        assert "latte" in habit.text
        assert [each.turn for each in habit.exceptions] == ["latte9"]
        assert set(habit.members) == {f"latte{day}" for day in range(14) if day != 9}
        reply = await pipeline.memory.query(graph, "How often do I drink latte?", asker="Ada", top_passages=4)
        assert (reply.passages[0].kind, reply.passages[0].text) == ("habit", habit.text)
        assert len(reply.passages) == 4
        assert habit.text.removeprefix("Ada: ") in reply.context
        assert (await pipeline.memory.send(Habits(graph=graph, as_of=NOON + 2 * DAY))).habits == []
        assert not (await pipeline.memory.send(Habits(graph="never-written"))).found

    @pytest.mark.source("P38")
    async def test_what_holds_now_comes_before_what_is_history_until_that_is_undone(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        for day, text in enumerate(("I live in Berlin, near the zoo.", "It rains.", "We moved to Lisbon last week!")):
            await pipeline.record(graph, id=f"t{day}", text=text, speaker="Ada", session=f"{day}", at=NOON + day * DAY)
        request = {"asker": "Ada", "top_passages": 3}
        result = (await pipeline.memory.query(graph, "Where do I live?", **request)).passages
        assert [(each.id, each.superseded_by) for each in result[:2]] == [("t2", None), ("t0", "t2")]
        then = await pipeline.memory.query(graph, "Where do I live?", as_of=NOON + DAY, **request)
        assert (then.passages[0].id, then.passages[0].superseded_by) == ("t0", None)
        contents = pipeline.graph(graph)
        assert contents is not None
        await pipeline.memory.send(Undo(graph=graph, first=contents.events - 1))
        result = (await pipeline.memory.query(graph, "Where do I live?", **request)).passages
        assert {(each.id, each.superseded_by) for each in result[:2]} == {("t0", None), ("t2", None)}
        assert result[0].score == pytest.approx(result[1].score, abs=0.1), "neither is history, and both say where"

    @pytest.mark.source("P49", "H13")
    async def test_a_photo_is_found_by_its_caption_and_comes_back_with_its_turn(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        photo = {"uri": "photos/harbour.png", "mime": "image/png", "caption": "Sailing boats at sunset"}
        await pipeline.record(graph, id="t1", text="Look at this!", at=NOON, attachments=[photo])
        await pipeline.record(graph, id="t2", text="The boats were loud at night.", at=NOON + DAY)
        result = (await pipeline.memory.query(graph, "Is there a photo of the boats?")).passages
        assert result[0].id == "t1"
        assert [each.model_dump(exclude_defaults=True) for each in result[0].attachments] == [photo]
        only = await pipeline.memory.query(graph, "boats", only={"modality": ["image"]})
        assert [each.id for each in only.passages] == ["t1"]
        assert "[image: Sailing boats at sunset]" in only.context
        assert (await pipeline.memory.query(graph, "boats", only={"modality": ["audio"]})).passages == []

    @pytest.mark.source("E2", "H12", "S10")
    async def test_a_concept_is_shown_with_its_neighbours_and_ways_to_another(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.talk(pipeline, graph)
        answer = await pipeline.memory.send(Explore(graph=graph, concept="Clocks", to="dog", hops=2, limit=100))
        assert answer.concept is not None
        assert (answer.concept.id, answer.concept.turns, answer.concept.created) == ("clock", 1, NOON + DAY)
        assert 0 < answer.concept.strength <= 2
        assert (answer.ids, answer.concept.forms) == (["clocks0"], {"clocks": 1})
        near = {each.id: each for each in answer.neighbours}
        assert (near["grandfather"].hops, near["grandfather"].confidence) == (1, 1.0)
        assert (near["dog"].hops, near["dog"].confidence, near["dog"].path[0]) == (2, 0.5, "clock")
        assert [each.hops for each in answer.neighbours] == sorted(each.hops for each in answer.neighbours)
        assert answer.paths
        assert all((way[0], way[-1]) == ("clock", "dog") for way in answer.paths)
        assert not (await pipeline.memory.send(Explore(graph=graph, concept="submarine"))).found
        assert answer.relations == answer.inferred == []
        assert not (await pipeline.memory.send(Explore(graph="never-written", concept="clock"))).found

    @pytest.mark.source("H9", "H12")
    async def test_who_lives_where_is_told_by_typed_relations_and_inferred_over_steps(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        messages = (
            "I live in Lisbon.",
            "Lisbon is part of Portugal.",
            "我喜欢川菜。",
            "I live in Lisbon, near the river.",
        )
        for n, text in enumerate(messages):
            await pipeline.record(graph, id=f"r{n}", text=text, speaker="Ada", at=NOON + n)
        answer = await pipeline.memory.send(Explore(graph=graph, concept="Ada", relation="lives-in", hops=3))
        assert answer.concept is not None
        lives, likes = answer.relations
        assert (lives.source_label, lives.type, lives.target, lives.times) == ("Ada", "lives-in", "lisbon", 2)
        assert (lives.first, lives.last, lives.ids) == (NOON, NOON + 3, ["r3", "r0"])
        assert (likes.type, likes.target, likes.ids) == ("likes", "川菜", ["r2"])
        results = [(each.label, each.hops, each.confidence) for each in answer.inferred]
        assert results == [("Lisbon", 1, 1.0), ("Portugal", 2, 0.5)]
        assert answer.inferred[1].path == ["@speaker:ada", "lisbon", "portugal"]
        place = await pipeline.memory.send(Explore(graph=graph, concept="Lisbon"))
        assert place.concept is not None
        assert (place.concept.of, len(place.relations)) == ("place", 2)
        then = await pipeline.memory.send(Explore(graph=graph, concept="Ada", relation="lives-in", hops=1))
        assert [each.label for each in then.inferred] == ["Lisbon"]

    @pytest.mark.source("H9", "H10", "H12")
    async def test_the_semantic_memory_tells_what_is_known_of_what_is_asked(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        messages = ("I live in Berlin.", "The river is cold.", "I live in Lisbon now.", "Lisbon is part of Portugal.")
        for n, text in enumerate(messages):
            await pipeline.record(graph, id=f"e{n}", text=text, speaker="Ada", at=NOON + n * DAY)
        for n, text in enumerate(("我喜欢川菜。", "我现在住在上海。")):
            await pipeline.record(graph, id=f"z{n}", text=text, speaker="小梅", at=NOON + n * DAY)
        request = {"asker": "Ada", "memory": "semantic", "explain": True}
        reply = await pipeline.memory.query(graph, "Where do I live?", **request)
        answers = [(each.source_label, each.type, each.target_label, each.history) for each in reply.relations]
        assert answers == [("Ada", "lives-in", "Lisbon", False), ("Ada", "lives-in", "Berlin", True)]
        assert "(Ada lives in Lisbon)" in reply.context
        assert "(Ada lives in Berlin)" not in reply.context, "what is history is not told as if it held"
        best = reply.passages[0]
        assert best.why is not None
        assert set(best.why.terms) == {"cosine", "graph", "times_importance", "times_current"}
        assert [each.id for each in reply.passages].index("e2") == 0, "what holds now is first"
        now = best.why.terms
        total = (now["cosine"] + now["graph"]) * now["times_importance"] * now["times_current"]
        assert best.score == pytest.approx(total)
        place = await pipeline.memory.query(graph, "What about Lisbon?", memory="semantic")
        assert next((each.type, each.target_label) for each in place.relations) == ("part-of", "Portugal")
        chinese = await pipeline.memory.query(graph, "我住在哪里？", asker="小梅", memory="semantic")
        assert ("lives-in", "上海") in [(each.type, each.target_label) for each in chinese.relations]
        assert not (await pipeline.memory.query(graph, "Where do I live?", asker="Ada")).relations
        inferred = await pipeline.memory.send(Explore(graph=graph, concept="Ada", relation="lives-in", hops=3))
        assert [each.label for each in inferred.inferred] == ["Lisbon", "Portugal"], "nobody lives where she did"
        with pytest.raises(InvalidMessageError, match="default mode"):
            await pipeline.memory.query(graph, "Lisbon?", memory="semantic", mode="ppr")

    @pytest.mark.source("H8")
    async def test_a_trend_is_of_a_speaker_or_a_session_where_no_word_is_asked_for(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        for day, (speaker, session) in enumerate((("Ada", "a"), ("Ben", "a"), ("Ada", "b"), ("Ada", "b"))):
            there = {"speaker": speaker, "session": session, "at": NOON + day * DAY}
            await pipeline.record(graph, id=f"t{day}", text=f"The kettle number {day}.", **there)
        of = {
            "all": await pipeline.memory.send(Trend(graph=graph)),
            "ada": await pipeline.memory.send(Trend(graph=graph, only={"speakers": ["Ada"]})),
            "a": await pipeline.memory.send(Trend(graph=graph, only={"sessions": ["a"]})),
        }
        assert {name: (answer.turns, answer.first, answer.last) for name, answer in of.items()} == {
            "all": (4, NOON, NOON + 3 * DAY),
            "ada": (3, NOON, NOON + 3 * DAY),
            "a": (2, NOON, NOON + DAY),
        }
        assert [period.turns for period in of["a"].periods] == [1, 1]
        assert of["ada"].concepts == []

    async def test_a_phrase_is_explored_as_it_is_written_and_forgotten_with_its_words(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="y0", text="We flew to New York with the trumpet.", at=NOON)
        await pipeline.record(graph, id="y1", text="The dog likes the trumpet.", at=NOON + 1)
        for n in range(3):
            await pipeline.record(graph, id=f"z{n}", text=f"Onions grow in cellar number {n}.", at=NOON + DAY)
        answer = await pipeline.memory.send(Explore(graph=graph, concept="New York", to="dog"))
        assert answer.concept is not None
        existing = answer.concept
        assert (existing.id, existing.label, existing.of, answer.ids) == ("new york", "New York", "place", ["y0"])
        assert "trumpet" in {each.id for each in answer.neighbours}
        assert ["new york", "trumpet", "dog"] in answer.paths
        await pipeline.memory.forget(graph, concepts=["New York"])
        assert not (await pipeline.memory.send(Explore(graph=graph, concept="New York"))).found

    @pytest.mark.source("P11")
    async def test_a_turn_that_is_read_tells_what_it_says_of_time_by_its_senders_clock(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        late = NOON + 6 * HOUR  # 18:00 UTC, and two in the morning of the next day in Shanghai
        shanghai = {"timezone": "Asia/Shanghai"}
        await pipeline.record(graph, id="c0", text="明天下午两点开会，每周一游泳。", at=late, metadata=shanghai)
        (turn,) = (await pipeline.memory.turns(graph)).turns
        midnight = NOON + 12 * HOUR
        day, time, often = turn.times
        assert (day.kind, day.since) == ("", midnight + DAY)
        assert (time.kind, time.since, time.confidence) == ("time", midnight + DAY + 14 * HOUR, 1.0)
        assert (often.kind, often.value) == ("set", "FREQ=WEEKLY;BYDAY=MO")

    @pytest.mark.source("P10")
    async def test_a_turn_tells_whom_its_pronouns_mean_and_nothing_where_that_is_open(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        talk = [("Ada", "I met Mary in Lisbon."), ("Ben", "Did she like it there?"), ("Ada", "我妈妈来了，她很高兴。")]
        for n, (speaker, text) in enumerate(talk):
            await pipeline.record(graph, id=f"p{n}", text=text, speaker=speaker, at=NOON + n)
        turns = {turn.id: turn for turn in (await pipeline.memory.turns(graph)).turns}
        bound = {
            id: [(turn.text[each.start : each.end], each.concept) for each in turn.mentions]
            for id, turn in turns.items()
        }
        assert bound["p0"] == [("I", "@speaker:ada")]
        assert bound["p1"] == [("she", "mary"), ("there", "lisbon")]
        assert bound["p2"] == [("我", "@speaker:ada"), ("她", "妈妈")]
