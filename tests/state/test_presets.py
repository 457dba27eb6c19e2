"""Presets: each value of a source's stands in the table, and how questions are answered goes with how a graph lives."""

from __future__ import annotations

from typing import get_args

import pytest

from emgas.messages.queries import Query
from emgas.messages.settings.memory_settings import PRESET_MODES, AllSettings
from emgas.messages.settings.memory_settings import PRESETS as NAMED
from emgas.messages.settings.modes import Mode, Rerank
from emgas.times import DAY_MS
from lab.catalogue import POLICIES
from lab.preset_sources import SOURCES, UNSTATED
from processors.recall.answer.prepared_query import with_graph_defaults
from processors.recall.retrieval.policies import CORE
from state.events.events import GraphConfigured, decode, encode
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph
from tests.support.builders import UNLINKED, folded, turn_recorded

OF_SOURCES = ["emgas", "soulmem", "memorybank", "maibot", "mofox", "simplemem", "hello-agents"]


def test_every_system_of_the_sources_has_a_preset() -> None:
    assert list(SOURCES) == OF_SOURCES
    assert set(NAMED) >= set(OF_SOURCES)
    assert set(PRESET_MODES) == set(OF_SOURCES)


@pytest.mark.source("M23", "H10")
@pytest.mark.parametrize("preset", OF_SOURCES)
def test_every_value_in_which_a_preset_differs_stands_in_the_table_with_its_source(preset: str) -> None:
    choices = {choice.name: choice for choice in SOURCES[preset]}
    differing = {
        name
        for name in AllSettings.model_fields
        if getattr(PRESETS[preset], name) != MemorySettings.model_fields[name].default
    }
    assert differing <= choices.keys()
    mode, rerank = PRESET_MODES[preset]
    assert mode in get_args(Mode)
    assert rerank in ("", *get_args(Rerank))
    assert "mode" in choices
    assert ("rerank" in choices) is bool(rerank)
    for choice in choices.values():
        assert choice.source
        assert choice.name in AllSettings.model_fields or choice.name in ("mode", "rerank") or choice.ours
        assert choice.why or UNSTATED not in choice.source, f"{preset} {choice.name}: say why it is ours"


def test_the_constants_of_the_sources_are_in_force_to_the_letter() -> None:
    simplemem, mofox, bank = (PRESETS[name] for name in ("simplemem", "mofox", "memorybank"))
    assert (simplemem.novelty_above, simplemem.novelty_alpha, simplemem.novelty_beta) == (0.35, 0.5, 0.1)
    assert (simplemem.window_tokens, simplemem.window_overlap, simplemem.affinity_gamma) == (512, 0.5, 0.5)
    assert simplemem.episode_life == 30 * DAY_MS
    assert 0.5 ** (DAY_MS / mofox.half_life) == pytest.approx(0.9)
    assert (mofox.prune_below, mofox.consolidate_batch, mofox.link_candidates, mofox.recall_spread) == (
        0.1,
        100,
        10,
        0.5,
    )
    assert (mofox.link_importance, mofox.link_above, mofox.link_confidence, mofox.recall_related) == (0.5, 0.7, 0.7, 5)
    maibot, soul = PRESETS["maibot"], PRESETS["soulmem"]
    assert (maibot.links_step, maibot.decay_every, maibot.consolidate_every) == (2 * DAY_MS, 3_000_000, 1_000_000)
    assert (maibot.duplicate_above, maibot.keep_information, maibot.fades_links) == (0.7, 1, True)
    assert soul.fades_links, "a link goes below a threshold"
    assert PRESET_MODES["maibot"] == ("subtractive", "")
    assert pytest.approx(0.5 ** (DAY_MS / bank.half_life)) == 2.718281828459045 ** (-DAY_MS / DAY_MS)


def query_with(graph: Graph, **fields: object) -> tuple[object, object]:
    query = with_graph_defaults(Query.model_validate({"graph": "ada", "text": "the cat?", **fields}), graph, POLICIES)
    return query.retriever, query.rerank


def living_by(mode: str, rerank: str = "") -> Graph:
    how = {"preset": "mofox", "settings": PRESETS["mofox"], "mode": mode, "rerank": rerank}
    return folded(GraphConfigured(**UNLINKED, graph="ada", **how), turn_recorded(concepts="cat"))


@pytest.mark.source("M23")
def test_a_question_that_names_no_mode_is_answered_as_its_graph_is_set() -> None:
    mofox, plain = living_by("path", "mofox"), folded(turn_recorded(concepts="cat"))
    assert query_with(plain) == ("default", None)
    assert query_with(mofox) == ("path", "mofox")
    assert query_with(mofox, mode="default") == ("default", None), "who names a mode gets it plainly"
    assert query_with(mofox, mode="ppr") == ("ppr", None)
    assert query_with(mofox, rerank="simplemem") == ("path", "simplemem")
    assert query_with(mofox, memory="working") == ("default", None), "kinds are of the default mode"
    assert query_with(mofox, memory="episodic") == ("default", None), "MoFox has no formula for episodes,"
    hello = living_by("vector", "hello-agents")
    assert query_with(hello, memory="episodic") == ("default", "hello-agents"), "and hello-agents has one"
    assert query_with(hello, memory="working") == ("default", None)
    assert query_with(hello, memory="episodic", mode="default") == ("default", None)
    assert query_with(living_by("of tomorrow", "of others")) == ("default", None), (
        "what this version does not know is left"
    )


def test_how_questions_are_answered_is_stored_and_recorded_where_it_differs() -> None:
    graph, plain = living_by("path", "mofox"), folded(turn_recorded(concepts="cat"))
    again = Graph.unpack(graph.pack())
    assert (again.mode, again.rerank) == ("path", "mofox")
    assert again.digest() == graph.digest() != living_by("default").digest()
    stamp = {"epoch": 1, "claim": "c", "seq": 1, "chain": "x"}
    event = GraphConfigured(
        **stamp, graph="ada", preset="mofox", settings=PRESETS["mofox"], mode="path", rerank="mofox"
    )
    assert decode(encode(event)) == event
    without = GraphConfigured(**stamp, graph="ada", preset="mofox", settings=PRESETS["mofox"])
    assert not any(name in encode(without) for name in (b'"mode"', b'"rerank"', b'"weights"'))
    assert plain.mode == "default"


def test_where_a_graphs_people_are_is_stored_and_recorded_where_it_is_told() -> None:
    settled = GraphConfigured(
        **UNLINKED, graph="ada", preset="default", settings=PRESETS["default"], timezone="Asia/Tokyo"
    )
    graph, plain = folded(settled, turn_recorded(concepts="cat")), folded(turn_recorded(concepts="cat"))
    again = Graph.unpack(graph.pack())
    assert (again.timezone, plain.timezone) == ("Asia/Tokyo", "UTC")
    assert again.digest() == graph.digest() != plain.digest()
    assert with_graph_defaults(Query(graph="ada", text="the cat?", kind="query"), graph, CORE).timezone == "Asia/Tokyo"
    assert (
        with_graph_defaults(Query(graph="ada", text="the cat?", kind="query", timezone="UTC"), graph, CORE).timezone
        == "UTC"
    )
    stamp = {"epoch": 1, "claim": "c", "seq": 1, "chain": "x", "graph": "ada", "preset": "default"}
    configured = GraphConfigured(**stamp, settings=PRESETS["default"], timezone="Asia/Tokyo")
    assert decode(encode(configured)) == configured
    assert b"timezone" not in encode(GraphConfigured(**stamp, settings=PRESETS["default"]))
