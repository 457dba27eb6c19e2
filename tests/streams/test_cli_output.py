"""What people see is text, never markup: brackets in a turn must neither vanish nor break a table."""

from __future__ import annotations

import pytest

from emgas.messages import ActivatedConcept, Position, RecalledPassage, Reply, Timing
from streams.cli import query


def test_brackets_in_a_turn_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    passage = RecalledPassage(
        id="t1", session="main", speaker="[b]Ada", role=None, text="a [/b] and [bold]x", at=0, score=1.0
    )
    concept = ActivatedConcept(id="x", label="[x]", energy=1.0, path=["[x]"])
    query.show(
        Reply(
            graph="ada",
            found=True,
            seeds=[concept],
            concepts=[concept],
            passages=[passage],
            context="",
            tokens=0,
            position=Position(partition=0, watermark=0, source=0),
            timing=Timing(waited_ms=0.0, recall_ms=0.0),
        )
    )
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("[b]Ada", "a [/b] and [bold]x", "[x]"))
