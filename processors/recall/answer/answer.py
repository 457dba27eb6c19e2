"""Answers: compute the reply to a query from a graph, as it is now or was at an earlier time.

    Query ──▶ _Question ────▶ _Matches ─────────▶ why each passage came ─▶ a context for the prompt ─▶ Reply
              _prepare        _match: recall.py   explanation.py            context.py

Nothing is changed: an `Answer` holds the reply, and beside it what a reinforcing question should record.  A long
question reads, explains and packs many turns, so an answer is a generator that yields every few milliseconds; its
caller may run other tasks meanwhile, and these may change the graph.  The answer still describes the graph at its
start; if that is impossible, it raises GraphChangedError and must begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, cast, get_args

import numpy as np
from msgspec.structs import asdict

from emgas.limits import EARLIEST_MS
from emgas.messages.advice import Advised, TextPart
from emgas.messages.explanations import Why
from emgas.messages.fields import Attachment, Position
from emgas.messages.filters import Filter
from emgas.messages.queries import NOTHING_ANSWERS, Query, RecalledPassage, Reply, Timing
from emgas.messages.relations import KnownRelation
from emgas.messages.settings.modes import Mode, Rerank
from emgas.times import wall_clock
from processors.extraction.extractor import Extraction, Extractor
from processors.lifecycle.steps import Steps
from processors.lifecycle.turns.people import cards_of
from processors.recall.answer.closer_look import LOOKED_UP, AskedQuestion, closer_look, tells_omission, told_changes
from processors.recall.answer.explanation import explanations, explanations_of_mode
from processors.recall.answer.habits import find_habits
from processors.recall.answer.people import raised_by_changes, relations_for
from processors.recall.answer.perceptual import rank_perceived
from processors.recall.answer.provenance import UNGUIDED, describe_method
from processors.recall.answer.relations import find_relations, lets_through, relation_text
from processors.recall.answer.turn_facts import GraphChangedError, read_turn_facts
from processors.recall.context.context import ContextPacker, ContextPassage, PackedContext, is_short, most_lines
from processors.recall.context.people_meant import names_of, people_meant
from processors.recall.context.sentences import QueryWord
from processors.recall.ranking.activation import SpreadingParameters
from processors.recall.ranking.dense import Embedder, likeness
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.kinds import KINDS
from processors.recall.ranking.pronouns import READ, meant_by_pronouns
from processors.recall.ranking.query_terms import QueryTerms, as_named_here, asker_of, worth
from processors.recall.ranking.silence.evidence import find_evidence
from processors.recall.ranking.silence.known import WEIGHTS, Baselines, likelihoods, passage_likelihoods
from processors.recall.ranking.weights import of_graph
from processors.recall.ranking.working_memory import latest_session
from processors.recall.retrieval.breadth import ANSWER, Breadth, breadth_of, with_neighbours
from processors.recall.retrieval.policies import CORE, GuidanceWords, Policies, Retriever
from processors.recall.retrieval.recall import (
    EVEN,
    EVEN_BY_VECTORS,
    Ranked,
    RecallOptions,
    RecallResult,
    by_token,
    latest_of,
    recent,
    worth_showing,
)
from processors.recall.retrieval.retrieval import retrieve
from processors.text.language import clean
from processors.text.questions.answer_kinds import EVERYDAY, LEAST_DEPTH, MOST_DEPTH, asks_omitted
from processors.text.questions.complexity import complexity
from processors.text.questions.continuations import continuation
from processors.text.questions.slots import SlotQuestion, slot_question
from state.arrays import Floats
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.tables.habit_table import HabitRow
from state.graph.view import GraphView

# How many items a reader can take in: an answer has 7 ± 2, depending on the reader's load.  SEEDS P47.
#
#     load 0     nothing else to do: 9        load 0.5   7        load 1   busy: 5
#
# Miller 1956: working memory holds seven chunks, plus or minus two.  Off unless a question tells a load: a prompt for a
# model is no reader, and takes as much as the question needs.

SPAN: Final = 7
SPREAD: Final = 2


def items(load: float) -> int:
    """Return how many items a reader with a load in [0, 1] takes in."""
    return round(SPAN + SPREAD * (1 - 2 * load))


def limit_by_load(query: Query) -> Query:
    """Return a query that asks for no more than its reader can take in; a query without a load is unchanged."""
    if query.load is None:
        return query
    most = items(query.load)
    limits = (query.top_passages, query.context_passages)
    listed, packed = (None if number is None else min(number, most) for number in limits)
    return query.model_copy(update={"top_passages": listed, "context_passages": most if packed is None else packed})


# Advice on a turn, as a reply shows it: beside the turn, whose text stays unchanged.


def advice_on(graph: Graph, turn: str) -> Advised | None:
    """Return what advisors said of a turn, None if nothing."""
    table = graph.advice
    words, parts, judged = table.rewritten.get(("turn", turn)), table.split.get(turn), table.judged.get(turn)
    if not (words or parts or judged):
        return None
    return Advised(
        rewritten=words.text if words else None,
        role=words.role if words else "",
        rewritten_by=words.by if words else "",
        parts=[TextPart(start=start, end=end) for start, end in parts.spans] if parts else [],
        split_by=parts.by if parts else "",
        worth=judged.worth / 100 if judged else None,
        keywords=list(judged.keywords) if judged else [],
        judged_by=judged.by if judged else "",
    )


# What a question leaves open, as its graph is set: where it is asked, in which mode, by whose formula.
#
# A question that names a mode is answered in that, plainly; one that asks for a kind of memory, in the default mode,
# which alone has kinds: its episodes are ordered by whose formula the graph's questions are, where that has one for
# them.


def mode_of(graph: Graph) -> Mode:
    """Return the mode of a graph's questions; one that this version does not know is the default."""
    return cast(Mode, graph.mode) if graph.mode in get_args(Mode) else "default"


