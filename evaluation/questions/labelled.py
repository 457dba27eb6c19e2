"""The result of every reader of a data set: turns to publish, and the questions to each graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from emgas.messages.turns import Turn
from processors.text.scripts import HAN

UNANSWERABLE = "adversarial"  # LoCoMo's category 5 asks for what was never said: not part of the headline
SPOKEN_AT = 1_577_836_800_000  # 2020-01-01, ms: passages have no time of their own
WRITER = "corpus"  # a turn has a speaker; a passage has none


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, and the turn ids (at least one) that hold its answer.  No method ever gets one of these.

    group  what is left out together in cross-validation: its conversation; of passages every fifth question
    hop    2 where question and evidence share no content word, if the data set says so
    any_of no one labelled evidence: these turns hold the answer word for word, and one of them is enough
    """

    text: str
    category: str
    evidence: frozenset[str]
    group: str
    hop: int | None = None
    any_of: bool = False


@dataclass(frozen=True)
class DataSet:
    """Turns to publish, and for each graph the questions to ask it afterwards, and what recurs in it, if that is known.

    patterns  the turn ids of each, by graph
    """

    turns: list[Turn]
    questions: dict[str, list[LabelledQuestion]] = field(default_factory=dict)
    unusable: int = 0
    patterns: dict[str, list[frozenset[str]]] = field(default_factory=dict)


def is_chinese(questions: Sequence[LabelledQuestion]) -> bool:
    """Check whether most questions are written in Han."""
    return 2 * sum(re.search(f"[{HAN}]", question.text) is not None for question in questions) > len(questions)
