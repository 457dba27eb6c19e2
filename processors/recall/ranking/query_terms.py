"""The terms of a question: the nodes of the graph where its energy starts, and the properties of a good answer.

    words     its concepts that the graph knows, at weight 1; of an unknown Chinese word the graph may know a part, or a
              longer word that holds it (喝咖啡, 咖啡): such compounds are seeds too, at COMPOUND · overlap.
              So are both signs of a word of two that were said apart in one turn (泡完脚, of 泡脚)
    relatives words with nearly the same meaning as one of its words, known to the graph or not
              (processors/lexicon/query_expansion.py), and the other names of what it names (other_names.py)
    meant     words that an unknown word probably means: misspellings.py
    keywords  of the conversation that it continues ("and then what did she buy?"), at weight WEAK
    dates     the days and months that it states, or that "last week" means
    speakers  the speakers that it names, at weight SPEAKER: many turns are theirs, so a name says little.  "My" names
              the asker, or without one the only person beside an assistant.  If the graph calls that person "user", a
              name that it does not know means them, too
    wants     the kinds of answer it asks for ("@time", "@name", "@number"): they mark turns, they do not spread
    kinds     its words that ask for a kind of thing, each with the members that the graph knows
              (processors/lexicon/hyponyms.py)

A speaker's name stands for that speaker, not for a word: "Caroline" in a turn mostly addresses her.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from processors.extraction.extractor import Extraction
from processors.lexicon.associations import subjects
from processors.lexicon.hyponyms import MEMBERS, cues
from processors.lexicon.query_expansion import Expansion, assigned, shares
from processors.recall.ranking.bm25 import idf
from processors.recall.ranking.misspellings import find_corrections
from processors.recall.ranking.other_names import other_names
from processors.text import chinese_names, names, tables
from processors.text.chinese import STANDARD, simplified
from processors.text.facts.facts import ASSISTANTS
from processors.text.language import clean
from processors.text.questions.answer_kinds import asks_now, asks_past, asks_picture, asks_state, of_asker
from processors.text.scripts import HAN, is_han
from state.arrays import Floats, Integers
from state.graph.tables.passage_table import ROLES
from state.graph.view import GraphView

# Which speakers a question names: a name counts as a whole word; in scripts without spaces, wherever it stands.

# A letter or digit of a script that writes spaces between words; 去 beside "Caroline" does not make her another word.
_SPACED = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"


NAMELESS: Final = frozenset(("user", "human", "customer", "client", "me", "用户", "客户", "我"))
# Words that transcripts give as speakers, because they cut a sentence at its colon.
_NO_NAMES: Final = frozenset(("", "the", "a", "an", "i", "you", "he", "she", "it", "we", "they", "all"))


def named_speakers(text: str, speakers: Sequence[str]) -> Integers:
    """Find (k,) the positions in `speakers` of those that `text` names, ascending; case and width do not matter."""
    folded = _folded(text)
    return np.array([number for number, name in enumerate(speakers) if _stands_in(_folded(name), folded)], np.int64)


def name_of_user(view: GraphView, question: Extraction) -> frozenset[str]:
    """Return the concept that may be the name of a graph's only user, who has none there: "Where does Jen live?".

    Its asker knows the name.  Of two such names, the graph knows nothing of one.
    """
    people = {each.id for each in question.concepts if view.number(each.id) is None and _is_person(each.label)}
    user = view.once("only user", _only_user)
    is_user = len(people) == 1 and user is not None and view.speakers[user].casefold() in NAMELESS
    return frozenset(people if is_user else ())


def as_named_here(view: GraphView, question: Extraction, text: str) -> str:
    """Return a question with the name that a graph has for its only user, "user", for the one that it does not know."""
    unknown, user = name_of_user(view, question), view.once("only user", _only_user)
    labels = [each.label for each in question.concepts if each.id in unknown]
    if not labels or user is None:
        return text
    return re.sub("|".join(map(re.escape, labels)), view.speakers[user], text, flags=re.IGNORECASE)


def asker_of(view: GraphView, text: str, asker: str = "") -> str:
    """Return who asks a clean question of "my": the only person beside an assistant if `asker` is ""; "" if unknown."""
    if asker or not of_asker(text) or _TO_ASSISTANT.search(text):
        return asker
    user = view.once("only user", _only_user)
    return "" if user is None else view.speakers[user]


def _only_user(view: GraphView) -> int | None:
    """Return the position in view.speakers of the only one that is no assistant, None if there are several."""
    people = (number for number, name in enumerate(view.speakers) if _is_person_here(view, name))
    first_two = list(islice(people, 2))  # no more: a graph may have many speakers
    return first_two[0] if len(first_two) == 1 else None


def _is_person_here(view: GraphView, speaker: str) -> bool:
    """Return whether turns are a speaker's, who is no assistant by its name or the role of its first turn."""
    mark = view.number(speaker_mark(speaker))
    if mark is None or speaker.casefold() in ASSISTANTS:
        return False
    first = view.holders(mark)[0][:1].astype(np.int64)
    return bool((view.of_turns("role", first) != ROLES.index("assistant")).any())


