"""Data sets with evidence: bytes in, turns to remember and questions to ask out.

    LoCoMo     [{"sample_id": "x", "conversation": {…}, "qa": [
                   {"question": "…", "category": 1, "evidence": ["D1:3", "D2:8; D4:1"], "hop": 2}, …],
                 "patterns": [["D1:3", "D2:7", …], …]}, …]
               turns as emgas/importers/locomo.py reads them, a graph for each conversation; `hop` is optional, and so
               are `patterns`: the turns in which something recurs (measures/patterns.py)
    histories  LongMemEval, a graph for each question (long_mem_eval.py)
    dialogues  RealMem, a graph for each query (real_mem.py)
    passages   MuSiQue, HotpotQA and 2WikiMultihopQA, as HippoRAG publishes them: two files,
                   corpus     [{"title": "…", "text": "…"}, …]  or  {"title": ["sentence", …], …}
                   questions  [{"question": "…", …}, …] with one of
                       "paragraphs" or "contexts": [{"title", "text" or "paragraph_text", "is_supporting"}, …]
                       "supporting_facts": [["title", sentence], …] and "context": [["title", ["sentence", …]], …]
               without a corpus the passages are those that stand beside the questions.  Every passage is a turn of one
               graph, in a session of its own: nothing flows between passages for standing next to each other

Folders of BEAM and LMEB are read by evaluation/folders.py.

Evidence that names no turn (LoCoMo has a few such ids) is left out, and so is a question that has no other.  Where a
question has no evidence at all, but an answer ("answer", "answers"), the turns that hold it word for word are taken
(answer_strings.py), and one of them is enough; where none does, it is left out, too.  `unusable` counts those left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers import locomo
from emgas.importers.registry import BadLine
from emgas.messages.turns import Turn
from emgas.validation import build, not_json
from evaluation.questions import long_mem_eval, real_mem
from evaluation.questions.answer_strings import answers, holding
from evaluation.questions.labelled import SPOKEN_AT, UNANSWERABLE, WRITER, DataSet, LabelledQuestion

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
MERGED = "merged"  # the graph of everything, when conversations are put into one
PASSAGES = "passages"
FOLDS = 5  # of questions on passages, which come from no conversation that could be left out


def is_corpus(raw: bytes) -> bool:
    """Return whether a file is a corpus of passages, which belongs to a file of questions."""
    data = _parsed(raw)
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return "title" in data[0] and "question" not in data[0]
    return isinstance(data, dict) and all(isinstance(value, list) for value in data.values())


def read(raw: bytes, corpus: bytes | None = None, *, merged: bool = False) -> DataSet:
    """Read a file of conversations or of questions.

    corpus  the passages of a file of questions; else those that stand beside the questions
    merged  all conversations in one graph; passages always are

    Raises InvalidMessageError, saying what is wrong with the file.
    """
    data = _parsed(raw)
    if isinstance(data, dict) and real_mem.MARK in data:
        return real_mem.read_dialogues(data)
    if not isinstance(data, list) or not data or not all(isinstance(item, dict) for item in data):
        raise InvalidMessageError("file: must be a JSON array of conversations or of questions, with at least one")
    if "conversation" in data[0]:
        if corpus is not None:
            raise InvalidMessageError("file: holds conversations, and conversations need no corpus")
        return _conversations(raw, data, merged=merged)
    if long_mem_eval.MARK in data[0]:
        return _histories(data)
    if "question" in data[0]:
        return _passage_questions(data, None if corpus is None else _parsed(corpus))
    raise InvalidMessageError(
        'file: is neither LoCoMo ("conversation" in each entry) nor a file of questions ("question")'
    )


def _parsed(raw: bytes) -> Any:
    try:
        return orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InvalidMessageError(f"file: {not_json(error)}") from error


def _conversations(raw: bytes, samples: Sequence[Mapping[str, Any]], *, merged: bool) -> DataSet:
    turns: list[Turn] = []
    for item in locomo.read(BytesIO(raw), MERGED if merged else None):
        if isinstance(item, BadLine):
            raise InvalidMessageError(f"conversation {item.number}: {item.reason}")
        turns.append(item)
    graphs = {turn.id: turn.graph for turn in turns}
    made = DataSet(turns, {turn.graph: [] for turn in turns})
    unusable = 0
    for sample in samples:
        with_turn = [turn for turn in turns if turn.id == f"{sample['sample_id']}/{turn.metadata['dia_id']}"]
        for position, entry in enumerate(_list(sample, "qa")):
            question = _of_conversation(str(sample["sample_id"]), position, entry, with_turn)
            unusable += question is None
            if question is not None:
                made.questions[graphs[next(iter(question.evidence))]].append(question)
        for position, pattern in enumerate(sample.get("patterns") or ()):
            recurring = _pattern(str(sample["sample_id"]), position, pattern, graphs)
            made.patterns.setdefault(graphs[next(iter(recurring))], []).append(recurring)
    return DataSet(turns, made.questions, unusable, made.patterns)


def _pattern(sample: str, position: int, pattern: Any, turns: Mapping[str, str]) -> frozenset[str]:
    """Read the turns in which something recurs.  Raises InvalidMessageError for one that is not there."""
    where = f"conversation {sample}, pattern {position + 1}"
    if not isinstance(pattern, list) or not pattern or not all(isinstance(name, str) for name in pattern):
        raise InvalidMessageError(f"{where}: must be a list of dia_ids, at least one")
    if unknown := [name for name in pattern if f"{sample}/{name}" not in turns]:
        raise InvalidMessageError(f"{where}: there is no turn {unknown[0]}")
    return frozenset(f"{sample}/{name}" for name in pattern)


def _list(sample: Mapping[str, Any], name: str) -> list[Any]:
    value = sample.get(name)
    if not isinstance(value, list):
        raise InvalidMessageError(f"conversation {sample.get('sample_id')}: {name} must be a list of questions")
    return value


def _of_conversation(sample: str, position: int, entry: Any, turns_of: Sequence[Turn]) -> LabelledQuestion | None:
    where = f"conversation {sample}, question {position + 1}"
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        raise InvalidMessageError(f"{where}: must be an object with question, category and evidence")
    if entry.get("category") not in CATEGORIES:
        raise InvalidMessageError(f"{where}: category must be one of {', '.join(map(str, CATEGORIES))}")
    evidence_names, category = entry.get("evidence") or [], CATEGORIES[entry["category"]]
    if not isinstance(evidence_names, list) or not all(isinstance(part, str) for part in evidence_names):
        raise InvalidMessageError(f"{where}: evidence must be a list of dia_ids")
    turns = {turn.id for turn in turns_of}
    names = (name for part in evidence_names for name in re.split(r"[;,\s]+", part))
    evidence = frozenset(turn for name in names if (turn := f"{sample}/{name}") in turns)
    if by_answer := not evidence_names and category != UNANSWERABLE:
        evidence = holding(turns_of, answers(entry))
    if not evidence:
        return None
    return LabelledQuestion(entry["question"], category, evidence, sample, entry.get("hop"), by_answer)


def _histories(entries: Sequence[Mapping[str, Any]]) -> DataSet:
    made = DataSet([])
    for position, entry in enumerate(entries):
        turns, evidence = long_mem_eval.read_history(entry, f"question {position + 1}")
        made.turns.extend(turns)
        if evidence:
            graph = turns[0].graph
            lacks = graph.endswith(long_mem_eval.UNANSWERABLE)
            kind = UNANSWERABLE if lacks else str(entry.get("question_type", "all"))
            question = LabelledQuestion(str(entry.get("question", "")), kind, evidence, graph)
            made.questions.setdefault(graph, []).append(question)
    answered = sum(map(len, made.questions.values()))
    return DataSet(made.turns, made.questions, len(entries) - answered)


def _passage_questions(entries: Sequence[Mapping[str, Any]], corpus: Any) -> DataSet:
    beside = [_beside(position, each) for position, each in enumerate(entries)]
    passages = (passage for near in beside for passage, _ in near) if corpus is None else _corpus(corpus)
    turns: dict[str, Turn] = {}
    for title, text in passages:
        turns.setdefault(_key(title, text), _passage(len(turns), title, text))
    if not turns:
        raise InvalidMessageError("corpus: holds no passage")
    questions = []
    for number, (each, near) in enumerate(zip(entries, beside, strict=True)):
        keys = (_key(*passage) for passage, supports in near if supports)
        evidence = frozenset(turns[key].id for key in keys if key in turns)
        if by_answer := not near:
            evidence = holding(turns.values(), answers(each))
        if evidence:
            group = f"{PASSAGES}-{number % FOLDS}"
            questions.append(LabelledQuestion(each["question"], _kind(each), evidence, group, any_of=by_answer))
    return DataSet(list(turns.values()), {PASSAGES: questions}, len(entries) - len(questions))


def _corpus(corpus: Any) -> Iterable[tuple[str, str]]:
    """Yield (title, text) of every passage of a corpus."""
    if isinstance(corpus, dict):
        corpus = [{"title": title, "text": "".join(map(str, sentences))} for title, sentences in corpus.items()]
    if not isinstance(corpus, list):
        raise InvalidMessageError("corpus: must be a JSON array of passages, or an object of title and sentences")
    return [_title_and_text(f"corpus, passage {number}", each) for number, each in enumerate(corpus, start=1)]


def _title_and_text(where: str, passage: Any) -> tuple[str, str]:
    if isinstance(passage, dict):
        title, text = passage.get("title"), passage.get("text", passage.get("paragraph_text"))
        if isinstance(title, str) and isinstance(text, str):
            return title, text
    raise InvalidMessageError(f"{where}: must be an object with title and text (or paragraph_text)")


def _beside(position: int, entry: Mapping[str, Any]) -> list[tuple[tuple[str, str], bool]]:
    """List the passages that stand beside a question, each with whether it holds a part of the answer."""
    where = f"question {position + 1}"
    if not isinstance(entry.get("question"), str):
        raise InvalidMessageError(f"{where}: question must be a text")
    try:
        if "supporting_facts" in entry:
            supporting = {title for title, *_ in entry["supporting_facts"]}
            return [((title, "".join(sentences)), title in supporting) for title, sentences in entry["context"]]
        near = entry.get("contexts", entry.get("paragraphs", ()))
        return [(_title_and_text(where, each), bool(each.get("is_supporting", True))) for each in near]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidMessageError(
            f"{where}: supporting_facts must be [title, sentence], context [title, sentences]"
        ) from error


def _key(title: str, text: str) -> str:
    """Reduce a passage to what it is known by: the sources put different spaces between the same sentences."""
    return "".join(f"{title}\n{text}".split())


def _passage(number: int, title: str, text: str) -> Turn:
    fields = {"id": f"passage-{number}", "graph": PASSAGES, "session": f"passage-{number}", "speaker": WRITER}
    try:
        return build(Turn, {**fields, "text": f"{title}\n{text}", "at": SPOKEN_AT + number})
    except InvalidMessageError as error:
        raise InvalidMessageError(f"passage {title[:80]!r}: {error}") from error


def _kind(entry: Mapping[str, Any]) -> str:
    """Return the category of a question: the hops in an id of MuSiQue, or the type that HotpotQA states."""
    hops = re.match(r"([2-9])hop", str(entry.get("id", "")))
    return f"{hops.group(1)}-hop" if hops else str(entry.get("type", "all"))
