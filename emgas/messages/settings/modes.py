"""Modes of a question: the retriever that answers it, options of the retriever, and a report of its stages.

    default       the flow between concepts and turns that EMGAS ships
    inject        the same for a prompt that gets a context with every message: only what very likely answers
    literal       the original description of EMGAS, to the letter
    ppr           personalised PageRank, as HippoRAG walks          ppr-push   the same by forward push, up to an ε
    steady-state  activation that is kept up until nothing moves     subtractive  current − 1 / strength, as MaiBot
    path          the best paths from what is asked, as MoFox expands
    vector        the cosine of vectors alone                       staged     from the simplest to the most thorough

What each is, with its constants: lab/retrievers/ and lab/README.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.fields import Message, Text
from emgas.messages.relations import RelationType

Mode = Literal[
    "default", "inject", "literal", "ppr", "ppr-push", "steady-state", "subtractive", "path", "vector", "staged"
]
Weighting = Literal["fan", "ppmi", "npmi", "count", "max", "out_degree"]
Rerank = Literal["hello-agents", "simplemem", "mofox"]
Preference = Literal["episodic", "semantic"]
Share = Annotated[float, Field(ge=0, le=10)]


class Guidance(Message):
    """Hints for the search, if the asker knows them; a hint that is not set changes nothing.

    depth          how thoroughly, 0 to 1: in the place of what the question itself tells.  It says how many passages
                   come back, 3 to 20, and how far `staged` goes
    by_complexity  take the complexity of the question for its depth, as SimpleMem estimates it
    rounds         2: ask again with what the best passages of the first round hold
    kinds          how much counts what was said in one place (episodic), and what belongs together at all (semantic)
    type_weights   links by what turns say of two concepts, by its type, as {"cause": 0.5}
    mood, role     words of who asks: what of them the graph knows is sought too, weakly; moods such as "in a hurry"
                   and "curious" change the depth
    """

    depth: float | None = Field(None, ge=0, le=1, exclude_if=lambda depth: depth is None)
    by_complexity: bool = Field(default=False, exclude_if=lambda chosen: not chosen)
    rounds: int = Field(1, ge=1, le=2, exclude_if=lambda rounds: rounds == 1)
    kinds: dict[Preference, Share] = Field(default_factory=dict, exclude_if=lambda kinds: not kinds)
    type_weights: dict[RelationType, Share] = Field(default_factory=dict, exclude_if=lambda weights: not weights)
    mood: Annotated[Text, Field(max_length=limits.NAME_CHARACTERS)] | None = Field(
        None, exclude_if=lambda mood: mood is None
    )
    role: Annotated[Text, Field(max_length=limits.NAME_CHARACTERS)] | None = Field(
        None, exclude_if=lambda role: role is None
    )


class Stage(Message):
    """What one stage of a mode did.

    name      direct, spread, ppr, exhaustive; of other modes, their own; second-round, where a question asks for one
    found     passages that it found
    mass      share of their score that the best hold;  coverage: share of what is asked that the best hold, by rarity
    enough    whether that was enough, so that no further stage was needed; null if not requested
    """

    name: str
    found: int
    mass: float | None = Field(None, exclude_if=lambda mass: mass is None)
    coverage: float | None = Field(None, exclude_if=lambda coverage: coverage is None)
    enough: bool | None = Field(None, exclude_if=lambda enough: enough is None)


class Guided(Message):
    """What guidance did to a question.

    words    concepts of mood and role that the graph knows: sought too, weakly
    unknown  words of mood and role that it does not know: they did nothing
    depth    how thoroughly it was searched, 0 to 1, and passages: how many that is
    weights  what counted more or less than usual, by name: edge types, kinds of turns, relations
    """

    words: list[str]
    unknown: list[str]
    depth: float | None
    passages: int
    weights: dict[str, float]


class How(Message):
    """How a question was answered: its mode, the mode's constants, and what each stage did.

    source      the system that the mode is of
    constants   its constants by name, those that the question changed as it changed them
    complexity  how complex the question is, 0 to 1, by its words alone (SimpleMem)
    guidance    what guidance did, if there was any
    """

    mode: Mode
    source: str
    weighting: Weighting
    window: str
    constants: dict[str, float]
    complexity: float
    stages: list[Stage]
    guidance: Guided | None = Field(None, exclude_if=lambda guided: guided is None)
