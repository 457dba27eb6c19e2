"""Facts in Chinese: its clauses, of whom they speak, and what people are to one another.

    我在腾讯上班，住在深圳           who speaks: works at 腾讯, lives in 深圳
    我妻子叫林芳，是中学老师         林芳: a wife of who speaks, and a teacher
    佐匹克隆停了 现在吃褪黑素         blanks part clauses as commas do

A clause without a subject goes on with the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from processors.text import chinese_names, tables
from processors.text.chinese import STANDARD, simplified
from processors.text.facts.frames import Clause, CompanyView, FactReading, Subject, frames
from processors.text.facts.vocabulary import ROLES, WORDS, expanded, pattern
from processors.text.scripts import HAN
from state.events.extraction_types import Fact, Operation

_ROLES: Final = ROLES["zh"]
_FAMILY: Final = frozenset({"parent", "relative", "sibling", "spouse", "child", "partner", "ex-spouse"})
_FIRSTS: Final = frozenset(role[0] for role in _ROLES)
_MENTIONED: Final = pattern("zh", "mentioned")
_WHOSE: Final = pattern("zh", "whose")
_LINK: Final = pattern("zh", "link")
_UNSURE: Final = pattern("zh", "unsure")
_ASKS: Final = pattern("zh", "asks")
_BOLD: Final = pattern("zh", "bold")
_NOT_NAMES: Final = frozenset(
    "了着过的吗呢吧啊呀么们在和跟与给把被对让要想会不没也都就还很最太说问是有去来到这那他她你我它谁什几个只些"
)
_CALLS: Final = pattern("zh", "calls")
_TEACHES: Final = pattern("zh", "teaches")
_RAISED: Final = pattern("zh", "raised")
_CALLED_PET: Final = pattern("zh", "called_pet")
_MUTUAL: Final = pattern("zh", "mutual")
_WEDS: Final = pattern("zh", "weds")
_UNDER: Final = pattern("zh", "under")
_PARTED: Final = pattern("zh", "parted")
_SELF: Final = pattern("zh", "self")
_THEY: Final = pattern("zh", "they")
_BEGINS: Final = pattern("zh", "begins")


_TITLES: Final = ("医生", "大夫", "教授", "警官")
_FOREIGN: Final = frozenset({"nrp", "nz", "nr", "nrt", "nrfg", "x"})
_OF_PLACES: Final = frozenset({"employer", "hometown"})
_PLACES: Final = frozenset({"ns", "nz", "nt", "nrt", "nr"})


class _Name(NamedTuple):
    start: int
    end: int
    text: str


class ChineseReading(FactReading):
    """One text with Han characters that is looked through for facts."""

    frames = frames("zh")
    unsure = re.compile(expanded("{unsurezh}"))
    past = re.compile(expanded("{pastzh}"))

    def __init__(self, text: str, company: CompanyView) -> None:
        plain = simplified(text)
        super().__init__(plain if len(plain) == len(text) else text, company)

    def asks(self) -> bool:
        """Return whether the sentence asks."""
        return bool(_ASKS.search(self.sentence))

    def states_up_to(self, clause: str) -> int:
        """Return 0 where a clause wishes, plans or supposes: it states nothing."""
        return 0 if self.unsure.search(clause) or clause.rstrip("。.!").endswith("吧") else len(clause)

    def holds(self, fact: Fact) -> bool:
        """Return whether a fact may hold: a person is no job, 我导师是郑教授, and 大红 in 大红人 is no place."""
        if fact.slot == "job":
            if fact.value.endswith(_TITLES) and self._is_titled(fact.value):
                return False
            return "·" not in fact.value and not fact.value.startswith(tuple(name.text for name in self._people))
        tags = {tag for _, tag in chinese_names.cut(fact.value, STANDARD)} if fact.slot in _OF_PLACES else set[str]()
        end = self.sentence.find(fact.value) + len(fact.value)
        if fact.slot == "employer":  # not of 在北京干了三年
            return tags != {"ns"} or not _DOES.match(self.sentence, end)
        is_people = fact.slot == "hometown" and self.sentence.startswith(("人", "的"), end)
        return not is_people or not tags.isdisjoint(_PLACES)

    def _is_titled(self, value: str) -> bool:
        """Return whether a job is a name and a title: 卡林医生, but not 外科医生."""
        tags = {tag for _, tag in chinese_names.cut(value[:-2], STANDARD)}
        return tags <= _FOREIGN

    @cached_property
    def _people(self) -> list[_Name]:
        """The names of people in the text, and those that were said before, each where it stands."""
        people = [
            _Name(*match.span(), match.group()) for match in re.finditer(r"[A-Z][A-Za-zéö]+(?![A-Za-z])", self.text)
        ]
        for run in re.finditer(f"[{HAN}]+", self.text):
            place = run.start()
            for word, tag in chinese_names.cut(run.group(), STANDARD):
                if tag == chinese_names.PERSON:
                    people.append(_Name(place, place + len(word), word))
                place += len(word)
        for name in self.company.names:
            people += [_Name(*match.span(), name) for match in re.finditer(re.escape(name), self.text)]
        return sorted(people)

    def _starting(self, place: int) -> _Name | None:
        return next((name for name in self._people if name.start == place + self.offset), None)

    def _ending(self, place: int) -> _Name | None:
        return next((name for name in self._people if name.end == place + self.offset), None)

    # --- what people are to one another

    def roles(self) -> Iterator[Fact]:
        """Find what people are to one another: 我姐姐叫李婷, 陈洁的老公, 赵磊是我的同事."""
        if not _FIRSTS.isdisjoint(self.sentence):
            for match in _MENTIONED.finditer(self.sentence):
                yield from self._role(match)
        for match in _CALLS.finditer(self.sentence) if self.company.other else ():
            yield _tie("", match["role"], self.company.other, match.span("role"), 0.85)
        if self.asking:
            return
        for rule in (_TEACHES, _RAISED, _CALLED_PET):
            for match in rule.finditer(self.sentence):
                groups = {name.split("_", maxsplit=1)[0]: value for name, value in match.groupdict().items() if value}
                name = groups["n"] + (groups["role"] if rule is _TEACHES else "")
                if not _NOT_NAMES & set(name):
                    yield _tie("", groups["role"], name, match.span(), 0.9)
        if not _UNSURE.search(self.sentence):
            yield from self._joined()

    def _role(self, match: re.Match[str]) -> Iterator[Fact]:
        """Find who 我姐姐 is: the name behind it, or the one before."""
        role, first, last = match["role"], match.start("role") + self.offset, match.end() + self.offset
        owner, begin = self._owner(match.start())
        is_title = any(name.start <= first and last <= name.end for name in self._people)
        is_title |= bool(owner) and _ROLES[role] not in _FAMILY and self.sentence[match.start() - 1] != "的"  # 王大夫
        if owner is None or is_title:
            return
        link = _LINK.match(self.sentence, match.end())
        name = self._named(link) if link else None
        if link and name and self._belongs(match, link, name, is_owned=begin < match.start()):
            yield _tie(owner, role, name, (begin, link.end() + len(name)), 0.93 if begin < match.start() else 0.85)
        elif owner and not self.asking and _IS_ME.match(self.sentence, match.end()):
            yield _tie(owner, role, "", (begin, match.end()), 0.9)
        yield from self._is_role(match, owner, begin)

    def _named(self, link: re.Match[str]) -> str | None:
        """Return the name behind a role: one that is known, or after 叫 whatever stands there."""
        if name := self._starting(link.end()):
            return None if name.text in _ROLES else name.text
        is_called = bool(_CALLED.search(link.group())) and not self.asking
        match = _BOLD.match(self.sentence, link.end()) if is_called else None
        return match.group() if match and not set(match.group()) & _NOT_NAMES else None

    def _belongs(self, match: re.Match[str], link: re.Match[str], name: str, *, is_owned: bool) -> bool:
        """Return whether a role and the name behind it are one person."""
        link_text, before = link.group(), self.sentence[: match.start()]
        if link_text.endswith("是"):
            return not (self.asking or _UNSURE.search(before))
        if "叫" in link_text:
            return not _REFUSES.search(before)
        if link_text.startswith(("姓", "复姓")):
            return "大家叫" in link_text or name.startswith(link_text.strip("复姓,，"))
        return bool(link_text) or is_owned or _ROLES[match["role"]] in _BESIDE

    def _is_role(self, match: re.Match[str], owner: str, begin: int) -> Iterator[Fact]:
        """Find who stands before: 陈志远是我老板, 小魏是我带的学生."""
        behind = self.sentence[match.end() : match.end() + 1]
        if self.asking or behind not in _CLOSES or _UNSURE.search(self.sentence[: match.start()]):
            return
        before = _IS.search(self.sentence, 0, begin) or _IS.search(self.sentence, 0, match.start())
        if before:
            whole = self._before(before.start())
            if whole:
                yield _tie(owner, match["role"], whole.text, (whole.start - self.offset, match.end()), 0.93)
            elif self.sentence[: before.start()].endswith("我") and owner:
                yield _tie(owner, match["role"], "", (0, match.end()), 0.9)
            elif self.sentence[: before.start()].endswith("你") and not owner and self.company.addressed:
                yield _tie("", match["role"], self.company.addressed, (0, match.end()), 0.85)

    def _before(self, place: int) -> _Name | None:
        """Return the name before a place, over 现在, or the one with which the sentence begins, over a comma."""
        for name in self._people:
            if name.end <= place + self.offset and self.text[name.end : place + self.offset] in _BETWEEN:
                return name
        return self._starting(0) if place and self.sentence[place - 1] in ",， " else None

    def _owner(self, place: int) -> tuple[str | None, int]:
        """Return whose a role is, and where that begins; None where that is not known."""
        if match := _WHOSE.search(self.sentence, 0, place):
            return ("", match.start()) if match["me"] else (self.company.addressed or None, match.start())
        end = place - 1 if self.sentence[place - 1 : place] == "的" else place
        if (name := self._ending(end)) and not (name.text.isupper() and end == place):  # AI助手
            return name.text, name.start - self.offset
        if end < place and (match := _ROLE_LAST.search(self.sentence[:end])) and _ROLES[match["role"]] in _FAMILY:
            return f".{match['role']}", match.start()  # 我儿子的班主任
        if place and self.sentence[place - 1] not in _BEFORE_ROLES:
            return None, 0
        teller = self._third(place)  # Bart和堂哥Adam: a cousin of Bart
        return (teller.text, place) if teller else ("", place)

    def _third(self, place: int) -> _Name | None:
        """Return of whom the sentence speaks up to a place, if it begins with a name and not with who speaks."""
        first = self._starting(0)
        return (
            first if first and place and first.end - self.offset < place and "我" not in self.sentence[:place] else None
        )

    def _joined(self) -> Iterator[Fact]:
        """Find who are something to one another by a verb: 结婚, 嫁给, 归…管."""
        for match in _MUTUAL.finditer(self.sentence):
            name, who = self._starting(match.start("n")), self._speaks_of(match.start())
            if name and name.text == match["n"] and who is not None:
                relation = next(kind for kind, value in match.groupdict().items() if value and kind != "n")
                yield _tied(who, relation, name.text, match.span())
        for rule, relation in ((_WEDS, "spouse"), (_UNDER, "boss")):
            for match in rule.finditer(self.sentence):
                name, who = self._starting(match.start("n")), self._speaks_of(match.start())
                if name and who is not None:
                    yield _tied(who, relation, name.text, match.span())

    def _speaks_of(self, place: int) -> str | None:
        """Return of whom the clause before a place speaks."""
        before = _WHEN.sub("", self.sentence[:place])
        if before.endswith(("我", "我们")):
            return ""
        if name := self._ending(len(before)):
            return name.text
        match = _ROLE_LAST.search(before)
        return f".{match['role']}" if match else None

    # --- clauses and of whom they speak

    def clauses(self) -> Iterator[Clause]:
        """Cut the sentence at commas and blanks; the whole comes first, for what reaches over a comma."""
        sentence = self.sentence
        if self.asking:
            stated = _STATED.search(sentence.rstrip("?？ "))
            if not stated or _ASKS.search(stated.group()):
                return
            sentence = stated.group()
        pieces = list(_pieces(sentence))
        if len(pieces) > 1:
            yield Clause(0, sentence, self._subjects(sentence, 0))
        topic: Subject | None = None
        for start, end in pieces:
            subjects = self._subjects(sentence[start:end], start)
            begins = _OTHER_TOPIC.match(sentence, start) or any(0 < each.end < _EARLY for each in subjects)
            if topic and not begins:
                subjects = [topic, *subjects]
            topic = next((Subject(each.who, 0) for each in subjects if not each.is_start), topic)
            if _OTHERS.search(sentence, start, end) and not any(each.who for each in subjects):
                topic = None  # 我知道他喜欢旅游，喜欢画画: who likes them is not known
            yield Clause(start, sentence[start:end], subjects)

    def _subjects(self, clause: str, start: int) -> list[Subject]:
        """List of whom a clause speaks: 我, 我妹妹, a name, 他 where that is known, a role alone at its beginning."""
        subjects = [
            self._own(match, start)
            for match in _SELF.finditer(clause)
            if not _BEGINS.match(clause, match.end() if match["we"] else match.end("role") + 1)
        ]  # not 我们老师, 我妈妈的朋友
        led = _LED.match(clause)  # 给儿子转学了
        if (match := _BEGINS.match(clause, led.end() if led else 0)) and _ROLES[match["role"]] in _FAMILY:
            subjects.append(Subject(f".{match['role']}", match.end()))
        place = self.offset + start
        subjects += [
            Subject(name.text, name.end - place)
            for name in self._people
            if place <= name.start
            and name.end <= place + len(clause)
            and self.text[name.start - 1 : name.start] not in _OBJECTS
        ]
        subjects += [Subject("", match.end()) for match in _TOGETHER.finditer(clause)]
        subjects += [
            Subject(who, match.end()) for match in _THEY.finditer(clause) if (who := self._pronoun(match, place))
        ]
        return [*sorted(subjects, key=lambda each: each.end), Subject("", 0, is_start=True)]

    def _own(self, match: re.Match[str], start: int) -> Subject:
        """Return who speaks, or who is something to them: 我, 我妹妹, 我妹妹周宁."""
        if match["we"]:
            return Subject("", match.end())
        name = match["name"] and self._starting(start + match.start("name"))
        is_whole = name and name.text == match["name"]
        return Subject(name.text, match.end()) if name and is_whole else Subject(f".{match['role']}", match.end("role"))

    def _pronoun(self, match: re.Match[str], place: int) -> str | None:
        if match.group() == "你":
            return self.company.addressed or None
        return self.company.means.get(match.start() + place)


def _tie(owner: str, role: str, name: str, span: tuple[int, int], sure: float) -> Fact:
    """Return what a person is to another as a fact: a slot of the other's card."""
    relation = _ROLES.get(role, "pet")
    slot = "partner" if relation in ("spouse", "partner") else relation
    if role in WORDS["角"] and relation not in _OWN_SLOTS:
        slot = role
    operation: Operation = "set" if slot in ("partner", "boss", role) else "add"
    return Fact(slot, name, operation, owner, relation=relation, role=role, confidence=sure, start=span[0], end=span[1])


