"""Facts in English, and in talk of Latin letters: its clauses, of whom they speak, and what people are to one another.

"I quit Amazon and now work for Lumen"      I: quit Amazon    I: now work for Lumen
"My sister Ilse lives in Graz"              Ilse lives in Graz, and is a sister of who speaks
"Just moved to Oslo"                        I moved to Oslo
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from processors.text import names, tables
from processors.text.facts.frames import Clause, FactReading, Subject, frames
from processors.text.facts.vocabulary import INVERSE, ROLES, WORDS, expanded, pattern
from state.events.extraction_types import Fact, Operation

_ROLES: Final = ROLES["en"]
_KNOWN_ROLES: Final = frozenset(word for role in _ROLES for word in (role.split()[-1], role.split()[-1] + "s")) | {
    "children",
    "kids",
    "puppies",
}
_SINGULAR: Final = {"children": "child", "puppies": "puppy"}
_NAME: Final = pattern("en", "NAME")
_OWNED: Final = pattern("en", "owned")
_NAMED: Final = pattern("en", "named")
_BEFORE: Final = pattern("en", "before")
_AS: Final = pattern("en", "as")
_CLOSES: Final = pattern("en", "closes")
_OF_MINE: Final = pattern("en", "of_mine")
_HAVE: Final = pattern("en", "have")
_KIN_TITLE: Final = pattern("en", "kin_title")
_LABEL: Final = pattern("en", "label")
_RELATED: Final = pattern("en", "related")
_RELATION: Final = {
    "married": "spouse",
    **dict.fromkeys(("engaged", "dating", "going out", "lovers", "a couple"), "partner"),
    "twins": "sibling",
    "siblings": "sibling",
    "sisters": "sibling",
    "brothers": "sibling",
    "friends": "friend",
    "colleagues": "colleague",
    "roommates": "roommate",
    "flatmates": "roommate",
    "neighbours": "neighbour",
    "neighbors": "neighbour",
    "cousins": "relative",
    "classmates": "schoolmate",
}
_DID: Final = pattern("en", "did")
_TEACHES: Final = pattern("en", "teaches")
_CALLS: Final = pattern("en", "calls")
_I_AM: Final = pattern("en", "i_am")
_YOU_ARE: Final = pattern("en", "you_are")
_THEY_ARE: Final = pattern("en", "they_are")
_FRIEND_OF: Final = pattern("en", "friend_of")
_MORE: Final = pattern("en", "more")

_ASKS: Final = pattern("en", "asks")
_JOIN: Final = pattern("en", "join")
_PAIR: Final = pattern("en", "pair")
_CARRY: Final = pattern("en", "carry")
_BARE_VERB: Final = pattern("en", "bare_verb")
_BARE_STATE: Final = pattern("en", "bare_state")
_SUBJECT: Final = pattern("en", "subject")
_BEHIND_NAME: Final = pattern("en", "behind_name")
_BEFORE_YOU: Final = pattern("en", "before_you")
_OBJECT_BEFORE: Final = pattern("en", "object_before")
_NOISE: Final = pattern("en", "noise")


class EnglishReading(FactReading):
    """One text in Latin letters that is looked through for facts."""

    frames = frames("en")
    unsure = re.compile(expanded("{unsureen}"), re.IGNORECASE)
    past = re.compile(expanded("{pasten}"), re.IGNORECASE)

    def asks(self) -> bool:
        """Return whether the sentence asks."""
        return self.sentence.rstrip().endswith("?") or bool(_ASKS.match(self.sentence))

    def states_up_to(self, clause: str) -> int:
        """Return up to where a clause states something: before a wish or a plan; nothing after "if"."""
        supposed = _IF.search(clause)
        if supposed and not _IF_TOLD.match(clause, supposed.start()):
            return 0
        unsure = self.unsure.search(clause, 0, supposed.start() if supposed else len(clause))
        return unsure.end() - 1 if unsure else supposed.start() if supposed else len(clause)

    def holds(self, fact: Fact) -> bool:
        """Return whether a fact may hold: one is no relative of oneself, "I'm Aunt Monica"."""
        is_own = bool(fact.role) and not fact.subject and fact.value.casefold() == self.company.speaker.casefold()
        return super().holds(fact) and not is_own

    def is_name(self, name: str) -> bool:
        """Return whether a capitalised word may name a person, a firm or the like."""
        return name[:1].isupper() and name.split(maxsplit=1)[0].casefold() not in WORDS["noname"]

    def is_person(self, name: str) -> bool:
        """Return whether a name may be a person's."""
        first = name.split(maxsplit=1)[0]
        if not name[:1].isupper():
            return names.is_first_name(name.title(), inside=True) and name not in WORDS["noname"]
        is_other = names.listed_kind(name) in ("place", "organisation")
        return self.is_name(name) and not is_other and not _NOISE.search(first)

    def owner(self, whose: str, place: int) -> str | None:
        """Return whose something is by "my", "your", "Ravi's" or "her" at a place; None where that is not known."""
        low = whose.casefold()
        if whose in ("My", "Our", "Your", "Her", "His") and self.sentence[max(0, place - 2) : place - 1].isalpha():
            return None  # All My Children
        if low in ("my", "our", "i", "we", "mine", "ours", ""):
            return ""
        if low == "your":
            return self.company.addressed or None
        if low in ("her", "his"):
            before = [each.group() for each in _NAME.finditer(self.sentence, 0, place) if self.is_person(each.group())]
            return before[-1] if before else self.company.means.get(self.offset + place)
        name = re.sub(r"(?:'s|s')$", "", whose)
        return name if self.is_person(name) or names.is_first_name(name, inside=True) else None  # Sofia's mother

    # --- what people are to one another

    def roles(self) -> Iterator[Fact]:
        """Find what people are to one another: my sister Ilse; Ilse is my sister; Ilse and Tom are twins."""
        if not _KNOWN_ROLES.isdisjoint(_WORD.findall(self.sentence.lower())):
            for match in _OWNED.finditer(self.sentence):
                yield from self._owned(match)
            yield from self._called()
            for match in _FRIEND_OF.finditer(self.sentence):
                owner = self.company.addressed if match["owner"] == "yours" else match["owner"]
                relation = _relation(match["role"].casefold(), [])
                if relation and owner and self.is_person(owner) and not (self.asking or self._is_unsure(match)):
                    yield _tie(owner, relation, "", match.span(), role=match["role"].casefold())
            for pattern in (_HAVE, _OF_MINE, _KIN_TITLE, _LABEL):
                for match in pattern.finditer(self.sentence):
                    if pattern is _KIN_TITLE or not (self.asking or self._is_unsure(match)):
                        yield from self._people(match, self.owner(match.groupdict().get("owner") or "", match.start()))
        low = self.sentence.lower()
        is_plain = not self.asking and any(word in low for word in _JOINED_WORDS)
        if is_plain and not (self.unsure.search(self.sentence) or _DENIED.search(self.sentence)):
            yield from self._joined()

    def _is_unsure(self, match: re.Match[str]) -> bool:
        near = self.sentence[max(0, match.start() - 15) : match.end()]
        return bool(_DENIED.search(near) or self.unsure.search(near) or _ENDED.match(self.sentence, match.end()))

    def _owned(self, match: re.Match[str]) -> Iterator[Fact]:
        """Find who "my sister" is: the name behind it, or the one before."""
        owner = self.owner(match["owner"], match.start())
        yield from self._spoken(match, owner)
        if owner is None:
            return
        states = not (self.asking or self._is_unsure(match))
        named = _NAMED.match(self.sentence, match.end())
        if named and self._belongs(named, states=states):
            sure = 0.8 if match["owner"].casefold() in ("her", "his") else 0.95
            yield from self._people(match, owner, named, sure)
        if states and _CLOSES.match(self.sentence, match.end()):
            before = _BEFORE.search(self.sentence, 0, match.start()) or _AS.search(self.sentence, 0, match.start())
            if before:
                name = before["name"] or before.groupdict().get("newer") or ""
                yield from self._person(match, owner, name, (before.start(), match.end()), 0.93)

    def _spoken(self, match: re.Match[str], owner: str | None) -> Iterator[Fact]:
        """Find what those who speak are to one another: "I'm Ross's sister", "you're my best friend"."""
        if self.asking or self._is_unsure(match) or not _CLOSES.match(self.sentence, match.end()):
            return
        before = self.sentence[: match.start()]
        if _I_AM.search(before):
            owner = self.company.addressed if match["owner"].casefold() == "your" else owner
            name = "" if owner else None
        elif _YOU_ARE.search(before):
            name = self.company.addressed if owner == "" else None
        else:
            they = _THEY_ARE.search(before)
            name = self.company.means.get(self.offset + they.start("they")) if they else None
        role = match["role"].casefold()
        relation = _relation(_SINGULAR.get(role, role), (match["adjective"] or "").split())
        if relation and owner is not None and name is not None and (name or owner) and name != owner:
            yield _tie(owner, relation, name, match.span(), role=role)

    def _called(self) -> Iterator[Fact]:
        """Find whose child speaks: "Thanks, Mom!" to who spoke before."""
        for match in _CALLS.finditer(self.sentence) if self.company.other else ():
            role = match["role"].casefold()
            yield _tie("", _ROLES[role], self.company.other, match.span("role"), role=role)

    def _belongs(self, named: re.Match[str], *, states: bool) -> bool:
        """Return whether a role and what stands behind it are one: "my sister Ilse", "my sister is Ilse"."""
        is_lower = named["name"][0].islower()
        if named["is"] is not None and not (states and _ENDS.match(self.sentence, named.end())):
            return False
        if is_lower and (named["article"] is not None or (named["beside"] and not self.sentence.islower())):
            return False
        return named["article"] is None or named["beside"] == ", "

    def _people(
        self, match: re.Match[str], owner: str | None, named: re.Match[str] | None = None, sure: float = 0.9
    ) -> Iterator[Fact]:
        """Yield the one or two whom a role names."""
        names_match = named or match
        if owner is None:
            return
        span = match.start(), names_match.end("name")
        yield from self._person(match, owner, names_match["name"], span, sure)
        if not match.groupdict().get("several"):
            return
        end = names_match.end("name")
        while more := _MORE.match(self.sentence, end):  # my friends Tom, Ann and Bo
            yield from self._person(match, owner, more["name"], (match.start(), more.end()), sure)
            end = more.end("name")

    def _person(
        self, match: re.Match[str], owner: str, name: str, span: tuple[int, int], sure: float
    ) -> Iterator[Fact]:
        role = match["role"].casefold()
        role = _SINGULAR.get(role, role)
        relation = _relation(role, (match.groupdict().get("adjective") or "").split())
        if relation in _PAIRED and _PARTED.search(self.sentence):
            return
        if relation and self.is_person(name) and name != owner:
            yield _tie(owner, relation, name, span, sure=sure, role=role)

    def _joined(self) -> Iterator[Fact]:
        """Find who are something to one another by a verb: married, reports to, teaches me."""
        for match in _DID.finditer(self.sentence):
            relation = next(kind for kind, value in match.groupdict().items() if value and kind not in ("who", "name"))
            who, name = match["who"], match["name"]
            if name == "me":
                relation, who, name = INVERSE.get(relation, relation), "I", who
            yield from self._tied(relation, who, name, match.span())
        for match in _RELATED.finditer(self.sentence):
            people = [person for person in (match["a"], match["b"], match["c"]) if person]
            if len(people) == 2:
                who, name = sorted(people, key=lambda person: person not in ("I", "me"))
                yield from self._tied(_RELATION[match["what"].split()[-1]], who, name, match.span())
        for match in _TEACHES.finditer(self.sentence):
            yield from self._tied("teacher", "I", match["name"], match.span())

    def _tied(self, relation: str, who: str, name: str, span: tuple[int, int]) -> Iterator[Fact]:
        owner = "" if who in ("I", "me", "We", "we") else who
        if (not owner or self.is_person(owner)) and name not in ("I", "me") and self.is_person(name):
            yield _tie(owner, relation, name, span)

    # --- clauses and of whom they speak

    def clauses(self) -> Iterator[Clause]:
        """Cut the sentence where another subject, or another verb of the same, begins.

        Of a question, only what comes before its last part is read.
        """
        sentence = self.sentence
        if self.asking:
            if _ASKS.match(sentence) or not re.search("[,;]", sentence):
                return
            sentence = sentence[: max(sentence.rfind(","), sentence.rfind(";"))]
        carried: Subject | None = Subject("", 0)
        for start, end, goes_on in _cuts(sentence):
            text = sentence[start:end].rstrip()
            begin = start + len(text) - len(text.lstrip())
            if text := text.lstrip():
                clause = self._clause(begin, text, carried if goes_on else None, is_bare=not goes_on)
                if self.asking:  # "You're a teacher, aren't you?"
                    clause = clause._replace(
                        subjects=[each for each in clause.subjects if each.who != self.company.addressed]
                    )
                carried = next((each for each in clause.subjects if not each.is_start), None)
                yield clause

    def _clause(self, start: int, text: str, carried: Subject | None, *, is_bare: bool) -> Clause:
        """Return a clause with its subjects; one that lacks a subject gets the one before, or who speaks."""
        lead = " " if carried else _bare(text) if is_bare else ""
        first = [Subject("", len(lead.rstrip().partition("'")[0]))] if lead else []
        if carried:
            first = [carried._replace(end=0)]
        subjects = [each._replace(end=each.end + len(lead)) for each in self._subjects(text, start)]
        return Clause(start - len(lead), lead + text, [*first, *subjects, Subject("", 0, is_start=True)])

    def _subjects(self, clause: str, start: int) -> Iterator[Subject]:
        for match in _SUBJECT.finditer(clause):
            who = self._who(clause, match, start)
            if who is not None:
                several = (match["they"] or match["role"] or "").casefold()
                is_third = not (match["self"] or match["you"] or several in ("they", "parents"))
                yield Subject(who, match.end(), is_third=is_third)

    def _who(self, clause: str, match: re.Match[str], start: int) -> str | None:
        if match["self"]:  # not "the desserts I bake"
            return None if _OBJECT_BEFORE.search(clause, 0, match.start()) else ""
        if match["you"]:  # not "someone like you"
            return (self.company.addressed or None) if _BEFORE_YOU.search(clause, 0, match.start()) else None
        if match["they"]:
            return self.company.means.get(self.offset + start + match.start()) or self._introduced()
        if match["owner"]:
            owner, name = self.owner(match["owner"], start + match.start()), match["name"]
            if owner is None or (name and self.is_person(name)):
                return name if name and self.is_person(name) else None  # her husband Tom: "her" may be anyone
            return f"{owner}.{match['role'].casefold()}"
        is_followed = _BEHIND_NAME.search(clause, 0, match.start())
        return match["who"] if self.is_person(match["who"]) and not is_followed else None

    def _introduced(self) -> str | None:
        """Return the one person whom the text has introduced: "My mother is called Ingrid, and she's from Malmö"."""
        people = {fact.value for fact in self._facts.values() if fact.role and fact.relation != "pet"}
        return people.pop() if len(people) == 1 else None


