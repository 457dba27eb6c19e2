"""Recaps: summarise a conversation in its own words.

    about     concepts by  n · ln(1 + sessions / sessions that hold it),  n turns of the session that hold it
    summary   sentences by what they hold of that, less what the sentences chosen before have said already
              (maximal marginal relevance: Carbonell & Goldstein 1998), in the order of the conversation

    topics    the parts of a conversation, each with its topic and its summary (compression.py)

    state     working: something was said within `idle`; idle: it fell silent; ended: that it ended is recorded

Recaps are extractive: every sentence was said.  They are pure: a replay makes the same recap.  The recorded end of a
conversation includes its summary, by this author (`summed_up`).  SEEDS S1, S14, S16, S20, H7, P38.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np

from emgas.messages.sessions import Ending, SessionState
from emgas.messages.views import Quote, Recap, Recapped, SessionRecap, SessionTopic
from processors.lifecycle.sessions.sessions import going_on, is_idle
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.context.context import tokens
from processors.recall.context.sentences import sentences
from processors.recall.reports import segmentation
from processors.text import tables
from processors.text.scripts import HAN
from processors.text.shown import Shown
from state.arrays import Integers
from state.events.events import UNSTAMPED, SessionEnded, SessionSummarised, TurnRecorded
from state.graph.graph import Graph, TextOf
from state.graph.tables.session_table import SessionEnd
from state.graph.view import GraphView

ABOUT: Final = 8  # concepts that a conversation is said to be about
NAMED_BY: Final = 3  # concepts that a part of a conversation is named by
READ: Final = 40  # turns of a conversation that are read for its summary: those that hold most of what it is about
SHORTEST, LONGEST = 4, 60  # words of a sentence that can stand for a conversation
WORDS: Final = 60  # of a summary that is recorded
AUTHOR: Final = "extractive 1"  # who writes it: raise the number where the same turns would be summed up otherwise

SAME: Final = 0.85  # of the words of a sentence: where another one holds as many, it says the same
_WORD: Final = tables.lazy(rf"[{HAN}]|\w+?(?=[{HAN}]|\b)")


class _Sentence(NamedTuple):
    """A sentence that could be quoted: its place, turn, number of words, and concepts."""

    place: tuple[int, int]
    turn: TurnRecorded
    text: str
    words: int
    concepts: frozenset[str]


def list_recaps(memory: QueriedGraph, request: Recap) -> Recapped:
    """Recap conversations of a graph.  Raises what `memory.text_of` raises."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Recapped(graph=request.graph, found=False, position=memory.position)
    view = graph.view()
    recaps = [_recap(memory, view, number, request) for number in _chosen_sessions(view, request)]
    total = len(np.unique(view.passage_session))
    return Recapped(graph=request.graph, found=True, total=total, sessions=recaps, position=memory.position)


def _chosen_sessions(view: GraphView, request: Recap) -> list[int]:
    """Find the numbers of the sessions asked for, or of those that were spoken in last."""
    existing = set(np.unique(view.passage_session).tolist())
    if request.sessions:
        numbers = {name: number for number, name in enumerate(view.sessions)}
        return [numbers[name] for name in dict.fromkeys(request.sessions) if numbers.get(name) in existing]
    ended: dict[int, tuple[int, int]] = {}
    for passage, session in enumerate(view.passage_session.tolist()):
        ended[session] = max(ended.get(session, (0, 0)), (int(view.passage_at[passage]), passage))
    latest = sorted(ended, key=lambda session: ended[session], reverse=True)
    return latest[request.skip : request.skip + request.limit]


def summed_up(graph: Graph, text_of: TextOf, end: SessionEnded) -> SessionSummarised | None:
    """Sum up a conversation that is about to end, in its own words; None if nothing in it can stand for it.

    If it ended before and went on, what its last summary quotes is summed up with what came since.

    Raises what `text_of` raises.
    """
    last = graph.passages.numbers[end.through]
    before = graph.sessions.ended.get(end.session)
    quoted_before = [turn for turn in (before.turns if before else ()) if turn in graph.passages.numbers]
    fresh = [graph.passages.ids[passage] for passage in going_on(graph, end.session) if passage <= last]
    turns = list(dict.fromkeys([*quoted_before, *fresh]))
    view = graph.view()  # compacts: numbers may have changed
    quotes = quoted(graph, view, text_of, view.passage_numbers(turns), WORDS)
    if not quotes:
        return None
    text = "\n".join(map(line, quotes))
    named = list(dict.fromkeys(quote.turn for quote in quotes))
    there: dict[str, Any] = {"graph": end.graph, "at": end.at, "session": end.session}
    return SessionSummarised(text=text, turns=named, by=AUTHOR, **there, **UNSTAMPED)


