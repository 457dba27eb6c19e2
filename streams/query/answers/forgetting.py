"""Preview what a request to forget would remove."""

from __future__ import annotations

from emgas.messages.forgetting import ForgetPreview, PreviewForget
from processors.lifecycle.steps import Steps
from processors.recall.reports.working_memory_view import recorded
from streams.ingest.verbs.forget import find_leaving
from streams.query.answers.context import AnswerContext, position_of
from streams.query.answers.registry import answers


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
