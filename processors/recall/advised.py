"""What advisors said of a turn, told to whoever asks: it stands beside the turn, whose text is as it was said."""

from __future__ import annotations

from emgas.messages.advice import Advised, TextPart
from state.graph.graph import Graph


def advised(graph: Graph, turn: str) -> Advised | None:
    """Tell what advisors said of a turn, None if nothing."""
    table = graph.advice
    words, parts, judged = table.rewritten.get(("turn", turn)), table.split.get(turn), table.judged.get(turn)
    if not (words or parts or judged):
        return None
    return Advised(
        rewritten=words.text if words else None,
        role=words.role if words else "",
        rewritten_by=words.by if words else "",
        parts=[TextPart(start=start, end=end) for start, end in parts.spans] if parts else [],
        split_by=parts.by if parts else "",
        worth=judged.worth / 100 if judged else None,
        keywords=list(judged.keywords) if judged else [],
        judged_by=judged.by if judged else "",
    )
