"""Hypothesis strategies for what happens in a partition; its world is small, so that names and turn ids meet again."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from state.events.events import TopicChange
from state.events.extraction_types import Anchor
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.partition import Partition
from state.store.store import MemoryStore
from tests.support.builders import concept
from tests.support.clocks import DAY, NOON
from tests.support.logs import LogWriter, fold

GRAPHS = ("ada", "ada2", "bob")
WORDS = ("coffee", "tea", "milk", "sugar", "@day:2023-05-08", "咖啡")

Step = tuple[str, dict[str, Any]]  # a method of LogWriter and its arguments

_times = st.integers(NOON - 400 * DAY, NOON + 400 * DAY)
_graph = st.sampled_from(GRAPHS)
_concepts = st.lists(
    st.builds(
        concept,
        st.sampled_from(WORDS),
        st.sampled_from(["Coffee", "coffees", "tea"]),
        st.integers(0, 10**6).map(lambda millionths: millionths / 10**6),
        st.integers(1, 9),
    ),
    max_size=len(WORDS),
    unique_by=lambda concepts: concepts.id,
)
_turn = st.fixed_dictionaries(
    {"graph": _graph, "at": _times, "concepts": _concepts, "session": st.sampled_from(["main", "work"])},
    optional={
        "id": st.sampled_from(["a", "b", "c"]),
        "speaker": st.sampled_from(["Ada", "Bob"]),
        "importance": st.sampled_from([0.0, 0.5, 0.81, 1.0]),
        "anchor": st.sampled_from([Anchor("code", "forced"), Anchor("promise", "spontaneous")]),
    },
)
_recall = st.fixed_dictionaries(
    {"graph": _graph, "at": _times, "concepts": st.lists(st.sampled_from(WORDS), max_size=3)}
)
_words = st.lists(st.sampled_from(WORDS), max_size=4)  # an event may name one twice, or one that is gone
_turns = st.lists(st.sampled_from(["a", "b", "c", *(f"t{number}" for number in range(12))]), max_size=4)
_topics = st.lists(
    st.builds(
        TopicChange,
        id=st.sampled_from(["topic-0", "topic-1"]),
        change=st.sampled_from(["born", "changed", "died"]),
        label=st.sampled_from(WORDS),
        concepts=_words,
    ),
    max_size=3,
)
_settings = st.fixed_dictionaries(
    {"graph": _graph, "preset": st.sampled_from(sorted(PRESETS))},
    optional={"stability": st.integers(0, 200), "half_life": st.integers(1, 100 * DAY), "wished": st.booleans()},
)
_decay = st.fixed_dictionaries({"graph": _graph, "at": _times, "concepts": _words, "turns": _turns})
_links = st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=4), max_size=2)
_fading = st.fixed_dictionaries(
    {"graph": _graph, "at": _times, "concepts": _words, "turns": _turns}, optional={"links": _links}
)
_consolidation = st.fixed_dictionaries(
    {
        "graph": _graph,
        "at": _times,
        "consolidated": _words,
        "topics": _topics,
        "merged": st.lists(st.tuples(st.just("a"), st.sampled_from(["b", "c", "t1", "t3"])), max_size=2),
        "repeats": st.lists(st.tuples(st.sampled_from(["a", "t0"]), st.sampled_from(["b", "c", "t2"])), max_size=2),
    }
)
_session = st.sampled_from(["main", "work"])
_named_turn = st.sampled_from(["a", "b", "c", *(f"t{number}" for number in range(12))])
_end = st.fixed_dictionaries({"graph": _graph, "at": _times, "session": _session, "through": _named_turn})
_summary = st.fixed_dictionaries({"graph": _graph, "at": _times, "session": _session, "turns": _turns})
_rights = st.fixed_dictionaries(
    {
        "graph": _graph,
        "subject": st.sampled_from(["bob", "cyd"]),
        "rights": st.lists(st.sampled_from(["read", "write", "admin"]), min_size=1, max_size=2),
    }
)
_vector = st.fixed_dictionaries(
    {
        "graph": _graph,
        "vector": st.lists(st.sampled_from([0.0, -0.0, 0.5, -1.0, 65504.0]), min_size=1, max_size=2),
        "model": st.sampled_from(["m 1", "m 2"]),
    },
    optional={"id": st.sampled_from(["a", "b", "c"])},
)
_life: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("configure"), _settings),
    st.tuples(st.just("forget"), st.fixed_dictionaries({"graph": _graph, "concepts": _words, "turns": _turns})),
    st.tuples(
        st.just("judge"),
        st.fixed_dictionaries(
            {"graph": _graph, "concepts": _words, "turns": _turns, "value": st.sampled_from([-1.0, -0.5, 0.5, 1.0])}
        ),
    ),
    st.tuples(
        st.sampled_from(["pin", "unpin"]),
        st.fixed_dictionaries({"graph": _graph, "concepts": _words, "turns": _turns}),
    ),
    st.tuples(st.just("end"), _end),
    st.tuples(st.just("sum_up"), _summary),
    st.tuples(st.just("pass_over"), st.fixed_dictionaries({"graph": _graph})),
    st.tuples(st.sampled_from(["grant", "revoke"]), _rights),
    st.tuples(st.just("tick"), st.fixed_dictionaries({"graph": _graph, "at": _times})),
    st.tuples(st.just("decay"), _decay),
    st.tuples(st.just("archive"), _fading),
    st.tuples(st.sampled_from(["archive", "restore"]), _decay),
    st.tuples(st.just("embed"), _vector),
    st.tuples(st.just("consolidation"), _consolidation),
)
_step: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("turn"), _turn),
    st.tuples(st.just("turn"), _turn),
    st.tuples(st.just("recall"), _recall),
    _life,
    st.tuples(st.sampled_from(["claim", "reject", "duplicate"]), st.just({})),
)


_undo: st.SearchStrategy[Step] = st.tuples(
    st.just("undo"), st.fixed_dictionaries({"graph": _graph, "back": st.integers(0, 12), "count": st.integers(1, 8)})
)
_forgetful = st.tuples(
    st.just("configure"), st.fixed_dictionaries({"graph": _graph, "undo_events": st.sampled_from([0, 1, 5, 12])})
)


def steps_taken_back(max_size: int = 40) -> st.SearchStrategy[list[Step]]:
    """Return a strategy for what happens where much is taken back, and what was taken back too: for `written`."""
    return st.lists(st.one_of(_step, _step, _undo, _undo, _forgetful), max_size=max_size)


def steps(max_size: int = 25) -> st.SearchStrategy[list[Step]]:
    """Return a strategy for what happens in a partition: pass it to `written`."""
    return st.lists(_step, max_size=max_size)


def written(happened: list[Step], *, stride: int = 1) -> LogWriter:
    """Return the log of what happened."""
    log = LogWriter(stride=stride)
    reference = Partition(MemoryStore())
    for method, arguments in happened:
        if method == "undo":
            fold(log.records[reference.position.watermark // stride + 1 :], reference)
            _take_back(log, reference.graph(arguments["graph"]), arguments["back"], arguments["count"])
        else:
            getattr(log, method)(**arguments)
    return log


def _take_back(log: LogWriter, graph: Graph | None, back: int, count: int) -> None:
    """Take back `count` events, from the one `back` before the newest on, as far back as an honest owner may."""
    if graph is not None and graph.undoable_from < graph.events:
        first = max(graph.undoable_from, graph.events - 1 - back)
        log.undo(graph=graph.graph_id, first=first, last=min(first + count, graph.events) - 1)
