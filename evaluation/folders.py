"""Data sets that are folders: what is in them decides how they are read.

BEAM    a folder with probing_questions/probing_questions.json, or one of such folders       questions/beam.py
LMEB    a folder with queries.jsonl, or one of such folders; corpus and candidates in it or above   questions/lmeb.py
else    every *.json of the folder that is a data set: LongMemEval, RealMem, LoCoMo          questions/datasets.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import orjson

from emgas.errors import InvalidMessageError
from emgas.validation import not_json
from evaluation.questions import beam, lmeb
from evaluation.questions.datasets import read
from evaluation.questions.labelled import DataSet

PROBING: Final = "probing_questions.json"
CHATS: Final = ("chat_trunecated.json", "chat.json")  # as BEAM spells it; its own programs prefer the first
ABOVE: Final = 3  # folders in which a task's corpus is looked for: its own, and two above


def is_data_set(folder: Path) -> bool:
    """Check whether a folder holds BEAM or LMEB."""
    return any(True for name in (PROBING, lmeb.QUERIES) for _ in folder.rglob(name))


def read_folder(folder: Path) -> DataSet:
    """Read the data set of a folder.  Raises InvalidMessageError where there is none."""
    if probing := sorted(folder.rglob(PROBING)):
        return joined(_chat(folder, each.parent.parent, each) for each in probing)
    if queries := sorted(folder.rglob(lmeb.QUERIES)):
        return joined(_tasks(folder, corpus, tasks) for corpus, tasks in _by_corpus(queries).items())
    files = sorted(folder.glob("*.json"))
    if not files:
        raise InvalidMessageError(
            f"{folder} is no data set: it needs {PROBING} (BEAM), {lmeb.QUERIES} (LMEB), or *.json (LongMemEval, "
            "RealMem, LoCoMo)"
        )
    return joined(_file(each) for each in files)


def joined(parts: Iterable[DataSet]) -> DataSet:
    """Join data sets whose graphs are different."""
    made, unusable = DataSet([]), 0
    for part in parts:
        made.turns.extend(part.turns)
        made.questions.update(part.questions)
        made.patterns.update(part.patterns)
        unusable += part.unusable
    return DataSet(made.turns, made.questions, unusable, made.patterns)


def _file(path: Path) -> DataSet:
    try:
        return read(_bytes(path))
    except InvalidMessageError as error:
        raise InvalidMessageError(f"{path}: {error}") from error


def _chat(folder: Path, place: Path, probing: Path) -> DataSet:
    chat = next((place / name for name in CHATS if (place / name).is_file()), None)
    if chat is None:
        raise InvalidMessageError(f"{place}: has {PROBING}, and no chat.json beside it")
    name = "-".join(["beam", *place.relative_to(folder.parent).parts])
    return beam.read_chat(name, _json(chat), _json(probing))


def _by_corpus(queries: Sequence[Path]) -> dict[Path, list[Path]]:
    """Group the folders of tasks by the corpus that they share."""
    groups: dict[Path, list[Path]] = {}
    for file in queries:
        groups.setdefault(_beside(file.parent, lmeb.CORPUS), []).append(file.parent)
    return groups


def _beside(place: Path, name: str) -> Path:
    """Find a file in a folder, or above it.  Raises InvalidMessageError where there is none."""
    for each in (place, *place.parents)[:ABOVE]:
        if (each / name).is_file():
            return each / name
    raise InvalidMessageError(f"{place}: has {lmeb.QUERIES}, and no {name} in it or above")


def _tasks(folder: Path, corpus: Path, places: Sequence[Path]) -> DataSet:
    tasks = [_task(folder, place) for place in places]
    return lmeb.read_tasks(corpus.parent.name, _bytes(corpus), tasks)


def _task(folder: Path, place: Path) -> lmeb.Task:
    try:
        candidates = _bytes(_beside(place, lmeb.CANDIDATES))
    except InvalidMessageError:
        candidates = None  # every document may answer
    name = place.relative_to(folder.parent).as_posix()
    return lmeb.Task(name, _bytes(place / lmeb.QUERIES), _bytes(place / lmeb.QRELS), candidates)


def _json(path: Path) -> object:
    try:
        return orjson.loads(_bytes(path))
    except orjson.JSONDecodeError as error:
        raise InvalidMessageError(f"{path}: {not_json(error)}") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidMessageError(f"{path} cannot be read: {error.strerror}") from error
