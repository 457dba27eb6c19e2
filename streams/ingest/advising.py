"""Advice that came as a command, and the event that it becomes: held against what the graph has.

What does not fit is rejected, and changes nothing (processors/advice/bounds.py); so does what is about something that
is not here, and all advice to a graph that is encrypted, or does not record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from emgas.limits import RATED_LINKS
from emgas.messages.advice import Advice, JudgedTurn, NamedTheme, RatedLink, Rewritten, SplitTurn, SummedUp
from processors.advice import bounds
from processors.advice.material import of_conversation
from processors.extraction.extractor import Extractor
from state.events.advice_events import EdgesRated, PassageRewritten, PassageSplit, Rated, TopicNamed, WorthJudged
from state.events.events import UNSTAMPED, GraphEvent, SessionSummarised, TurnRecorded
from state.graph.graph import Graph
from state.graph.tables.advice_table import pair
from state.partition import Partition
from state.sealing.keyring import Keyring
from streams.errors import RejectedError


class AdviceHandler:
    """Decides what advice to the graphs of a partition becomes."""

    def __init__(self, state: Partition, extractor: Extractor, keys: Keyring) -> None:
        self._state = state
        self._extractor = extractor
        self._keys = keys

    def why_not(self, advice: Advice) -> str | None:
        """Tell why advice would be rejected as things stand, None where it would not."""
        try:
            self.decided(advice, 0)
        except RejectedError as why:
            return str(why)
        return None

    def decided(self, advice: Advice, source: int) -> GraphEvent:
        """Decide which event advice at offset `source` of `turns` becomes.  Raises RejectedError."""
        graph = self._state.graph(advice.graph)
        if graph is None or graph.is_blank:
            raise RejectedError(f"nobody has written to graph {advice.graph!r}: there is nothing to advise on")
        if self._keys.of(advice.graph):
            raise RejectedError(f"graph {advice.graph!r} is encrypted: no advice on it is recorded")
        if not graph.settings.recording:
            raise RejectedError(f"graph {advice.graph!r} does not record at present (`emgas resume`)")
        there: dict[str, Any] = {"graph": advice.graph, "src": source, "by": advice.by, **UNSTAMPED}
        return self._event(graph, advice, there)

    def _event(self, graph: Graph, advice: Advice, there: dict[str, Any]) -> GraphEvent:
        if advice.named is not None:
            return self._named(graph, advice.named, there)
        if advice.summary is not None:
            return self._summary(graph, advice.summary, there)
        if advice.rewritten is not None:
            return self._rewritten(graph, advice.rewritten, there)
        if advice.split is not None:
            return self._split(graph, advice.split, there)
        if advice.judged is not None:
            return self._judged(graph, advice.judged, there)
        return self._rated(graph, advice.rated, there)

    def _named(self, graph: Graph, said: NamedTheme, there: dict[str, Any]) -> TopicNamed:
        theme = graph.themes.themes.get(said.theme)
        if theme is None or not theme.members:
            raise RejectedError(f"graph {graph.graph_id!r} has no such theme")
        _check(bounds.unfit_name(said.name))
        return TopicNamed(topic=said.theme, name=said.name, **there)

    def _rated(self, graph: Graph, said: Iterable[RatedLink], there: dict[str, Any]) -> EdgesRated:
        listed = list(said)
        names = {name for each in listed for name in (each.source, each.target)}
        if not names <= graph.concepts.numbers.keys():
            raise RejectedError(f"graph {graph.graph_id!r} has not all of these concepts")
        pairs = {pair(each.source, each.target) for each in listed}
        if len(pairs) < len(listed) or any(one == other for one, other in pairs):
            raise RejectedError("a link is rated twice, or leads from a concept to itself")
        if len(pairs | graph.advice.rated.keys()) > RATED_LINKS:
            raise RejectedError(f"graph {graph.graph_id!r} has {RATED_LINKS} rated links: no more are kept")
        return EdgesRated(ratings=[Rated(*pair(each.source, each.target), each.rating) for each in listed], **there)

    def _summary(self, graph: Graph, said: SummedUp, there: dict[str, Any]) -> SessionSummarised:
        end = graph.sessions.ended.get(said.session)
        turns = [self._state.text_of(graph, number) for number in of_conversation(graph, said.session)]
        if end is None or not turns:
            raise RejectedError(f"no conversation in session {said.session!r} has ended, or nothing of it is left")
        _check(bounds.unshowable(said.summary))
        if said.topic:
            _check(bounds.unfit_name(said.topic))
        sources = [f"{turn.speaker} {turn.text}" for turn in turns]
        _check(bounds.invented(said.summary, sources, self._named_in(said.summary), _known(turns)))
        ids = [turn.id for turn in turns]
        return SessionSummarised(
            at=end.at, session=said.session, text=said.summary, topic=said.topic, turns=ids, **there
        )

    def _rewritten(self, graph: Graph, said: Rewritten, there: dict[str, Any]) -> PassageRewritten:
        if said.turn is not None:
            turn = self._turn(graph, said.turn)
            source, known = turn.text, _known([turn])
        else:
            habit = graph.habits.habits.get(said.habit or "")
            if habit is None:
                raise RejectedError(f"graph {graph.graph_id!r} has no such habit")
            source, known = habit.text, {*self._named_in(habit.text), *habit.concepts}
        _check(bounds.unshowable(said.text))
        if said.role:
            _check(bounds.unfit_name(said.role))
        found = self._named_in(said.text)
        _check(bounds.invented(said.text, [source], found, {*known, *self._named_in(said.role)}))
        _check(bounds.no_rewriting(said.text, source, found, known))
        of, id = ("turn", said.turn) if said.turn is not None else ("habit", said.habit)
        return PassageRewritten(of=of, id=id, text=said.text, role=said.role, **there)  # type: ignore[arg-type]

    def _split(self, graph: Graph, said: SplitTurn, there: dict[str, Any]) -> PassageSplit:
        turn = self._turn(graph, said.turn)
        spans = [(part.start, part.end) for part in said.parts]
        _check(bounds.no_parts(spans, turn.text))
        return PassageSplit(turn=turn.id, spans=spans, **there)

    def _judged(self, graph: Graph, said: JudgedTurn, there: dict[str, Any]) -> WorthJudged:
        turn = self._turn(graph, said.turn)
        _check(bounds.foreign_keywords(said.keywords, turn.text))
        return WorthJudged(turn=turn.id, worth=said.worth, keywords=list(dict.fromkeys(said.keywords)), **there)

    def _turn(self, graph: Graph, turn: str) -> TurnRecorded:
        number = graph.passages.numbers.get(turn)
        if number is None:
            raise RejectedError(f"graph {graph.graph_id!r} holds no such turn")
        return self._state.text_of(graph, number)

    def _named_in(self, text: str) -> set[str]:
        """List the concepts that a text names, by their ids."""
        if not text.strip():
            return set()
        found = self._extractor.of_query(text)
        return {concept.id for concept in (*found.concepts, *found.phrases) if concept.id[:1] != "@"}


def _known(turns: Iterable[TurnRecorded]) -> set[str]:
    """List the concepts of turns, and the words of who said them."""
    return {name for turn in turns for name in (*(each.id for each in turn.concepts), *turn.speaker.casefold().split())}


def _check(why: str | None) -> None:
    if why is not None:
        raise RejectedError(f"this advice does not fit: {why}")