def line(quote: Quote) -> str:
    """Write a quote as one line."""
    return f"{quote.speaker}: {' '.join(quote.text.split())}"


def quoted(graph: Graph, view: GraphView, text_of: TextOf, passages: Integers, words: int) -> list[Quote]:
    """Quote what tells most of some passages, all of a session, in at most so many words."""
    worth = _worth(view, passages)
    by_id = {view.ids[number]: value for number, value in worth.items()}
    return _summary(graph, text_of, _telling(view, passages, worth), worth=by_id, words=words)


def state_of(graph: Graph, session: str, last_at: int, now: int) -> SessionState:
    """Return whether a session whose last turn lies at `last_at` goes on at `now` (ms)."""
    if session in graph.sessions.ended and not going_on(graph, session):
        return "ended"
    return "idle" if is_idle(graph, last_at, now) else "working"


def ending_of(end: SessionEnd | None) -> Ending | None:
    """Return how a session ended last."""
    if end is None:
        return None
    return Ending(at=end.at, reason=end.reason, summary=end.text, turns=list(end.turns), by=end.by, topic=end.topic)  # type: ignore[arg-type]


def _recap(memory: QueriedGraph, view: GraphView, session: int, request: Recap) -> SessionRecap:
    graph = memory.graph
    assert graph is not None  # noqa: S101 - `recapped` sees to it
    passages = np.flatnonzero(view.passage_session == session)
    worth = _worth(view, passages)
    best = sorted(worth, key=lambda number: (-worth[number], number))
    times = view.passage_at[passages]
    by_id = {view.ids[number]: value for number, value in worth.items()}
    name, until = view.sessions[session], int(times.max())
    speakers = Counter(view.passage_speaker[passages].tolist())
    return SessionRecap(
        session=name,
        since=int(times.min()),
        until=until,
        turns=len(passages),
        archived=int(view.passage_archived[passages].sum()),
        speakers=[view.speakers[number] for number, _ in speakers.most_common()],
        concepts=[label for _, label in islice(Shown(view.concept_table).labels(best), ABOUT)],
        summary=_summary(graph, memory.text_of, _telling(view, passages, worth), worth=by_id, words=request.words),
        topics=_topics(memory, view, passages) if request.topics else [],
        state=state_of(graph, name, until, memory.time),
        ended=ending_of(graph.sessions.ended.get(name)),
    )


def _topics(memory: QueriedGraph, view: GraphView, passages: Integers) -> list[SessionTopic]:
    """Compress a conversation into parts, each with its topic and a summary of a tenth of its words.  SEEDS M4."""
    graph = memory.graph
    assert graph is not None  # noqa: S101 - `recapped` sees to it
    within = np.isin(view.posting_passage, passages) & ~view.is_mark[view.posting_concept]
    by_passage: dict[int, set[int]] = {number: set() for number in passages.tolist()}
    for passage, concept in zip(
        view.posting_passage[within].tolist(), view.posting_concept[within].tolist(), strict=True
    ):
        by_passage[passage].add(concept)
    text = "".join(memory.text_of(graph, number).text for number in passages[-READ:].tolist())
    places = segmentation.cuts(
        list(by_passage.values()), segmentation.how_many(len(passages), segmentation.entropy(text))
    )
    return [_part(memory, view, part) for part in np.split(passages, places)]


def _part(memory: QueriedGraph, view: GraphView, passages: Integers) -> SessionTopic:
    graph = memory.graph
    assert graph is not None  # noqa: S101 - as above
    worth = _worth(view, passages)
    best = sorted(worth, key=lambda number: (-worth[number], number))
    words = max(SHORTEST * 3, round(segmentation.RATE * int(view.passage_tokens[passages].sum())))
    return SessionTopic(
        topic=", ".join(label for _, label in islice(Shown(view.concept_table).labels(best), NAMED_BY)),
        first=view.passage_id[int(passages[0])],
        last=view.passage_id[int(passages[-1])],
        turns=len(passages),
        summary=quoted(graph, view, memory.text_of, passages, words),
    )


