"""Find the concepts of a turn that are in one clause, or in one window of tokens, for graphs that count by these.

    clauses   lab/gates/clauses.py                                                  setting `clauses`        SEEDS P12
    windows   runs of sentences of `window_tokens` words, each beginning with the last `window_overlap` of the one
              before; only of turns that are longer than a window                   setting `window_tokens`  SEEDS P4

The extractor reads each part of the text as a question, and the part's concepts are looked up among the turn's: so this
works with any extractor.  Marks ("@speaker:…") are in every unit.  A concept that no part holds is a unit of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.gates.clauses import clauses, sentences
from processors.extraction.extractor import Extractor
from processors.text.language import clean
from state.events.extraction_types import UNITS, Concept
from state.events.memory_settings import MemorySettings

Unit = list[int]


def units(
    extractor: Extractor, text: str, concepts: Sequence[Concept], *, tokens: int, settings: MemorySettings
) -> list[Unit]:
    """List the units of a turn of `tokens` words, ascending places in `concepts`; none where all is one unit."""
    if settings.clauses:
        parts = clauses(text)
    elif settings.window_tokens and tokens > settings.window_tokens:
        parts = list(_windows(extractor, text, settings))
    else:
        return []
    if len(parts) < 2:
        return []
    places = {concept.id: place for place, concept in enumerate(concepts)}
    marks = [place for place, concept in enumerate(concepts) if concept.id[:1] == "@"]
    groups = (_concepts_in(extractor, part, places) for part in _few(parts))
    return [sorted({*marks, *group}) for group in groups if group]


def _concepts_in(extractor: Extractor, part: str, places: dict[str, int]) -> list[int]:
    return [places[each.id] for each in extractor.of_query(clean(part)).concepts if each.id in places]


def _few(parts: Sequence[str]) -> list[str]:
    """Bound how many parts there are: all that is left is the last."""
    return [*parts[: UNITS - 1], "".join(parts[UNITS - 1 :])] if len(parts) > UNITS else list(parts)


def _windows(extractor: Extractor, text: str, settings: MemorySettings) -> Iterator[str]:
    """Yield the windows of a long text, in order; a sentence that is longer than one is one."""
    parts = [(part, extractor.of_query(part).tokens) for part in sentences(text)]
    window: list[tuple[str, int]] = []
    for part in parts:
        if window and _length(window) + part[1] > settings.window_tokens:
            yield "".join(each for each, _ in window)
            room = settings.window_overlap * settings.window_tokens
            while window and (_length(window) > room or _length(window) + part[1] > settings.window_tokens):
                del window[0]
        window.append(part)
    if window:
        yield "".join(each for each, _ in window)


def _length(window: Sequence[tuple[str, int]]) -> int:
    return sum(tokens for _, tokens in window)
