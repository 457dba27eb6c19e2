"""Find the name of a memory's only user in a question: "Where does Jen live?", where all is said by "user".

A memory of one person and an assistant may know that person by no name but "user".  Whoever asks knows the name.  So a
single name of a person that nobody said is no sign that the memory knows nothing of what is asked.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from processors.extraction.extractor import Extraction
from processors.recall.ranking.inquiry import Inquiry
from processors.text import chinese_names, names
from processors.text.chinese import STANDARD, simplified
from processors.text.scripts import is_han
from state.graph.tables.passage_table import ROLES
from state.graph.view import GraphView

NAMELESS: Final = frozenset(("user", "human", "customer", "client", "me", "用户", "客户", "我"))


def names_of_user(inquiry: Inquiry, question: Extraction) -> set[str]:
    """Return the concept of a question that may be the name of the only user of a graph, who has none there."""
    view = inquiry.view
    people = {each.id for each in question.concepts if _is_person(each.label) and view.number(each.id) is None}
    return people if len(people) == 1 and view.once("nameless", _is_nameless) else set()


def _is_nameless(view: GraphView) -> bool:
    """Return whether all that people say in a graph is said by one speaker without a name."""
    if NAMELESS.isdisjoint(map(str.casefold, view.speakers)):
        return False
    turns = np.arange(view.turns)
    by_people = view.of_turns("role", turns) != ROLES.index("assistant")
    speakers = np.unique(view.of_turns("speaker", turns)[by_people]).tolist()
    return len(speakers) == 1 and view.speakers[speakers[0]].casefold() in NAMELESS


def _is_person(label: str) -> bool:
    """Return whether a word, or two, are the name of a person."""
    if is_han(label):
        return is_chinese_name(label)
    return names.listed_kind(label) == "person" or names.is_first_name(label.split(maxsplit=1)[0], inside=True)


def is_chinese_name(text: str) -> bool:
    """Return whether a text in Han is the name of a person, and nothing else: 何伟, not 何伟半马."""
    word = simplified(text)
    return is_han(text) and list(chinese_names.cut(word, STANDARD)) == [(word, chinese_names.PERSON)]
