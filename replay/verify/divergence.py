"""Find where a live state left the fold of its log: per graph, the first event that the two folded differently.

stored events    must be the log's, byte for byte: the first that is not is the one
tables at k      must be the fold of the graph's first k events: tells whether it happened before or after
what differs     the first event, on that side of k, that touches any of it: nothing before it can have done so
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from replay.as_of.history import History, histories
from replay.log import LogReader, keys_of
from replay.verify.graph_differences import ValueDifference, concerns, differences
from state.errors import StoreCorruptError, UnreadableEventError, WrongLayoutError
from state.events.events import decode
from state.graph.graph import Graph
from state.log_position import LogPosition
from state.lsm.graph_pages import GraphPages
from state.partition import Partition
from state.sealing.keyring import Keyring
from state.store import keys
from state.store.keys import POSITION
from state.store.store import Store


@dataclass(frozen=True)
class Divergence:
    """A graph whose live state is not the fold of its events.

    what         in words                  exact      whether it is this event, or one from this one on
    offset       of the first event that was taken differently, -1 if that cannot be told; `kind`, `at` (ms): its own
    differences  of the contents, live beside replayed
    """

    graph: str
    what: str
    offset: int = -1
    kind: str = ""
    at: int | None = None
    exact: bool = False
    differences: Sequence[ValueDifference] = field(default=())


async def diverging(log: LogReader, partition: int, store: Store) -> list[Divergence]:
    """Find where the graphs of a store left the fold of `partition` of `log`.

    Raises as `History.read_on`, and what `Partition` raises for a store that cannot be opened.
    """
    head = store.get(POSITION)
    by_graph = await histories(log, partition, LogPosition.of_bytes(head).watermark + 1 if head is not None else 0)
    graph_keys = keys_of(log)
    live = Partition(store, graph_keys=graph_keys)
    names = sorted(by_graph.keys() | set(live.graph_ids()))
    histories_of = ((name, by_graph.get(name) or History(name, keys=graph_keys)) for name in names)
    every = (_diverging(store, live, name, history, graph_keys) for name, history in histories_of)
    return [each for each in every if each is not None]


def _diverging(store: Store, live: Partition, name: str, history: History, graph_keys: Keyring) -> Divergence | None:
    try:
        graph = live.graph(name)
    except (StoreCorruptError, WrongLayoutError, UnreadableEventError) as error:
        return _stored_otherwise(store, history) or Divergence(name, str(error))
    if graph is None:
        return Divergence(name, "the live state does not have it") if history.every else None
    if not history.every:
        return Divergence(name, "the log has no event of it that counts")
    replayed = history.folded()
    if graph.digest() == replayed.digest():
        return None
    return _stored_otherwise(store, history) or _narrowed(store, history, graph, replayed, graph_keys)


def _stored_otherwise(store: Store, history: History) -> Divergence | None:
    """Find the first stored event that is not the log's."""
    prefix = keys.event_prefix(history.graph)
    for key, value in store.scan(prefix, prefix):
        ordinal = keys.ordinal_of_event_key(key)
        if ordinal >= len(history.every):
            return Divergence(history.graph, f"event {ordinal} is stored, the log has {len(history.every)}")
        _, logged = history.every[ordinal]
        if value != logged:
            return _at(history, ordinal, f"is stored otherwise: {_fields(value, logged)}", (), exact=True)
    return None


def _fields(stored: bytes, logged: bytes) -> str:
    """List the fields in which two events differ, for people."""
    try:
        ours, theirs = orjson.loads(stored), orjson.loads(logged)
    except orjson.JSONDecodeError:
        return "what is stored is no event"
    return ", ".join(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def _narrowed(store: Store, history: History, graph: Graph, replayed: Graph, graph_keys: Keyring) -> Divergence:
    """Find the first event that can have made the difference."""
    differing = differences(graph, replayed)
    first, last = 0, len(history.every)
    stored = GraphPages(store, graph_keys).read_graph(history.graph)
    if stored.events:
        count = min(stored.events, last)
        then = differences(stored, history.folded(count))
        first, last, differing = (0, count, then) if then else (count, last, differing)
    there = enumerate(history.ordinals)
    places = (
        ordinal for place, ordinal in there if first <= ordinal < last and concerns(history.event(place), differing)
    )
    ordinal = next(places, first if first < last else last - 1)
    return _at(history, ordinal, _described(differing), differing, exact=False)


def _described(differing: Sequence[ValueDifference]) -> str:
    if not differing:
        return "holds the same in another order"
    first, more = differing[0], len(differing) - 1
    where = " ".join(filter(None, (first.table, first.name, first.column)))
    return f"{where}: live {first.live}, replayed {first.replayed}" + (f", and {more} more" if more else "")


def _at(history: History, ordinal: int, what: str, differing: Sequence[ValueDifference], *, exact: bool) -> Divergence:
    offset, value = history.every[ordinal]
    event = decode(value)
    place = history.graph, what, offset, type(event).__name__, getattr(event, "at", None)
    return Divergence(*place, exact, differing)
