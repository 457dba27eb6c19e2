"""Evidence: a few numbers on what a graph holds of a question; `known` is computed from them (known.py).

    pair      words of the question that meet in one turn, at most
    covered   rarity (idf) of the words that one turn mentions, at most, as a multiple of that of a word that no turn
              holds; a turn of the named speaker, if there is one
    unknown   share of the question's rarity in words that the graph does not know, nor a member of their kind
    strange   1 if one of its words, in the graph's script, is neither known nor related to a known one
    named     speakers that the question names
    missing   1 where it asks for something of a person (my brother's name), and the graph knows nothing of one of them,
              or speaks of both and never near each other (Where does Jen work?), or where it asks what a person is
              called, and no turn that names them, nor the next one, has a name; whether one tells a value, such as an
              age, its text alone shows (answer/untold_values.py)

They are counted from mentions alone (inquiry.py `posted`): no turn is laid out or scored for them.  None of them sees
how long a question is, or its form.  A day or a month of the question that the graph knows is one of its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from processors.extraction.extractor import Extraction
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import is_chinese_name, named_speakers
from processors.text import tables
from processors.text.facts.vocabulary import GROUPS, KIN_PATHS, members
from processors.text.language import clean
from processors.text.pronouns.mentions import KIN
from processors.text.questions.answer_kinds import EVERYDAY, form_of, of_askers
from processors.text.questions.owned import asks_owned
from processors.text.questions.values import asked_values
from processors.text.scripts import HAN, is_han
from state.arrays import Floats, Integers
from state.graph.counting.sorted_pairs import starts_of
from state.graph.view import GraphView

EVIDENCE: Final = ("pair", "covered", "unknown", "strange", "named", "missing")
STEPS_APART: Final = 2  # turns between the two steps to a relative, at most
FIRST_WORDS: Final = 256  # of a graph, by which its script is judged
SHARED: Final = 2  # signs that a compound has in common with the word that it stands in for, at least
_NAMED_ZH: Final = tables.lazy(f"[老小阿][{HAN}]|[{HAN}]{{1,2}}(?:总|老师|医生|师傅|经理|姐|哥|叔|姨|婶|阿姨|叔叔)")
NEARLY: Final = 0.5  # share of a mention from which a relative is the same
COMPOUND: Final = 0.5  # of a compound's weight in a match: its share of a mention


class _Mentions(NamedTuple):
    """Mentions of a question's words, (m,) each: the word, the turn, and the share of a mention, at most 1."""

    word: Integers
    passage: Integers
    share: Floats


def find_evidence(inquiry: Inquiry, question: Extraction, text: str, upto: int) -> Floats:
    """Compute EVIDENCE of a question among the first `upto` turns of a graph: (e,)."""
    every, named, plain = _words(inquiry, question), inquiry.terms.named, clean(text)
    words = _telling(inquiry, question, every, plain)
    mentions = _mentions(inquiry, words, upto)
    turns = np.bincount(mentions.word, mentions.share >= 1, len(words)).astype(np.int64)
    rarest = np.log1p(2 * upto + 1)
    rarity = np.where(turns > 0, idf(upto, turns), rarest)
    by_turn = np.argsort(mentions.passage, kind="stable")
    starts = starts_of(mentions.passage[by_turn])
    turn = mentions.passage[by_turn][starts]
    pairs = np.add.reduceat(np.ones_like(by_turn), starts)
    covered = np.add.reduceat((rarity[mentions.word] * mentions.share)[by_turn], starts)
    if len(named) == 1:
        covered = covered[inquiry.view.of_turns("speaker", turn) == named[0]]
    met = _met_by_members(inquiry, words, turns, plain) | {word for word in words if _told_by_steps(inquiry, word)}
    unsaid = (turns == 0) & np.array([word not in met for word in words], np.bool_)
    unknown = float(rarity[unsaid].sum()) / max(float(rarity.sum()), 1e-9)
    never = np.bincount(mentions.word, minlength=len(words)) == 0
    strange = any(
        is_han(word) == inquiry.view.once("han", _speaks_han)
        for word, lacks in zip(words, never.tolist(), strict=True)
        if lacks and word not in inquiry.terms.kinds
    )
    # Who asks is named by "my" too, which tells nothing.
    by_name = len(named_speakers(text, [inquiry.view.speakers[number] for number in named.tolist()]))
    if covered.max(initial=0.0) > 0:  # alone, a name that the graph does not know tells nothing
        by_name += len(inquiry.terms.user)
    missing = _is_missing(inquiry, question, every, plain, upto)
    values = (pairs.max(initial=0), covered.max(initial=0.0) / rarest, unknown, strange, by_name, missing)
    return np.array(values, np.float64)


def _met_by_members(inquiry: Inquiry, words: list[str], turns: Integers, plain: str) -> set[str]:
    """Find the words of whose kind the graph knows a member: drink, by coffee; but not type in "blood type"."""
    strange = [word for word, times in zip(words, turns.tolist(), strict=True) if not times]
    text = plain.casefold()
    return {kind for kind in inquiry.terms.kinds if not any(f"{word} {kind}" in text for word in strange)}


