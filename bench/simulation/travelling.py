"""Clients whose graphs move to and fro between two partitions while they write and ask, and the movers.

A route is one graph and its two names, one in each partition, as a name decides the partition.  Clients write where
they last saw it, or where it once was, and follow `moved_to`.  A mover does what `emgas admin graph move` does
(streams/cli/exchange/transfer.py): it may be killed, stand still while another one begins, or be cancelled.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench.simulation.broker import Broker
from bench.simulation.clients import Client, Ledger, graphs_of
from bench.simulation.keys import newest_keys
from bench.simulation.oracles import WholeLog
from emgas.errors import EmgasError
from emgas.messages.transfer import Move, Receive
from emgas.times import HOUR_MS
from emgas.wire import partition_of
from replay.transfer import Survey, Transferred, folded, messages, restamped, survey
from state.sealing.keyring import NO_KEYS
from streams.settings import WorkerSettings

ROUTES = 3
PATIENCE = 10.0  # seconds until a client sends again what nothing was told about
LOOKS = 0.2  # seconds between two looks
OVERTAKEN = 0.3  # share of moves whose last message comes before those that it counts
HALF_A_YEAR_MS = 180 * 24 * HOUR_MS


@dataclass
class Route:
    """A graph, its two names, and where it was last seen.

    known       names under which it has lived       said  ids of the turns that clients sent, until one was taken
    unfinished  the name that the newest mover moves it from, until one comes to the end of that
    """

    names: tuple[str, str]
    home: str
    known: list[str]
    said: set[str] = field(default_factory=set)
    latest: int = 0  # time of its latest turn, ms
    unfinished: str | None = None
    mover: asyncio.Task[None] | None = None

    def other(self, name: str) -> str:
        return self.names[name == self.names[0]]

    def seen_at(self, name: str) -> None:
        """Note where it lives."""
        self.home = name
        if name not in self.known:
            self.known.append(name)


class MoveRefusedError(EmgasError):
    """A mover's request was rejected."""


