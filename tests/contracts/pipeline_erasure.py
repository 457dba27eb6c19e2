"""What holds of erasure whatever carries the topics: nobody can read what was erased, and all else is as it was."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

from emgas.errors import HaltedError
from emgas.messages.operator import Inspect
from emgas.messages.requests import Outcome
from emgas.messages.sessions import EndSession
from emgas.messages.turns import Erase, Undo
from emgas.messages.views import Recap
from replay.as_of.history import history
from replay.rebuild.rebuild import refold
from replay.verify.verify import verify_partition
from state.events.events import Sealed, SubjectErased, TurnRecorded, decode, encode
from state.sealing.keyring import NO_KEYS, read
from state.store.store import MemoryStore
from tests.support.pipeline import Pipeline, a_turn

ENGLISH = {
    "e1": ("Ada", "My kryptonite allergy needs the zebrawood inhaler."),
    "e2": ("Bob", "The kettle whistles in the kitchen."),
    "e3": ("Ada", "The kettle and the zebrawood inhaler stand in the kitchen."),
}
CHINESE = {
    "z1": ("小明", "我对氪石过敏，需要斑马木吸入器。"),
    "z2": ("小红", "厨房里的水壶响了。"),
    "z3": ("小明", "水壶在厨房里。"),
}


async def converse(pipeline: Pipeline, *graphs: str) -> None:
    """Say the same in every graph, in English and in Chinese."""
    for graph in graphs:
        for name, (speaker, text) in {**ENGLISH, **CHINESE}.items():
            await pipeline.record(graph, id=name, text=text, speaker=speaker)


async def erased(pipeline: Pipeline, graph: str, **subject: object) -> Outcome:
    outcome = await pipeline.memory.send(Erase(graph=graph, **subject))  # type: ignore[arg-type]
    assert outcome.status == "accepted", outcome.reason
    return outcome


async def refolded(pipeline: Pipeline, graph: str, end: int | None = None) -> dict[str, str]:
    """Fold the partition of a graph from its log alone; give the digests of its graphs."""
    log = pipeline.opening_reader()
    partition = pipeline.place(graph)
    _, last = await log.bounds(partition)
    return (await refold(log, partition, last if end is None else end, MemoryStore())).digests()


def around(value: bytes) -> bytes:
    """Return what of a record is in clear: chance alone can write a short word into what is sealed."""
    event = decode(value)
    return encode(replace(event, body=b"")) if isinstance(event, Sealed) else value


class Erases:
    async def test_the_log_of_an_encrypted_graph_holds_no_word_of_it(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "sealed")
        place = encrypted.place("sealed")
        values = [record.value for record in await encrypted.records(encrypted.topics.events, place)]
        assert any(isinstance(decode(value), Sealed) for value in values)
        for word in ("kryptonite", "kettle", "氪石", "水壶", "小明"):
            assert not any(word.encode() in value or json.dumps(word)[1:-1].encode() in value for value in values)
        assert not any(b"Ada" in around(value) for value in values)
        reply = await encrypted.memory.query("sealed", "What stands in the kitchen?")
        assert "kettle" in reply.context

    @pytest.mark.source("P45")
    async def test_a_turn_that_is_erased_is_gone_from_everywhere_and_nothing_else_is(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "one", "other")
        before = encrypted.digests()
        await erased(encrypted, "one", turn="e1")
        after = encrypted.digests()
        assert before.pop("one") != after.pop("one")
        assert before == after
        assert "e1" not in encrypted.ids("one")
        assert {"e2", "e3", "z1"} <= set(encrypted.ids("one"))
        graph = encrypted.graph("one")
        assert graph is not None
        assert not [name for name in graph.concepts.numbers if "kryptonite" in name]
        assert [name for name in graph.concepts.numbers if "zebrawood" in name], "somebody else said it, too"

    async def test_a_turn_in_pieces_is_erased_as_one(self, encrypted: Pipeline) -> None:
        text = "\n\n".join(f"Paragraph {number}: the zebrawood lamp {number}." for number in range(1000))
        await encrypted.memory.record(a_turn("long", "d", text))
        await encrypted.record("long", id="e", text="The kettle whistles.")
        await erased(encrypted, "long", turn="d")
        assert encrypted.ids("long") == ["e"]
        graph = encrypted.graph("long")
        assert graph is not None
        assert not [name for name in graph.concepts.numbers if "zebrawood" in name]

    async def test_a_fold_of_the_log_alone_comes_to_what_the_worker_holds_that_never_restarted(
        self, encrypted: Pipeline
    ) -> None:
        await converse(encrypted, "live", "beside")
        await erased(encrypted, "live", turn="e1")
        await encrypted.record("live", id="later", text="The tulips bloom beside the kettle.")
        await erased(encrypted, "live", speaker="小明")
        assert await refolded(encrypted, "live") | encrypted.digests() == encrypted.digests()
        log, place = encrypted.opening_reader(), encrypted.place("live")
        live = await encrypted.memory.send(Inspect(), partition=place)
        result = await verify_partition(log, place, live.position.watermark, live.digest or "")
        assert result.match
        assert (await history(log, place, "live")).folded().digest() == encrypted.digests()["live"]
        await encrypted.restart()
        assert await refolded(encrypted, "live") | encrypted.digests() == encrypted.digests()

    async def test_a_speaker_is_erased_with_all_that_was_said_and_the_others_stay(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "talk")
        await erased(encrypted, "talk", speaker="Ada")
        assert encrypted.ids("talk") == ["e2", "z1", "z2", "z3"]
        graph = encrypted.graph("talk")
        assert graph is not None
        assert "Ada" not in graph.passages.speakers
        log, place = encrypted.opening_reader(), encrypted.place("talk")
        values = [record.value for record in await encrypted.records(encrypted.topics.events, place)]
        texts = [read(value, log.graph_keys) for value in values]  # type: ignore[attr-defined]
        assert {"Bob", "小明", "小红"} == {
            e.speaker for e in texts if isinstance(e, TurnRecorded) and e.graph == "talk"
        }

    @pytest.mark.source("S16")
    async def test_a_summary_that_quotes_what_is_erased_goes_with_it(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "summed")
        assert (await encrypted.memory.send(EndSession(graph="summed", session="main"))).status == "accepted"
        answer = (await encrypted.memory.send(Recap(graph="summed"))).sessions[0].ended
        assert answer is not None
        assert "kryptonite" in answer.summary
        await erased(encrypted, "summed", turn="e1")
        answer = (await encrypted.memory.send(Recap(graph="summed"))).sessions[0].ended
        assert answer is not None
        assert (answer.reason, answer.summary) == ("said", "")
        assert await refolded(encrypted, "summed") | encrypted.digests() == encrypted.digests()
        log, place = encrypted.opening_reader(), encrypted.place("summed")
        values = [record.value for record in await encrypted.records(encrypted.topics.events, place)]
        events = [read(value, log.graph_keys) for value in values]  # type: ignore[attr-defined]
        left = [str(event) for event in events if getattr(event, "graph", None) == "summed"]  # others said it, too
        assert any("kettle" in event for event in left)
        assert not any("kryptonite" in event for event in left)

    async def test_a_whole_graph_is_erased_and_can_be_born_again(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "phoenix", "bystander")
        before = encrypted.digests()
        await erased(encrypted, "phoenix", whole=True)
        assert encrypted.ids("phoenix") == []
        assert (await encrypted.memory.describe("phoenix")).turns == 0
        await encrypted.record("phoenix", id="e1", text="The tulips bloom.")
        assert encrypted.ids("phoenix") == ["e1"]
        assert await refolded(encrypted, "phoenix") | encrypted.digests() == encrypted.digests()
        assert encrypted.digests()["bystander"] == before["bystander"]
        key = {name for name, key in encrypted.keys.of("phoenix").items() if not key.is_destroyed}
        assert len(key) == 1
        assert len(encrypted.keys.of("phoenix")) == 2, "it was born again under another key"

    async def test_a_turn_that_was_erased_is_not_recorded_again_whatever_it_says(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "again")
        await erased(encrypted, "again", turn="e1")
        for text in (ENGLISH["e1"][1], "Something else about kryptonite."):
            outcome = await encrypted.memory.record(a_turn("again", "e1", text))
            assert outcome.status == "duplicate"
        assert "e1" not in encrypted.ids("again")

    async def test_undo_does_not_reach_behind_an_erasure(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "undone")
        await erased(encrypted, "undone", turn="e1")
        graph = encrypted.graph("undone")
        assert graph is not None
        erasure = graph.events - 1
        assert (await encrypted.memory.send(Undo(graph="undone", first=erasure, last=erasure))).status == "rejected"
        await encrypted.record("undone", id="later", text="The tulips bloom.")
        assert (await encrypted.memory.send(Undo(graph="undone", first=erasure + 1))).status == "accepted"
        assert "later" not in encrypted.ids("undone")
        assert await refolded(encrypted, "undone") | encrypted.digests() == encrypted.digests()

    async def test_what_is_not_there_is_not_erased_and_says_so(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "there")
        unknown = await encrypted.memory.send(Erase(graph="nobody", whole=True))
        missing = await encrypted.memory.send(Erase(graph="there", turn="t99"))
        assert (unknown.status, missing.status) == ("rejected", "rejected")
        assert "holds no such turn" in (missing.reason or "")
        stranger = await encrypted.memory.send(Erase(graph="there", speaker="Zoe"))
        assert (stranger.status, "is not kept" in (stranger.reason or "")) == ("rejected", True)

    @pytest.mark.parametrize("subject", [{"turn": "e1"}, {"whole": True}], ids=["turn", "whole"])
    async def test_who_asks_again_to_erase_is_told_that_it_is_done_with_the_digest_of_the_proof(
        self, encrypted: Pipeline, subject: dict[str, Any]
    ) -> None:
        graph = f"lost-{'-'.join(subject)}"
        await converse(encrypted, graph)
        await erased(encrypted, graph, **subject)
        digests, place = encrypted.digests(), encrypted.place(graph)
        letters = await encrypted.records(encrypted.topics.dead_letters, 0)
        again = await encrypted.memory.send(Erase(graph=graph, **subject))
        assert again.status == "duplicate", again.reason
        assert f"digest of the graph: {digests[graph]}" in (again.reason or "")
        assert encrypted.digests() == digests
        assert await refolded(encrypted, graph) == {g: d for g, d in digests.items() if encrypted.place(g) == place}
        assert await encrypted.records(encrypted.topics.dead_letters, 0) == letters, "nothing was refused"
        await encrypted.record(graph, id="new", text="The tulips bloom.")
        await erased(encrypted, graph, whole=True)

    async def test_without_its_keys_a_graph_is_not_folded_and_says_what_to_do(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "locked")
        log = encrypted.transport.reader(encrypted.topics.events)
        log.graph_keys = NO_KEYS  # type: ignore[attr-defined]
        place = encrypted.place("locked")
        state = await refold(log, place, (await log.bounds(place))[1], MemoryStore())
        assert "locked" in state.unavailable
        with pytest.raises(HaltedError, match="EMGAS_GRAPH_KEYS"):
            state.digest()

    async def test_the_log_says_that_something_was_erased_but_not_what(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "told")
        await erased(encrypted, "told", speaker="Bob")
        await erased(encrypted, "told", whole=True)
        place = encrypted.place("told")
        values = [record.value for record in await encrypted.records(encrypted.topics.events, place)]
        results = [event for event in map(decode, values) if isinstance(event, SubjectErased) and event.graph == "told"]
        assert [event.whole for event in results] == [True]
        assert not any(b"Bob" in around(value) for value in values)
        with suppress(HaltedError):
            assert await refolded(encrypted, "told")