def _speaks_han(view: GraphView) -> bool:
    """Return whether most of the first words of a graph are written in Han."""
    words = [name for name in view.ids[:FIRST_WORDS] if not name.startswith("@")]
    return 2 * sum(map(is_han, words)) > len(words)


def _words(inquiry: Inquiry, question: Extraction) -> list[str]:
    """List the words of a question, by id, without the names of speakers, and the dates that the graph knows."""
    view, terms = inquiry.view, inquiry.terms
    names = _speakers(inquiry)
    words = [each.id for each in question.concepts if not each.id.startswith("@") and each.id not in names]
    return words + [view.ids[number] for number in terms.dates.tolist()]


def _telling(inquiry: Inquiry, question: Extraction, words: list[str], plain: str) -> list[str]:
    """Choose the words that tell what a question is about, all of them if none does.

    Those of its form (how fast), of a date that the graph knows (in May 2023), of a speaker's full name, and those that
    are said with everything (drink) do only where the graph knows them, or what is nearly the same.  A word that the
    graph does not know tells nothing where it overlaps one that it knows, or a speaker (张总要, 总要 in 张总要见谁).
    """
    names = [inquiry.view.speakers[number] for number in inquiry.terms.named.tolist()]
    dates = [each.text for each in question.times] if inquiry.terms.dates.size else []
    said = " ".join((form_of(plain), *dates, *_surnames(plain, names))).casefold()
    of_form = {each.id for each in question.concepts if each.label.casefold() in said} | EVERYDAY
    known_words = {inquiry.view.ids[number] for number in inquiry.terms.words.tolist()} | inquiry.terms.kinds.keys()
    known_words.update(inquiry.terms.unknown)
    told = {word for word in words if word in known_words}
    met = told.union(names)
    return [word for word in words if word in told or not (word in of_form or _overlaps(word, met, plain))] or words


