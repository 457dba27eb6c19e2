"""What holds of every adapter, in a real program of its framework with a model that only looks at what it is shown."""

from __future__ import annotations

import logging

import pytest

from emgas import Memory, MemoryClient
from emgas.errors import EmgasError

FACT = "My cat Biscuit got ear drops from the vet."
QUESTION = "what did the vet give Biscuit?"


class AdapterContract:
    """Tests that an adapter passes; a subclass says how its framework is told something, and asked."""

    failure: type[Exception] = EmgasError  # or what the framework makes of it

    async def say(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> None:
        """Say something in a conversation that ends with it."""
        raise NotImplementedError

    async def ask(self, memory: Memory | MemoryClient, graph: str, text: str, *, tolerant: bool = False) -> str:
        """Ask something in a conversation of its own; give all that the model was shown."""
        raise NotImplementedError

    async def test_what_was_said_is_there_in_a_later_conversation(
        self, memory: Memory | MemoryClient, graph: str
    ) -> None:
        assert "ear drops" not in await self.ask(memory, graph, QUESTION)
        await self.say(memory, graph, FACT)
        assert "ear drops" in await self.ask(memory, graph, QUESTION)

    async def test_nobody_is_shown_what_another_said(self, memory: Memory | MemoryClient, graph: str) -> None:
        await self.say(memory, graph, FACT)
        assert "ear drops" not in await self.ask(memory, f"{graph}-other", QUESTION)

    async def test_what_no_turn_can_hold_is_remembered_as_far_as_it_can_be(
        self, memory: Memory | MemoryClient, graph: str
    ) -> None:
        await self.say(memory, graph, "Nothing in particular. " * 400 + FACT)
        await self.say(memory, graph, "The kettle\0 is blue.")
        assert "ear drops" in await self.ask(memory, graph, QUESTION)
        assert "The kettle is blue." in await self.ask(memory, graph, "which colour is the kettle?")

    async def test_a_long_question_is_answered(self, memory: Memory | MemoryClient, graph: str) -> None:
        await self.say(memory, graph, FACT)
        assert "ear drops" in await self.ask(memory, graph, QUESTION + " Well?" * 10_000)

    async def test_a_recall_that_fails_is_an_error(self, closed: Memory, graph: str) -> None:
        with pytest.raises(self.failure):
            await self.ask(closed, graph, QUESTION)

    async def test_a_tolerant_one_goes_on_without_memory_and_tells_the_log(
        self, closed: Memory, graph: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING, "emgas"):
            assert QUESTION in await self.ask(closed, graph, QUESTION, tolerant=True)
        assert "recalling failed, and the conversation goes on without" in caplog.text