def _is_person(label: str) -> bool:
    """Return whether a word, or two, are the name of a person."""
    if is_han(label):
        return is_chinese_name(label)
    return names.listed_kind(label) == "person" or names.is_first_name(label.split(maxsplit=1)[0], inside=True)


def is_chinese_name(text: str) -> bool:
    """Return whether a text in Han is the name of a person, and nothing else: 何伟, not 何伟半马."""
    word = simplified(text)
    return is_han(text) and list(chinese_names.cut(word, STANDARD)) == [(word, chinese_names.PERSON)]


def speaker_mark(speaker: str) -> str:
    """Return the id of a speaker's node, with which the extractor marks all turns of that speaker."""
    return f"@speaker:{' '.join(clean(speaker).split()).casefold()}"


def _folded(text: str) -> str:
    return " ".join(clean(text).split()).casefold()


def _stands_in(name: str, text: str) -> bool:
    # The plain search first: it is fast, and a graph may have many speakers.
    if name in _NO_NAMES or name not in text:
        return False
    return re.search(rf"(?<!{_SPACED}){re.escape(name)}(?!{_SPACED})", text) is not None


ANSWER_MARKS: Final = ("@time", "@name", "@number")
SPEAKER: Final = 0.5
FEW_WORDS: Final = 2  # of a question like "Where does she live?": so few, that what they call to mind counts more
WEAK: Final = 0.2  # weight of a word of the conversation that a question goes on from
COMPOUND: Final = 2.0
MEMBER_WORTH: Final = 0.3  # to a sentence, of a member of the kind that is asked for
SHARED_PART: Final = 0.4  # overlap of two words that share two characters, and neither holds the other

_HAN: Final = tables.lazy(f"[{HAN}]{{2,}}")
_TO_ASSISTANT: Final = tables.lazy(r"(?i:\byou(?:r|rs)?\b)|[你您]")


@dataclass(frozen=True)
class QueryTerms:
    """A question's terms in one graph; numbers are concept numbers, ascending within each group's order of the text.

    words, weight  (k,) seeds that are words, and how much each counts
    unknown        words that the graph does not know, but relatives of them: (u,) in number
    relatives      what counts in part for one of the k + u words
    dates          (d,) marks of days and months
    speakers       (s,) marks of the speakers named; named: (s,) their positions in view.speakers
    user           what may be the name of the only user, who has none in the graph
    wants          subset of WANTED
    now, past      whether it asks how things are now or stand at all, or how they once were
    pictures       whether it asks for a photo
    kinds          asking word → numbers of its members, seeds left out
    """

    words: Integers
    weight: Floats
    unknown: tuple[str, ...]
    relatives: Expansion
    dates: Integers
    speakers: Integers
    named: Integers
    user: frozenset[str]
    wants: frozenset[str]
    now: bool
    past: bool
    pictures: bool
    kinds: dict[str, tuple[int, ...]]

    @property
    def seeds(self) -> Integers:
        """Every seed that is a row of the match: words, dates, speakers."""
        return np.concatenate((self.words, self.dates, self.speakers))

    @property
    def weights(self) -> Floats:
        """The weight of each of `seeds`."""
        return np.concatenate((self.weight, np.ones(len(self.dates)), np.full(len(self.speakers), SPEAKER)))


