"""The seam between the memory and anyone who advises it: a model, or a program.  It is asked for six things.

    NameTheme   what is a group of concepts about?        Split       which things does a turn say?
    RateLinks   which concepts belong together?           Rewrite     the same in other words
    Summarise   what was a conversation about?            JudgeWorth  is a turn worth remembering?

Nothing here needs one: a theme has its strongest concepts for a label, a conversation its own sentences, a habit a
template.  Advice is checked against the contents of the graph (bounds.py), recorded with the advisor's name, and stands
beside its subject.  How one is asked, so that no one waits for it: streams/plugins/advisor_client.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from emgas.errors import EmgasError
from emgas.messages.advice import Advice, JudgedTurn, NamedTheme, RatedLink, Rewritten, SplitTurn, SummedUp


@dataclass(frozen=True, slots=True)
class NameTheme:
    """Name a theme by its id.  concepts: labels, strongest first; quotes: of turns that hold them."""

    theme: str
    concepts: tuple[str, ...]
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RateLinks:
    """Return how closely concepts belong together.  pairs: their ids; labels: of the same pairs, to be read."""

    pairs: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Summarise:
    """Sum up a conversation that has ended: its turns, each as "speaker: text"."""

    session: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Find the things that a turn says, each in its own words."""

    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Say the same in other words: of a turn, or of what recurs.  role: whose words, "" no one's."""

    text: str
    turn: str | None = None
    habit: str | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class JudgeWorth:
    """Judge how much a turn is worth remembering.  before: what was said before it."""

    turn: str
    text: str
    before: tuple[str, ...] = ()


Task = NameTheme | RateLinks | Summarise | Split | Rewrite | JudgeWorth
Ratings = tuple[RatedLink, ...]
AdviceContent = NamedTheme | Ratings | SummedUp | SplitTurn | Rewritten | JudgedTurn
KINDS: dict[str, type[Task]] = {
    "name": NameTheme,
    "rate": RateLinks,
    "summarise": Summarise,
    "split": Split,
    "rewrite": Rewrite,
    "judge": JudgeWorth,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
_FIELDS: dict[type, str] = {
    NamedTheme: "named",
    tuple: "rated",
    SummedUp: "summary",
    SplitTurn: "split",
    Rewritten: "rewritten",
    JudgedTurn: "judged",
}


class AdviceError(EmgasError):
    """No advice was to be had.

    result  in a word, for who counts: late, unreachable, busy, refused, unreadable, huge
    again   whether another try may do better
    """

    def __init__(self, result: str, reason: str, *, again: bool = False) -> None:
        super().__init__(reason)
        self.result, self.again = result, again


class Advisor(Protocol):
    """Gives advice.  It may be slow and may fail: no one waits for it, and nothing rests on it."""

    @property
    def name(self) -> str:
        """Return the advisor's name and version, which are recorded with all its advice."""

    async def advise(self, tasks: Sequence[Task]) -> Sequence[AdviceContent | None]:
        """Return the advice on tasks of one kind, None where there is none.  Raises AdviceError."""

    async def close(self) -> None:
        """Release the advisor's resources."""


def kind_of(task: Task) -> str:
    """Return the name of a task's kind."""
    return _NAMES[type(task)]


def advice(graph: str, by: str, id: str, content: AdviceContent) -> Advice:
    """Make the message that tells the writer of a graph what was said.  Raises ValidationError for what breaks it."""
    field = _FIELDS[type(content)]
    items = list(content) if isinstance(content, tuple) else content
    return Advice.model_validate({"kind": "advice", "id": id, "graph": graph, "by": by, field: items})
