"""`emgas change advise GRAPH`: ask the advisor now about themes, habits, conversations, turns or links of a graph."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.errors import BadSettingError, EmgasError
from emgas.limits import READ_TURNS
from emgas.messages.advice import Advice
from emgas.messages.views import Habits
from emgas.validation import build
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from processors.advice.advisor import AdviceContent, Summarise, Task
    from streams.plugins.advisor_client import AdvisorClient

TurnIds = Annotated[list[str] | None, typer.Option(metavar="TURN", help="Turn id; repeatable.")]


def advise(
    graph: output.Graph,
    *,
    themes: Annotated[bool, typer.Option("--themes", help="Name the graph's themes.")] = False,
    habits: Annotated[bool, typer.Option("--habits", help="Rewrite the graph's habits in plain sentences.")] = False,
    session: Annotated[list[str] | None, typer.Option(help="Summarise a session that has ended; repeatable.")] = None,
    rewrite: TurnIds = None,
    role: Annotated[str, typer.Option(help="Rewrite in the voice of this role, as 'a sailor'.")] = "",
    split: TurnIds = None,
    judge: TurnIds = None,
    rate: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Rate the link between two concept ids; repeatable.")
    ] = None,
    timeout: output.Timeout = 60.0,
    json: output.Json = False,
) -> None:
    """Ask an LLM (EMGAS_ADVISOR) to name themes, summarise sessions, or rewrite and judge turns; record its advice.

    The original turns do not change.  Exits with 1 if the advisor cannot be reached or none of its advice is accepted.
    """
    pairs = tuple((one, other) for one, _, other in (each.partition(",") for each in rate or ()))
    selection = {"themes": themes, "habits": habits, "sessions": session or [], "pairs": pairs}
    turns = {"rewrite": rewrite or [], "split": split or [], "judge": judge or []}
    if not any((*selection.values(), *turns.values())):
        output.fail("nothing to ask about: give --themes, --habits, --session NAME, --rewrite TURN …", output.USAGE)
    reply = output.run(_advised(graph, selection, turns, role, timeout))
    if reply is None:
        output.fail_unknown(graph)
    if json:
        output.print_json({"graph": graph, "advice": reply})
    else:
        for each in reply:
            line = f"{each['kind']} {each['about']}: {each['result']}"
            output.out.print(escape(line))
    if not any(each["result"] == "accepted" for each in reply):
        output.fail("no advice was recorded: see the result of each line above")


async def _advised(
    graph: str, selection: dict[str, Any], turns: dict[str, list[str]], role: str, timeout: float
) -> list[dict[str, str]] | None:
    """Ask the advisor, record its advice, and return the result of each task; None for an unknown graph."""
    from processors.advice.advisor import NameTheme, RateLinks, Rewrite  # here: --help needs none of it
    from processors.advice.material import WORDS
    from streams.plugins import advisors

    settings = output.settings()
    asking = advisors.chosen(settings, time.monotonic)
    if asking is None:
        raise BadSettingError("there is no advisor: set EMGAS_ADVISOR and EMGAS_ADVISOR_MODEL (docs/lifecycle.md)")
    try:
        async with connected_session(settings, timeout, begins=False) as connected:
            memory = connected.memory
            described = await memory.describe(graph)
            if not described.found:
                return None
            tasks: list[Task] = []
            if selection["themes"]:
                tasks += [NameTheme(theme.id, tuple(theme.concepts[:WORDS])) for theme in described.themes]
            if selection["habits"]:
                listed = (await memory.send(build(Habits, {"graph": graph}))).habits
                tasks += [Rewrite(habit.text, habit=habit.id, role=role) for habit in listed]
            tasks += [await _conversation(memory, graph, name) for name in selection["sessions"]]
            tasks += [RateLinks(selection["pairs"], selection["pairs"])] if selection["pairs"] else []
            tasks += await _of_turns(memory, graph, turns, role)
            return await _recorded(memory, asking, graph, tasks)
    finally:
        await asking.close()


async def _conversation(memory: MemoryClient, graph: str, name: str) -> Summarise:
    from processors.advice.advisor import Summarise  # here: --help needs none of it
    from processors.advice.material import CHARACTERS

    recorded = (await memory.turns(graph, session=name, newest=True, limit=READ_TURNS)).turns[::-1]
    lines = [f"{turn.speaker}: {' '.join(turn.text.split())}" for turn in recorded]
    while sum(map(len, lines)) > CHARACTERS and len(lines) > 1:
        del lines[0]
    return Summarise(name, tuple(lines))


async def _of_turns(memory: MemoryClient, graph: str, turns: dict[str, list[str]], role: str) -> list[Task]:
    from processors.advice.advisor import JudgeWorth, Rewrite, Split  # here: --help needs none of it

    named = list(dict.fromkeys(id for ids in turns.values() for id in ids))
    if not named:
        return []
    texts = {turn.id: turn.text for turn in (await memory.turns(graph, ids=named, limit=READ_TURNS)).turns}
    if missing := [id for id in named if id not in texts]:
        raise EmgasError(f"graph {graph} holds no turn {', '.join(missing)}")
    return [
        *(Rewrite(texts[id], turn=id, role=role) for id in turns["rewrite"]),
        *(Split(id, texts[id]) for id in turns["split"]),
        *(JudgeWorth(id, texts[id]) for id in turns["judge"]),
    ]


async def _recorded(memory: MemoryClient, asking: AdvisorClient, graph: str, tasks: list[Task]) -> list[dict[str, str]]:
    """Ask one kind of task at a time, send the advice, and return the result of each task."""
    from processors.advice.advisor import AdviceError, kind_of  # here: --help needs none of it

    reply: list[dict[str, str]] = []
    for kind in Counter(map(kind_of, tasks)):
        these = [task for task in tasks if kind_of(task) == kind]
        try:
            answers: list[AdviceContent | None] = await asking.ask(these)
        except AdviceError as error:
            reply += [{"kind": kind, "about": _about(task), "result": str(error)} for task in these]
            continue
        for task, answer in zip(these, answers, strict=True):
            result = "nothing was said" if answer is None else await _sent(memory, asking.name, graph, answer)
            reply.append({"kind": kind, "about": _about(task), "result": result})
    return reply


async def _sent(memory: MemoryClient, by: str, graph: str, content: AdviceContent) -> str:
    from processors.advice.advisor import advice  # here: --help needs none of it

    checked = advice(graph, by, "advice", content)
    fields = checked.model_dump(exclude={"kind", "id", "graph", "by"}, exclude_defaults=True)
    outcome = await memory.send(build(Advice, {"graph": graph, "by": by, **fields}))
    return outcome.status if outcome.reason is None else f"{outcome.status}: {outcome.reason}"


def _about(task: Task) -> str:
    from processors.advice.advisor import NameTheme, RateLinks, Rewrite, Summarise  # here: --help needs none of it

    match task:
        case NameTheme():
            return task.theme
        case Summarise():
            return task.session
        case RateLinks():
            return ", ".join(" – ".join(pair) for pair in task.labels)
        case Rewrite():
            return task.turn or task.habit or ""
        case _:
            return task.turn
