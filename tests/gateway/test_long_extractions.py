"""A long conversation may be extracted for longer than a short one: its time is that of its turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from emgas.messages.extracts import Extracted, TurnText
from gateway.routes import graphs
from gateway.routes.bodies import ExtractBody


class _Memory:
    timeout = 0.0

    async def send(self, request: Any, *, timeout: float) -> Extracted:
        self.timeout = timeout
        return Extracted(turns=[], card={}, changes=[], extractor="none")


async def test_an_extraction_has_time_for_each_of_its_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "caller", lambda: SimpleNamespace(check_right=lambda right: None))
    memory: Any = _Memory()
    waited = []
    for count in (1, 600):
        await graphs.extract(ExtractBody(turns=[TurnText(text="hello")] * count), memory)
        waited.append(memory.timeout)
    assert waited[0] >= 10
    assert waited[1] - waited[0] >= 599 * 0.05