def rerank_of(graph: Graph) -> Rerank | None:
    """Return the graph's reranker, None if it has none."""
    return cast(Rerank, graph.rerank) if graph.rerank in get_args(Rerank) else None


def with_graph_defaults(query: Query, graph: Graph, policies: Policies) -> Query:
    """Return a query with the graph's mode, reranker and time zone where it names none."""
    defaults: dict[str, object] = {"timezone": graph.timezone} if query.timezone is None else {}
    rerank = rerank_of(graph) if query.rerank is None else query.rerank
    if query.mode is None and query.memory == "episodic":
        defaults["rerank"] = rerank if rerank and policies.reranker(rerank).fetched_episodes else None
    elif query.mode is None and query.memory == "all":
        defaults |= {"mode": mode_of(graph), "rerank": rerank}
    return query.model_copy(update=defaults) if defaults else query


ODDS: Final = 4.0  # log-odds that double a score which is none
ALIKE: Final = 0.45  # cosine with a turn from which a question is about it: general ones reach 0.43 in 97 of 100
LATEST: Final = 10  # turns that are offered where nothing is found
LONG_BUDGET: Final = 2000  # tokens: what is packed into more takes longer than the rest of an answer
EXPLAINED_AT_ONCE: Final = 20  # passages, likewise: some five
SAME_FROM: Final = 12  # characters: so long a text that one speaker said twice is listed once
PACKED_AT_ONCE: Final = 20  # turns read and packed, likewise: one or two, the more the longer the context is
MEMBERS: Final = 20  # of a habit that is a passage: the latest
UNTRUSTED: Final = ("tool", "web")  # origins whose texts anyone may have written: mode inject leaves them out
UNTIMED: Final = Timing(waited_ms=0, recall_ms=0)  # the caller measures the time: this module has no clock


class QueriedGraph(NamedTuple):
    """The graph that a query reads, None if it has no events; how to read a turn of it; how far its log is folded.

    now  time of the query, in the graph's own time (ms); None: the graph's clock
    """

    graph: Graph | None
    text_of: Callable[[Graph, int], TurnRecorded]  # passage number → the event that recorded it
    position: Position
    now: int | None = None

    @property
    def time(self) -> int:
        """Return when it is asked, ms: never before the last thing that happened in the graph."""
        clock = EARLIEST_MS if self.graph is None else self.graph.clock
        return max(clock, clock if self.now is None else self.now)


class Answer(NamedTuple):
    """A reply, and what a reinforcing question records: nothing if it does not reinforce.

    shown     numbers of the turns in the context, in its order
    recalled  ids of the concepts that it woke
    restored  ids of the turns that it brought back from the archive, of as many as it needed
    """

    reply: Reply
    recalled: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    shown: tuple[int, ...] = ()


class Answerer:
    """Answers queries, with one extractor, at most one model of embeddings, and the policies that queries may name."""

    def __init__(
        self,
        extractor: Extractor,
        embedder: Embedder | None = None,
        policies: Policies = CORE,
        stage: Callable[[str], AbstractContextManager[None]] = lambda stage: nullcontext(),
    ) -> None:
        """`stage` is entered, by its name, for as long as each stage of an answer takes."""
        self.extractor, self.embedder, self.policies, self.stage = extractor, embedder, policies, stage
        self.baselines = Baselines(extractor)

    def answer(self, query: Query, memory: QueriedGraph, read: dict[int, TurnRecorded] | None = None) -> Steps[Answer]:
        """Answer a query from `memory`, step by step; it is asked as it is when the first step is taken.

        read  turns by the ordinal of their event: what is read is added, what is there is not read again

        Raises GraphChangedError, and what `memory.text_of` raises.
        """
        graph = memory.graph
        if graph is None or graph.is_blank:  # what was taken back entirely never was
            return Answer(_nothing(query, memory.position))
        if not graph.settings.recalling:
            nothing = _nothing(query, memory.position)
            return Answer(nothing.model_copy(update={"found": True, "note": None, "paused": True}))
        if query.only.asks_facts:
            yield from read_turn_facts(graph, memory.text_of)
        turns = _TurnReader(memory, graph, {} if read is None else read)
        with self.stage("prepare"):
            question = _prepare(self, query, memory, graph)
        with self.stage("activate"):
            matches = _match(question, turns)
        with self.stage("pack"):
            return (yield from _ReplyWriter(question, matches, turns).steps())