def _relation(role: str, adjectives: list[str]) -> str:
    """Return what a role is; "" where it is no more."""
    relation = _ROLES[role]
    if {"ex", "former"} & set(adjectives):
        return {"spouse": "ex-spouse", "partner": "ex-partner"}.get(relation, "")
    return "" if {"late", "old"} & set(adjectives) and relation in ("boss", "teacher", "landlord") else relation


def _tie(owner: str, relation: str, name: str, span: tuple[int, int], *, sure: float = 0.9, role: str = "") -> Fact:
    """Return what a person is to another as a fact: a slot of the other's card."""
    is_one = relation in ("spouse", "partner", "boss") or role in WORDS["role"]
    slot = "partner" if relation in ("spouse", "partner") else relation
    if relation not in _OWN_SLOTS and role in WORDS["role"]:
        slot = role
    operation: Operation = "set" if is_one else "add"
    return Fact(slot, name, operation, owner, relation=relation, role=role, confidence=sure, start=span[0], end=span[1])


_OWN_SLOTS: Final = frozenset({"spouse", "partner", "parent", "child", "sibling", "friend", "boss", "pet"})
_PAIRED: Final = frozenset({"partner", "spouse"})
_PARTED: Final = tables.lazy(r"\b(?:broke up|broken up|split up|called it quits)\b")
_IF: Final = tables.lazy(r"\bif\b", re.IGNORECASE)
_IF_TOLD: Final = tables.lazy(  # it says why someone says something, not on what that depends
    r"if (?:you (?:must know|didn't know|don't know|remember|recall|care|ask|wondered|wonder|(?:were|are|'re) wondering"
    r"|want to know|haven't heard)|i (?:never|haven't|didn't|forgot|hadn't) (?:told?|mention|to)|anyone|that matters"
    r"|that helps|it matters|it helps|you're interested|you must|you (?:ever )?(?:need|want) (?:it|them|one|the|my)\b)",
    re.IGNORECASE,
)
_WORD: Final = tables.lazy(r"[a-zà-þ-]+")
_ENDS: Final = tables.lazy(r"[,.;!?)(]|$|\s(?:and|but|now)\b")
_DENIED: Final = tables.lazy(r"n't\b|\b(?:not|never|no longer|nobody|used to|anymore|said|wasn't)\b", re.IGNORECASE)
_ENDED: Final = tables.lazy(r"[^,.;]{0,12}\b(?:no longer|any ?more)\b")
_JOINED_WORDS: Final = (
    *("married", "engaged", "twins", "siblings", "sisters", "brothers", "friends", "colleagues", "mates", "neighbo"),
    *("cousins", " with ", "report", "under", "dating", "seeing", "teaches", "taught"),
)


