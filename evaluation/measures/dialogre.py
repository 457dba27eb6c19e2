"""Score relations on DialogRE (Yu et al. 2020): dialogues of a series, English and Chinese, with who is what to whom.

    python -m evaluation.measures.dialogre FOLDER [--part test] [--language en] [--wrong]

FOLDER is a clone of github.com/nlpdata/dialogre, which is for research only: nothing of it is kept here.  A relation is
right if the gold has it under the gold's own names (Speaker 2 = Monica), read from both ends.  Precision is of pairs
that the gold judges; names and impressions are counted apart, because the gold lists every mention of them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from emgas.messages.extracts import ExtractedRelation, TurnText
from processors.extraction.understanding import understand
from processors.extraction.yake_extractor import YakeExtractor
from processors.text.facts.vocabulary import INVERSE, MUTUAL

LANGUAGES: Final = {"en": "en", "zh": "cn"}  # ours, and the folder's name
APART: Final = frozenset({"alternate_names", "positive_impression", "negative_impression"})
KINDS: Final = {
    "sibling": "siblings", "parent": "parents", "child": "children", "spouse": "spouse", "ex-spouse": "spouse",
    "partner": "girl/boyfriend dates", "ex-partner": "girl/boyfriend dates", "friend": "friends", "boss": "boss",
    "report": "subordinate", "roommate": "roommate", "neighbour": "neighbor", "relative": "other_family",
    "client": "client", "agent": "client", "pet": "pet", "works-at": "place_of_work employee_or_member_of",
    "member-of": "employee_or_member_of", "lives-in": "place_of_residence", "from": "origin place_of_residence",
    "visited": "visited_place", "age": "age", "job": "title", "name": "alternate_names", "schoolmate": "alumni",
    "born-in": "place_of_birth", "likes": "positive_impression", "dislikes": "negative_impression",
    "studies-at": "schools_attended", "studied-at": "schools_attended", "studies": "major",
    "birthday": "date_of_birth", "colleague": "acquaintance works",
}  # fmt: skip
TRADES: Final = frozenset({
    "agent", "doctor", "dentist", "lawyer", "nanny", "assistant", "teacher", "professor", "coach", "therapist", "vet",
    "accountant", "hairdresser", "经纪人", "医生", "牙医", "律师", "保姆", "助理", "助手", "老师", "教授", "教练",
})  # fmt: skip
_LINE: Final = re.compile(r"(Speaker \d+): ?(.*)", re.DOTALL)
Pair = tuple[str, str]


class Gold(NamedTuple):
    """What is known of a dialogue: the pairs of each kind, all judged pairs, and who a name is."""

    kinds: Mapping[str, set[Pair]]
    judged: set[Pair]
    person: Callable[[str], str]


class Score(NamedTuple):
    """Counts by kind: what the gold holds, what of it was found, and the relations stated that are right and wrong."""

    gold: Counter[str]
    found: Counter[str]
    right: Counter[str]
    wrong: Counter[str]

    def shares(self, kinds: Iterable[str]) -> tuple[float, float]:
        """Return recall and precision over some kinds, in percent."""
        gold, found, right, wrong = (sum(counts[kind] for kind in kinds) for counts in self)
        return 100 * found / max(1, gold), 100 * right / max(1, right + wrong)


def gold_of(instances: Sequence[Mapping[str, Any]]) -> Gold:
    """Read the annotations of a dialogue."""
    roots: dict[str, str] = {}

    def person(name: str) -> str:
        name = plain(name)
        while name in roots:
            name = roots[name]
        return name

    for each in instances:
        if "per:alternate_names" in each["r"]:
            first, second = sorted(map(person, (each["x"], each["y"])), key=lambda name: not name.startswith("speaker"))
            if first != second and not second.startswith("speaker"):
                roots[second] = first
    kinds: dict[str, set[Pair]] = {}
    for each in instances:
        names = plain(each["x"]), plain(each["y"])
        for kind in (relation.removeprefix("per:") for relation in each["r"] if relation.startswith("per:")):
            pair = names if kind == "alternate_names" else (person(names[0]), person(names[1]))
            kinds.setdefault(kind, set()).add(pair)
    return Gold(kinds, {(person(each["x"]), person(each["y"])) for each in instances}, person)


def plain(name: str) -> str:
    """Return a name as it is compared."""
    return re.sub(r"^(?:the|a|an) ", "", name.casefold().replace(".", "").strip())


def turns_of(lines: Iterable[str]) -> Iterator[TurnText]:
    """Yield the lines that one person says."""
    yield from (TurnText(speaker=match[1], text=match[2]) for match in map(_LINE.match, lines) if match and match[2])


def relations_in(turns: Sequence[TurnText], extractor: YakeExtractor, language: str) -> Iterator[ExtractedRelation]:
    """Yield the relations that a dialogue states."""
    steps = understand(turns, extractor, language, now=0)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            yield from (relation for turn in end.value.turns for relation in turn.relations)
            return


def both_ways(relations: Iterable[ExtractedRelation]) -> set[tuple[str, str, str]]:
    """Return relations as triples, those between two people from both ends."""
    relations = list(relations)
    triples = {(each.subject, each.relation, each.object) for each in relations}
    triples |= {(each.object, "job", each.role) for each in relations if each.role in TRADES}
    triples |= {(each.object, "client", each.subject) for each in relations if each.relation == "agent"}
    inverses = {(y, INVERSE.get(kind) or (kind if kind in MUTUAL else ""), x) for x, kind, y in triples}
    return {each for each in triples | inverses if each[1] in KINDS and all(each)}


def judge(score: Score, gold: Gold, triples: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Count what was found in a dialogue; yield what is wrong."""
    hits: set[tuple[str, Pair]] = set()
    for subject, relation, other in triples:
        pair = plain(subject), plain(other)
        if relation != "name":
            pair = gold.person(subject), gold.person(other)
        kinds = KINDS[relation].split()
        if hit := next((kind for kind in kinds if pair in gold.kinds.get(kind, ())), None):
            hits.add((hit, pair))
            score.right[hit] += 1
        elif pair in gold.judged and relation != "name":
            score.wrong[kinds[0]] += 1
            yield subject, relation, other
    score.found.update(kind for kind, _ in hits)
    score.gold.update({kind: len(pairs) for kind, pairs in gold.kinds.items()})


