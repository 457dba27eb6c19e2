"""Answers: compute the reply to a query from a graph, as it is now or was at an earlier time.

    Query ──▶ PreparedQuery ───▶ Matches ──▶ why each passage came ─▶ a context for the prompt ─▶ Reply
              prepared_query.py  search.py   explanation.py           context.py

Nothing is changed: an `Answer` holds the reply, and beside it what a reinforcing question should record.  A long
question reads, explains and packs many turns, so an answer is a generator that yields every few milliseconds; its
caller may run other tasks meanwhile, and these may change the graph.  The answer still describes the graph at its
start; if that is impossible, it raises GraphChangedError and must begin again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import asdict

from emgas.messages.advice import Advised, TextPart
from emgas.messages.explanations import Why
from emgas.messages.fields import Attachment, Position
from emgas.messages.queries import NOTHING_ANSWERS, Query, RecalledPassage, Reply, Timing
from emgas.times import wall_clock
from processors.extraction.extractor import Extractor
from processors.lifecycle.steps import Steps
from processors.recall.answer.closer_look import AskedQuestion
from processors.recall.answer.explanation import explanations, explanations_of_mode
from processors.recall.answer.prepared_query import (
    UNTRUSTED,
    PreparedQuery,
    QueriedGraph,
    TurnReader,
    prepare,
)
from processors.recall.answer.provenance import describe_method
from processors.recall.answer.relations import relation_text
from processors.recall.answer.search import Matches, scores_of, search, terms_of
from processors.recall.answer.told_changes import later_turns
from processors.recall.answer.turn_facts import GraphChangedError, GraphMoment, read_turn_facts
from processors.recall.context.context import ContextPacker, ContextPassage, PackedContext, is_short, most_lines
from processors.recall.context.people_meant import names_of, people_meant
from processors.recall.context.sentences import QueryWord
from processors.recall.ranking.dense import Embedder
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.query_terms import QueryTerms, worth
from processors.recall.ranking.silence.known import Baselines, passage_likelihoods
from processors.recall.retrieval.breadth import ANSWER, Breadth, breadth_of, with_neighbours
from processors.recall.retrieval.policies import CORE, Policies
from processors.recall.retrieval.recall import (
    EVEN,
    EVEN_BY_VECTORS,
    Ranked,
    by_token,
    worth_showing,
)
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.tables.habit_table import HabitRow

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


LONG_BUDGET: Final = 2000  # tokens: what is packed into more takes longer than the rest of an answer
EXPLAINED_AT_ONCE: Final = 20  # passages, likewise: some five
SAME_FROM: Final = 12  # characters: so long a text that one speaker said twice is listed once
PACKED_AT_ONCE: Final = 20  # turns read and packed, likewise: one or two, the more the longer the context is
MEMBERS: Final = 20  # of a habit that is a passage: the latest
UNTIMED: Final = Timing(waited_ms=0, recall_ms=0)  # the caller measures the time: this module has no clock


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
        with self.stage("prepare"):
            question = prepare(
                query,
                memory,
                graph,
                extractor=self.extractor,
                embedder=self.embedder,
                policies=self.policies,
                baseline=self.baselines.of(graph),
            )
        turns = TurnReader(memory, graph, {} if read is None else read)  # not before: preparing compacts
        with self.stage("activate"):
            matches = search(question, turns)
        with self.stage("pack"):
            return (yield from _ReplyWriter(question, matches, turns).steps())


def is_long(query: Query) -> bool:
    """Return whether a query may read, explain or pack so much that others should be let in meanwhile."""
    explains = query.explain and (query.top_passages or 0) > EXPLAINED_AT_ONCE
    return query.only.asks_facts or query.budget > LONG_BUDGET or explains


class _Shown(NamedTuple):
    """Properties of a turn beside its text, as a reply shows them."""

    archived: bool
    pinned: bool
    superseded_by: str | None


class _ReplyWriter:
    """Writes the reply of one question: explains what is listed, and packs the context; reads each turn once."""

    def __init__(self, question: PreparedQuery, matches: Matches, turns: TurnReader) -> None:
        self._question, self._matches, self._turns = question, matches, turns
        self._query, self._memory, self._graph = question.query, question.memory, question.graph
        self._view, self._options, self._zone = question.view, question.options, question.zone
        self._moment = GraphMoment(question.graph)
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
        return list(passage_likelihoods(scores_of(self._result), self._matches.known)[:listed].tolist())

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
                yield from self._moment.let_others_in()
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
            closer=self._result.closer,
        )

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
                if self._moment.is_renumbered or (self._masks is not None and self._moment.is_over):
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
        if plain and self._matches.is_match and query.context_passages is None:
            asked = AskedQuestion(query.text, self._options.asker, self._view, self._meant)
            shown = [*shown, *later_turns(asked, result, shown, self._turns)]
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
        turn = self._turns(ranked.number)
        requested = () if is_short(turn.text, self._breadth.longest) else self._wanted(turn)
        at, times = wall_clock(turn.at, self._zone), tuple(turn.times)
        until = self._over_since.get(ranked.number)
        over = None if until is None else wall_clock(until, self._zone)
        text, people = turn.text, people_meant(turn, self._name_of) if turn.mentions else ()
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
        return terms_of(self._question, self._result)

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
