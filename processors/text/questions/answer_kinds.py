"""Find the kind of answer that a question wants, and whether a turn holds one: name (who, where, which), number, list.

    @name     the turn names a person or a thing        the question asks who, where, which
    @number   the turn gives a number                   the question asks how many, how much, how long

Besides: whether a question asks about the present or the past, and whether it is about its asker.

Patterns of grammar decide (data/question_types.tsv), nothing else: a name in English is a capital
inside a sentence, in Chinese a word that the segmenter tags as one.  Times have a kind of their own
(processors/extraction/tags.py).  `depth` says how many passages a question needs: SEEDS P29-P31, k = 3 (1 + 5.67 C),
rounded down, with C from what the question asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from processors.text import chinese, greetings, tables

LEAST_DEPTH: Final = 3  # passages for the simplest question
MOST_DEPTH: Final = 20  # and for one that asks for several things over a long time

_NAMED: Final = tables.lazy(
    r"""(?<=[a-z0-9,;:'"(]\ ) [A-Z][a-z]+            # a capital inside a sentence
      | \b[A-Z]{2,}\b                               # an acronym
      | "[^"]{2,80}" | 《[^》]{1,80}》               # a title
    """,
    re.VERBOSE,
)


_PATTERNS: Final = tables.rows(__package__, "answer_kinds")
# Words that are said with everything ("drink", "go", 喝, 去): they do not tell what a question is about.
EVERYDAY: Final = frozenset(word for (word,) in tables.rows("processors.text", "everyday_verbs"))


class Signs:
    """The patterns of one kind of sign in a text.

    A text in ASCII is searched in lower case, and only for what it can contain: this is faster than ignoring case.
    """

    def __init__(self, shown: str) -> None:
        rows = [(script, pattern) for kind, script, pattern in _PATTERNS if kind == shown]
        latin = "|".join(pattern for script, pattern in rows if script == "latin")
        words = rf"\b(?:{latin})\b" if latin else "(?!)"  # which matches nothing: without words, it would match all
        anywhere = [(script, pattern) for script, pattern in rows if script != "latin"]
        self._any = tables.lazy("|".join([words, *(pattern for _, pattern in anywhere)]), re.IGNORECASE)
        self._ascii = tables.lazy("|".join([words, *(pattern for script, pattern in anywhere if script == "any")]))

    def search(self, text: str) -> re.Match[str] | None:
        """Find the first sign."""
        return self._ascii.search(text.lower()) if text.isascii() else self._any.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find all signs."""
        return self._ascii.finditer(text.lower()) if text.isascii() else self._any.finditer(text)


_NUMBER: Final = Signs("number")
_ASKS_NAME: Final = Signs("asks-name")
_ASKS_NUMBER: Final = Signs("asks-number")
_ASKS_LIST: Final = Signs("asks-list")
_ASKS_REASON: Final = Signs("asks-reason")
_ASKS_TIME: Final = Signs("asks-time")
_ASKS_HABIT: Final = Signs("asks-habit")
_ASKS_NOW: Final = Signs("asks-now")
_ASKS_STATE: Final = Signs("asks-state")
_ASKS_HAPPENED: Final = Signs("asks-happened")
_ASKS_PICTURE: Final = Signs("asks-picture")
_ASKS_PAST: Final = Signs("asks-past")
_ASKS_ACCOUNT: Final = Signs("asks-account")
_ASKS_OMITTED: Final = Signs("asks-omitted")
_ASKS_SELF: Final = Signs("asks-self")
_ASKS_ASSISTANT: Final = Signs("asks-assistant")
_ASKS_FATE: Final = Signs("asks-fate")
_ASKS_PRESENT: Final = Signs("asks-present")
_TELLS_CHANGE: Final = Signs("tells-change")
_HINTS_CHANGE: Final = Signs("hints-change")
_TELLS_PAST: Final = Signs("tells-past")
_ASKS_CAUSE: Final = Signs("asks-cause")
_TELLS_CAUSE: Final = Signs("tells-cause")
_INTERROGATIVES: Final = tuple(Signs(kind) for kind in ("who", "where", "when", "why", "how-many", "which"))
_OF_ASKER: Final = Signs("of-asker")
_OF_ASKERS: Final = Signs("of-askers")
_FORM: Final = Signs("form")
_GREETS: Final = Signs("greets")
_LETTER: Final = tables.lazy(r"[^\W_]")
# A few words that ask nothing: whatever belongs to them is asked for.
_KEYWORDS: Final = tables.lazy(r"(?=.{1,20}$)[^\W_]+(?: [^\W_]+){0,2}")


def holds_name(text: str, called: Iterable[greetings.Span]) -> bool:
    """Return whether a clean, simplified text names a person or a thing; people who are only called do not count."""
    plain = text
    for start, end in called:
        plain = plain[:start] + " " * (end - start) + plain[end:]
    return _NAMED.search(plain) is not None or chinese.holds_name(text)


def holds_number(text: str) -> bool:
    """Return whether a text gives a number, in digits or in words."""
    return _NUMBER.search(text) is not None


def asks_name(text: str) -> bool:
    """Return whether a question wants a name: who, where, which."""
    return _ASKS_NAME.search(text) is not None


def asks_number(text: str) -> bool:
    """Return whether a question wants a number: how many, how long."""
    return _ASKS_NUMBER.search(text) is not None


def asks_time(text: str) -> bool:
    """Return whether a question in a language other than English and Chinese wants a time: wann, cuándo, いつ, 언제."""
    return _ASKS_TIME.search(text) is not None


def asks_list(text: str) -> bool:
    """Return whether a question wants several things, said in several places."""
    return _ASKS_LIST.search(text) is not None


def asks_now(text: str) -> bool:
    """Return whether a question asks how things are now: now, still, 现在, 还."""
    return _ASKS_NOW.search(text) is not None


def asks_past(text: str) -> bool:
    """Return whether a question asks how things once were: before, used to, 以前, 原来."""
    return _ASKS_PAST.search(text) is not None


def asks_state(text: str) -> bool:
    """Return whether a question asks how things stand ("Where does she live?"), not what happened."""
    return _ASKS_STATE.search(text) is not None and _ASKS_HAPPENED.search(text) is None and not asks_past(text)


def asks_picture(text: str) -> bool:
    """Return whether a question asks for a photo: the picture of, 照片."""
    return _ASKS_PICTURE.search(text) is not None


def asks_account(text: str) -> bool:
    """Return whether a question asks what was said about something: what did they discuss, 大家怎么看."""
    return _ASKS_ACCOUNT.search(text) is not None


def asks_habit(text: str) -> bool:
    """Return whether a question asks for what recurs: how often, usually, 多久一次, 习惯."""
    return _ASKS_HABIT.search(text) is not None


def asks_omitted(text: str) -> bool:
    """Return whether a question asks when something was left out: when did I miss, 哪天没."""
    return _ASKS_OMITTED.search(text) is not None


def asks_self(text: str) -> bool:
    """Return whether a question asks what its asker does: can I, do I, 我 at its beginning."""
    return _ASKS_SELF.search(text) is not None


def asks_present(text: str) -> bool:
    """Return whether a question asks how things stand: who is my GP, 我早上喝什么."""
    return _ASKS_PRESENT.search(text) is not None and not asks_past(text)


def tells_change(text: str) -> bool:
    """Return whether a turn says that something is no longer as it was: my GP retired, 现在换成牛奶."""
    return _TELLS_CHANGE.search(text) is not None


def hints_change(text: str) -> bool:
    """Return whether a turn has a word that changes are told with: now, actually, up, 改, 涨."""
    return _HINTS_CHANGE.search(text) is not None


def tells_past(text: str) -> bool:
    """Return whether a turn says how things once were: we used to, 以前, 原来."""
    return _TELLS_PAST.search(text) is not None


def asks_assistant(text: str) -> bool:
    """Return whether a question asks what the assistant said: what did you suggest, 你推荐."""
    return _ASKS_ASSISTANT.search(text) is not None


def asks_fate(text: str) -> bool:
    """Return whether a question asks what became of something: what happened to, 怎么了."""
    return _ASKS_FATE.search(text) is not None


def asks_cause(text: str) -> bool:
    """Return whether a question asks for a reason: why, what caused."""
    return _ASKS_CAUSE.search(text) is not None


def tells_cause(text: str) -> bool:
    """Return whether a turn gives a reason: because, it's the boiler."""
    return _TELLS_CAUSE.search(text) is not None


def ask_alike(text: str, other: str) -> bool:
    """Return whether two questions have an interrogative in common: who, where, when, why, how many, which."""
    return any(signs.search(text) and signs.search(other) for signs in _INTERROGATIVES)


def of_asker(text: str) -> bool:
    """Return whether a question is about its asker: I, my, 我."""
    return _OF_ASKER.search(text) is not None


def of_askers(text: str) -> bool:
    """Return whether a text is about its asker, alone or with others: my, our, 我们."""
    return of_asker(text) or _OF_ASKERS.search(text) is not None


def form_of(text: str) -> str:
    """Return the words of a clean question that tell how it asks, not what about: how fast, what happened, 照片."""
    return " ".join(match.group() for match in _FORM.finditer(text)).casefold()


def greets(text: str) -> bool:
    """Return whether a clean text says nothing but hello, thanks or goodbye: there is nothing to remember for it."""
    if not _LETTER.search(text):
        return False
    plain = list(text)
    for start, end in greetings.spans(text):
        plain[start:end] = " " * (end - start)
    for match in _GREETS.finditer("".join(plain)):
        plain[match.start() : match.end()] = " " * len(match[0])
    return not _LETTER.search("".join(plain))


def depth(text: str, concepts: int, speakers: int) -> int:
    """Estimate how many passages a question needs, from 3 to 20, if its asker leaves that open.

    concepts  how many words of the question the graph knows;  speakers  how many it names
    """
    several = 0.5 * asks_list(text) + 0.3 * (_ASKS_REASON.search(text) is not None) + 0.2 * (speakers > 1)
    several += 0.12 * (_KEYWORDS.fullmatch(text.strip()) is not None)
    complexity = min(1.0, several + 0.1 * max(0, concepts - 2))
    return int(LEAST_DEPTH + (MOST_DEPTH - LEAST_DEPTH) * complexity)
