"""Advice of an advisor, checked against what the graph has, and the event that it becomes.

Rejected: advice that exceeds its bounds (processors/advice/bounds.py) or is about something that the graph does not
have, and all advice to a graph that is encrypted or does not record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from emgas.limits import RATED_LINKS
from emgas.messages.advice import Advice, JudgedTurn, NamedTheme, RatedLink, Rewritten, SplitTurn, SummedUp
from processors.advice import bounds
from processors.advice.material import of_conversation
from processors.extraction.extractor import Extractor
from state.events.advice import EdgesRated, PassageRewritten, PassageSplit, Rated, TopicNamed, WorthJudged
from state.events.events import UNSTAMPED, DataEvent, SessionSummarised, TurnRecorded
from state.graph.graph import Graph
from state.graph.tables.advice_table import pair
from state.partition import Partition
from state.sealing.keyring import Keyring
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides

AdviceEvent = TopicNamed | SessionSummarised | PassageRewritten | PassageSplit | WorthJudged | EdgesRated


@decides(Advice)
def advise(request: Advice, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Record what an advisor says."""
    return [AdviceDecider(context.state, context.extractor, context.keys).event(request, graph, context.source)]


class AdviceDecider:
    """Decides what advice to the graphs of a partition becomes."""

    def __init__(self, state: Partition, extractor: Extractor, keys: Keyring) -> None:
        self._state = state
        self._extractor = extractor
        self._keys = keys

    def rejection(self, advice: Advice) -> str | None:
        """Return why advice would be rejected at present, None if it would be accepted."""
        try:
            self.event(advice, self._state.graph(advice.graph), 0)
        except RejectedError as reason:
            return str(reason)
        return None

    def event(self, advice: Advice, graph: Graph | None, source: int) -> AdviceEvent:
        """Decide which event advice at offset `source` of `turns` becomes.  Raises RejectedError."""
        if graph is None or graph.is_blank:
            raise RejectedError(f"there is no graph {advice.graph!r}: nothing to advise on")
        if self._keys.of(advice.graph):
            raise RejectedError(f"graph {advice.graph!r} is encrypted: no advice on it is recorded")
        if not graph.settings.recording:
            raise RejectedError(f"graph {advice.graph!r} does not record at present (`emgas change resume`)")
        fields: dict[str, Any] = {"graph": advice.graph, "src": source, "by": advice.by, **UNSTAMPED}
        return self._event(graph, advice, fields)

    def _event(self, graph: Graph, advice: Advice, fields: dict[str, Any]) -> AdviceEvent:
        if advice.named is not None:
            return self._named(graph, advice.named, fields)
        if advice.summary is not None:
            return self._summary(graph, advice.summary, fields)
        if advice.rewritten is not None:
            return self._rewritten(graph, advice.rewritten, fields)
        if advice.split is not None:
            return self._split(graph, advice.split, fields)
        if advice.judged is not None:
            return self._judged(graph, advice.judged, fields)
        return self._rated(graph, advice.rated, fields)

    def _named(self, graph: Graph, proposal: NamedTheme, fields: dict[str, Any]) -> TopicNamed:
        theme = graph.themes.themes.get(proposal.theme)
        if theme is None or not theme.members:
            raise RejectedError(f"graph {graph.graph_id!r} has no such theme")
        _check(bounds.unfit_name(proposal.name))
        return TopicNamed(topic=proposal.theme, name=proposal.name, **fields)

    def _rated(self, graph: Graph, proposal: Iterable[RatedLink], fields: dict[str, Any]) -> EdgesRated:
        ratings = list(proposal)
        names = {name for each in ratings for name in (each.source, each.target)}
        if not names <= graph.concepts.numbers.keys():
            raise RejectedError(f"graph {graph.graph_id!r} has not all of these concepts")
        pairs = {pair(each.source, each.target) for each in ratings}
        if len(pairs) < len(ratings) or any(one == other for one, other in pairs):
            raise RejectedError("a link is rated twice, or leads from a concept to itself")
        if len(pairs | graph.advice.rated.keys()) > RATED_LINKS:
            raise RejectedError(f"graph {graph.graph_id!r} has {RATED_LINKS} rated links: no more are kept")
        return EdgesRated(ratings=[Rated(*pair(each.source, each.target), each.rating) for each in ratings], **fields)

    def _summary(self, graph: Graph, proposal: SummedUp, fields: dict[str, Any]) -> SessionSummarised:
        end = graph.sessions.ended.get(proposal.session)
        turns = [self._state.text_of(graph, number) for number in of_conversation(graph, proposal.session)]
        if end is None or not turns:
            raise RejectedError(f"no conversation in session {proposal.session!r} has ended, or nothing of it is left")
        _check(bounds.unshowable(proposal.summary))
        if proposal.topic:
            _check(bounds.unfit_name(proposal.topic))
        sources = [f"{turn.speaker} {turn.text}" for turn in turns]
        _check(bounds.invented(proposal.summary, sources, self._concepts_in(proposal.summary), _names_of(turns)))
        ids = [turn.id for turn in turns]
        return SessionSummarised(
            at=end.at, session=proposal.session, text=proposal.summary, topic=proposal.topic, turns=ids, **fields
        )

    def _rewritten(self, graph: Graph, proposal: Rewritten, fields: dict[str, Any]) -> PassageRewritten:
        if proposal.turn is not None:
            turn = self._turn(graph, proposal.turn)
            source, names = turn.text, _names_of([turn])
        else:
            habit = graph.habits.habits.get(proposal.habit or "")
            if habit is None:
                raise RejectedError(f"graph {graph.graph_id!r} has no such habit")
            source, names = habit.text, {*self._concepts_in(habit.text), *habit.concepts}
        _check(bounds.unshowable(proposal.text))
        if proposal.role:
            _check(bounds.unfit_name(proposal.role))
        concepts = self._concepts_in(proposal.text)
        _check(bounds.invented(proposal.text, [source], concepts, {*names, *self._concepts_in(proposal.role)}))
        _check(bounds.no_rewriting(proposal.text, source, concepts, names))
        of, id = ("turn", proposal.turn) if proposal.turn is not None else ("habit", proposal.habit)
        return PassageRewritten(of=of, id=id, text=proposal.text, role=proposal.role, **fields)  # type: ignore[arg-type]

    def _split(self, graph: Graph, proposal: SplitTurn, fields: dict[str, Any]) -> PassageSplit:
        turn = self._turn(graph, proposal.turn)
        spans = [(part.start, part.end) for part in proposal.parts]
        _check(bounds.no_parts(spans, turn.text))
        return PassageSplit(turn=turn.id, spans=spans, **fields)

    def _judged(self, graph: Graph, proposal: JudgedTurn, fields: dict[str, Any]) -> WorthJudged:
        turn = self._turn(graph, proposal.turn)
        _check(bounds.foreign_keywords(proposal.keywords, turn.text))
        return WorthJudged(
            turn=turn.id, worth=proposal.worth, keywords=list(dict.fromkeys(proposal.keywords)), **fields
        )

    def _turn(self, graph: Graph, turn: str) -> TurnRecorded:
        number = graph.passages.numbers.get(turn)
        if number is None:
            raise RejectedError(f"graph {graph.graph_id!r} holds no such turn")
        return self._state.text_of(graph, number)

    def _concepts_in(self, text: str) -> set[str]:
        """List the concepts that a text names, by their ids."""
        if not text.strip():
            return set()
        concepts = self._extractor.of_query(text)
        return {concept.id for concept in (*concepts.concepts, *concepts.phrases) if concept.id[:1] != "@"}


def _names_of(turns: Iterable[TurnRecorded]) -> set[str]:
    """List the concepts of turns, and the words of their speakers' names."""
    return {name for turn in turns for name in (*(each.id for each in turn.concepts), *turn.speaker.casefold().split())}


def _check(reason: str | None) -> None:
    if reason is not None:
        raise RejectedError(f"this advice does not fit: {reason}")