def find_query_terms(
    view: GraphView, question: Extraction, text: str, asker: str = "", weak: Iterable[int] = ()
) -> QueryTerms:
    """Return the terms of `question`, extracted from `text`, in `view`; `asker` is "" if unknown.

    weak  words of the conversation that it continues, by number
    """
    plain = clean(text)
    asker = asker_of(view, plain, asker)
    named = named_speakers(f"{text} {asker}" if of_asker(plain) else text, view.speakers)
    if user := name_of_user(view, question):
        named = np.union1d(named, [view.once("only user", _only_user)]).astype(np.int64)
    names_here = user.union(view.speakers[number].casefold() for number in named)
    ids = [concept.id for concept in question.concepts]
    words = [name for name in ids if not name.startswith("@") and name not in names_here]
    numbers = {number: 1.0 for name in words if (number := view.number(name)) is not None}
    seeds = {
        **numbers,
        **{number: weight for number, weight in _compounds(view, words).items() if number not in numbers},
    }
    seeds |= {number: WEAK for number in weak if number not in seeds}
    kinds = {cue: members for cue in cues(words, text) if (members := _members(view, cue, seeds))}
    few = sum(" " not in word for word in words) <= FEW_WORDS
    related = shares(view, words, kinds, subjects(words, text) if few else None)
    for word, others in other_names(view, words).items():
        related[word] = related.get(word, {}) | others
    seeds |= _misspelt(view, words, seeds, related)
    unknown = tuple(word for word in related if view.number(word) not in seeds)
    dates = _numbers(view, (name for name in ids if name.startswith(("@day:", "@month:"))))
    speakers = _numbers(view, (speaker_mark(view.speakers[number]) for number in named))
    rows = {view.ids[number]: row for row, number in enumerate(seeds)}
    rows.update((word, len(seeds) + len(dates) + len(speakers) + row) for row, word in enumerate(unknown))
    return QueryTerms(
        words=np.array(list(seeds), np.int64),
        weight=np.array(list(seeds.values()), np.float64),
        unknown=unknown,
        relatives=assigned(rows, related, seeds),
        dates=dates,
        speakers=speakers,
        named=named,
        user=user,
        wants=frozenset(ids).intersection(ANSWER_MARKS),
        now=asks_now(plain) or (few and not dates.size and asks_state(plain)),
        pictures=asks_picture(plain),
        past=asks_past(plain) or len(dates) > 0,
        kinds=kinds,
    )


def worth(view: GraphView, terms: QueryTerms) -> dict[str, float]:
    """Map the ids of words that the question asks for to how rare each is, times its weight; relatives by their share.

    A member of a kind that is asked for counts MEMBER_WORTH.
    """
    worths = {number: MEMBER_WORTH for members in terms.kinds.values() for number in members}
    worths.update(zip(terms.relatives.concept.tolist(), terms.relatives.share.tolist(), strict=True))
    worths.update(zip(terms.words.tolist(), terms.weight.tolist(), strict=True))
    rarity = idf(view.turns, view.holding(np.array(list(worths), np.int64)))
    weighed = (weight * each for weight, each in zip(worths.values(), rarity.tolist(), strict=True))
    return dict(zip((view.ids[number] for number in worths), weighed, strict=True))


def _misspelt(
    view: GraphView, words: Iterable[str], seeds: Mapping[int, float], related: Container[str]
) -> dict[int, float]:
    """Find what was meant by words that have no node and no relative, and how much each counts."""
    unknown = (word for word in words if view.number(word) is None and word not in related)
    corrections = (
        (view.number(name), weight) for word in unknown for name, weight in find_corrections(view, word).items()
    )
    return {number: weight for number, weight in corrections if number is not None and number not in seeds}


def _numbers(view: GraphView, names: Iterable[str]) -> Integers:
    return np.array(view.numbers_of(dict.fromkeys(names)), np.int64)


def _members(view: GraphView, cue: str, seeds: dict[int, float]) -> tuple[int, ...]:
    return tuple(number for number in view.numbers_of(MEMBERS[cue]) if number not in seeds)


def _compounds(view: GraphView, words: Iterable[str]) -> dict[int, float]:
    """Find the words of the graph that share a part with a Chinese word of the question, and their weights."""
    compounds: dict[int, float] = {}
    for word in words:
        if _HAN.fullmatch(word):
            for other, overlap in _related(view, word):
                number = view.number(other)
                if number is not None:
                    compounds[number] = max(compounds.get(number, 0.0), COMPOUND * overlap)
    return compounds


def _related(view: GraphView, word: str) -> Iterator[tuple[str, float]]:
    """Yield known words that hold an unknown `word`, are part of it or share two characters with it.

    A word that the graph knows needs none: its compounds cost more than they brought, on every form of talk.
    """
    if view.number(word) is not None:
        return
    pairs = {word[at : at + 2] for at in range(len(word) - 1)}
    parts = sorted(pairs)
    inside = {word[at:end] for at in range(len(word)) for end in range(at + 2, len(word) + 1)}
    holding = (other for part in parts for other in view.words_holding(part[:2]) if part in other)
    candidates = inside.union(holding) - {word}
    yield from ((sign, 1 / len(word)) for sign in _said_apart(view, word))
    for other in sorted(candidates):
        if _HAN.fullmatch(other):
            contains = other in word or word in other
            shorter, longer = sorted((len(word), len(other)))
            yield other, shorter / longer if contains else SHARED_PART


def _said_apart(view: GraphView, word: str) -> tuple[str, ...]:
    """Return both signs of a word of two, if one turn has both: 泡, 脚 of 泡脚, as 泡完脚 says it."""
    numbers = view.numbers_of(word) if len(word) == len(set(word)) == 2 else []
    if len(numbers) < 2:
        return ()
    one, other = (view.holders(number)[0] for number in numbers)
    return tuple(word) if np.isin(one, other).any() else ()