def _tied(owner: str, relation: str, name: str, span: tuple[int, int]) -> Fact:
    slot = "partner" if relation in ("spouse", "partner") else relation
    operation: Operation = "set" if slot in ("partner", "boss") else "add"
    return Fact(slot, name, operation, owner, relation=relation, confidence=0.9, start=span[0], end=span[1])


def _pieces(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where the clauses of a sentence begin and end."""
    begin = 0
    for match in _PARTED.finditer(sentence):
        if match.start() > begin and (not match.group().isspace() or _is_pause(sentence, match)):
            yield begin, match.start()
            begin = match.end()
    if begin < len(sentence):
        yield begin, len(sentence)


def _is_pause(sentence: str, match: re.Match[str]) -> bool:
    """Return whether a blank parts clauses: it stands between Han characters, not around a Latin word."""
    before, after = sentence[match.start() - 1 : match.start()], sentence[match.end() : match.end() + 1]
    return not before.isascii() and not after.isascii()


_OWN_SLOTS: Final = frozenset({"boss", "friend", "roommate", "coach", "lawyer"})
_CALLED: Final = tables.lazy("叫|[大学全本真小乳]名")
_BESIDE: Final = _FAMILY | {"boss", "roommate", "landlord", "teacher", "colleague", "coach", "student", "friend"}
_CLOSES: Final = frozenset([*",，。.!！ 了啊呢吧嘛;；", ""])
_LATIN: Final = tables.lazy(r"[A-Z][A-Za-zéö]+(?![A-Za-z])")
_IS_ME: Final = tables.lazy(r"(?:就)?是我[。.!！ ]*$")
_TOGETHER: Final = tables.lazy(r"我们?(?:和|跟)[^,。\s]{1,5}?(?=都|一起)")
_IS: Final = tables.lazy("(?:就|也|都)?(?:是|当上?了?|成了)(?:我带的|带我的|我们?的?)?$")
_BETWEEN: Final = ("", "现在", "以后", "其实", "目前", "一直", "都")
_BEFORE_ROLES: Final = frozenset(",，。！？;；: ：“（(和跟给让请")
_OBJECTS: Final = frozenset("和跟在给对把像找")
_DOES: Final = tables.lazy("(?:那边|这边)?(?:当|做|干|跑|开|教)")
_LED: Final = tables.lazy("(?:刚|已经)?(?:给|帮|替)(?:我们?家?)?(?=.{1,6}(?:转学|报名|报了))")
_EARLY: Final = 6  # characters from where a clause begins: a subject there is its own
_REFUSES: Final = tables.lazy("不要|不想|别")
_WHEN: Final = tables.lazy("(?:今年|现在|目前|已经|昨天|今天|刚刚?|最近|一直|都|也|还|就|上个月|去年|终于)*$")
_ROLE_LAST: Final = pattern("zh", "role_last")
_OTHERS: Final = tables.lazy("(?:知道|觉得|认为|听说|相信|发现|记得|感觉|看)[他她它]")
_STATED: Final = tables.lazy(r"^.*(?=[,;,；\s])")
_OTHER_TOPIC: Final = tables.lazy("我|咱|你|他|她|它|这|那|大家|别人")
