"""LMEB: 193 tasks of retrieval from long memories (arXiv 2603.12572), as folders.

    corpus.jsonl      {"id": "…", "title": "…", "text": "…"}      queries.jsonl   {"id": "…", "text": "…"}
    qrels.tsv         query, document, score; no line of names
    candidates.jsonl  {"scene_id": "…", "candidate_doc_ids": ["…", …]}

A scene is a conversation, and the first two parts of a query's id (between "_") name it; or it is the query itself.
Its candidates are a graph; without candidates, the whole corpus is.  Every document is a turn in a session of its own,
because the format does not say which belong together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from emgas.errors import InvalidMessageError
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.pieces import fitted, pieces
from emgas.validation import build
from evaluation.questions.labelled import SPOKEN_AT, WRITER, DataSet, LabelledQuestion

CORPUS: Final = "corpus.jsonl"
QUERIES: Final = "queries.jsonl"
QRELS: Final = "qrels.tsv"
CANDIDATES: Final = "candidates.jsonl"
_GRAPH: Final = re.compile(r"[^A-Za-z0-9_.:@-]+")


class Task(NamedTuple):
    """The files of a task.  `candidates` is None where there are none."""

    name: str
    queries: bytes
    qrels: bytes
    candidates: bytes | None


def read_tasks(name: str, corpus: bytes, tasks: Sequence[Task]) -> DataSet:
    """Read tasks that share a corpus.  Raises InvalidMessageError, naming the file, for another form."""
    documents = {str(each["id"]): each for each in _rows(CORPUS, corpus)}
    scenes: dict[frozenset[str], str] = {}  # candidates → graph
    made, unusable = DataSet([]), 0
    for task in tasks:
        candidates, relevant = _candidates(task), _relevant(task)
        for query in _rows(f"{task.name}/{QUERIES}", task.queries):
            scene = _scene(str(query["id"]), candidates)
            among = frozenset(documents if scene is None else documents.keys() & candidates[scene])
            graph = scenes.setdefault(among, _graph(name, scene, len(scenes)))
            if graph not in made.questions:
                made.questions[graph] = []
                made.turns.extend(_turns(graph, documents, among))
            evidence = frozenset(_id(graph, each) for each in relevant.get(str(query["id"]), ()) if each in among)
            unusable += not evidence
            if evidence:
                made.questions[graph].append(LabelledQuestion(str(query["text"]), task.name, evidence, graph))
    return DataSet(made.turns, made.questions, unusable)


def _rows(file: str, raw: bytes) -> list[Mapping[str, Any]]:
    try:
        rows = [orjson.loads(line) for line in raw.splitlines() if line.strip()]
    except orjson.JSONDecodeError as error:
        raise InvalidMessageError(f"{file}: must hold a JSON object in each line ({error})") from error
    names = {CORPUS: ("id", "text"), QUERIES: ("id", "text"), CANDIDATES: ("scene_id", "candidate_doc_ids")}
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not set(names[file.rpartition("/")[2]]) <= row.keys():
            needed = " and ".join(names[file.rpartition("/")[2]])
            raise InvalidMessageError(f"{file}, line {number}: must be an object with {needed}")
    return rows


def _candidates(task: Task) -> dict[str, list[str]]:
    rows = [] if task.candidates is None else _rows(f"{task.name}/{CANDIDATES}", task.candidates)
    return {str(each["scene_id"]): list(map(str, each["candidate_doc_ids"])) for each in rows}


def _relevant(task: Task) -> dict[str, list[str]]:
    """Read the documents that answer each query."""
    relevant: dict[str, list[str]] = {}
    for number, line in enumerate(task.qrels.decode().splitlines(), 1):
        query, *rest = line.split("\t")
        if len(rest) != 2:
            raise InvalidMessageError(f"{task.name}/{QRELS}, line {number}: must be query, document and score")
        if rest[1].strip().isdigit() and int(rest[1]) > 0:  # a line of names has no number
            relevant.setdefault(query, []).append(rest[0])
    return relevant


def _scene(query: str, candidates: Mapping[str, Sequence[str]]) -> str | None:
    return next((name for name in (query, "_".join(query.split("_")[:2])) if name in candidates), None)


def _graph(name: str, scene: str | None, number: int) -> str:
    return fitted(_GRAPH.sub("-", f"{name}-{number}" if scene is None else f"{name}-{scene}"))


def _turns(graph: str, documents: Mapping[str, Mapping[str, Any]], among: frozenset[str]) -> Iterator[Turn]:
    for number, (name, document) in enumerate(documents.items()):
        whole = f"{document.get('title') or ''}\n{document['text']}".strip()
        for text in pieces(whole, TEXT_BYTES)[:1] if name in among else ():
            where = {"graph": graph, "session": _id(graph, name), "id": _id(graph, name), "at": SPOKEN_AT + number}
            yield build(Turn, {**where, "speaker": WRITER, "text": text})


def _id(graph: str, document: str) -> str:
    return fitted(f"{graph}/{document}")
