"""`emgas replay compare`: ask two memories the same questions, and show where their answers differ.

questions   one JSON object per line: {"graph": …, "text": …, "evidence": [turn ids]}; `evidence` is optional

overlap     share of the first N passages that both memories return
recall      share of the evidence among the first N passages of each; only for questions with evidence
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emgas.errors import InvalidMessageError
from emgas.messages.fields import GraphId, Text
from emgas.messages.operator import Inspect
from emgas.validation import describe
from streams.cli.replay.branch import TIMEOUT, Into, Prefix, target_of
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from streams.settings import WorkerSettings

COUNTED = ("graphs", "turns", "concepts", "pairs")


class ComparedQuestion(BaseModel):
    """One line of the file of questions."""

    model_config = ConfigDict(strict=True, extra="forbid")
    graph: GraphId
    text: Text
    evidence: list[str] = Field(default_factory=list)


def compare(
    questions: Annotated[
        Path, typer.Argument(help="Questions, one JSON object per line: graph, text, evidence.", dir_okay=False)
    ],
    *,
    into: Into = None,
    to_prefix: Prefix = None,
    top: Annotated[int, typer.Option(min=1, max=100, help="Number of passages to compare.")] = 10,
    json: output.Json = False,
) -> None:
    """Compare the answers of this memory and a branch to the same questions."""
    source = output.settings()
    target = target_of(source, into, to_prefix)
    with output.explained():
        examples = list(_read(questions))
    result = output.run(_compare(source, target, examples, top=top))
    if json:
        output.print_json(result)
    else:
        _show(result)


def _read(file: Path) -> Iterator[ComparedQuestion]:
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        output.fail_path("read", file, error)
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield ComparedQuestion.model_validate_json(line)
            except ValidationError as error:
                raise InvalidMessageError(f"{file}, line {number}: {describe(error)}") from None


async def _compare(
    source: WorkerSettings, target: WorkerSettings, examples: list[ComparedQuestion], *, top: int
) -> dict[str, Any]:
    async with session(source, TIMEOUT, begins=False) as here, session(target, TIMEOUT, begins=False) as there:
        answered = [await _answered(here.memory, there.memory, question, top=top) for question in examples]
        contents = {"here": await _count_contents(here.memory), "there": await _count_contents(there.memory)}
    labelled = [each for each in answered if each["recall"]]
    recall = {side: fmean(each["recall"][side] for each in labelled) for side in contents} if labelled else None
    overlap = fmean(each["overlap"] for each in answered) if answered else None
    return {**contents, "overlap": overlap, "recall": recall, "questions": answered}


async def _answered(here: MemoryClient, there: MemoryClient, question: ComparedQuestion, *, top: int) -> dict[str, Any]:
    sides = {}
    for side, memory in (("here", here), ("there", there)):
        reply = await memory.query(question.graph, question.text, top_passages=top)
        sides[side] = [passage.id for passage in reply.passages]
    both = set(sides["here"]) & set(sides["there"])
    most = max(map(len, sides.values()))
    evidence = set(question.evidence)
    recall = {side: len(evidence & set(ids)) / len(evidence) for side, ids in sides.items()} if evidence else None
    report = {"graph": question.graph, "text": question.text, "overlap": len(both) / most if most else 1.0}
    return {**report, "recall": recall, **sides}


async def _count_contents(memory: MemoryClient) -> dict[str, int]:
    counts = dict.fromkeys(COUNTED, 0)
    for partition in range(await memory.partitions()):
        inspected = await memory.send(Inspect(digest=False), partition=partition)
        for name in COUNTED:
            counts[name] += getattr(inspected, name)
    return counts


def _show(result: dict[str, Any]) -> None:
    rows = output.table("two memories of the same turns", "", "here#", "branch#")
    for name in COUNTED:
        rows.add_row(name, str(result["here"][name]), str(result["there"][name]))
    if result["recall"]:
        rows.add_row("evidence recalled", *(f"{result['recall'][side]:.1%}" for side in ("here", "there")))
    output.out.print(rows)
    answers = output.table("answers", "question", "overlap#", "only here", "only in the branch")
    for each in result["questions"]:
        only = [[name for name in each[a] if name not in each[b]] for a, b in (("here", "there"), ("there", "here"))]
        answers.add_row(each["text"], f"{each['overlap']:.0%}", *(", ".join(names[:3]) for names in only))
    output.out.print(answers)
