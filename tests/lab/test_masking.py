"""Masks: a context as a person remembers it who has forgotten some of it; what was said stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.errors import InvalidMessageError
from emgas.messages.queries import Query
from emgas.times import DAY_MS as DAY
from emgas.validation import build
from lab.masks import LEFT_OUT, Masks, Thresholds
from state.graph.graph import Graph
from tests.support.builders import concepts_recalled, pinned, turn_recorded
from tests.support.clocks import NOON
from tests.support.gated import Gated

SAID = {"en": "I adopted a ginger cat from the shelter in Porto.", "zh": "我从波尔图的收容所领养了一只橘猫。"}
ASKED = {"en": "what did I adopt?", "zh": "我领养了什么？"}
KEPT = {"en": "ginger", "zh": "收容所"}


def memory(language: str = "en", half_life: int = 10 * DAY) -> Gated:
    report = Gated(half_life=half_life, prune_below=0.0)
    report.say(SAID[language])
    return report


def asked(report: Gated, days: int, language: str = "en", **options: float) -> str:
    reply = report.ask(ASKED[language], render="masked", now=NOON + days * DAY, **options)
    assert reply.passages[0].text == SAID[language], "the source is never altered"
    assert reply.passages[0].masked is not None
    assert reply.passages[0].masked in reply.context
    return reply.passages[0].masked


@pytest.mark.source("S30")
@pytest.mark.parametrize("language", SAID)
def test_what_is_fresh_is_shown_as_it_was_said_then_hinted_at_then_left_out(language: str) -> None:
    report = memory(language)
    fresh, fading, gone = (asked(report, days, language) for days in (0, 25, 200))
    assert fresh == SAID[language]
    assert "[…" in fading
    assert gone.rstrip(".。") == LEFT_OUT, "once all words of a clause have faded, so has all between them"
    assert report.ask(ASKED[language]).passages[0].masked is None, "who does not ask sees no mask"
    assert report.ask(ASKED[language]).context.endswith(SAID[language])


@pytest.mark.source("S30")
@pytest.mark.parametrize("language", SAID)
def test_what_was_recalled_stays_clear_where_all_around_it_fades(language: str) -> None:
    report = memory(language)
    for _ in range(8):
        report.graph.fold(concepts_recalled(concepts=[KEPT[language]], at=NOON))
    text = asked(report, 32, language)
    assert KEPT[language] in text
    assert "[…" in text
    assert text != SAID[language]


@pytest.mark.source("S30")
def test_a_placeholder_says_what_kind_of_thing_it_was() -> None:
    report = Gated(half_life=10 * DAY, prune_below=0.0)
    report.say("The violin was stolen.", "The teacher was late.")
    for _ in range(8):
        report.graph.fold(concepts_recalled(concepts=["steal"], at=NOON))
    hint, no_hint = (report.ask("stolen", render="masked", now=NOON + days * DAY).context for days in (25, 38))
    assert "[…: instrument]" in hint
    assert f"{LEFT_OUT} was stolen" in no_hint


@pytest.mark.source("S30")
def test_units_nest_the_smallest_decides() -> None:
    graph = Graph("ada")
    words = "lord ring book"
    graph.fold(turn_recorded(id="t0", text="lord of the ring, a book that everybody knows", concepts=words))
    turn = turn_recorded(id="t0", text="lord of the ring, a book that everybody knows", concepts=words)
    for _ in range(5):
        graph.fold(concepts_recalled(concepts="lord"))
    graph.settle()
    at = NOON + 120 * DAY
    assert Masks(graph, at, Thresholds(0.3, 0.3)).masked(turn) == f"lord of the {LEFT_OUT}, {LEFT_OUT}"


@pytest.mark.source("S28", "S30")
def test_what_matters_fades_later_and_what_is_pinned_not_at_all() -> None:
    plain, anchored = Gated(half_life=10 * DAY, prune_below=0.0), Gated(half_life=10 * DAY, prune_below=0.0)
    plain.say("The violin is in the cellar.")
    anchored.say("The violin is in the cellar.", importance=0.7)
    later = NOON + 22 * DAY
    seen = [each.ask("violin", render="masked", now=later).passages[0].masked for each in (plain, anchored)]
    assert seen[1] == "The violin is in the cellar."
    assert "violin" not in (seen[0] or "")
    plain.graph.fold(pinned(concepts="violin"))
    assert "violin" in (plain.ask("violin", render="masked", now=NOON + 900 * DAY).passages[0].masked or "")
    plain.graph.fold(pinned(turns="t0"))
    assert (
        plain.ask("violin", render="masked", now=NOON + 900 * DAY).passages[0].masked == "The violin is in the cellar."
    )


def test_thresholds_are_the_askers() -> None:
    report = memory()
    assert asked(report, 200, clear_from=0.0, hint_from=0.0) == SAID["en"]
    assert asked(report, 0, clear_from=1.0, hint_from=1.0).rstrip(".") == LEFT_OUT
    with pytest.raises(InvalidMessageError, match="hint"):
        build(Query, {"graph": "ada", "text": "x", "clear_from": 0.1, "hint_from": 0.5})


texts = st.text(alphabet="tea cofé，,.；因为 \n", max_size=40)


@given(texts, st.integers(0, 400), st.floats(0, 1))
def test_a_mask_never_shows_what_was_not_said_and_reading_changes_nothing(text: str, days: int, clear: float) -> None:
    graph = Graph("ada")
    turn = turn_recorded(id="t0", text=text, concepts="tea cof")
    graph.fold(turn)
    graph.settle()
    before = graph.digest()
    shown = Masks(graph, NOON + days * DAY, Thresholds(clear, 0.0)).masked(turn)
    rest = text
    for part in shown.split("[…"):
        visible = part.partition("]")[2] if part is not shown.split("[…")[0] else part
        assert visible in rest
        rest = rest[rest.index(visible) + len(visible) :]
    assert graph.digest() == before
