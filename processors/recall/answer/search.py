"""Search the graph of a question, and decide whether what was found answers it.

    PreparedQuery ──▶ search: recall, pronouns, a closer look, changes ──▶ known ──▶ Matches

Each step orders the found turns again, or adds to their scores.  `known` decides last whether any of it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from emgas.messages.relations import KnownRelation
from processors.lifecycle.turns.people import cards_of
from processors.recall.answer.closer_look import LOOKED_UP, AskedQuestion, closer_look, tells_omission
from processors.recall.answer.habits import find_habits
from processors.recall.answer.people import raised_by_changes, relations_for
from processors.recall.answer.perceptual import rank_perceived
from processors.recall.answer.prepared_query import PreparedQuery, TurnReader, items
from processors.recall.answer.relations import find_relations, lets_through
from processors.recall.answer.told_changes import told_changes
from processors.recall.answer.untold_values import MOST, is_value_untold
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.pronouns import READ, meant_by_pronouns
from processors.recall.ranking.query_terms import QueryTerms, as_named_here
from processors.recall.ranking.silence.evidence import find_evidence
from processors.recall.ranking.silence.known import WEIGHTS, likelihoods, passage_likelihoods
from processors.recall.retrieval.recall import (
    Ranked,
    RecallResult,
    latest_of,
    recent,
)
from processors.recall.retrieval.retrieval import retrieve
from processors.text.questions.answer_kinds import EVERYDAY, LEAST_DEPTH, asks_omitted
from processors.text.questions.slots import SlotQuestion, slot_question
from processors.text.questions.values import asked_values
from state.arrays import Floats
from state.graph.tables.habit_table import HabitRow

ODDS: Final = 4.0  # log-odds that double a score which is none
LATEST: Final = 10  # turns that are offered where nothing is found
UNTOLD_VALUE: Final = 0.1  # the most that is known of a value that no turn tells near what has it

# What turns are worth besides their scores: (question, scores by number, numbers best first, how to read a turn).
Look = Callable[[AskedQuestion, Mapping[int, float], Sequence[int], TurnReader], Mapping[int, float]]


@dataclass(frozen=True)
class Matches:
    """The results of a question's search.

    is_match  whether any of it answers, and is not only the latest or the nearest that there is
    known     how likely the graph holds an answer
    """

    recalled: RecallResult
    habits: list[HabitRow]
    relations: list[KnownRelation]
    is_match: bool
    known: float


def search(question: PreparedQuery, turns: TurnReader) -> Matches:
    """Search the graph: for turns, for what recurs, and for relations if they are asked for."""
    query, slot_question = question.query, _slot_question(question)
    recalled = _with_pronouns(question, _recall_turns(question), turns)
    recalled = _with_changes(question, _read_again(question, recalled, turns, closer_look))
    habits, relations = _recurring(question), _relations(question, recalled, slot_question)
    known = _known(question, recalled)
    if slot_question is None and _is_value_untold(question, recalled, turns):
        known = min(known, UNTOLD_VALUE)
    if _omission_told(question, recalled):
        known = max(known, WEIGHTS.silent)
    is_known = bool(recalled.passages) and known >= _least_known(question)
    if is_known:
        recalled = _worth_their_tokens(question, recalled, known)
    elif habits or relations or slot_question or query.fallback != "nearest":
        recalled = replace(recalled, passages=(), recalled=())
    recalled = _read_again(question, _evidence_first(question, recalled, slot_question), turns, told_changes)
    is_match = bool(recalled.passages and (is_known or slot_question)) or bool(habits or relations)
    if not is_match and query.fallback == "recent":
        latest = recent(question.view, question.options.only, query.top_passages or LATEST)
        recalled = replace(recalled, passages=latest, depth=LATEST)
    if query.load is not None:
        recalled = replace(recalled, depth=min(recalled.depth, items(query.load)))
    return Matches(recalled, habits, relations, is_match, known)


def _known(question: PreparedQuery, recalled: RecallResult) -> float:
    """Return how likely the graph holds an answer; what is not ranked by its words is known if there is any."""
    if not recalled.passages or not question.is_judged:
        return float(bool(recalled.passages))
    evidence = recalled.evidence
    if evidence is None:
        view, nothing = question.view, np.zeros(question.view.concepts)
        inquiry = Inquiry(view, terms_of(question, recalled), nothing)
        evidence = find_evidence(inquiry, question.concepts, question.query.text, view.turns)
    likelihood = float(likelihoods(evidence, question.baseline))
    # What is said all the time is rare in no turn: but what recurs is known, and so is what is said in other words.
    is_known = likelihood >= WEIGHTS.silent or question.is_alike or _is_of_habit(question)
    return max(likelihood, WEIGHTS.silent) if is_known else likelihood


def _least_known(question: PreparedQuery) -> float:
    """Return the likelihood below which the question gets nothing."""
    query = question.query
    if query.min_likelihood is not None:
        return query.min_likelihood
    return WEIGHTS.inject if query.mode == "inject" else WEIGHTS.silent


def _worth_their_tokens(question: PreparedQuery, recalled: RecallResult, known: float) -> RecallResult:
    """Leave out, in mode inject, what this session said, and turns whose tokens are worth more than what they tell."""
    query, view = question.query, question.view
    if query.mode != "inject" or not recalled.passages:
        return recalled
    numbers = np.array([each.number for each in recalled.passages])
    tells = passage_likelihoods(scores_of(recalled), known) * max(query.budget, 1)
    here = np.isin(view.of_turns("session", numbers), view.session_numbers([query.session or ""]))
    keep = (tells >= view.of_turns("tokens", numbers)) & ~here
    kept = [each for each, stays in zip(recalled.passages, keep.tolist(), strict=True) if stays]
    return replace(recalled, passages=tuple(kept))


def scores_of(recalled: RecallResult) -> Floats:
    """Return the score of each passage: (k,)."""
    return np.array([each.score for each in recalled.passages], np.float64)


def _recall_turns(question: PreparedQuery) -> RecallResult:
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


def _with_pronouns(question: PreparedQuery, recalled: RecallResult, turns: TurnReader) -> RecallResult:
    """Raise turns that mean with a pronoun whom the question names."""
    if not question.is_of_turns or not recalled.passages:
        return recalled
    best = [ranked.number for ranked in recalled.passages[:READ]]
    weight = question.options.weights["match"]
    added = meant_by_pronouns(question.view, terms_of(question, recalled), best, turns, weight)
    if not added:
        return recalled
    return replace(_raised(question, recalled, added), pronouns=added)


def _asked(question: PreparedQuery, recalled: RecallResult) -> AskedQuestion:
    return AskedQuestion(question.query.text, question.options.asker, question.view, terms_of(question, recalled))


def _omission_told(question: PreparedQuery, recalled: RecallResult) -> bool:
    """Return whether a turn says that what is asked for was left out; what recurs is rare in no turn."""
    if not question.is_of_turns or not asks_omitted(question.query.text):
        return False
    return tells_omission(_asked(question, recalled), [each.number for each in recalled.passages])


def _is_value_untold(question: PreparedQuery, recalled: RecallResult, turns: TurnReader) -> bool:
    """Return whether no turn tells the value that is asked for, near what has it."""
    if not (question.is_judged and recalled.passages and asked_values(question.query.text)):
        return False
    best = [each.number for each in recalled.passages[:MOST]]
    return is_value_untold(_asked(question, recalled), best, cards_of(question.graph).aliases, turns)


def _read_again(question: PreparedQuery, recalled: RecallResult, turns: TurnReader, look: Look) -> RecallResult:
    """Raise turns by what is found in the texts of the best of them."""
    if not question.is_of_turns or not question.has_odds or not recalled.passages:
        return recalled
    scores = {each.number: each.score for each in recalled.passages[:LOOKED_UP]}
    added = look(_asked(question, recalled), scores, list(scores), turns)
    if not added:
        return recalled
    closer = {number: recalled.closer.get(number, 0.0) + worth for number, worth in added.items()}
    return replace(_raised(question, recalled, added), closer={**recalled.closer, **closer})


def _raised(question: PreparedQuery, recalled: RecallResult, added: Mapping[int, float]) -> RecallResult:
    """Add log-odds to the scores of turns, or raise scores that are none by as much, and order the turns again."""
    has_odds = question.has_odds
    raised = [
        each._replace(score=each.score + worth if has_odds else each.score * (1 + worth / ODDS))
        if (worth := added.get(each.number))
        else each
        for each in recalled.passages
    ]
    return replace(recalled, passages=tuple(sorted(raised, key=lambda each: -each.score)))


def _with_changes(question: PreparedQuery, recalled: RecallResult) -> RecallResult:
    """Rank a turn that ended what a card held no lower than the turn that said it, unless the past is asked for."""
    if not question.graph.people or not question.is_of_turns:
        return recalled
    terms = terms_of(question, recalled)
    if terms.past:
        return recalled
    inquiry = Inquiry(question.view, terms, np.zeros(0))
    raised = raised_by_changes(question.graph, inquiry, {each.number: each.score for each in recalled.passages})
    if not raised:
        return recalled
    passages = [each._replace(score=raised.get(each.number, each.score)) for each in recalled.passages]
    return replace(recalled, passages=tuple(sorted(passages, key=lambda each: -each.score)))


def _slot_question(question: PreparedQuery) -> SlotQuestion | None:
    """Return the slot of a card that a short question asks for, in the default way of recall."""
    query, graph, asker = question.query, question.graph, question.options.asker
    if not graph.people or not question.is_ranked or query.retriever != "default" or question.options.kind.in_mind:
        return None
    text = as_named_here(question.view, question.concepts, query.text)
    return slot_question(cards_of(graph), text, asker)


def _evidence_first(question: PreparedQuery, recalled: RecallResult, slot: SlotQuestion | None) -> RecallResult:
    """Put the turns that say what a slot holds before all others, as far as the question's filter lets them through."""
    if slot is None:
        return recalled
    numbers = np.array([question.graph.passages.numbers[turn] for turn in slot.turns], np.int64)
    first = numbers[Allowed(question.view, question.options.only).passes(numbers)].tolist()
    best = max((ranked.score for ranked in recalled.passages), default=0.0)
    others = [ranked for ranked in recalled.passages if ranked.number not in first]
    passages = (*(Ranked(number, best) for number in first), *others)
    return replace(recalled, passages=passages, depth=max(recalled.depth, len(first)))


