"""`MemoryClient.send`: every message of the table of verbs gets the answer that its class declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from emgas import InvalidMessageError, MemoryClient, QueryFailedError, Receipt
from emgas.messages.contents import List, Read
from emgas.messages.extracts import Extract, TurnText
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.turns import Pin, Reinforce, Turn
from tests.support.clocks import PATIENCE
from tests.verbs import VERBS

NOON = 1_700_000_000_000
BROKE = "The kettle broke again."


async def record_turn(memory: MemoryClient, graph: str) -> None:
    await memory.send(Turn(id="t1", graph=graph, speaker="Ada", text=BROKE, at=NOON))


async def test_every_message_gets_the_answer_that_its_class_declares(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        for number, verb in enumerate(VERBS):
            graph = f"ada{number}"
            await record_turn(memory, graph)
            if verb.message is Checkpoint:  # the next test sends it
                continue
            where = {} if verb.is_of_partition else {"graph": graph}
            request = verb.message.model_validate({**verb.fields, **where})
            answer = await memory.send(request, partition=0 if verb.is_of_partition else None)
            assert type(answer) is verb.message.answer, verb.message


async def test_a_question_to_a_partition_needs_its_number_and_may_fail(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        for graph in ("ada", "ben"):
            await record_turn(memory, graph)
        listed = [await memory.send(List(), partition=each) for each in range(await memory.partitions())]
        assert sorted(name for page in listed for name in page.graphs) == await memory.graphs() == ["ada", "ben"]
        with pytest.raises(InvalidMessageError, match="partition: `inspect` asks one partition: pass its number"):
            await memory.send(Inspect())
        with pytest.raises(QueryFailedError, match="this worker keeps no snapshots"):
            await memory.send(Checkpoint(), partition=0)


async def test_a_request_without_an_id_gets_a_new_one_each_time(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        await record_turn(memory, "ada")
        request = Pin(graph="ada", turns=["t1"])
        outcomes = [await memory.send(request) for _ in range(2)]
        assert [outcome.status for outcome in outcomes] == ["accepted", "accepted"]
        assert request.id == "", "the message itself is not changed"
        assert (await memory.send(Reinforce(graph="ada", concepts=["kettle"], at=NOON + 5))).kind == "outcome"


async def test_a_question_waits_for_a_receipt_of_its_own_partition_alone(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        receipt = await memory.publish(Turn(id="t1", graph="ada", speaker="Ada", text=BROKE))
        assert [turn.id for turn in (await memory.send(Read(graph="ada"), after=receipt)).turns] == ["t1"]
        other = Receipt((receipt.partition + 1) % await memory.partitions(), receipt.offset, receipt.timestamp)
        with pytest.raises(InvalidMessageError, match="receipt from another partition"):
            await memory.send(Read(graph="ada"), after=other)


async def test_turns_are_read_and_not_stored(tmp_path: Path) -> None:
    texts = ("My friend Ilse moved to Porto yesterday.", "Does she like it?")
    turns = [TurnText(speaker=name, text=text, at=NOON) for name, text in zip(("Ada", "Ben"), texts, strict=True)]
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        extracted = await memory.send(Extract(turns=turns), partition=1)
        assert await memory.graphs() == []
        first, second = extracted.turns
        (she,) = second.mentions
        assert (she.means, she.at, texts[1][she.start : she.end]) == ("Ilse", [0, 10, 14], "she")
        assert [texts[0][each.start : each.end] for each in first.times] == ["yesterday"]
        assert extracted.card == {"Ada": {"friend": ["Ilse"]}, "Ilse": {"home": ["Porto"]}}


async def test_what_is_no_message_is_refused(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        with pytest.raises(TypeError, match="str is no message that can be sent"):
            await memory.send("what broke?")  # type: ignore[arg-type]
