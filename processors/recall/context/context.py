"""The context that a prompt gets: recalled passages, packed into a budget of tokens, under the time of their session.

    [2023-05-08 13:56]
    Caroline: I went to a support group yesterday and it was so powerful. [yesterday = 2023-05-07]

    which   what answers best per token first, until one does not fit (the rule that docs/recall.md measures with); the
            budget is an upper bound: what is much less likely to answer is not handed over.  A passage that
            would not fit even alone is skipped: one pasted log file must not silence the whole memory.  So is one
            that says what a chosen one says: at least nine tenths of the words of both, and every number.
    quoted  a turn of more than `longest` tokens contributes the sentences that answer best, word for word, with […]
            where something is left out (sentences.py): so a budget holds several long turns, where it held one
    talk    small talk at the beginning and the end of a turn is not shown: "Hey Mel! That's great!" (small_talk.py)
    times   stand above a session, once for each of its days: that of the first turn that is shown
    gaps    an empty line, which costs nothing, stands between sessions
    views   what no one said, a habit or a relation, stands in brackets before the turns: (habit of Ada: …)
    breaks  of a text stay; what follows one is indented, so that no text can pose as another's line
    order   chronological, session by session: a model reads a conversation forwards, and "last week" or "the second
            one" make sense only so
    cost    estimated without a tokenizer, as LoCoMo is measured: 1.3 tokens for a word.  Scripts that write no spaces
            (Han, kana, Thai, …) and Hangul cost 1 a character: between the 0.6–0.8 of tokenizers trained on Chinese and
            the 1.2 of older English ones.  A run of other letters or signs costs a word for every 12 characters begun.
            The whole line counts, its speaker and the time above too: the budget is what the prompt pays.
    history what a later turn says has changed ends with " [history: changed 2024-02-03]"
    notes   what a turn's time expressions mean, " [yesterday = 2023-05-07]", goes to the end of its line, best passage
            first, as far as the budget has room left: it takes no passage's place.  A time in the heading
            above, or in another note, is not repeated

    names   whom "he" or 他 means, "He [Tomas] moved", stands behind the pronoun, as far as the budget has room left,
            where neither the turn nor the line above it names the person; stored text stays as it was said

Times come from the turns, and are shown in the asker's time zone (else UTC); no clock is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from emgas.times import DAY_MS, MINUTE_MS, format_utc
from processors.dates.resolve import format_minute, format_span
from processors.recall.context import small_talk
from processors.recall.context.sentences import QueryWord, best_sentences
from processors.text import tables
from processors.text.scripts import DENSE
from state.events.extraction_types import TimeSpan

LONGEST_WORD = 12  # characters that one word's cost covers
SAME = 0.9  # share of common words from which a passage repeats another
LONG_TURN = 200  # tokens of a turn beyond which only its best sentences are shown
LEAST_LINE = 5  # tokens: few lines cost less, and no context holds many of them
HEADING = 3  # tokens of the time above a session
VIEWS = ("\0", 0)  # what views stand under: no session has such a name

_WEEK = 7 * DAY_MS
_COUNTED_WEEKS = tables.lazy(
    r"\b(?:ago|from now|hence|in|vor|hace|il y a|dans|dentro de)\b|[前後后전뒤]", re.IGNORECASE
)
_DENSE = tables.lazy(f"[{DENSE}]")
_WORD = tables.lazy(r"[^\W_]+")
_APART = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalnum()})


class ContextPassage(NamedTuple):
    """A turn as a context shows it.

    `at` in ms since 1970, by the asker's clock; `number`: of its passage; `times`: what its time expressions mean.
    `query_words`: words of the question that it holds, by which its sentences are chosen if it is long.
    `session`: what it was said in.  `over`: as `at`, when it was said that this no longer holds, else None.
    `speaker` is "" for a view: what no one said.
    `people`: where in the text a pronoun ends, and whom it means.
    """

    number: int
    at: int
    speaker: str
    text: str
    times: tuple[TimeSpan, ...] = ()
    query_words: tuple[QueryWord, ...] = ()
    session: str = ""
    over: int | None = None
    people: tuple[tuple[int, str], ...] = ()

    @property
    def group(self) -> tuple[str, int]:
        """Return what it stands under: its session, and the day, counted from 1970."""
        return self.session, self.at // DAY_MS


class PackedContext(NamedTuple):
    """A text of lines, its estimated tokens, and the numbers of the passages in it, in the order shown."""

    text: str
    tokens: int
    passages: tuple[int, ...]


class ContextPacker:
    """Packs passages, handed over best first, into a context of `budget` tokens."""

    def __init__(self, budget: int, longest: int = LONG_TURN) -> None:
        """`longest`: tokens of a turn beyond which its best sentences stand for it."""
        self._budget, self._longest = budget, longest
        self._spent = 0
        self._chosen: list[ContextPassage] = []
        self._shown: dict[int, str] = {}  # passage number → its line
        self._groups: set[tuple[str, int]] = set()
        self._packed_texts = _PackedTexts()

    def add(self, passage: ContextPassage) -> bool:
        """Take or skip the next passage; return whether to pass more: False once a passage no longer fits."""
        words = _words(passage.text)
        first = _first(words)
        passage = quoted(without_small_talk(passage), self._longest)
        cost = tokens(shown := line(passage))
        above = HEADING if passage.speaker else 0
        if cost + above > self._budget or self._packed_texts.repeats(words, first):
            return True
        group = passage.group
        cost += 0 if group in self._groups else above
        if self._spent + cost > self._budget:
            return False
        self._chosen.append(passage)
        self._groups.update([group] if passage.speaker else [])
        self._shown[passage.number] = shown
        self._packed_texts.add(words, first)
        self._spent += cost
        return True

    def context(self) -> PackedContext:
        """Put together what was taken: views first, then sessions in the order in which they began."""
        notes, cost = _notes(self._chosen, self._budget - self._spent)
        groups: dict[tuple[str, int], list[ContextPassage]] = {}
        for passage in sorted(self._chosen, key=lambda passage: (passage.speaker != "", passage.at, passage.number)):
            groups.setdefault(passage.group if passage.speaker else VIEWS, []).append(passage)
        shown, used = _named(groups.values(), self._shown, self._budget - self._spent - cost)
        blocks = []
        for group, passages in groups.items():
            lines = [shown[passage.number] + notes[passage.number] for passage in passages]
            blocks.append("\n".join(lines if group == VIEWS else [heading(passages[0]), *lines]))
        numbers = tuple(passage.number for passages in groups.values() for passage in passages)
        return PackedContext("\n\n".join(blocks), self._spent + cost + used, numbers)


def without_small_talk(passage: ContextPassage) -> ContextPassage:
    """Leave out small talk at the beginning and the end of a passage; one that is nothing else stays as it is."""
    start, end = small_talk.bounds(passage.text)
    if end - start == len(passage.text):
        return passage
    text = passage.text[start:end].rstrip()
    people = tuple((place - start, name) for place, name in passage.people if start < place <= start + len(text))
    return passage._replace(text=text, times=tuple(span for span in passage.times if span.text in text), people=people)


def quoted(passage: ContextPassage, longest: int = LONG_TURN) -> ContextPassage:
    """Shorten a long passage to its best sentences, and what its times mean to the expressions that are left."""
    if is_short(passage.text, longest):
        return passage
    text = best_sentences(passage.text, passage.query_words, longest, tokens)
    return passage._replace(text=text, times=tuple(span for span in passage.times if span.text in text), people=())


def is_short(text: str, longest: int = LONG_TURN) -> bool:
    """Return whether a turn is shown whole; for most turns, their length alone decides."""
    at_once = 2 * (longest * 10 // 13)  # characters: where spaces stand between words, no two are more than a word
    return len(text) <= (at_once if text.isascii() else longest) or tokens(text) <= longest


class _PackedTexts:
    """The words of the passages chosen so far, by their first words: similar texts have one of these in common.

    Two texts that share SAME of all their words each lack at most 1 − SAME of the other's words.  So if the words of
    all texts are in one order, two such texts have a word in common among their first ones.  This is prefix filtering:
    Chaudhuri, Ganti & Kaushik 2006.
    """

    def __init__(self) -> None:
        self._by_word: dict[str, list[frozenset[str]]] = {}

    def add(self, words: frozenset[str], first: Iterable[str]) -> None:
        for word in first:
            self._by_word.setdefault(word, []).append(words)

    def repeats(self, words: frozenset[str], first: Iterable[str]) -> bool:
        """Return whether a passage of these words says what one of them says.

        first  those of its words without which nothing is alike
        """
        for word in first:
            for others in self._by_word.get(word, ()):
                if _alike(words, others):
                    return True
        return False


def _first(words: frozenset[str]) -> list[str]:
    """List the words that no text can lack all of and be alike; longer ones first, as fewer texts hold them."""
    listed = sorted(words)
    listed.sort(key=len, reverse=True)  # of one length, they stay in their order
    return listed[: len(words) - ceil(SAME * len(words)) + 1]


def _notes(ranked: Iterable[ContextPassage], room: int) -> tuple[dict[int, str], int]:
    """Map passage numbers to what their lines get, "" where `room` (tokens) has run out; add up what all that costs."""
    notes, spent, shown = dict[int, str](), 0, set[str]()
    for passage in ranked:
        new = [each for each in meanings(passage) if each not in shown] if passage.times else []
        note = f" [{'; '.join(new)}]" if new else ""
        cost = tokens(note) if note else 0
        fits = spent + cost <= room
        notes[passage.number] = note if fits else ""
        spent += cost if fits else 0
        shown.update(new if fits else ())
    return notes, spent


def _named(
    groups: Iterable[Sequence[ContextPassage]], shown: Mapping[int, str], room: int
) -> tuple[Mapping[int, str], int]:
    """Return the lines, by passage number, with the names of whom pronouns mean, and their cost, at most `room`."""
    named, spent = dict(shown), 0
    for passages in groups:
        for place, passage in enumerate(passages):
            if not passage.people:
                continue
            plain, above = shown[passage.number], shown[passages[place - 1].number] if place else ""
            text = line(with_names(passage, above))
            cost = tokens(text) - tokens(plain)
            if text != plain and spent + cost <= room:
                named[passage.number] = text
                spent += cost
    return named, spent


def with_names(passage: ContextPassage, above: str = "") -> ContextPassage:
    """Put whom its pronouns mean into the text of a passage: He [Tomas]; none whom the line above names."""
    text = passage.text
    for end, name in sorted(passage.people, reverse=True):
        if name.casefold() not in above.casefold():
            text = f"{text[:end]} [{name}]{text[end:]}"
    return passage._replace(text=text)


def meanings(passage: ContextPassage) -> list[str]:
    """List what the time expressions of a passage mean, "yesterday = 2023-05-07".

    Those that say so themselves, or mean the day on which it was said, need no note.
    """
    days, today = [span for span in passage.times if not span.kind], format_utc(passage.at)[:10]
    meant = [
        note + _same_weekday(span, passage.at)
        for span in days
        if not (note := format_span(span)).endswith(f"= {today}") and note.split()[-1] not in span.text
    ]
    return list(dict.fromkeys(meant + [format_minute(span) for span in passage.times if _is_counted(span, days)]))


def _same_weekday(span: TimeSpan, at: int) -> str:
    """Write the day that is meant by a number of weeks: three weeks ago on a Tuesday, it was a Tuesday."""
    if span.until - span.since != _WEEK or not _COUNTED_WEEKS.search(span.text):
        return ""
    return f", about {format_utc(span.since + (at - span.since) % _WEEK)[:10]}"


def _is_counted(span: TimeSpan, days: Iterable[TimeSpan]) -> bool:
    """Return whether a time is a minute counted from now: in three hours."""
    is_minute = span.kind == "time" and span.confidence == 1 and span.until - span.since == MINUTE_MS
    return is_minute and not any(day.text in span.text or span.text in day.text for day in days)


def most_lines(budget: int) -> int:
    """Return how many passages a context of `budget` tokens holds at most: no more are ranked for it."""
    return budget // LEAST_LINE


def heading(passage: ContextPassage) -> str:
    """Write the time above the turns of a session."""
    return f"[{format_utc(passage.at)}]"


def line(passage: ContextPassage) -> str:
    """Write a passage as one line; lines of its own are indented, so that no text can pose as another's line."""
    over = "" if passage.over is None else f" [history: changed {format_utc(passage.over)[:10]}]"
    if not passage.speaker:
        return f"({_flat(passage.text)}){over}"
    return f"{_flat(passage.speaker)}: {_indented(passage.text)}{over}"


