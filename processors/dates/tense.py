"""The tense of a sentence, from cue words around an expression: enough to tell last Friday from the next.

Lists of general knowledge, English and Chinese.  No parser; a cue counts by its place:

    English   the last one before the expression, which governs it most often ("I told her that I will come on Friday");
              without one before, the first after; within the sentence
    Chinese   the first one after the expression, for the verb follows the time (六月想去大理); without one after, the
              last before; within what commas part
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from processors.dates.arithmetic import Tense

BEFORE: Final = 160  # characters of the same sentence that are read before an expression ...
AFTER: Final = 80  # ... and after it
_WENT: Final = """
    was were did had went came saw took got made gave said told met bought brought thought felt found kept lost won ran
    began became sat stood spent sent slept built fell flew drove wrote ate drank sang swam broke chose spoke wore
    taught caught fought led left heard hung hid grew knew threw drew rode rose shook shot sold stole stuck struck tore
    woke understood paid laid lit dealt dug fed forgot forgave froze meant blew sought wasn't weren't didn't hadn't
    """


class Cues(NamedTuple):
    """The words of a language that show a tense.

    words  the groups "past" and "future" are cues; what matches outside of them only looks like one ("be held", 过年)
    ends   where a sentence or clause ends
    after  whether a cue after the expression goes before one in front of it
    """

    words: re.Pattern[str]
    ends: re.Pattern[str]
    after: bool


_ENGLISH: Final = re.compile(
    rf"""\b(?:
      be\ \w+ | (?:need|feed|seed|bed|red|shed|speed|weed|indeed|hundred|interested|worried|tired|supposed|used)\b
    | (?P<future>
          will | shall | won't | \w+'ll | going\ to | gonna | plan(?:s|ning)? | hop(?:e|es|ing) | can't\ wait
        | look(?:s|ing)?\ forward | upcoming | coming\ up | about\ to | let's | wants?\ to | would
        | \w+'d\ (?:like|love) | excited | (?:get|getting|got)\ ready | ready\ for | preparing | scheduled | see\ you
        | due | starts | begins | opens | leaves | arrives | should | must | might | may | can | could\ you
        | (?:am|is|are|\w+'(?:m|s|re))\ (?:\w+ly\ |all\ |also\ |both\ )?\w+ing ) (?!\w)
    | (?P<past> {"|".join(_WENT.split())} | \w{{2,20}}ed | (?:\w+'ve|has|have)\ been ) (?!\w)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE: Final = re.compile(
    r"""(?: 需要 | 重要 | 主要 | 只要 | 要是 | 要么 | 社会 | 机会 | 开会 | [聚例周班年晚舞长动乐唱学展]会 | 一会 | 约会
      | 大约 | 想起 | 想到 | 了解 | 为了 | 不了 | 除了 | 算了 | 受不了 | 过[生年节来去程分]
      | 通过 | 难过 | 经过 | 不过 | 超过 | 刚好
    | (?P<future> [要会将约] | 打算 | 准备 | 计划 | 预计 | 希望 | 即将 | 快到 | 等到 | 等着 | 想 | 再 | 截止 | 之前得 )
    | (?P<past> [了过刚曾] | 已经 | 当时 | 那时 ) )""",
    re.VERBOSE,
)


ENGLISH: Final = Cues(_ENGLISH, re.compile(r"[.!?;…](?!\w)|\n"), after=False)
CHINESE: Final = Cues(_CHINESE, re.compile(r"[,.!?;…。、\n]"), after=True)


def tense(cues: Cues, text: str, start: int, end: int) -> Tense:
    """Return what is shown around text[start:end]."""
    before = _shown(cues, cues.ends.split(text[max(0, start - BEFORE) : start])[-1])[::-1]
    after = _shown(cues, cues.ends.split(text[end : end + AFTER], maxsplit=1)[0])
    return next(iter([*after, *before] if cues.after else [*before, *after]), "unclear")


def _shown(cues: Cues, text: str) -> list[Tense]:
    return ["past" if cue.lastgroup == "past" else "future" for cue in cues.words.finditer(text) if cue.lastgroup]