def _recurring(question: PreparedQuery) -> list[HabitRow]:
    """Find what recurs, if that is asked for: it comes first."""
    query, options = question.query, question.options
    if query.retriever != "default" or query.top_passages == 0 or not question.is_ranked or options.kind.in_mind:
        return []
    return find_habits(question.graph, question.concepts, query.text, asker=options.asker, only=query.only)


def _is_of_habit(question: PreparedQuery) -> bool:
    """Return whether a question is about what recurs, whatever it asks of that."""
    words = {each.id for each in question.concepts.concepts if each.id[0] != "@"} - EVERYDAY
    return any(not words.isdisjoint(habit.concepts) for habit in question.graph.habits.habits.values())


def _relations(question: PreparedQuery, recalled: RecallResult, slot: SlotQuestion | None) -> list[KnownRelation]:
    """List the relations that a question asks for, else those of its concepts, if its kind of memory has any."""
    if not question.options.kind.tells or question.goes_on:
        return []
    relations = relations_for(question.graph, slot) if slot else []
    relations = relations or find_relations(question.view, terms_of(question, recalled))
    return [each for each in relations if lets_through(question.view, question.options.only, each)]


def terms_of(question: PreparedQuery, recalled: RecallResult) -> QueryTerms:
    """Return what the question asks for; recall may have looked it up, but in its last round."""
    terms = recalled.meant if question.options.rounds == 1 else None
    return terms or question.options.terms(question.view, question.concepts, question.query.text)