class Traveller(Client):
    """Writes to graphs that move, asks them, and moves them."""

    def __init__(
        self, broker: Broker, settings: WorkerSettings, chance: Random, ledger: Ledger, note: Callable[[str], None]
    ) -> None:
        super().__init__(broker, settings, chance)
        self.ledger = ledger
        self._note = note
        self._numbers = 2 * 10**6  # its ids are its own
        self._imported = {}
        self._is_encrypted = settings.encryption
        names = list(graphs_of(settings.partitions, ROUTES, "moved"))
        self.routes = [Route((names[n], names[n + ROUTES]), names[n], [names[n]]) for n in range(ROUTES)]
        self._still: dict[Any, asyncio.Event] = {}  # movers that stand still at their next request, until it is set
        self.under_way: set[asyncio.Task[None]] = set()

    # to write and to ask

    def do_something(self) -> None:
        """Say something, ask something, change settings or begin a move, of any graph."""
        doing: list[Callable[[Route], object]] = [self.speak, self._ask_somewhere, self._change, self.begin]
        self._chance.choices(doing, [12, 4, 2, 2])[0](self._chance.choice(self.routes))

    def speak(self, route: Route) -> None:
        """Say something that must be in the graph in the end, once, wherever it is."""
        id = f"m{self._number()}"
        route.said.add(id)
        hours = self._chance.choice([1, 1, 30])
        route.latest = max(route.latest + HOUR_MS * hours, self._broker.now() - HALF_A_YEAR_MS)
        self._start(self._spoken(route, {"id": id, "speaker": "Ada", "text": self._text(), "at": route.latest}))

    async def _spoken(self, route: Route, turn: dict[str, Any]) -> None:
        name = self._chance.choice([route.home, route.home, *route.known])
        while True:
            value = json.dumps({**turn, "graph": name}).encode()
            told = await self._outcome(self._publish("moving", name, value, turn["id"]).correlation)
            if told is not None and told["status"] != "rejected":
                return
            if told is not None and told.get("moved_to"):
                name = told["moved_to"]
                route.seen_at(name)
            elif told is not None:
                await asyncio.sleep(self._chance.uniform(0.1, 2.0))

    def _ask_somewhere(self, route: Route) -> None:
        self.ask(self._chance.choice(route.known), **self._chance.choice([{}, {"explain": True}]))

    def _change(self, route: Route) -> None:
        changes = [{"kind": "configure", "preset": "mofox"}, {"kind": "forget", "concepts": ["kettle"]}]
        request = {"id": f"m{self._number()}", "graph": route.home, **self._chance.choice(changes)}
        self._publish("moving", route.home, json.dumps(request).encode(), "")

    async def _outcome(self, correlation: bytes) -> dict[str, Any] | None:
        """Wait for an outcome; None if there is none in time."""
        for _ in range(round(PATIENCE / LOOKS)):
            if (told := self.answer(correlation)) is not None and told["kind"] == "outcome":  # else it is read later
                return told
            await asyncio.sleep(LOOKS)
        return None

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self.under_way.add(task)
        task.add_done_callback(self.under_way.discard)
        return task

    # to move

    def begin(self, route: Route) -> None:
        """Let a mover begin, unless one is at it; it does again what one before it did not finish."""
        if route.mover is None or route.mover.done():
            route.unfinished = route.unfinished or route.home
            route.mover = self._start(self._moved(route, route.unfinished))

    def kill(self, route: Route) -> None:
        """Kill the mover of a graph."""
        if route.mover is not None:
            route.mover.cancel()
            route.mover = None

    def stall(self, route: Route) -> None:
        """Let the mover of a graph stand still at its next request; meanwhile another one may begin."""
        if route.mover is not None and not route.mover.done():
            self._still[route.mover] = asyncio.Event()
            route.mover = None

    def go_on(self) -> None:
        """Let all movers go on that stand still."""
        for each in self._still.values():
            each.set()
        self._still.clear()

    def cancel(self, route: Route) -> None:
        """Cancel a move, unless clients know the other place, or the graph has left."""
        if route.other(route.home) not in route.known:
            self._start(self._cancelled(route, route.home))

    async def _cancelled(self, route: Route, source: str) -> None:
        with suppress(MoveRefusedError):
            await self._request(Move(graph=source, to=route.other(source), phase="cancel"))

    async def _moved(self, route: Route, source: str) -> None:
        """Move a graph, from the beginning until it is there, however often it takes."""
        while True:
            try:
                await self._move(source, route.other(source))
            except MoveRefusedError as error:
                self._note(f"the mover of {source} gets: {error}")
                if any(each in str(error) for each in ("did not begin first", "was moved to", "another run has gone")):
                    break  # another one moved it, or cancelled
            except EmgasError as error:  # the log cannot be read now, or has nothing of it yet
                self._note(f"the mover of {source} waits: {error}")
            else:
                self._note(f"{source} is {route.other(source)} now")
                route.seen_at(route.other(source))
                break
            await asyncio.sleep(self._chance.uniform(0.5, 3.0))
        route.unfinished = None

    async def _move(self, source: str, target: str) -> None:
        """Do what the command does."""
        log, exported, what = await self._outgoing(source, target)
        if not exported.has_left:
            await self._send_all(messages(restamped(log, exported, target), what, opens=False), lives_on=True)
            await self._request(Move(graph=source, to=target, phase="begin", origin=exported.origin, hop=what.hop))
            log, exported, what = await self._outgoing(source, target)
            if self._chance.random() >= OVERTAKEN or not await self._takes(what.message(what.total, [], opens=False)):
                await self._send_all(messages(restamped(log, exported, target), what, opens=False), lives_on=False)
            fields = {"origin": exported.origin, "events": what.total, "hop": what.hop}
            await self._request(Move.model_validate({"graph": source, "to": target, "phase": "finish", **fields}))
        await self._request(what.message(what.total, []))

    async def _outgoing(self, source: str, target: str) -> tuple[WholeLog, Survey, Transferred]:
        log = self.log(source)
        exported = await survey(log, 0, source)
        if exported is None:
            raise EmgasError("nothing to move yet")
        digest = await folded(restamped(log, exported, target), target)
        fields = (exported.origin, exported.events, digest, exported.is_encrypted, exported.hop)
        return log, exported, Transferred(target, *fields)

    def log(self, graph: str) -> WholeLog:
        """Return the log of a graph's partition, with the keys that there are by now."""
        keys = newest_keys(self._broker, self._topics.keys) if self._is_encrypted else NO_KEYS
        return WholeLog(self._broker.log(self._topics.events, partition_of(graph, self._partitions)), keys)

    async def _send_all(self, sending: AsyncIterator[Receive], *, lives_on: bool) -> None:
        async for message in sending:
            if message.events or not lives_on:
                await self._request(message)

    async def _takes(self, message: Receive) -> bool:
        """Send a message; return whether it is taken."""
        try:
            await self._request(message)
        except MoveRefusedError:
            return False
        return True

    async def _request(self, request: Receive | Move) -> None:
        """Send a request until its outcome arrives.  Raises MoveRefusedError."""
        await asyncio.sleep(self._chance.uniform(0.0, 0.5))
        if (still := self._still.get(asyncio.current_task())) is not None:
            await still.wait()
        told = None
        while told is None:
            value = request.model_copy(update={"id": f"x{self._number()}"}).model_dump_json().encode()
            told = await self._outcome(self._publish("moving", request.graph, value, "").correlation)
        if told["status"] == "rejected":
            raise MoveRefusedError(told["reason"])
