"""Reports on one graph: recaps of conversations, trends, the surroundings of a concept, habits, and pictures.

Also what would be understood of a text, or forgotten on request: these change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from emgas.messages.extracts import Extract, Extracted
from emgas.messages.forgetting import ForgetPreview, PreviewForget
from emgas.messages.people import Profile, Profiled
from emgas.messages.pictures import Picture, Pictured
from emgas.messages.requests import PastQuestion
from emgas.messages.sessions import InMind, Recent
from emgas.messages.views import Explore, Explored, Habits, Recap, Recapped, Recurring, Trend, Trended
from processors.extraction.understanding import understand
from processors.lifecycle.steps import Steps
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.reports.habits import list_habits
from processors.recall.reports.neighbourhood import explore_graph
from processors.recall.reports.people import list_people
from processors.recall.reports.picture import draw_picture
from processors.recall.reports.session_summaries import list_recaps
from processors.recall.reports.trends import compute_trend
from processors.recall.reports.working_memory_view import recorded, view_working_memory
from streams.ingest.verbs.forget import find_leaving
from streams.query.answers.context import AnswerContext, position_of
from streams.query.answers.registry import answers

T = TypeVar("T")


@answers(Recap)
async def recap(request: Recap, context: AnswerContext) -> Recapped:
    """Recap conversations."""
    return await _report(request, context, lambda memory: list_recaps(memory, request))


@answers(Recent)
async def recent(request: Recent, context: AnswerContext) -> InMind:
    """Report what is in mind in a conversation."""
    return await _report(request, context, lambda memory: view_working_memory(memory, request))


@answers(Trend)
async def trend(request: Trend, context: AnswerContext) -> Trended:
    """Report how often something is mentioned over time."""
    return await _report(request, context, lambda memory: compute_trend(memory, request, context.extractor))


@answers(Explore, reads_pairs=True)
async def explore(request: Explore, context: AnswerContext) -> Explored:
    """Show a concept and its neighbours."""
    return await _report(request, context, lambda memory: explore_graph(memory, request, context.extractor))


@answers(Habits)
async def habits(request: Habits, context: AnswerContext) -> Recurring:
    """Report what recurs."""
    return await _report(request, context, lambda memory: list_habits(memory, request, context.extractor))


@answers(Profile)
async def profile(request: Profile, context: AnswerContext) -> Profiled:
    """Report what is known of people."""
    return await _report(request, context, lambda memory: list_people(memory, request))


async def _report(request: PastQuestion, context: AnswerContext, report: Callable[[QueriedGraph], T]) -> T:
    """Compute a report in one go, when its turn comes."""
    memory = await context.memory(request)
    async with context.schedule.short_turn(context.question):
        return report(memory())


@answers(Picture, reads_pairs=True)
async def picture(request: Picture, context: AnswerContext) -> Pictured:
    """Draw the concepts of a graph and their links, in steps."""
    memory = await context.memory(request)
    return await context.schedule.long_steps(
        lambda: draw_picture(memory().graph, request, context.extractor, memory().position), context.question
    )


@answers(Extract)
async def extract(request: Extract, context: AnswerContext) -> Extracted:
    """Read turns as they would be read if they were recorded, in steps."""
    worker = context.worker
    return await context.schedule.long_steps(
        lambda: understand(request.turns, context.extractor, worker.settings.language, worker.worker.now_ms()),
        context.question,
    )


@answers(PreviewForget, reads_pairs=True)
async def preview_forget(request: PreviewForget, context: AnswerContext) -> ForgetPreview:
    """List the turns that a request to forget would remove, in steps: it reads texts."""
    return await context.schedule.long_steps(lambda: _preview(request, context), context.question)


def _preview(request: PreviewForget, context: AnswerContext) -> Steps[ForgetPreview]:
    position, graph = position_of(context.partition), context.state.graph(request.graph)
    if graph is None or graph.is_blank:
        return ForgetPreview(graph=request.graph, found=False, position=position)
    leaving = yield from find_leaving(request, graph, context.extractor, context.state.text_of)
    view = graph.view()
    numbers = [graph.passages.numbers[turn] for turn in reversed(leaving.turns)][: request.limit]
    return ForgetPreview(
        graph=request.graph,
        found=True,
        total=len(leaving.turns),
        concepts=len(leaving.concepts),
        remains=graph.passages.here - len(leaving.turns),
        turns=[recorded(context.state.text_of(graph, number), view, number) for number in numbers],
        position=position,
    )
