"""Hypothesis strategies for what happens in one graph's life, and for how it lives; made so that windows end often."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from state.events.extraction_types import Anchor
from state.events.memory_settings import PRESETS
from tests.support.builders import concept, concepts_recalled, graph_configured, pinned, turn_recorded, unpinned
from tests.support.clocks import NOON
from tests.support.living import ForgetRequest, Happening

WORDS = ("coffee", "tea", "milk", "sugar", "honey", "@speaker:ada", "@day:2023-05-08")
STEPS = (0, 1, MINUTE, 20 * MINUTE, HOUR, DAY, 3 * DAY, 40 * DAY, -1, -HOUR, -DAY, -20 * DAY)

WEIGHTS = (0.0, 1e-7, 0.05, 0.1, 0.5, 1.0)
CHANGES: dict[str, list[Any]] = {
    "half_life": [1, HOUR, DAY, 7 * DAY],
    "stability": [0, 50, 100],
    "prune_below": [0.0, 0.1, 0.4, 1.0],
    "episode_life": [0, 1, DAY, 30 * DAY],
    "recall_boost": [0.0, 1e-9, 0.5],
    "long_windows": [0, 1, 2],
    "long_recalls": [0, 1],
    "long_tau": [1, DAY, 60 * DAY],
    "long_beta": [0.05, 0.5, 5.0],
    "decay_every": [HOUR, DAY, 7 * DAY],
    "consolidate_every": [HOUR, DAY, 7 * DAY],
    "idle": [MINUTE, HOUR],
    "grace": [0, 5 * MINUTE, 2 * DAY],
    "least_turns": [1, 3, 12],
    "duplicate_above": [0.3, 0.9, 2.0],
    "links_below": [0.0, 0.3, 0.9, 2.0],
    "links_step": [0, HOUR, 7 * DAY],
}

_concepts = st.lists(
    st.builds(concept, st.sampled_from(WORDS), weight=st.sampled_from(WEIGHTS)),
    max_size=4,
    unique_by=lambda result: result.id,
)
_moments = st.tuples(
    st.sampled_from([*STEPS, *STEPS[:6]]),  # ms from the time before; time mostly goes on
    st.integers(0, 9),  # 0: a recall, 1: a request, 2: a pin, else a turn
    _concepts,
    st.sampled_from(["one", "two"]),
)


def _happened(moments: list[tuple[int, int, list[Any], str]]) -> list[Happening]:
    events: list[Happening] = []
    at = NOON - NOON % DAY  # on the edge of a window
    for number, (step, kind, moment, session) in enumerate(moments):
        at += step
        if kind == 0:
            events.append(concepts_recalled(at=at, concepts=[each.id for each in moment]))
        elif kind == 1:
            sessions = [session] if len(moment) > 2 else []
            turns = [f"t{number - 1}", f"t{number - 4}"]
            events.append(ForgetRequest([each.id for each in moment[:1]], turns, sessions))
        elif kind == 2 and moment:
            names = {"concepts": [each.id for each in moment], "turns": f"t{number - 1} t{number - 2}"}
            events.append((pinned if len(moment) % 2 else unpinned)(**names))
        else:
            importance = [None, None, 0.3, 0.9][number % 4]
            anchor = [None, Anchor("promise", "spontaneous"), None, None, Anchor("code", "forced")][number % 5]
            more = {"id": f"t{number}", "at": at, "concepts": moment, "session": session}
            more |= {"importance": importance, "anchor": anchor}
            events.append(turn_recorded(**more))
    return events


def happenings(max_size: int = 40) -> st.SearchStrategy[list[Happening]]:
    """Return a strategy for what happens in a graph, late turns among it, in the order in which it comes."""
    return st.lists(_moments, max_size=max_size).map(_happened)


def configurations(**fixed: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for how a graph lives: a preset and some differences, `fixed` ones always."""
    optional = {name: st.sampled_from(values) for name, values in CHANGES.items()}
    drawn = st.fixed_dictionaries({"preset": st.sampled_from(sorted(PRESETS))}, optional=optional)
    return drawn.map(lambda changes: graph_configured(**{**changes, **fixed}))


def ticks() -> st.SearchStrategy[list[int]]:
    """Return a strategy for times at which a timer tells the time."""
    return st.lists(st.integers(NOON - 60 * DAY, NOON + 900 * DAY), max_size=20)


def long_life(seed: int) -> tuple[Any, list[Happening]]:
    """Return how a graph lives and 250 things that happen in it: long enough for topics, merged turns, compactions."""
    seeded = random.Random(seed)
    names = [*(f"word{number}" for number in range(40)), *(f"@mark:{number}" for number in range(6))]
    steps = seeded.choices(STEPS, [4, 1, 8, 6, 6, 4, 2, 0.4, 0.5, 0.5, 0.5, 0.3], k=250)
    moments = []
    for step in steps:
        concepts = [concept(name, weight=seeded.choice(WEIGHTS)) for name in seeded.sample(names, seeded.randint(0, 7))]
        moments.append((step, seeded.randrange(14), concepts, seeded.choice(["one", "two", "three"])))
    changed = {name: seeded.choice(values) for name, values in CHANGES.items() if seeded.random() < 0.5}
    return graph_configured(preset=seeded.choice(sorted(PRESETS)), **changed), _happened(moments)
