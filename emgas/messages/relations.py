"""The kinds of concepts and the types of relations, declared once.

    kind      person     place      organisation   product     time   number      phrase, part, guess
              Ada        New York   Acme Ltd       《三体》     3pm    42 km       see Kind
    relation  source ── type ──▶ target            "I moved to Lisbon": @speaker:ada ── lives-in ──▶ lisbon

processors/text finds them in what is said (processors/text/names.py, relations.py), events record them, and graphs
count them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import Field

from emgas.messages.fields import Message

# phrase  several words that name one thing, without a known kind: "support group"
# part    a word inside another, of Chinese, or a piece of one: it finds turns, but is never shown
# guess   a Chinese word that no dictionary has, maybe a wrong split: not shown until it is frequent
Kind = Literal["person", "place", "organisation", "product", "time", "number", "phrase", "part", "guess"]

RelationType = Literal[
    "is-a",
    "part-of",
    "cause",
    "contrast",
    "synonym",
    "has",
    "likes",
    "dislikes",
    "lives-in",
    "works-at",
]
# between people, and of people: what a card tells (processors/text/facts/facts.py)
PeopleRelation = Literal[
    "parent",
    "child",
    "sibling",
    "spouse",
    "partner",
    "ex-spouse",
    "ex-partner",
    "friend",
    "colleague",
    "boss",
    "report",
    "roommate",
    "neighbour",
    "relative",
    "teacher",
    "student",
    "coach",
    "therapist",
    "doctor",
    "dentist",
    "lawyer",
    "landlord",
    "tenant",
    "client",
    "schoolmate",
    "agent",
    "accountant",
    "vet",
    "hairdresser",
    "physio",
    "nanny",
    "pet",
    "job",
    "from",
    "born-in",
    "age",
    "birthday",
    "name",
    "studies",
    "studies-at",
    "studies-in",
    "studied-at",
    "member-of",
    "owns",
    "uses",
    "allergic-to",
    "visited",
    "works-in",
]
RELATION_TYPES: Final[tuple[RelationType, ...]] = get_args(RelationType)
BOTH_WAYS: Final = frozenset({"contrast", "synonym"})  # these say the same from either side


class KnownRelation(Message):
    """A relation of two concepts: how many turns state it, when first and last (ms), and the latest by id."""

    source: str
    type: RelationType | PeopleRelation
    target: str
    source_label: str
    target_label: str
    times: int
    first: int
    last: int
    ids: list[str]
    history: bool = Field(
        default=False,
        description="outdated: later turns replaced all that state it",
        exclude_if=lambda it: not it,
    )