def _bare(clause: str) -> str:
    """Return what a clause without a subject is short of: "Just moved to Oslo", "Allergic to walnuts"."""
    if _BARE_VERB.match(clause):
        return "I "
    return "I'm " if _BARE_STATE.match(clause) else ""


def _cuts(sentence: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the clauses of a sentence, each with whether it goes on with the subject of the one before."""
    cuts = [(match.start(), match.end(), False) for match in _JOIN.finditer(sentence) if not _is_pair(sentence, match)]
    cuts += [(match.start(), match.end(), True) for match in _CARRY.finditer(sentence) if _goes_on(sentence, match)]
    begin, carried = 0, False
    for start, end, goes_on in sorted(cuts):
        if start >= begin:
            yield begin, start, carried
            begin, carried = end, goes_on
    yield begin, len(sentence), carried


def _goes_on(sentence: str, match: re.Match[str]) -> bool:
    """Return whether a verb goes on with the subject before: "and playing games" does behind "I'm", not "I love"."""
    verb, before = sentence[match.end() :].partition(" ")[0], sentence[: match.start()].casefold()
    if verb in ("love", "like", "hate") and before.rpartition(verb)[1]:  # "I love the music and love theme"
        return False
    return not verb.endswith("ing") or bool(_IN_PROGRESS.search(sentence[: match.start()]))


_IN_PROGRESS: Final = tables.lazy(
    r"(?:'m|'re|'s|\b(?:am|are|is|been))\b(?: \w+ly| now| still)? \w+(?:ing|ed)\b", re.IGNORECASE
)


def _is_pair(sentence: str, match: re.Match[str]) -> bool:
    """Return whether a cut would part two who do something together: Clara and I."""
    joins = match.group().strip() == "and" and re.match(r" (?:I|me)\b", sentence[match.end() :])
    return bool(joins and _PAIR.search(sentence[: match.start()]))