def is_long(query: Query) -> bool:
    """Return whether a query may read, explain or pack so much that others should be let in meanwhile."""
    explains = query.explain and (query.top_passages or 0) > EXPLAINED_AT_ONCE
    return query.only.asks_facts or query.budget > LONG_BUDGET or explains


class _TurnReader:
    """Reads turns of a graph by the numbers of their passages, each once."""

    def __init__(self, memory: QueriedGraph, graph: Graph, read: dict[int, TurnRecorded]) -> None:
        self._memory, self._graph, self._read, self._event = memory, graph, read, graph.passages.event

    def __call__(self, number: int) -> TurnRecorded:
        """Read a turn."""
        ordinal = self._event[number]
        turn = self._read.get(ordinal)
        if turn is None:
            turn = self._read[ordinal] = self._memory.text_of(self._graph, number)
        return turn


class _Shown(NamedTuple):
    """Properties of a turn beside its text, as a reply shows them."""

    archived: bool
    pinned: bool
    superseded_by: str | None


@dataclass(frozen=True)
class _Question:
    """A query as its graph is set: everything that is decided before the graph is searched.

    concepts   what its text names           guiding  what its mood and role name
    goes_on    whether it only asks for more of the conversation ("go on")
    baseline   what its graph shows of general questions (ranking/known.py)
    """

    query: Query
    memory: QueriedGraph
    graph: Graph
    view: GraphView
    zone: str
    concepts: Extraction
    guiding: GuidanceWords
    options: RecallOptions
    cosine: Floats | None
    goes_on: bool
    policies: Policies
    retriever: Retriever
    baseline: Floats

    @property
    def perceives(self) -> bool:
        """Return whether the question searches attachments, such as images."""
        return self.query.memory == "perceptual"

    @property
    def is_ranked(self) -> bool:
        """Return whether turns are ranked by how well they answer, not by time or by attachments."""
        return not (self.goes_on or self.perceives)

    @property
    def has_odds(self) -> bool:
        """Return whether scores of turns are log-odds."""
        return self.is_ranked and not self.options.kind.in_mind and self.options.rerank is None

    @property
    def is_of_turns(self) -> bool:
        """Return whether the default retriever ranks turns for it, by the default formula or another."""
        return self.is_ranked and not self.options.kind.in_mind and self.query.retriever == "default"

    @property
    def is_judged(self) -> bool:
        """Return whether `known` decides for it: not if it goes on, or asks for working memory."""
        goes_on = self.options.session is not None and continuation(self.query.text) is not None
        return self.is_ranked and not (self.options.kind.in_mind or goes_on)

    @property
    def is_alike(self) -> bool:
        """Return whether vectors find a turn that means the same in other words; in mode inject, words alone tell."""
        by_default = self.query.mode != "inject" and self.query.min_likelihood is None
        return by_default and self.cosine is not None and float(self.cosine.max(initial=0.0)) >= ALIKE


@dataclass(frozen=True)
class _Matches:
    """The results of a question's search.

    is_match  whether any of it answers, and is not only the latest or the nearest that there is
    known     how likely the graph holds an answer
    """

    recalled: RecallResult
    habits: list[HabitRow]
    relations: list[KnownRelation]
    is_match: bool
    known: float


def _prepare(answerer: Answerer, query: Query, memory: QueriedGraph, graph: Graph) -> _Question:
    query = limit_by_load(with_graph_defaults(query, graph, answerer.policies))
    extractor, embedder, policies = answerer.extractor, answerer.embedder, answerer.policies
    view, zone, retriever = graph.view(), query.timezone or "UTC", policies.retriever(query.retriever)
    now = wall_clock(graph.clock, zone)  # "last week": seen from the end of what is known
    options = _options(query, graph, extractor, memory.time, retriever)
    options, guiding = replace(options, depth=_depth_of(query, policies, retriever)), GuidanceWords()
    if query.guidance != UNGUIDED:
        guiding = policies.guide.words(query.guidance, view, extractor)
        options = policies.guide.options(options, query, guiding, retriever)
    return _Question(
        query=query,
        memory=memory,
        graph=graph,
        view=view,
        zone=zone,
        concepts=extractor.of_query(query.text, now),
        guiding=guiding,
        options=options,
        cosine=likeness(view, embedder, query.text) if embedder and retriever.by_vectors else None,
        goes_on=query.retriever == "default" and continuation(query.text) == "alone",
        policies=policies,
        retriever=retriever,
        baseline=answerer.baselines.of(graph),
    )


