"""Whom "he" and 他 mean is shown in a context from a confidence of 0.8 on; stored text stays as it was said."""

from __future__ import annotations

import pytest

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from emgas.messages.queries import Reply
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.context.context import ContextPacker, ContextPassage, line, tokens, with_names
from state.events.events import TurnRecorded
from state.events.extraction_types import Mention
from state.graph.graph import Graph
from tests.support.clocks import NOON
from tests.support.stories import extracted

MINUTE = 60_000
EXTRACTOR = YakeExtractor(language="en")
HERE = Position(partition=0, watermark=7, source=3)


Said = tuple[str, str, tuple[Mention, ...]]


def asked(question: str, *said: Said) -> Reply:
    """Say (session, text, mentions); ask."""
    graph, turns = Graph("ada"), list[TurnRecorded]()
    for n, (session, text, mentions) in enumerate(said):
        more = {"id": f"t{n}", "session": session, "mentions": list(mentions)}
        turns.append(extracted(text, at=NOON + n * MINUTE, by=EXTRACTOR, **more))
        graph.fold(turns[-1])
    query = build_query(None, None, {"graph": "ada", "text": question, "budget": 2000})
    queried = QueriedGraph(graph, lambda _, number: turns[number], HERE)
    return in_one_go(Answerer(EXTRACTOR, policies=POLICIES).answer(query, queried)).reply


def test_the_context_names_whom_he_means_and_the_passage_stays_as_it_was_said() -> None:
    text = "He's found a flat near the river, and he likes it."
    meant = (Mention(0, 2, "tomas", 0.88), Mention(38, 40, "tomas", 0.87))
    reply = asked("a flat near the river", ("one", "Tomas moved to Lyon.", ()), ("two", text, meant))
    assert "He's [Tomas] found a flat near the river, and he likes it." in reply.context
    assert text in [passage.text for passage in reply.passages]


def test_the_context_names_whom_ta_means_in_chinese() -> None:
    said = (("one", "陈伟搬到了里昂。", ()), ("two", "他在河边找到了公寓。", (Mention(0, 1, "陈伟", 0.8),)))
    assert "他 [陈伟]在河边找到了公寓。" in asked("河边的公寓", *said).context


@pytest.mark.parametrize(
    ("session", "mention"),
    [
        ("two", Mention(0, 2, "tomas", 0.79)),  # too unsure
        ("two", Mention(0, 2, "nobody-known", 0.9)),  # no concept of the graph
        ("one", Mention(0, 2, "tomas", 0.88)),  # the line above names him
    ],
)
def test_no_name_is_shown_where_it_is_unsure_unknown_or_told_just_above(session: str, mention: Mention) -> None:
    reply = asked(
        "Tomas found a flat in Lyon", ("one", "Tomas moved to Lyon.", ()), (session, "He found a flat.", (mention,))
    )
    assert "Ada: He found a flat." in reply.context


def test_a_name_takes_no_passage_s_place() -> None:
    passage = ContextPassage(0, NOON, "Ada", "He found a flat.", people=((2, "Tomas"),))
    assert with_names(passage).text == "He [Tomas] found a flat."
    exact = 3 + tokens(line(passage))
    for budget, text in ((exact, "Ada: He found a flat."), (exact + 2, "Ada: He [Tomas] found a flat.")):
        packer = ContextPacker(budget)
        packer.add(passage)
        packed = packer.context()
        assert packed.text.splitlines()[1] == text
        assert packed.tokens <= budget
