"""Forgetting concepts, turns and sessions: in parts where one record cannot hold them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from emgas.messages.forgetting import Forget, PreviewForget
from emgas.pieces import PIECE_OF
from processors.extraction.extractor import Extractor
from processors.lifecycle.decay.forgetting import Leaving, everything, mentioning, requested
from processors.lifecycle.parts import parts
from processors.lifecycle.steps import Steps, in_one_go
from processors.text.chinese import simplified
from processors.text.language import clean
from processors.text.scripts import DENSE
from state.events.events import UNSTAMPED, DataEvent, Forgotten, TurnRecorded
from state.graph.graph import Graph, TextOf
from state.graph.pieces import with_pieces
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, concept_ids, decides
from streams.ingest.verbs.refusals import existing

TEXTS_AT_ONCE = 200  # between two steps
KEPT = "The log keeps what was forgotten until you erase it (`emgas change erase`); undo restores it."


@decides(Forget)
def forget(request: Forget, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Forget what the graph has of a request.

    Only the last part accounts for the record: if the worker dies before it, the request is read again and finds what
    is left.
    """
    graph = existing(request, graph)
    leaving = in_one_go(find_leaving(request, graph, context.extractor, context.state.text_of))
    if not any(leaving):
        raise RejectedError("none of these is in the graph: nothing to forget")
    if request.expected not in (None, len(leaving.turns)):
        raise RejectedError(
            f"this would forget {len(leaving.turns)} turns, not {request.expected}: list them again, then confirm"
        )
    context.notes.append(_remaining(graph, leaving))
    named = [id for text in request.concepts for id in context.concept_ids(graph, text)]
    return [
        Forgotten(graph=request.graph, concepts=part["concepts"], turns=part["turns"], **UNSTAMPED)
        for part in _resumable_parts(leaving, named)
    ]


def find_leaving(
    request: Forget | PreviewForget, graph: Graph, extractor: Extractor, text_of: TextOf
) -> Steps[Leaving]:
    """Find what a request would make a graph forget: a concept takes the turns along that mention it."""
    if request.everything:
        return everything(graph)
    ids = [concept_ids(graph, text, extractor) for text in request.concepts]
    named = list(with_pieces(graph, request.turns, text_of))
    if request.word_only:
        return requested(graph, [id for each in ids for id in each], named, request.sessions)
    turns = [*named, *(turn for each in ids for turn in mentioning(graph, each))]
    if words := [text for text in request.concepts if extractor.of_query(text.casefold()).concepts]:
        turns += yield from _containing(graph, words, text_of)
    return requested(graph, [each[0] for each in ids if len(each) == 1], turns, request.sessions)


def _containing(graph: Graph, words: Sequence[str], text_of: TextOf) -> Steps[list[str]]:
    """Find the turns with one of these words in their text, a caption or their metadata.

    Not every word of a turn is a concept: `penicillin-free` is another one, and long turns have more than are kept.
    """
    pattern, matches = re.compile("|".join(map(_pattern, words))), list[str]()
    for count, turn in enumerate(list(graph.passages.numbers)):
        if count % TEXTS_AT_ONCE == 0:
            yield
        number = graph.passages.numbers.get(turn)  # other turns may have come and gone between two steps
        if number is not None and any(pattern.search(_plain(text)) for text in _texts(text_of(graph, number))):
            matches.append(turn)
    return matches


def _texts(event: TurnRecorded) -> Iterator[str]:
    yield event.text
    yield from (attached.caption for attached in event.attachments)
    yield from (value for name, value in event.metadata.items() if isinstance(value, str) and name != PIECE_OF)


def _pattern(word: str) -> str:
    """Write a word as a pattern: of a script with spaces between words, a whole word."""
    plain = _plain(word)
    inside = rf"[^\W{DENSE}]"
    return rf"(?<!{inside}){re.escape(plain)}(?!{inside})"


def _plain(text: str) -> str:
    return simplified(clean(text)).casefold()


def _remaining(graph: Graph, leaving: Leaving) -> str:
    """Return how many turns a graph forgets, and how many remain."""
    rest = graph.passages.here - len(leaving.turns)
    return f"{_count(len(leaving.turns), 'turn')} forgotten, {_count(rest, 'turn')} left in {graph.graph_id}. {KEPT}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _resumable_parts(leaving: Leaving, named: Sequence[str]) -> list[dict[str, list[str]]]:
    """Cut what leaves, if it is too much for one record, so that the same request finds the rest until all is gone.

    named  the concepts of the request: they lead to turns that leave with them, so they leave last
    """
    whole = list(parts(leaving._asdict()))
    if len(whole) == 1:
        return whole
    others = [concept for concept in leaving.concepts if concept not in named]
    last = [concept for concept in leaving.concepts if concept in named]
    cut = [*parts({"concepts": others, "turns": leaving.turns}), *parts({"concepts": last, "turns": []})]
    return [part for part in cut if any(part.values())]
