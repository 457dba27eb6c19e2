"""Report the working memory of a conversation: its last turns, keywords and themes, and the summary that it inherits.

    state      as in recaps.py
    inherited  the summary of the conversation that ended last before this one; if no end is recorded, a new summary of
               the conversation with the latest turn before it

SEEDS S14, H1, M14, P28, P38.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

import numpy as np
from msgspec.structs import asdict

from emgas.messages.contents import BoundPronoun, RecordedTurn, SpokenTime
from emgas.messages.sessions import Inherited, InMind, Recent
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.ranking import working_memory
from processors.recall.reports import session_summaries
from processors.text.shown import Shown
from state.arrays import Integers
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.view import GraphView

THEMES: Final = 5
NAMED_BY: Final = 3  # words that a theme is named by


def view_working_memory(memory: QueriedGraph, request: Recent) -> InMind:
    """Return what is in mind of a conversation.  Raises what `memory.text_of` raises."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return InMind(graph=request.graph, found=False, position=memory.position)
    view = graph.view()
    paused = not graph.settings.recalling
    session = request.session if request.session is not None else working_memory.latest_session(view)
    if session is None or paused:
        return InMind(graph=request.graph, found=True, paused=paused, position=memory.position)
    turns = working_memory.in_mind(view, session, memory.time)
    last = turns[len(turns) - min(request.limit, len(turns)) :]
    shown = [recorded(memory.text_of(graph, number), view, number) for number in last.tolist()]
    words = working_memory.keywords(view, turns.tolist(), shown=Shown(view.concept_table))
    return InMind(
        graph=request.graph,
        found=True,
        session=session,
        state=session_summaries.state_of(graph, session, _last_at(view, session), memory.time),
        ended=session_summaries.ending_of(graph.sessions.ended.get(session)),
        total=len(turns),
        turns=shown,
        keywords=[label for _, label in Shown(view.concept_table).labels(words)],
        themes=_themes(view, turns),
        inherited=_inherited(memory, graph, view, session),
        position=memory.position,
    )


def recorded(turn: TurnRecorded, view: GraphView, number: int) -> RecordedTurn:
    """Show a turn as it was said, and what its graph says of it."""
    one = np.array([number])
    return RecordedTurn(
        id=turn.id,
        session=turn.session,
        speaker=turn.speaker,
        role=turn.role,
        text=turn.text,
        at=turn.at,
        metadata=dict(turn.metadata),
        archived=bool(view.of_turns("archived", one)[0]),
        pinned=bool(view.of_turns("pinned", one)[0]),
        origin=turn.origin,
        expires_at=turn.expires_at,
        importance=turn.importance,
        anchor=turn.anchor.rule if turn.anchor else None,
        times=[SpokenTime(**asdict(span)) for span in turn.times],
        mentions=[BoundPronoun(**asdict(each)) for each in turn.mentions],
        novelty=turn.novelty,
        uncounted=turn.uncounted,
    )


def _last_at(view: GraphView, session: str) -> int:
    numbers = view.session_numbers([session])
    return int(view.of_turns("at", view.excerpt(numbers).turn).max()) if len(numbers) else view.clock


def _themes(view: GraphView, turns: Integers) -> list[str]:
    """List the themes of turns, the latest first: the topics of a conversation as a stack."""
    theme_of = {word: theme for theme in view.themes for word in theme.members}
    shown = Shown(view.concept_table)
    themes: dict[str, None] = {}
    for turn in turns[::-1].tolist():
        _, concepts, _ = view.concepts_of_turns(np.array([turn]))
        for concept in concepts.tolist():
            if concept in theme_of:
                named = islice(shown.labels(theme_of[concept].members), NAMED_BY)
                themes.setdefault(", ".join(label for _, label in named))
    return [label for label in themes if label][:THEMES]


def _inherited(memory: QueriedGraph, graph: Graph, view: GraphView, session: str) -> Inherited | None:
    """Find what the conversation before this one was about, None if there was none."""
    for name, end in reversed(graph.sessions.ended.items()):
        if end.text and (name != session or len(working_memory.going_on(view, session))):
            there = {"session": name, "at": end.at, "summary": end.text, "turns": list(end.turns), "by": end.by}
            return Inherited(recorded=True, **there)  # type: ignore[arg-type]
    before = _before(view, session)
    if before is None:
        return None
    name, passages = before
    quotes = session_summaries.quoted(graph, view, memory.text_of, passages, session_summaries.WORDS)
    return Inherited(
        session=name,
        at=int(view.of_turns("at", passages).max()),
        summary="\n".join(map(session_summaries.line, quotes)),
        turns=list(dict.fromkeys(quote.turn for quote in quotes)),
        by=session_summaries.AUTHOR,
        recorded=False,
    )


def _before(view: GraphView, session: str) -> tuple[str, Integers] | None:
    """Find the session in which something was said last before this one began, and its turns."""
    own = working_memory.going_on(view, session)
    others = np.arange(view.turns)
    others = others[~np.isin(others, own)]
    if len(own):
        others = others[view.of_turns("at", others) <= view.of_turns("at", own[:1])[0]]
    if not len(others):
        return None
    last = others[np.lexsort((others, view.of_turns("at", others)))[-1]]
    number = view.of_turns("session", np.array([last]))
    turns = others[view.of_turns("session", others) == number[0]]
    return view.sessions[int(number[0])], turns