def _surnames(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the capitalized words behind the names of speakers: Bing in Chandler Bing."""
    for name in names:
        yield from re.findall(rf"\b{re.escape(name)} ([A-Z][\w'’-]+)", text)


def _overlaps(word: str, others: Iterable[str], text: str) -> bool:
    """Return whether a word in Han holds one of `others`, or runs into it in a text."""
    return is_han(word) and any(
        each in word or f"{each}{word[1:]}" in text or f"{word}{each[1:]}" in text
        for each in others
        if each in word or each[-1:] == word[:1] or each[:1] == word[-1:]
    )


def _is_missing(inquiry: Inquiry, question: Extraction, words: list[str], plain: str, upto: int) -> bool:
    """Return whether a question asks for something of a person, and nothing says one of the two, or nearly the same."""
    owned = asks_owned(plain)
    if owned is None or not _is_person(owned.owner, inquiry):
        return False
    if not of_askers(owned.owner) and is_han(owned.owner) != inquiry.view.once("han", _speaks_han):
        return False  # Lu Ming is 陆明 there
    mentions = _mentions(inquiry, words, upto)
    spoken_of = {words[number] for number in mentions.word[mentions.share >= NEARLY].tolist()}
    spoken_of |= _speakers(inquiry)
    spoken_of |= inquiry.terms.kinds.keys()
    spoken_of |= {word for word in words if _told_by_steps(inquiry, word)}
    form = form_of(plain)
    owner, thing = (_concepts_in(question, part.casefold(), form) for part in owned)
    if owner and not owner & spoken_of:
        return True
    of_owner = _turns_of(mentions, words, owner)
    if not owned.thing and owner - _speakers(inquiry):
        wanted = inquiry.terms.wants
        return (
            bool(wanted)
            and not asked_values(plain)
            and not _tells(inquiry, np.concatenate((of_owner, of_owner + 1)), wanted)
        )
    if not of_askers(owned.owner):
        thing -= owner | EVERYDAY
        of_thing = np.concatenate((_turns_of(mentions, words, thing), _of_members(inquiry, thing)))
        return bool(thing) and not _are_near(inquiry, of_owner, of_thing)
    # A name stands in most turns, so it does not tell that a thing is named.
    return bool(thing) and not thing & spoken_of and not _tells(inquiry, of_owner, inquiry.terms.wants - {"@name"})


def _turns_of(mentions: _Mentions, words: list[str], some: set[str]) -> Integers:
    """Return the turns that mention some of the words, or a relative."""
    return mentions.passage[np.isin(mentions.word, [place for place, word in enumerate(words) if word in some])]


def _of_members(inquiry: Inquiry, things: Iterable[str]) -> Integers:
    """Return the turns that name a member of a group of kin that a question asks for: a sister is a sibling."""
    return _holders(inquiry, [word for thing in things if thing in GROUPS for word in members(GROUPS[thing])])


def _told_by_steps(inquiry: Inquiry, word: str) -> bool:
    """Return whether a relative is spoken of in two steps: my niece, by "my sister", and right after by "her girl".

    The person that the question names takes the first step: the daughter of another's sister is not my niece.
    """
    if word not in KIN_PATHS:
        return False
    first, then = (_holders(inquiry, step) for step in KIN_PATHS[word])
    if len(named := inquiry.terms.named):
        first = first[np.isin(inquiry.view.of_turns("speaker", first), named)]
    return any(bool(np.isin(first + distance, then).any()) for distance in range(STEPS_APART + 1))


def _holders(inquiry: Inquiry, words: Iterable[str]) -> Integers:
    """Return the turns that hold one of some words."""
    numbers = [number for word in words if (number := inquiry.view.number(word)) is not None]
    return np.concatenate([np.empty(0, np.int64), *(inquiry.view.holders(number)[0] for number in numbers)])


def _are_near(inquiry: Inquiry, of_owner: Integers, of_thing: Integers) -> bool:
    """Return whether a thing is spoken of where its owner is: in a turn that names or is by the owner, or right after.

    Another may speak in between: "Gareth phoned.", "What happened?", "He broke his arm."
    """
    called = [number for name in _speakers(inquiry) if (number := inquiry.view.number(name)) is not None]
    named = np.concatenate((of_owner, *(inquiry.view.holders(number)[0] for number in called))).astype(np.int64)
    by_owner = np.isin(inquiry.view.of_turns("speaker", of_thing), inquiry.terms.named)
    after = named[named + 2 < inquiry.view.turns]
    first, asked, then = (inquiry.view.of_turns("speaker", after + distance) for distance in range(3))
    goes_on = after[(first == then) & (first != asked)] + 2
    return bool((by_owner | np.isin(of_thing, np.concatenate((named, named + 1, goes_on)))).any())


def _speakers(inquiry: Inquiry) -> frozenset[str]:
    """Return the names of the speakers that a question names."""
    return inquiry.terms.user.union(inquiry.view.speakers[number].casefold() for number in inquiry.terms.named.tolist())


def _is_person(owner: str, inquiry: Inquiry) -> bool:
    """Return whether the words of an owner name a person, a relative or the asker."""
    if owner[:1].isupper() or of_askers(owner) or owner in KIN or owner.casefold() in _speakers(inquiry):
        return True
    return _NAMED_ZH.fullmatch(owner) is not None or is_chinese_name(owner)


def _tells(inquiry: Inquiry, turns: Integers, wanted: Iterable[str]) -> bool:
    """Return whether one of some turns bears a mark of an answer that is wanted: a time, a number, a name."""
    marks = [number for name in wanted if (number := inquiry.view.number(name)) is not None]
    return any(bool(np.isin(turns, inquiry.view.holders(number)[0]).any()) for number in marks)


def _concepts_in(question: Extraction, part: str, form: str) -> set[str]:
    """Return the concepts of a question that stand in a part of it, and not in its form."""
    labels = {each.id: each.label.casefold() for each in question.concepts if each.id[0] != "@"}
    return {name for name, label in labels.items() if label in part and label not in form}


def _mentions(inquiry: Inquiry, words: list[str], upto: int) -> _Mentions:
    """Find the turns that mention each of `words` or a relative, each turn once for a word, strongest share."""
    of_word, share = _rows(inquiry, words)
    posted = inquiry.posted
    here = np.flatnonzero((posted.passage < upto) & (of_word[posted.row] >= 0))
    row, passage = posted.row[here], posted.passage[here]
    word, mentioned = of_word[row], np.minimum(posted.times[here], 1) * share[row]
    keys = word * max(upto, 1) + passage
    order = np.argsort(keys, kind="stable")  # rows come in order of their turns: little is left to sort
    starts = starts_of(keys[order])
    first = order[starts]
    return _Mentions(word[first], passage[first], np.maximum.reduceat(mentioned[order], starts))


def _rows(inquiry: Inquiry, words: list[str]) -> tuple[Integers, Floats]:
    """Map each row of the match to the word that it speaks for, -1 for none, and what a mention of it counts for."""
    terms = inquiry.terms
    of_word = np.full(len(inquiry.row_weights[1].weights), -1)
    share = np.ones(len(of_word))
    row_of = {inquiry.view.ids[number]: row for row, number in enumerate(terms.words.tolist())}
    row_of.update((inquiry.view.ids[number], len(terms.words) + row) for row, number in enumerate(terms.dates.tolist()))
    rows_of_unknown = {word: len(terms.seeds) + row for row, word in enumerate(terms.unknown)}
    for place, word in enumerate(words):
        if (row := row_of.get(word, rows_of_unknown.get(word))) is not None:
            of_word[row] = place
    for name, row in row_of.items():
        if row < len(terms.words) and of_word[row] < 0 and (whole := _speaks_for(name, words)) is not None:
            of_word[row], share[row] = whole, min(1.0, COMPOUND * terms.weight[row])
    return of_word, share


def _speaks_for(name: str, words: list[str]) -> int | None:
    """Find the word that a compound, or a correction, stands in for: the one that shares most signs with it."""
    shared = [len(set(name) & set(word)) for word in words]
    best = int(np.argmax(shared)) if shared else 0
    return best if shared and shared[best] >= min(SHARED, len(name)) else None