def _match(question: _Question, turns: _TurnReader) -> _Matches:
    """Search the graph: for turns, for what recurs, and for relations if they are asked for."""
    query, slot_question = question.query, _slot_question(question)
    recalled = _with_pronouns(question, _recall_turns(question), turns)
    recalled = _with_changes(question, _looked_at(question, recalled, turns))
    habits, relations = _recurring(question), _relations(question, recalled, slot_question)
    known = _known(question, recalled)
    if _omission_told(question, recalled):
        known = max(known, WEIGHTS.silent)
    is_known = bool(recalled.passages) and known >= _least_known(question)
    if is_known:
        recalled = _worth_their_tokens(question, recalled, known)
    elif habits or relations or slot_question or query.fallback != "nearest":
        recalled = replace(recalled, passages=(), recalled=())
    recalled = _changes_first(question, _evidence_first(question, recalled, slot_question), turns)
    is_match = bool(recalled.passages and (is_known or slot_question)) or bool(habits or relations)
    if not is_match and query.fallback == "recent":
        latest = recent(question.view, question.options.only, query.top_passages or LATEST)
        recalled = replace(recalled, passages=latest, depth=LATEST)
    if query.load is not None:
        recalled = replace(recalled, depth=min(recalled.depth, items(query.load)))
    return _Matches(recalled, habits, relations, is_match, known)


def _known(question: _Question, recalled: RecallResult) -> float:
    """Return how likely the graph holds an answer; what is not ranked by its words is known if there is any."""
    if not recalled.passages or not question.is_judged:
        return float(bool(recalled.passages))
    evidence = recalled.evidence
    if evidence is None:
        view, nothing = question.view, np.zeros(question.view.concepts)
        inquiry = Inquiry(view, _terms(question, recalled), nothing)
        evidence = find_evidence(inquiry, question.concepts, question.query.text, view.turns)
    likelihood = float(likelihoods(evidence, question.baseline))
    # What is said all the time is rare in no turn: but what recurs is known, and so is what is said in other words.
    is_known = likelihood >= WEIGHTS.silent or question.is_alike or _is_of_habit(question)
    return max(likelihood, WEIGHTS.silent) if is_known else likelihood


def _least_known(question: _Question) -> float:
    """Return the likelihood below which the question gets nothing."""
    query = question.query
    if query.min_likelihood is not None:
        return query.min_likelihood
    return WEIGHTS.inject if query.mode == "inject" else WEIGHTS.silent


def _worth_their_tokens(question: _Question, recalled: RecallResult, known: float) -> RecallResult:
    """Leave out, in mode inject, what this session said, and turns whose tokens are worth more than what they tell."""
    query, view = question.query, question.view
    if query.mode != "inject" or not recalled.passages:
        return recalled
    numbers = np.array([each.number for each in recalled.passages])
    tells = passage_likelihoods(_scores(recalled), known) * max(query.budget, 1)
    here = np.isin(view.of_turns("session", numbers), view.session_numbers([query.session or ""]))
    keep = (tells >= view.of_turns("tokens", numbers)) & ~here
    kept = [each for each, stays in zip(recalled.passages, keep.tolist(), strict=True) if stays]
    return replace(recalled, passages=tuple(kept))


def _scores(recalled: RecallResult) -> Floats:
    return np.array([each.score for each in recalled.passages], np.float64)


def _recall_turns(question: _Question) -> RecallResult:
    query, view, options = question.query, question.view, question.options
    recalled = retrieve(view, question.concepts, query.text, options, question.cosine, policies=question.policies)
    if question.goes_on and options.session is not None:  # what else it finds is a word that says nothing
        requested = LEAST_DEPTH if query.top_passages is None else query.top_passages
        latest = latest_of(view, options.session, options, max(requested, LEAST_DEPTH))
        recalled = replace(recalled, passages=latest, depth=LEAST_DEPTH)
    if question.perceives:
        perceived = rank_perceived(view, recalled.passages, allowed=Allowed(view, options.only), like=query.like)
        recalled = replace(recalled, passages=perceived, depth=max(recalled.depth, LEAST_DEPTH))
    return recalled


def _with_pronouns(question: _Question, recalled: RecallResult, turns: _TurnReader) -> RecallResult:
    """Raise turns that mean with a pronoun whom the question names."""
    if not question.is_of_turns or not recalled.passages:
        return recalled
    best = [ranked.number for ranked in recalled.passages[:READ]]
    weight = question.options.weights["match"]
    added = meant_by_pronouns(question.view, _terms(question, recalled), best, turns, weight)
    if not added:
        return recalled
    return replace(_raised(question, recalled, added), pronouns=added)


def _asked(question: _Question, recalled: RecallResult) -> AskedQuestion:
    return AskedQuestion(question.query.text, question.options.asker, question.view, _terms(question, recalled))


def _omission_told(question: _Question, recalled: RecallResult) -> bool:
    """Return whether a turn says that what is asked for was left out; what recurs is rare in no turn."""
    if not question.is_of_turns or not asks_omitted(question.query.text):
        return False
    return tells_omission(_asked(question, recalled), [each.number for each in recalled.passages])


def _looked_at(question: _Question, recalled: RecallResult, turns: _TurnReader) -> RecallResult:
    """Raise turns that say what is asked in a way that no single word of theirs shows."""
    if not question.is_of_turns or not recalled.passages:
        return recalled
    asked = _asked(question, recalled)
    scores = {each.number: each.score for each in recalled.passages[:LOOKED_UP]}
    added = closer_look(asked, scores, list(scores), turns)
    return _raised(question, recalled, added) if added else recalled