def _worth(view: GraphView, passages: Integers) -> dict[int, float]:
    """Return the weights of the words in the passages of a session: number → how typical it is of the session."""
    here = view.posting_concept[np.isin(view.posting_passage, passages)]
    here = here[~view.is_mark[here]]
    concepts, turns = np.unique(here, return_counts=True)
    sessions = _sessions_with(view, concepts)
    worths = turns * np.log1p(len(np.unique(view.passage_session)) / sessions)
    return dict(zip(concepts.tolist(), worths.tolist(), strict=True))


def _sessions_with(view: GraphView, concepts: Integers) -> Integers:
    """Count the sessions that hold each of ascending `concepts` (k,)."""
    holding = np.isin(view.posting_concept, concepts)
    pairs = view.posting_concept[holding] << 32 | view.passage_session[view.posting_passage[holding]]
    counts = np.bincount(np.searchsorted(concepts, np.unique(pairs) >> 32), minlength=len(concepts))
    return counts.astype(np.int64, copy=False)


def _telling(view: GraphView, passages: Integers, worth: dict[int, float]) -> list[int]:
    """Return the passages with the highest worth for their length, in their order."""
    chosen = np.isin(view.posting_passage, passages)
    weights = [worth.get(number, 0.0) for number in view.posting_concept[chosen].tolist()]
    sums = np.bincount(view.posting_passage[chosen], weights, len(view.passage_at))[passages]
    shares = sums / np.sqrt(np.maximum(view.passage_tokens[passages], 1))
    return sorted(passages[np.argsort(-shares, kind="stable")[:READ]].tolist())


def _summary(graph: Graph, text_of: TextOf, passages: list[int], *, worth: dict[str, float], words: int) -> list[Quote]:
    read = [text_of(graph, passage) for passage in passages]
    candidates = [each for place, turn in enumerate(read) for each in _sentences(place, turn) if each.words <= words]
    chosen, left, covered = list[_Sentence](), words, Counter[str]()
    while candidates:
        best = max(candidates, key=lambda each: (_gain(each, worth, covered), (-each.place[0], -each.place[1])))
        if _gain(best, worth, covered) <= 0:
            break
        chosen.append(best)
        left -= best.words
        covered.update(best.concepts)
        candidates = [each for each in candidates if each.words <= left and not _repeats(each, best)]
    return [
        Quote(turn=each.turn.id, speaker=each.turn.speaker, at=each.turn.at, text=each.text)
        for each in sorted(chosen, key=lambda each: each.place)
    ]


def _repeats(one: _Sentence, other: _Sentence) -> bool:
    """Check whether a sentence says nearly the same as another one: most of the words of the shorter one."""
    words, quoted = (set(_WORD.findall(each.text.casefold())) for each in (one, other))
    return len(words & quoted) >= SAME * max(1, min(len(words), len(quoted)))


def _gain(sentence: _Sentence, worth: dict[str, float], covered: Counter[str]) -> float:
    """Return the worth of a sentence's concepts that are not covered yet, relative to its length."""
    gain = sum(worth.get(concept, 0.0) / 4 ** covered[concept] for concept in sentence.concepts)
    return float(gain / math.sqrt(sentence.words))


def _sentences(place: int, turn: TurnRecorded) -> list[_Sentence]:
    """Find the sentences of a turn that could be quoted, each with the concepts of the turn that it holds."""
    parts = []
    for number, part in enumerate(sentences(turn.text)):
        text = part.strip()
        words = _words(text)
        if SHORTEST <= words <= LONGEST and not text.endswith(("?", "？")):
            lower = text.casefold()
            concepts = frozenset(each.id for each in turn.concepts if each.label.casefold() in lower)
            parts.append(_Sentence((place, number), turn, text, words, concepts))
    return parts


def _words(text: str) -> int:
    """Count the words of a text, as a context counts them: Han text by its characters."""
    return max(1, tokens(text) * 10 // 13)
