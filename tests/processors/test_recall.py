"""Recall over folded graphs: seeds, the two modes, laws of the ranking, filters, ties, and the path-finding example."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.filters import Filter
from emgas.messages.settings.modes import Mode
from lab.catalogue import POLICIES
from lab.retrievers import literal
from lab.retrievers.literal import LITERAL
from processors.extraction.extractor import Extraction, Extractor
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.ranking.activation import DEFAULT, SpreadingParameters
from processors.recall.ranking.weights import FEATURES, NO_FLOW, FlowWeights
from processors.recall.retrieval.policies import RecallRequest
from processors.recall.retrieval.recall import (
    MOST_RECALLED,
    RECALLED_ABOVE,
    RecallOptions,
    RecallResult,
)
from processors.recall.retrieval.retrieval import retrieve
from state.events.events import TurnRecorded
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from tests.support.builders import decay_closed, turn_recorded

recall = partial(retrieve, policies=POLICIES)
CONTROL = RecallOptions(spreading=replace(DEFAULT, propagation_decay=0.0))
MAY_8 = 1_683_554_160_000


@dataclass(frozen=True)
class Utterance:
    """A turn given by its concepts."""

    concepts: Sequence[str]
    speaker: str = "Ada"
    session: str = "s"
    asks: bool = False


def ask_by(texts: Sequence[str], question: str, asker: str = "") -> list[int]:
    """Rank turns written "speaker: text" for a question, with the extractor that everybody has."""
    extractor, graph = YakeExtractor(), Graph("g")
    for number, turn in enumerate(texts):
        speaker, _, text = turn.partition(": ")
        extraction = extractor.of_turn(text, speaker=speaker, at=MAY_8 + number)
        graph.fold(recorded(number, speaker, f"s{number // 2}", text, extraction, "x"))
    options = RecallOptions(asker=asker)
    return [each.number for each in recall(graph.view(), extractor.of_query(question), question, options).passages]


@pytest.mark.parametrize(
    ("texts", "then"),
    [
        (["Ada: I live in Porto.", "Ada: Tea?", "Ada: I live in Basel.", "Ada: Yes!"], "Where does Ada live?"),
        (["Ada: 我住在里斯本。", "Ada: 喝茶。", "Ada: 我住在巴塞尔。", "Ada: 好。"], "Ada住在哪里?"),
    ],
)
def test_now_prefers_the_latest_of_what_is_said_about_the_same_thing(texts: list[str], then: str) -> None:
    now = then.replace("live", "live now").replace("住", "现在住")
    assert ask_by(texts, now)[0] == 2
    assert set(ask_by(texts, then)[:2]) == {0, 2}
    assert ask_by([texts[2], texts[1], texts[0], texts[3]], now)[0] == 2


def named(concepts: Iterable[str]) -> tuple[Concept, ...]:
    return tuple(Concept(concept, concept, 0.5, 1) for concept in dict.fromkeys(concepts))


def query_of(*concepts: str) -> Extraction:
    return Extraction(named(concepts), True, len(concepts))


def folded(turns: Sequence[Utterance]) -> Graph:
    graph = Graph("g")
    for number, turn in enumerate(turns):
        words = named([*turn.concepts, f"@speaker:{turn.speaker.casefold()}"])
        extraction = Extraction(words, turn.asks, len(turn.concepts))
        graph.fold(recorded(number, turn.speaker, turn.session, "", extraction, "by hand"))
    return graph


def recorded(number: int, speaker: str, session: str, text: str, extraction: Extraction, version: str) -> TurnRecorded:
    facts = {"question": extraction.question, "tokens": extraction.tokens, "concepts": list(extraction.concepts)}
    fields = {"id": f"t{number}", "session": session, "speaker": speaker, "text": text, "at": MAY_8 + number}
    return turn_recorded(**fields, **facts, graph="g", role=None, extractor=version)


def ranking(result: RecallResult) -> list[int]:
    return [passage.number for passage in result.passages]


def in_mode(mode: Mode, spreading: SpreadingParameters | None = None) -> RecallOptions:
    return RecallOptions(mode, spreading or POLICIES.retriever(mode).spreading)


# --- what is asked -----------------------------------------------------------------------------------------------


@pytest.mark.source("M15")
@pytest.mark.parametrize("mode", ["default", "literal"])
@pytest.mark.parametrize("turns", [[], [Utterance(["tea"])]], ids=["an empty graph", "a graph"])
def test_a_question_of_unknown_things_recalls_nothing(mode: Mode, turns: list[Utterance]) -> None:
    result = recall(folded(turns).view(), query_of("volcano"), "volcano?", in_mode(mode))
    assert result == RecallResult((), (), (), 0, False)


@pytest.mark.source("E18")
def test_seeds_are_the_known_concepts_and_the_speakers_that_are_named() -> None:
    view = folded([Utterance(["tea", "@time"]), Utterance(["milk"], "Ben")]).view()
    seeds = recall(view, query_of("milk", "volcano", "@time"), "When did Ada and Ben …?", CONTROL).seeds
    assert [seed.id for seed in seeds] == ["milk", "@speaker:ada", "@speaker:ben"]
    assert {seed.energy for seed in seeds} == {1.0}
    assert all(seed.path == [seed.id] for seed in seeds)


def test_in_literal_mode_no_mark_is_a_node() -> None:
    view = folded([Utterance(["tea", "@time", "cup"])] + [Utterance(["sun"])] * 3).view()
    result = recall(view, query_of("tea", "@time"), "When did Ada …?", in_mode("literal"))
    assert [seed.id for seed in result.seeds] == ["tea"]
    assert result.woken == len(result.concepts) == 2


TEA = [
    Utterance(["tea", "cup"], session="s"),
    Utterance(["tea", "pot"], session="t"),
    Utterance(["cup"], session="u"),
    *[Utterance(["sun"], "Ben", session="v")] * 4,
]


def test_listed_concepts_are_words_by_energy_and_show_how_they_were_reached() -> None:
    concepts = recall(folded(TEA).view(), query_of("tea"), "tea", in_mode("default")).concepts
    assert [(concept.id, concept.path) for concept in concepts] == [
        ("tea", ["tea"]),
        ("pot", ["tea", "pot"]),  # never seen without tea, so tied to it more strongly
        ("cup", ["tea", "cup"]),
    ]


def test_a_word_whose_turns_have_left_still_leads_to_its_neighbours() -> None:
    graph = folded([Utterance(["kettle", "tea"]), Utterance(["milk", "tea"]), *[Utterance(["piano"])] * 9])
    graph.fold(decay_closed(graph="g", turns="t0"))
    result = recall(graph.view(), query_of("kettle"), "kettle", in_mode("default"))
    assert [seed.id for seed in result.seeds] == ["kettle"]
    assert "tea" in {concept.id for concept in result.concepts}
    assert ranking(result)[:1] == [0], "t1, now that t0 has left"


def test_limits_are_kept() -> None:
    view = folded([Utterance(["tea", "cup"])] * 5 + [Utterance(["sun"])] * 5).view()
    nothing = recall(view, query_of("tea"), "tea", replace(CONTROL, concepts=0, passages=0))
    assert (nothing.concepts, nothing.passages) == ((), ())
    assert len(recall(view, query_of("tea"), "tea", replace(CONTROL, passages=3)).passages) == 3


def test_of_equal_scores_the_newer_comes_first() -> None:
    turns = [Utterance(["tea"], session=f"s{number}") for number in range(20)]
    for mode in ("default", "literal"):
        assert ranking(recall(folded(turns).view(), query_of("tea"), "tea", in_mode(mode))) == list(range(20))[::-1]
        few = replace(in_mode(mode), passages=7)
        assert ranking(recall(folded(turns).view(), query_of("tea"), "tea", few)) == list(range(20))[:-8:-1]


def test_recall_changes_nothing_and_does_not_depend_on_how_the_graph_came_to_be() -> None:
    graph = folded([Utterance([f"c{number % 7}", f"c{number % 5}"], asks=number % 3 == 0) for number in range(150)])
    before = graph.digest()
    for mode in ("default", "literal"):
        here = recall(graph.view(), query_of("c1", "c3"), "Ada?", in_mode(mode))
        assert here == recall(Graph.unpack(graph.pack()).view(), query_of("c1", "c3"), "Ada?", in_mode(mode))
    assert graph.digest() == before


@pytest.mark.source("M25")
def test_reinforcement_records_seeds_and_strong_concepts_however_many_are_listed() -> None:
    loosely = Utterance(["bag", *(f"c{number}" for number in range(30))], session="w")
    view = folded([*TEA, loosely]).view()
    shown, hidden = (
        recall(view, query_of("tea", "bag"), "Ada", replace(in_mode("default"), concepts=listed)) for listed in (100, 0)
    )
    assert {concept.id for concept in shown.concepts if concept.energy > RECALLED_ABOVE} == {"tea", "bag", "pot", "cup"}
    assert len(shown.concepts) > 30
    assert hidden.concepts == ()
    assert shown.recalled == hidden.recalled == ("tea", "bag", "@speaker:ada", "pot", "cup")


@pytest.mark.parametrize("mode", ["default", "literal"])
def test_reinforcement_records_no_more_than_the_strongest(mode: Mode) -> None:
    many = folded(
        [*(Utterance(["tea", f"c{n}"], session=f"{n}") for n in range(30)), *[Utterance(["sun"])] * 99]
    ).view()
    assert len(recall(many, query_of("tea"), "tea", replace(in_mode(mode), concepts=100)).recalled) == MOST_RECALLED


# --- how passages score ------------------------------------------------------------------------------------------


conversations = st.lists(
    st.builds(
        Utterance,
        concepts=st.lists(st.sampled_from("abcd"), unique=True, max_size=3),
        speaker=st.sampled_from(["Ada", "Ben"]),
        session=st.sampled_from(["s", "t", "u"]),
        asks=st.booleans(),
    ),
    min_size=1,
    max_size=14,
)
ONLY_MATCH = FlowWeights(**dict.fromkeys(FEATURES, 0.0) | {"match": 1.0})


@given(turns=conversations, words=st.sets(st.sampled_from("abcd"), min_size=1))
def test_without_flow_a_passage_scores_by_what_it_mentions_itself(turns: list[Utterance], words: set[str]) -> None:
    mean = max(sum(len(turn.concepts) for turn in turns) / len(turns), 1)

    def idf(concept: str) -> float:
        number = sum(concept in turn.concepts for turn in turns)
        return math.log(1 + (len(turns) - number + 0.5) / (number + 0.5))

    present = {word for word in words if any(word in turn.concepts for turn in turns)}
    total = math.sqrt(sum(map(idf, present)) or 1)
    length = [1.9 / (1 + 0.9 * (0.6 + 0.4 * len(turn.concepts) / mean)) for turn in turns]
    expected = [
        sum(map(idf, present.intersection(turn.concepts))) * damped / total
        for turn, damped in zip(turns, length, strict=True)
    ]
    options = RecallOptions(flow=ONLY_MATCH)
    passages = recall(folded(turns).view(), query_of(*sorted(words)), "?", options).passages
    assert {p.number: p.score for p in passages} == pytest.approx({i: s for i, s in enumerate(expected) if s > 0})


@given(turns=conversations, words=st.sets(st.sampled_from("abcd"), min_size=1))
def test_without_flow_no_turn_counts_for_another(turns: list[Utterance], words: set[str]) -> None:
    alone = [Utterance(turn.concepts, turn.speaker, f"{number}", turn.asks) for number, turn in enumerate(turns)]
    options = RecallOptions(flow=NO_FLOW)
    here, apart = (
        recall(folded(utterances).view(), query_of(*sorted(words)), "?", options) for utterances in (turns, alone)
    )
    # Equal up to rounding: BLAS adds up a column by another order in another place (edge_scores.py `match`).
    assert dict(here.passages) == pytest.approx(dict(apart.passages))


@given(turns=conversations, words=st.sets(st.sampled_from("abcd"), min_size=1))
def test_the_order_of_sessions_changes_no_score(turns: list[Utterance], words: set[str]) -> None:
    order = sorted(range(len(turns)), key=lambda number: turns[number].session)
    scores = []
    for numbers in (range(len(turns)), order):
        view = folded([turns[number] for number in numbers]).view()
        result = recall(view, query_of(*sorted(words)), "Ada?", RecallOptions()).passages
        scores.append({numbers[passage.number]: passage.score for passage in result})
    # The graph counts a turn with the one before it in its session, so associations are the same too.
    assert scores[0] == pytest.approx(scores[1])


def test_the_answer_to_a_question_comes_before_what_merely_stands_nearby() -> None:
    turns = [
        Utterance(["x"]),
        Utterance(["tea"], asks=True),
        Utterance(["milk"], "Ben"),
        Utterance(["y"]),
        Utterance(["z"]),
        Utterance(["w"]),
    ]
    assert ranking(recall(folded(turns).view(), query_of("tea"), "Ben: tea?", RecallOptions()))[0] == 2


@pytest.mark.parametrize(
    "text", ["Hi Ada!", "Good morning, Ada", "Hey Ada, how are you?", "谢谢", "你好呀", "Thanks a lot!"]
)
def test_a_greeting_recalls_nothing(text: str) -> None:
    view = folded([Utterance(["tea"]), Utterance(["milk"], "Ben")]).view()
    assert recall(view, query_of("tea"), text, RecallOptions()).passages == ()
    assert recall(view, query_of("tea"), f"{text} Where is the tea?", RecallOptions()).passages != ()


def test_a_question_that_leaves_it_open_gets_as_many_passages_as_it_needs() -> None:
    view = folded([Utterance(["tea", f"c{number}"]) for number in range(40)]).view()

    def count_passages(text: str) -> int:
        return len(recall(view, query_of("tea"), text, RecallOptions(passages=None)).passages)

    assert count_passages("Where is the tea?") == 3
    assert 3 < count_passages("Which teas did Ada and Ben both drink?") <= 20


FILTERED = [
    Utterance(["tea"], "Ada", "s"),
    Utterance(["tea", "cup"], "Ben", "s"),
    Utterance(["tea"], "Ada", "t"),
    Utterance(["tea"], "Ben", "t"),
]


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter(), {0, 1, 2, 3}),
        (Filter(sessions=["t", "unknown"]), {2, 3}),
        (Filter(speakers=["Ben"]), {1, 3}),
        (Filter(sessions=["t"], speakers=["Ben"]), {3}),
        (Filter(since=MAY_8 + 1, until=MAY_8 + 3), {1, 2}),
        (Filter(concepts=["cup", "unknown"]), {1}),
        (Filter(concepts=["unknown"]), set()),
        (Filter(speakers=["unknown"]), set()),
        (Filter(exclude=["t0", "t3", "unknown"]), {1, 2}),
        (Filter(roles=["assistant"]), set()),
        (Filter(min_importance=0.5, pinned=False), {0, 1, 2, 3}),
        (Filter(min_importance=0.51), set()),
        (Filter(pinned=True), set()),
    ],
)
@pytest.mark.parametrize("mode", ["default", "literal"])
def test_a_filter_lets_through_what_it_says(mode: Mode, only: Filter, expected: set[int]) -> None:
    view = folded(FILTERED).view()
    options = replace(in_mode(mode), only=only)
    assert set(ranking(recall(view, query_of("tea"), "tea?", options))) == expected


def test_a_filter_changes_no_score_of_what_it_lets_through() -> None:
    view = folded(FILTERED).view()
    every = dict(recall(view, query_of("tea"), "tea?", RecallOptions()).passages)
    some = recall(view, query_of("tea"), "tea?", RecallOptions(only=Filter(exclude=["t1"]))).passages
    assert dict(some) == {number: score for number, score in every.items() if number != 1}


def test_an_embedding_joins_as_one_more_term() -> None:
    view = folded([Utterance(["tea"], session=f"{number}") for number in range(4)]).view()
    plain = dict(recall(view, query_of("tea"), "tea?", RecallOptions()).passages)
    cosine = np.array([0.1, 0.1, 0.5, 0.1])
    joined = dict(recall(view, query_of("tea"), "tea?", RecallOptions(), cosine).passages)
    above = RecallOptions().flow["dense"] * (cosine - cosine.mean()) / cosine.std()
    assert joined == pytest.approx({number: score + above[number] for number, score in plain.items()})
    assert ranking(recall(view, query_of("volcano"), "volcano?", RecallOptions(), cosine)) == [2]


def test_literal_mode_ranks_by_the_energy_that_a_passage_holds() -> None:
    turns = [Utterance(["tea"]), Utterance(["tea", "cup"]), Utterance(["cup"]), Utterance(["sun"]), Utterance(["rain"])]
    how = replace(LITERAL, max_iterations=1)
    result = recall(folded(turns).view(), query_of("tea"), "tea", in_mode("literal", how))
    energy = {concept.id: concept.energy for concept in result.concepts}
    assert energy == {"tea": 1.0, "cup": pytest.approx(0.5 * math.log(5 / 4))}
    assert dict(result.passages) == pytest.approx({1: sum(energy.values()), 0: 1.0, 2: energy["cup"]})


@pytest.mark.source("E27")
def test_in_literal_mode_only_the_most_active_concepts_name_passages() -> None:
    turns = [Utterance(["tea"]), Utterance(["tea", "cup"]), Utterance(["cup"]), Utterance(["sun"]), Utterance(["rain"])]
    options = in_mode("literal", replace(LITERAL, max_iterations=1))
    request = RecallRequest(folded(turns).view(), query_of("tea"), "tea", options)
    assert ranking(literal.retrieve(request, sources=1)) == [1, 0]


# --- the seed's example of path finding (000 §4.2) ---------------------------------------------------------------

TALK = [
    ("a", "Lin", "On Monday we visited Stanford."),
    ("a", "Max", "How was the visit?"),
    ("a", "Lin", "Thomas Südhof, the Stanford professor, showed us his laboratory."),
    ("a", "Max", "Lucky you! I spent Monday repairing my bicycle."),
    ("a", "Lin", "Is the tire flat again?"),
    ("a", "Max", "Yes, and the repair shop was closed."),
    ("b", "Max", "My grandmother planted tomatoes and beans on her balcony."),
    ("b", "Lin", "Beans grow quickly, but my tomatoes never survive."),
    ("b", "Max", "She waters them every evening."),
    ("b", "Lin", "Shall we cook noodles with beans tonight?"),
    ("b", "Max", "Great, I will buy ginger and tofu."),
    ("b", "Lin", "And chili, please. The market closes at eight."),
    ("c", "Lin", "I listened to a podcast about Alzheimer's on the train."),
    ("c", "Max", "Anything new?"),
    ("c", "Lin", "Südhof explained how synapses change in Alzheimer's."),
    ("c", "Max", "Interesting. My train was late, so I finished a novel."),
    ("c", "Lin", "Which novel?"),
    ("c", "Max", "A detective story that plays in Lisbon."),
    ("d", "Max", "I booked a flight to Lisbon for August."),
    ("d", "Lin", "Take the old tram there, and eat custard tarts."),
]
QUESTION = "Which Stanford professor works on Alzheimer's?"
TELLING = {2, 14}  # the passages that name Südhof


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return YakeExtractor()


@pytest.fixture(scope="module")
def talk(extractor: Extractor) -> Graph:
    graph = Graph("g")
    for number, (session, speaker, text) in enumerate(TALK):
        extraction = extractor.of_turn(text, speaker=speaker, at=MAY_8 + number)
        graph.fold(recorded(number, speaker, session, text, extraction, extractor.version))
    return graph


def energy_of_suedhof(talk: Graph, question: Extraction, options: RecallOptions) -> float:
    concepts = recall(talk.view(), question, "", replace(options, concepts=100)).concepts
    return {concept.id: concept.energy for concept in concepts}.get("südhof", 0.0)


def test_no_passage_names_both_stanford_and_alzheimers() -> None:
    assert not any("Stanford" in text and "Alzheimer" in text for _, _, text in TALK)


@pytest.mark.source("E26")
@pytest.mark.parametrize("mode", ["default", "literal"])
def test_stanford_and_alzheimers_together_wake_suedhof(mode: Mode, talk: Graph, extractor: Extractor) -> None:
    result = recall(talk.view(), extractor.of_query(QUESTION), QUESTION, in_mode(mode))
    seeds = {seed.id for seed in result.seeds}
    suedhof = next(concept for concept in result.concepts if concept.label == "Südhof")
    assert "südhof" not in seeds
    assert suedhof.path[0] in seeds
    assert suedhof.path[-1] == "südhof"
    assert result.passages[0].number in TELLING
    assert set(ranking(result)[:5]) >= TELLING


@pytest.mark.parametrize("mode", ["default", "literal"])
def test_suedhof_gathers_energy_from_stanford_and_from_alzheimers(mode: Mode, talk: Graph) -> None:
    both = energy_of_suedhof(talk, query_of("stanford", "alzheimer"), in_mode(mode))
    for alone in ("stanford", "alzheimer"):
        assert 0 < energy_of_suedhof(talk, query_of(alone), in_mode(mode)) < both


@pytest.mark.parametrize("mode", ["default", "literal"])
def test_without_propagation_suedhof_stays_asleep(mode: Mode, talk: Graph, extractor: Extractor) -> None:
    options = in_mode(mode, replace(POLICIES.retriever(mode).spreading, propagation_decay=0.0))
    assert energy_of_suedhof(talk, extractor.of_query(QUESTION), options) == 0.0