def _changes_first(question: _Question, recalled: RecallResult, turns: _TurnReader) -> RecallResult:
    """Put what tells a change before what it changes, also where no card has understood it."""
    if not question.is_of_turns or not recalled.passages or not question.options.asker:
        return recalled
    scores = {each.number: each.score for each in recalled.passages}
    added = told_changes(_asked(question, recalled), scores, [each.number for each in recalled.passages], turns)
    passages = [each._replace(score=each.score + added.get(each.number, 0.0)) for each in recalled.passages]
    return replace(recalled, passages=tuple(sorted(passages, key=lambda each: -each.score))) if added else recalled


def _raised(question: _Question, recalled: RecallResult, added: Mapping[int, float]) -> RecallResult:
    """Add log-odds to the scores of turns, or raise scores that are none by as much, and order the turns again."""
    raised = [
        each._replace(score=each.score + worth if question.has_odds else each.score * (1 + worth / ODDS))
        for each, worth in ((each, added.get(each.number, 0.0)) for each in recalled.passages)
    ]
    return replace(recalled, passages=tuple(sorted(raised, key=lambda each: -each.score)))


def _with_changes(question: _Question, recalled: RecallResult) -> RecallResult:
    """Rank a turn that ended what a card held no lower than the turn that said it, unless the past is asked for."""
    if not question.graph.people or not question.is_of_turns:
        return recalled
    terms = _terms(question, recalled)
    if terms.past:
        return recalled
    inquiry = Inquiry(question.view, terms, np.zeros(0))
    raised = raised_by_changes(question.graph, inquiry, {each.number: each.score for each in recalled.passages})
    if not raised:
        return recalled
    passages = [each._replace(score=raised.get(each.number, each.score)) for each in recalled.passages]
    return replace(recalled, passages=tuple(sorted(passages, key=lambda each: -each.score)))


def _slot_question(question: _Question) -> SlotQuestion | None:
    """Return the slot of a card that a short question asks for, in the default way of recall."""
    query, graph, asker = question.query, question.graph, question.options.asker
    if not graph.people or not question.is_ranked or query.retriever != "default" or question.options.kind.in_mind:
        return None
    text = as_named_here(question.view, question.concepts, query.text)
    return slot_question(cards_of(graph), text, asker)


def _evidence_first(question: _Question, recalled: RecallResult, slot_question: SlotQuestion | None) -> RecallResult:
    """Put the turns that say what a slot holds before all others, as far as the question's filter lets them through."""
    if slot_question is None:
        return recalled
    numbers = np.array([question.graph.passages.numbers[turn] for turn in slot_question.turns], np.int64)
    first = numbers[Allowed(question.view, question.options.only).passes(numbers)].tolist()
    best = max((ranked.score for ranked in recalled.passages), default=0.0)
    others = [ranked for ranked in recalled.passages if ranked.number not in first]
    passages = (*(Ranked(number, best) for number in first), *others)
    return replace(recalled, passages=passages, depth=max(recalled.depth, len(first)))


def _recurring(question: _Question) -> list[HabitRow]:
    """Find what recurs, if that is asked for: it comes first."""
    query, options = question.query, question.options
    if query.retriever != "default" or query.top_passages == 0 or not question.is_ranked or options.kind.in_mind:
        return []
    return find_habits(question.graph, question.concepts, query.text, asker=options.asker, only=query.only)


def _is_of_habit(question: _Question) -> bool:
    """Return whether a question is about what recurs, whatever it asks of that."""
    words = {each.id for each in question.concepts.concepts if each.id[0] != "@"} - EVERYDAY
    return any(not words.isdisjoint(habit.concepts) for habit in question.graph.habits.habits.values())


def _relations(question: _Question, recalled: RecallResult, slot_question: SlotQuestion | None) -> list[KnownRelation]:
    """List the relations that a question asks for, else those of its concepts, if its kind of memory has any."""
    if not question.options.kind.tells or question.goes_on:
        return []
    relations = relations_for(question.graph, slot_question) if slot_question else []
    relations = relations or find_relations(question.view, _terms(question, recalled))
    return [each for each in relations if lets_through(question.view, question.options.only, each)]


def _terms(question: _Question, recalled: RecallResult) -> QueryTerms:
    """Return what the question asks for; recall may have looked it up, but in its last round."""
    terms = recalled.meant if question.options.rounds == 1 else None
    return terms or question.options.terms(question.view, question.concepts, question.query.text)


