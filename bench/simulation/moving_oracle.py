"""What must hold of graphs that moved, by rules that are independent of where the fold says they are.

fence   once a graph leaves, none of its events counts there until it stays after all, or is received again
alive   it lives under one of its names, never under both
one     what one of its names holds is the beginning of what the other one holds, event by event
once    each turn that was said is in its history, and once, be it sent here, there, or again and again
told    in the calm each name answers, or tells the other one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

from bench.simulation.oracles import WholeLog
from bench.simulation.travelling import Route, Traveller
from replay.accepted_events import AcceptedEvents
from replay.transfer import SortedPartition, restamped, survey
from state.events.events import AnyEvent, GraphMoved, GraphReceived, TurnRecorded


async def complaints(traveller: Traveller) -> list[str]:
    """List what is wrong with the graphs that moved."""
    return [each for route in traveller.routes async for each in _of_route(traveller, route)]


async def _of_route(traveller: Traveller, route: Route) -> AsyncIterator[str]:
    shorter, longer = sorted([await _exported(traveller, name, route.names[0]) for name in route.names], key=len)
    if longer[: len(shorter)] != shorter:
        yield f"one: {route.names} have two histories, of {len(shorter)} and {len(longer)} events"
    if len(alive := [name for name in route.names if await _lives(traveller, name)]) > 1:
        yield f"alive: it lives as {alive}"
    recorded = Counter[str]()
    for name in route.names:
        history = [event async for event in _history(traveller.log(name), name)]
        for each in _behind_fence(history):
            yield f"fence: {type(each).__name__} counts in {name} after it left"
        if name == route.home:
            recorded.update(event.id for event in history if isinstance(event, TurnRecorded))
    if twice := [id for id, count in recorded.items() if count > 1]:
        yield f"once: the turns {twice} of {route.home} are recorded twice"
    if lost := sorted(route.said - recorded.keys()):
        yield f"once: the turns {lost} are not in {route.home}, where it is"


async def _exported(traveller: Traveller, name: str, as_: str) -> list[bytes]:
    log = traveller.log(name)
    exported = await survey(log, 0, name)
    return [it.value async for it in restamped(log, exported, as_) if it.key is not None] if exported else []


async def _lives(traveller: Traveller, name: str) -> bool:
    partition = SortedPartition(traveller.log(name), 0)
    await partition.read_on()
    return name in partition.graphs()


def _behind_fence(history: list[AnyEvent]) -> list[AnyEvent]:
    """Return what counts although the graph was leaving, or had left."""
    behind, is_fenced = list[AnyEvent](), False
    for event in history:
        if isinstance(event, GraphReceived | GraphMoved):
            is_fenced = isinstance(event, GraphMoved) and event.phase != "stayed"
        elif is_fenced:
            behind.append(event)
    return behind


async def _history(log: WholeLog, graph: str) -> AsyncIterator[AnyEvent]:
    """Yield the events of a graph that count, and those that say where it is."""
    placing = list[AnyEvent]()

    def note(event: AnyEvent) -> None:
        if isinstance(event, GraphReceived | GraphMoved) and event.graph == graph:
            placing.append(event)

    async for event, _ in AcceptedEvents(on_control=note).read(log, 0, of=graph):
        if event.graph == graph:
            for each in placing:
                yield each
            placing.clear()
            yield event
    for each in placing:
        yield each