def tokens(text: str) -> int:
    """Estimate the number of tokens of `text`, rounded up; 0 only for blank text."""
    spaced, dense = _apart(text)
    parts = spaced.split()
    words = len(parts)
    if parts and max(map(len, parts)) > LONGEST_WORD:
        words += sum((len(part) - 1) // LONGEST_WORD for part in parts)
    return -(-13 * words // 10) + len(dense)


def _words(text: str) -> frozenset[str]:
    """Find the words of a text, each sign of a script without spaces counting as one."""
    if text.isascii():  # the same, in a fifth of the time
        return frozenset(text.lower().translate(_APART).split())
    spaced, dense = _apart(text.casefold())
    return frozenset(_WORD.findall(spaced) + dense)


def _apart(text: str) -> tuple[str, list[str]]:
    """Part a text from its signs of scripts that write no spaces; return both."""
    return (text, []) if text.isascii() else (_DENSE.sub(" ", text), _DENSE.findall(text))


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether two texts share at least SAME of the words of both, but differ in no number."""
    shared = len(words & others)
    if shared < SAME * (len(words) + len(others) - shared) or not shared:
        return False
    return not any(map(str.isdigit, "".join(words ^ others)))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    """Keep the line breaks of a text, and indent what follows each; other white space becomes a space."""
    lines = text.splitlines()
    return _flat(text) if len(lines) == 1 else "\n  ".join(flat for each in lines if (flat := _flat(each)))