class _ReplyWriter:
    """Writes the reply of one question: explains what is listed, and packs the context; reads each turn once."""

    def __init__(self, question: _Question, matches: _Matches, turns: _TurnReader) -> None:
        self._question, self._matches, self._turns = question, matches, turns
        self._query, self._memory, self._graph = question.query, question.memory, question.graph
        self._view, self._options, self._zone = question.view, question.options, question.zone
        self._events, self._passages = question.graph.events, question.graph.passages
        self._result = matches.recalled
        self._remembered: dict[str, str] = {}  # texts of turns with masks, by id

    def steps(self) -> Steps[Answer]:
        """Find what is listed, explain it, pack the context."""
        query, result = self._query, self._result
        listed = self._listed()
        whys = yield from self._whys(listed)
        shown = self._shown(listed)
        archived = self._from_archive() if query.reinforce else ()
        context = yield from self._packed()
        quoted = set(context.passages)
        likelihoods = self._likelihoods(len(listed))
        passages = list(
            map(self._passage, listed, shown, whys, likelihoods, (each.number in quoted for each in listed))
        )
        reply = Reply(
            graph=query.graph,
            found=True,
            seeds=list(result.seeds),
            concepts=list(result.concepts),
            passages=self._with_habits(passages, quoted),
            context=context.text,
            tokens=context.tokens,
            position=self._memory.position,
            timing=UNTIMED,
            matched=self._matches.is_match,
            note=None if self._matches.is_match else NOTHING_ANSWERS,
            known=self._matches.known,
            relations=self._matches.relations,
            how=describe_method(
                query,
                self._view,
                self._options,
                result,
                meant=self._question.guiding,
                retriever=self._question.retriever,
            ),
            timezone=self._zone,
        )
        packed = tuple(number for number in context.passages if number >= 0)
        recalled, restored = (result.recalled, archived) if query.reinforce else ((), ())
        return Answer(reply, recalled, restored, packed)

    def _with_habits(self, passages: list[RecalledPassage], quoted: Collection[int]) -> list[RecalledPassage]:
        """Put habits before the turns; each habit takes the place of one turn if the query limits their number."""
        best = passages[0].score if passages else 0.0
        top = self._query.top_passages
        habits = enumerate(self._matches.habits, start=1)
        result = [*(_habit(habit, best, in_context=-place in quoted) for place, habit in habits), *passages]
        return result if top is None else result[:top]

    def _likelihoods(self, listed: int) -> list[float | None]:
        """Return how likely each of the listed passages holds the answer, None where scores do not tell."""
        if not (self._matches.is_match and self._question.has_odds and self._query.retriever == "default"):
            return [None] * listed
        return list(passage_likelihoods(_scores(self._result), self._matches.known)[:listed].tolist())

    def _from_archive(self) -> tuple[str, ...]:
        needed = self._result.passages[: self._result.depth]
        shown = zip(needed, self._shown(needed), strict=True)
        return tuple(self._view.passage_id[one.number] for one, marks in shown if marks.archived)

    def _shown(self, listed: Sequence[Ranked]) -> list[_Shown]:
        """Read what the graph says of turns now: it may change while others are let in."""
        numbers = np.array([ranked.number for ranked in listed], np.int64)
        archived, pinned, newer = (
            self._view.of_turns(column, numbers).tolist() for column in ("archived", "pinned", "superseded")
        )
        names = (None if number < 0 else self._view.passage_id[number] for number in newer)
        return [
            _Shown(bool(away), bool(stays), name) for away, stays, name in zip(archived, pinned, names, strict=True)
        ]

    def _listed(self) -> list[Ranked]:
        """Find the passages that the reply lists, best first; left to choose, it lists the same words once."""
        if self._query.top_passages is not None or not self._question.is_ranked:
            top = self._result.depth if self._query.top_passages is None else self._query.top_passages
            return list(self._result.passages[:top])
        listed: dict[tuple[str, ...], Ranked] = {}
        for ranked in self._result.passages[: self._result.depth]:
            turn = self._turn(ranked)
            says = (turn.speaker, turn.text)
            listed.setdefault(says if len(turn.text) >= SAME_FROM else (*says, turn.id), ranked)
        return list(listed.values())

    def _whys(self, listed: list[Ranked]) -> Steps[list[Why | None]]:
        """Explain each of the listed passages, if the query wants that."""
        if (
            not self._query.explain or not self._matches.is_match or not self._question.is_ranked
        ):  # the latest turns come for no reason
            return [None] * len(listed)
        if self._query.retriever != "default" or self._options.rerank is not None:
            return list(
                explanations_of_mode(
                    self._view,
                    self._result,
                    self._question.retriever,
                    options=self._options,
                    meant=self._meant,
                    listed=listed,
                )
            )
        whys: list[Why | None] = []
        explained = self._explanations(listed)
        for count in range(len(listed)):
            if count % EXPLAINED_AT_ONCE == 0:
                yield from self._let_others_in()
            whys.append(next(explained))
        return whys

    def _explanations(self, listed: list[Ranked]) -> Iterator[Why]:
        numbers = [ranked.number for ranked in listed]
        return explanations(
            self._view,
            self._question.concepts,
            self._query.text,
            passages=numbers,
            options=self._options,
            cosine=self._question.cosine,
            scores=[ranked.score for ranked in listed],
            pronouns=self._result.pronouns,
        )

    def _let_others_in(self) -> Steps[None]:
        """Yield; what is left to do needs the graph just as it was."""
        yield
        if self._graph.events != self._events:
            raise GraphChangedError

    def _packed(self) -> Steps[PackedContext]:
        """Pack the context: it needs the turns alone, so the graph may grow meanwhile."""
        packer = ContextPacker(self._query.budget, self._breadth.longest)
        left = most_lines(self._query.budget)
        for place, habit in enumerate(self._matches.habits, start=1):
            text = habit.text.removeprefix(f"{habit.speaker}:").strip()
            view = f"habit of {habit.speaker}: {text}"  # no one said it
            packer.add(ContextPassage(-place, wall_clock(habit.last, self._zone), "", view))
        for place, existing in enumerate(self._matches.relations, start=len(self._matches.habits) + 1):
            if existing.history:
                continue
            view = f"{existing.source_label} {relation_text(existing)}"
            packer.add(ContextPassage(-place, wall_clock(existing.last, self._zone), "", view))
        if self._query.context_passages is not None:
            left = min(left, self._query.context_passages)
        for count, ranked in enumerate(self._in_context()):
            if count and count % PACKED_AT_ONCE == 0:
                _ = self._worth, self._over_since, self._masks, self._name_of  # of the graph as it was
                yield
                changed = self._masks is not None and self._graph.events != self._events
                if changed or self._graph.passages is not self._passages:  # compacted: passages have other numbers
                    raise GraphChangedError
            if not left:
                break
            left -= 1
            if not packer.add(self._line(ranked)):
                break
        return packer.context()

    def _in_context(self) -> list[Ranked]:
        """List what a context takes, in the order in which it does until it is full.

        Room for some turns goes to those that answer best, room for some tokens to those that do per token.
        """
        query, result = self._query, self._result.passages
        result = result[: most_lines(query.budget)]  # however many more are listed
        plain, breadth = self._question.has_odds, self._breadth
        even = EVEN if self._question.cosine is None else EVEN_BY_VECTORS
        shown = worth_showing(result, query.retriever, self._graph.settings.drop, even) if plain else result
        if breadth.beside and shown:
            shown = with_neighbours(self._view, shown, breadth.beside, Allowed(self._view, self._options.only))
        is_listed_order = query.context_passages is not None or not self._matches.is_match or not plain
        return list(shown) if is_listed_order else by_token(self._view, shown, query.retriever, breadth.density)

    @cached_property
    def _breadth(self) -> Breadth:
        """Return the breadth of the context: only turns that are ranked by their odds have neighbours."""
        is_plain = self._question.has_odds and self._matches.is_match and self._query.context_passages is None
        return breadth_of(self._query.text) if is_plain and self._query.retriever == "default" else ANSWER

    def _turn(self, ranked: Ranked) -> TurnRecorded:
        return self._turns(ranked.number)

    def _line(self, ranked: Ranked) -> ContextPassage:
        turn = self._turn(ranked)
        requested = () if is_short(turn.text, self._breadth.longest) else self._wanted(turn)
        at, times = wall_clock(turn.at, self._zone), tuple(turn.times)
        until = self._over_since.get(ranked.number)
        over = None if until is None else wall_clock(until, self._zone)
        text, people = turn.text, people_meant(turn, self._name_of)
        if self._masks is not None:
            text = self._masked(turn, self._masks)
            times = tuple(span for span in times if span.text in text)
        if turn.attachments:
            text = " ".join([text, *(f"[{each.kind}: {each.caption}]" for each in turn.attachments if each.caption)])
        if turn.origin in UNTRUSTED:
            text = f"[from {'a tool' if turn.origin == 'tool' else 'the web'}] {text}"
        people = people if text.startswith(turn.text) else ()
        return ContextPassage(ranked.number, at, turn.speaker, text, times, requested, turn.session, over, people)

    @cached_property
    def _name_of(self) -> Callable[[str], str]:
        """Find the names of whom pronouns mean."""
        return names_of(self._view)

    @cached_property
    def _masks(self) -> Callable[[TurnRecorded], str] | None:
        """Return the masks of faded words in turns, if the query asks for them."""
        query = self._query
        if query.render == "plain":
            return None
        return self._question.policies.renderer(query.render)(self._graph, self._memory.time, query)

    def _masked(self, turn: TurnRecorded, masks: Callable[[TurnRecorded], str]) -> str:
        """Return the text of a turn as it is remembered; once for a turn."""
        if turn.id not in self._remembered:
            self._remembered[turn.id] = masks(turn)
        return self._remembered[turn.id]

    def _wanted(self, turn: TurnRecorded) -> tuple[QueryWord, ...]:
        """List the words of the question that a turn holds, as it has them."""
        contents = ((concept, self._worth.get(concept.id, 0.0)) for concept in turn.concepts)
        return tuple(
            QueryWord((concept.id, concept.label.casefold()), weight) for concept, weight in contents if weight
        )

    @cached_property
    def _over_since(self) -> dict[int, int]:
        """Return the times, ms, at which outdated passages were superseded, by passage."""
        older, newer = self._view.successions
        return dict(zip(older.tolist(), self._view.of_turns("at", newer).tolist(), strict=True))

    @cached_property
    def _worth(self) -> dict[str, float]:
        """Return the worth of a sentence for each concept of the question, or with nearly the same meaning."""
        return worth(self._view, self._meant)

    @cached_property
    def _meant(self) -> QueryTerms:
        return _terms(self._question, self._result)

    def _passage(
        self,
        ranked: Ranked,
        shown: _Shown,
        why: Why | None,
        likelihood: float | None,
        in_context: bool,  # noqa: FBT001 - mapped
    ) -> RecalledPassage:
        turn, topic = self._turn(ranked), self._result.topics.get(ranked.number)
        return RecalledPassage(
            id=turn.id,
            session=turn.session,
            speaker=turn.speaker,
            role=turn.role,
            text=turn.text,
            at=turn.at,
            score=ranked.score,
            likelihood=likelihood,
            in_context=in_context,
            archived=shown.archived,
            pinned=shown.pinned,
            superseded_by=shown.superseded_by,
            attachments=[Attachment(**asdict(each)) for each in turn.attachments],
            importance=turn.importance,
            origin=turn.origin,
            expires_at=turn.expires_at,
            masked=None if self._masks is None else self._masked(turn, self._masks),
            topic=None if topic is None else self._view.labels[topic],
            why=why,
        )


