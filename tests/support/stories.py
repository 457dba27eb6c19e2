"""Stories: what people say to a graph as time goes by, and what it answers then (tests/stories/*.txt).

## a sentence [P38]               a story, with the rows of docs/sources.tsv that it shows
live elephant least_turns=4       how the graph lives (first)
berlin| Ada: I live in Berlin.    a turn and its id; the next one comes a second later, in the same session
+30d                              time passes (s, m, h, d, w); what is said then is of another session
on 2023-05-08T12:00               or it is that time, which may have passed: what is said then comes late
forget berlin                     a user has turns forgotten
? Where do I live?                Ada asks; ?Ben asks as Ben; {"top_passages": 5} behind a question are its options
= lisbon berlin                   the passages that come first; - is none at all
< lisbon berlin                   one ranks before the other
~ cake                            no such passage
context lisbon: [history          the context's line of that turn holds this text
seeds berlin                      the concepts that the question is about
history berlin → lisbon           what was made history by what, in all
archived berlin                   the turns in the archive
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from emgas.messages.queries import Reply
from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS, milliseconds
from lab.catalogue import POLICIES
from processors.extraction.extractor import Extractor
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.lifecycle.turns.supersession import superseded
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.text.facts.facts import facts
from processors.text.statements import statements
from state.events.events import Superseded, TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import forgotten, graph_configured, turn_recorded
from tests.support.clocks import NOON
from tests.support.living import Life

FOLDER = Path(__file__).resolve().parent.parent / "stories"
EXTRACTOR = YakeExtractor()
UNITS = {"s": 1000, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}
HERE = Position(partition=0, watermark=0, source=0)


def extracted(
    text: str, *, speaker: str = "Ada", at: int = NOON, by: Extractor = EXTRACTOR, **more: Any
) -> TurnRecorded:
    """Return a turn with what an extractor finds in it."""
    extraction = by.of_turn(text, speaker=speaker, at=at)
    found = {"concepts": list(extraction.concepts), "times": list(extraction.times), "tokens": extraction.tokens}
    report = {"text": text, "speaker": speaker, "at": at, "question": extraction.question}
    return turn_recorded(**{**report, **found, "statements": statements(text), "facts": facts(text), **more})


def queried(graph: Graph, turns: dict[str, TurnRecorded]) -> QueriedGraph:
    """Return a graph that may be asked, with the turns that were folded into it, by id."""
    return QueriedGraph(graph, lambda graph, number: turns[graph.passages.ids[number]], HERE)


class Story:
    """A graph that is told turns with the extractor that everybody has, and is asked."""

    def __init__(self, preset: str = "default", **settings: Any) -> None:
        self.life = Life([graph_configured(preset=preset, **settings)])
        self.turns: dict[str, TurnRecorded] = {}
        self.history: list[Superseded] = []
        self.now, self.session, self.reply = NOON, "s0", None

    def tell(self, name: str, text: str, *, speaker: str = "Ada") -> None:
        """Fold a turn, and what it makes history."""
        role = "assistant" if speaker == "assistant" else "user"
        turn = extracted(text, id=name, speaker=speaker, role=role, at=self.now, session=self.session)
        graph = self.life.graph
        made = list(superseded(graph, name, speaker=speaker, at=turn.at, stated=turn.statements))
        self.turns[name] = turn
        for event in (turn, *made):
            self.life.tell(event) if event is turn else self.life.fold(event)
        self.history += made
        self.now += 1000

    def ask(self, text: str, *, only: Mapping[str, Any] | None = None, **options: Any) -> Reply:
        """Answer a question, of the turns that a filter lets through."""
        query = build_query(None, only, {"graph": "ada", "text": text, **options})
        return in_one_go(
            Answerer(EXTRACTOR, policies=POLICIES).answer(query, queried(self.life.graph, self.turns))
        ).reply


def stories(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the stories of a file: the title, and the lines."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, *lines = part.splitlines()
        yield title, [line for line in lines if line]


def play(lines: list[str]) -> None:
    """Play a story; a line that does not hold fails with what is there instead."""
    player = _Player()
    for line in lines:
        try:
            player.play(line)
        except AssertionError as error:
            error.add_note(line)
            raise


class _Player:
    def __init__(self) -> None:
        self._story = Story()
        self._said: dict[str, Callable[[str], None]] = {
            "live": self._live, "on": self._on, "forget": self._forget, "=": self._first, "<": self._before,
            "~": self._absent, "context": self._context, "seeds": self._seeds, "history": self._history,
            "archived": self._archived,
        }  # fmt: skip
        self._reply: Reply | None = None

    def play(self, line: str) -> None:
        if turn := re.fullmatch(r"(\S+)\| ([^:：]+): (.*)", line):
            self._story.tell(turn[1], turn[3], speaker=turn[2])
        elif passed := re.fullmatch(r"\+(\d+)([smhdw])", line):
            self._move(self._story.now + int(passed[1]) * UNITS[passed[2]])
        elif question := re.fullmatch(r"\?(\S*) (.*?)(?: (\{.*\}))?", line):
            options = {"asker": question[1] or "Ada", **json.loads(question[3] or "{}")}
            self._reply = self._story.ask(question[2], **options)
        else:
            word, _, rest = line.partition(" ")
            self._said[word](rest)

    @property
    def _ids(self) -> list[str]:
        assert self._reply is not None, "nothing was asked"
        return [passage.id for passage in self._reply.passages]

    def _move(self, at: int) -> None:
        self._story.now, self._story.session = at, f"at {at}"
        self._story.life.tick(at)

    def _live(self, how: str) -> None:
        preset, *settings = how.split()
        self._story = Story(
            preset, **{name: json.loads(value) for name, value in (each.split("=") for each in settings)}
        )

    def _on(self, time: str) -> None:
        self._story.now, self._story.session = milliseconds(time), f"at {time}"

    def _forget(self, names: str) -> None:
        self._story.life.fold(forgotten(turns=names))

    def _first(self, names: str) -> None:
        expected = [] if names == "-" else names.split()
        assert self._ids[: len(expected) or None] == expected

    def _before(self, names: str) -> None:
        one, other = names.split()
        assert self._ids.index(one) < self._ids.index(other), self._ids

    def _absent(self, name: str) -> None:
        assert name not in self._ids

    def _context(self, line: str) -> None:
        name, _, text = line.partition(": ")
        assert self._reply is not None, "nothing was asked"
        utterance = self._story.turns[name].text
        assert any(text in each for each in self._reply.context.splitlines() if utterance[:20] in each), (
            self._reply.context
        )

    def _seeds(self, names: str) -> None:
        assert self._reply is not None, "nothing was asked"
        assert [seed.id for seed in self._reply.seeds] == names.split()

    def _history(self, changes: str) -> None:
        made = [f"{' '.join(each.older)} → {each.newer}" for each in self._story.history]
        assert made == ([] if changes == "-" else changes.split("; "))

    def _archived(self, names: str) -> None:
        passages = self._story.life.graph.passages
        assert {passages.ids[n] for n, away in enumerate(passages.archived) if away} == set(names.split())
