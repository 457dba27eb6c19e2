"""The pipeline, what is in there: turns read back, graphs listed, pictures, and two moments compared."""

from __future__ import annotations

import asyncio

import pytest

from emgas.errors import InvalidMessageError, QueryFailedError
from emgas.messages.forgetting import Forget
from emgas.messages.pictures import Compare, Picture
from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline
from tests.support.pipeline_steps import WEEKS, PipelineSteps

TALK = (
    "Biscuit the cat has ear mites.",
    "The vet prescribed ear drops for Biscuit.",
    "Grandfather repairs old clocks.",
    "The clocks stand in the kitchen.",
)


class Contents(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    async def tell(self, pipeline: Pipeline, graph: str) -> None:
        """Say TALK, a day apart, in two sessions, until a question sees all of it: a reader may lag behind."""
        for n, text in enumerate(TALK):
            facts = {"session": f"s{n // 2}", "speaker": "Ada", "at": NOON + n * DAY, "metadata": {"n": n}}
            there = await pipeline.record(graph, id=f"t{n}", text=text, **facts)
        await pipeline.memory.turns(graph, after=there.position.source)

    # read

    @pytest.mark.source("H4")
    async def test_turns_are_read_back_as_they_were_said(self, pipeline: Pipeline, graph: str) -> None:
        await self.tell(pipeline, graph)
        page = await pipeline.memory.turns(graph)
        assert (page.found, page.total, page.next) == (True, 4, None)
        texts = [(turn.id, turn.session, turn.text, turn.at, turn.metadata) for turn in page.turns]
        assert texts == [(f"t{n}", f"s{n // 2}", text, NOON + n * DAY, {"n": n}) for n, text in enumerate(TALK)]
        assert page.position.partition == pipeline.place(graph)

    @pytest.mark.parametrize("newest", [False, True])
    async def test_pages_follow_each_other_until_nothing_is_left(
        self, pipeline: Pipeline, graph: str, newest: bool
    ) -> None:
        await self.tell(pipeline, graph)
        read, cursor = list[str](), None
        while True:
            page = await pipeline.memory.turns(graph, limit=3, newest=newest, cursor=cursor)
            read += [turn.id for turn in page.turns]
            if page.next is None:
                break
            cursor = page.next
            await pipeline.memory.forget(graph, turns=["t1"])  # what leaves meanwhile makes no page begin elsewhere
        assert read == (["t3", "t2", "t1", "t0"] if newest else ["t0", "t1", "t2", "t3"])

    @pytest.mark.source("S14", "M3")
    async def test_turns_are_found_by_id_session_and_concept(self, pipeline: Pipeline, graph: str) -> None:
        await self.tell(pipeline, graph)
        request = {
            ("t3", "t0"): {"ids": ["t3", "nothing", "t0"]},
            ("t2", "t3"): {"session": "s1"},
            ("t0", "t1"): {"concept": "Biscuit"},
            (): {"session": "s7"},
        }
        for ids, expected in request.items():
            page = await pipeline.memory.turns(graph, **expected)
            assert (tuple(turn.id for turn in page.turns), page.next) == (ids, None)
        past = await pipeline.memory.turns(graph, as_of=NOON + DAY)
        assert [turn.id for turn in past.turns] == ["t0", "t1"]

    async def test_ids_and_a_walk_do_not_go_together(self, pipeline: Pipeline, graph: str) -> None:
        with pytest.raises(InvalidMessageError, match="leave out `session`"):
            await pipeline.memory.turns(graph, ids=["t1"], session="s0")

    # list

    async def test_graphs_are_listed_each_once_in_pages(self, pipeline: Pipeline, graph: str) -> None:
        names = [f"{graph}-{n}" for n in range(5)]
        await asyncio.gather(*(pipeline.record(name) for name in names))
        listed = await pipeline.memory.graphs()
        assert set(names) <= set(listed)
        assert listed == sorted(set(listed))
        await pipeline.memory.query("never-written-to", "what?")
        assert "never-written-to" not in await pipeline.memory.graphs()

    # picture

    async def test_a_picture_shows_concepts_their_links_and_the_turns_that_hold_them(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.tell(pipeline, graph)
        seen = await pipeline.memory.send(Picture(graph=graph, passages=10))
        concepts, links, passages = seen.concepts, seen.links, seen.passages
        assert {"biscuit", "clock", "vet"} <= set(concepts.ids)
        assert len(set(concepts.ids)) == len(concepts.ids) == seen.total
        assert concepts.strengths == sorted(concepts.strengths, reverse=True)
        assert not any(name.startswith("@") for name in concepts.ids), "marks are no words"
        pairs = {
            frozenset((concepts.ids[a], concepts.ids[b])) for a, b in zip(links.sources, links.targets, strict=True)
        }
        assert frozenset(("biscuit", "vet")) in pairs
        assert len(pairs) == len(links.sources), "each link once"
        assert passages.ids == ["t3", "t2", "t1", "t0"], "the newest first"
        contents = {(passages.ids[p], concepts.ids[c]) for p, c in zip(passages.held_by, passages.holds, strict=True)}
        assert {("t0", "biscuit"), ("t1", "biscuit"), ("t2", "clock")} <= contents
        assert (sum(seen.activity.turns), seen.activity.first, seen.activity.last) == (4, NOON, NOON + 3 * DAY)

    async def test_a_picture_grows_from_what_is_named_hop_by_hop(self, pipeline: Pipeline, graph: str) -> None:
        await self.tell(pipeline, graph)
        for hops, reached in [(0, {0}), (1, {0, 1})]:
            concepts = (await pipeline.memory.send(Picture(graph=graph, around=["Biscuit"], hops=hops))).concepts
            assert concepts.ids[0] == "biscuit"
            assert set(concepts.hops) == reached
            assert concepts.hops == sorted(concepts.hops)
        assert "clock" not in concepts.ids, "nothing links the two conversations at one hop"
        small = await pipeline.memory.send(Picture(graph=graph, around=["Biscuit"], nodes=2, links=1))
        assert (len(small.concepts.ids), len(small.links.sources)) == (2, 1)

    async def test_a_picture_of_the_past_is_that_of_a_memory_that_heard_no_more(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        await self.live(pipeline, f"{graph}-then", WEEKS[:5])
        when = WEEKS[4][1]
        past, then = [
            await pipeline.memory.send(Picture(graph=name, as_of=when, passages=10))
            for name in (graph, f"{graph}-then")
        ]
        assert past.concepts.ids
        assert past.model_dump(exclude={"graph", "position"}) == then.model_dump(exclude={"graph", "position"})
        assert not (await pipeline.memory.send(Picture(graph=graph, as_of=WEEKS[0][1] - 1))).found

    # compare

    async def test_what_changed_between_two_times_is_told(self, pipeline: Pipeline, graph: str) -> None:
        await self.tell(pipeline, graph)
        changed = await pipeline.memory.send(Compare(graph=graph, since=NOON + DAY, until=NOON + 3 * DAY))
        assert (changed.found, changed.turns, changed.added) == (True, [2, 4], ["t2", "t3"])
        born = {each.id for each in changed.born}
        assert "clock" in born
        assert "biscuit" not in born
        assert changed.totals["born"] == len(born)
        assert "biscuit" in {each.id for each in changed.weaker}
        few = await pipeline.memory.send(Compare(graph=graph, since=NOON - 1, limit=1))
        assert (len(few.born), few.totals["born"] > 1, few.until) == (1, True, NOON + 3 * DAY)
        assert not (await pipeline.memory.send(Compare(graph=graph, since=NOON - DAY, until=NOON - 1))).found

    # of all of them

    async def test_of_an_unknown_graph_nothing_is_told(self, pipeline: Pipeline, graph: str) -> None:
        memory = pipeline.memory
        answers = [
            await memory.turns(graph),
            await memory.send(Picture(graph=graph)),
            await memory.send(Compare(graph=graph, since=NOON)),
        ]
        assert [each.found for each in answers] == [False, False, False]
        assert graph not in await memory.graphs()

    async def test_what_is_asked_waits_for_the_turn_that_it_names(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.memory.publish({"id": "t1", "graph": graph, "speaker": "Ada", "text": TALK[0]})
        memory = pipeline.memory
        assert (await memory.turns(graph, after=there)).total == 1
        assert (await memory.send(Picture(graph=graph), after=there)).total
        assert (await memory.send(Compare(graph=graph, since=0), after=there)).found
        with pytest.raises(QueryFailedError) as answer:
            await memory.send(Picture(graph=graph), after=there.offset + 1_000_000)
        assert answer.value.code == "not-yet"

    # forget everything

    async def test_a_graph_that_forgets_everything_holds_nothing_and_can_begin_again(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.tell(pipeline, graph)
        assert (await pipeline.memory.forget(graph, everything=True)).status == "accepted"
        assert (await pipeline.memory.turns(graph)).total == 0
        assert (await pipeline.memory.send(Picture(graph=graph))).total == 0
        assert (await pipeline.memory.query(graph, "Biscuit")).passages == []
        past = await pipeline.memory.turns(graph, as_of=NOON + 2 * DAY)
        assert past.total in (0, 3), "a Forgotten has no time: it counts as early as what lies before it"
        again = await pipeline.memory.forget(graph, everything=True)
        assert (again.status, "nothing to forget" in (again.reason or "")) == ("rejected", True)
        await pipeline.record(graph, id="t9", text="Tea is served.")
        assert [turn.id for turn in (await pipeline.memory.turns(graph)).turns] == ["t9"]

    async def test_only_who_asks_for_it_sends_a_field_that_older_workers_do_not_know(self) -> None:
        request = {"kind": "forget", "id": "f", "graph": "ada"}
        assert "everything" not in Forget.model_validate(request).model_dump()
        assert Forget.model_validate({**request, "everything": True}).model_dump()["everything"] is True