def _habit(habit: HabitRow, score: float, *, in_context: bool) -> RecalledPassage:
    """Return what recurs as a passage, of the score of the best turn."""
    return RecalledPassage(
        id=habit.id,
        session="",
        speaker=habit.speaker,
        role=None,
        text=habit.text,
        at=habit.last,
        score=score,
        in_context=in_context,
        kind="habit",
        members=list(habit.members[-MEMBERS:]),
    )


def _options(query: Query, graph: Graph, extractor: Extractor, now: int, retriever: Retriever) -> RecallOptions:
    view = graph.view()
    only = _trusted(query, _by_id(query.only, view, extractor))
    goes_on = KINDS[query.memory].in_mind or continuation(query.text) == "alone"
    listed = MOST_DEPTH if query.top_passages is None else query.top_passages
    return RecallOptions(
        mode=query.retriever,
        spreading=_spreading(query, retriever.spreading),
        rerank=query.rerank or KINDS[query.memory].rerank,
        concepts=query.top_concepts,
        asker=asker_of(view, clean(query.text), query.asker or ""),
        passages=max(listed, most_lines(query.budget), 1),  # by the best is judged whether anything answers
        only=only,
        flow=of_graph(graph.weights),
        memory=query.memory,
        session=_session(query, view) if goes_on else query.session,
        now=now,
    )


