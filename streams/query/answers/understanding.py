"""Extract from turns without storing them: an answer that needs no graph."""

from __future__ import annotations

from emgas.messages.extracts import Extract, Extracted
from processors.extraction.understanding import understand
from streams.query.answers.context import AnswerContext
from streams.query.answers.registry import answers


@answers(Extract)
async def extract(request: Extract, context: AnswerContext) -> Extracted:
    """Read turns as they would be read if they were recorded, in steps."""
    worker = context.worker
    return await context.schedule.long_steps(
        lambda: understand(request.turns, context.extractor, worker.settings.language, worker.worker.now_ms()),
        context.question,
    )