def measure(file: Path, language: str, *, tells: bool = False) -> Score:
    """Score all dialogues of a file; print what is wrong if it `tells`."""
    score, extractor = Score(Counter(), Counter(), Counter(), Counter()), YakeExtractor(language)
    for lines, instances in json.loads(file.read_text("utf-8")):
        triples = both_ways(relations_in(list(turns_of(lines)), extractor, language))
        for wrong in judge(score, gold_of(instances), sorted(triples)):
            if tells:
                _tell("wrong:", *wrong, "in", *(line for line in lines if wrong[2] in line or wrong[0] in line))
    return score


def _tell(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print recall and precision for each language."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.measures.dialogre", description=__doc__)
    parser.add_argument("folder", type=Path, help="a clone of github.com/nlpdata/dialogre")
    parser.add_argument("--part", choices=("train", "dev", "test"), default="test", help="the part that is read (test)")
    parser.add_argument("--language", choices=tuple(LANGUAGES), help="one language alone")
    parser.add_argument("--wrong", action="store_true", help="the relations that the gold contradicts besides")
    options = parser.parse_args(arguments)
    for language in [options.language] if options.language else LANGUAGES:
        file = options.folder / "data_v2" / LANGUAGES[language] / "data" / f"{options.part}.json"
        score = measure(file, language, tells=options.wrong)
        for kind, count in sorted(score.gold.items(), key=lambda each: -each[1]):
            counts = f"found {score.found[kind]:4} right {score.right[kind]:4} wrong {score.wrong[kind]:4}"
            _tell(f"  {kind:24} {count:5} {counts}")
        kinds = (score.gold.keys() | score.wrong.keys()) - APART
        recall, precision = score.shares(kinds)
        _tell(f"{language} {options.part}: recall {recall:.1f} %, precision of judged pairs {precision:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