def _trusted(query: Query, only: Filter) -> Filter:
    """Leave out, in mode inject, what anyone may have written; a query that names origins has those."""
    if query.mode != "inject" or only.origins or only.without_origins:
        return only
    return only.model_copy(update={"without_origins": list(UNTRUSTED)})


def _depth_of(query: Query, policies: Policies, retriever: Retriever) -> float | None:
    """Return how deep a formula looks that goes by complexity; a retriever of stages says itself how far it goes."""
    if query.rerank is None or retriever.limits_stages or not policies.reranker(query.rerank).depth_by_complexity:
        return None
    return complexity(query.text)


def _spreading(query: Query, own: SpreadingParameters) -> SpreadingParameters:
    """Take the retriever's own constants, but for what the query changes."""
    if not query.spreading.model_fields_set and query.weighting is None:
        return own
    overrides = query.spreading.model_dump(exclude_none=True)
    if (turns := overrides.pop("window_turns", None)) is not None:
        overrides["window"] = turns
    if query.weighting is not None:
        overrides["weighting"] = query.weighting
    return replace(own, **overrides)


def _session(query: Query, view: GraphView) -> str | None:
    """Return the conversation that a query continues: the one it names, else that of its filter, else the latest."""
    if query.session is None and len(query.only.sessions) == 1:
        return query.only.sessions[0]
    return latest_session(view) if query.session is None else query.session


def _by_id(only: Filter, view: GraphView, extractor: Extractor) -> Filter:
    """Return a filter whose concepts are replaced by their ids."""
    if not only.concepts:
        return only
    return only.model_copy(update={"concepts": concept_ids(only.concepts, view, extractor)})


def concept_ids(names: Iterable[str], view: GraphView, extractor: Extractor) -> list[str]:
    """List the concepts that are meant: a name means the concept of this id, or those that are found in it."""
    ids: list[str] = []
    for name in names:
        concepts = (
            [] if view.number(name) is not None else [concept.id for concept in extractor.of_query(name).concepts]
        )
        ids.extend(concepts or [name])  # in which nothing is found stays, and matches nothing
    return ids


def _nothing(query: Query, position: Position) -> Reply:
    """Return the reply of a graph that has no events."""
    return Reply(
        graph=query.graph,
        found=False,
        seeds=[],
        concepts=[],
        passages=[],
        context="",
        tokens=0,
        position=position,
        timing=UNTIMED,
        matched=False,
        note=NOTHING_ANSWERS,
    )
