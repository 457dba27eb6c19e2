"""Explanations in a reply: why a passage was recalled.  Anyone can compute them again from the same log."""

from __future__ import annotations

from emgas.messages.fields import Message


class Mention(Message):
    """A seed that was said in the passage (distance 0), or so many turns before it (< 0) or after it (> 0).

    weight   what it counts as a seed: 1 for a word of the question
    times    how often that turn says it
    """

    concept: str
    weight: float
    turn: str
    distance: int
    times: int


class Hop(Message):
    """An association that energy took: how often both were said together, and the weight of the edge."""

    source: str
    target: str
    times: int
    weight: float


class Kind(Message):
    """A word of the question that asks for a kind of thing, and the member of that kind that the passage holds."""

    asked: str
    member: str


class Why(Message):
    """Why a passage has its score; its session, speaker and date stand in the passage itself.

    terms         what each edge type and each property of the turn adds (docs/recall.md): their sum is the score.  Of
                  other modes, what their formula is made of; `times_…` are factors of the sum of the others
    mentions      seeds in the passage, and in the turns around it that gave it score
    associations  the hops to the strongest concept of the passage that the seeds woke, seed first
    kinds         members of the kinds that the question asks for
    """

    terms: dict[str, float]
    mentions: list[Mention]
    associations: list[Hop]
    kinds: list[Kind]
