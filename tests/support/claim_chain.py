"""Claim + chain under fire: one simulated run per seed, with real events and the real LogPosition and Partition.

Workers take turns from `turns` and append events; owners change, old owners live on as zombies.  What goes wrong:

    always          acks are lost and the event is written again, at once or much later; zombies write; workers die;
                    clients publish turns twice; `turns` has offsets without a record; a claim is written twice;
                    workers do not tell each other apart by name
    "dropped send"  one event of a pipeline fails while later ones land; the worker dies, or carries on unaware
    "lost tail"     acknowledged records at the end of the log vanish before an owner claims (acks=1)

`survived(seed, fault)` runs one and asserts the invariants: no turn lost, none doubled, none out of order, and what is
accepted from a log's beginning is the beginning of what is accepted from the whole.  `stale_positions` yields what
folds may have kept of the tails that were lost.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

from state.events.events import AnyEvent, Claim, TurnRecorded, decode, encode
from state.log_position import Acceptance, LogPosition
from tests.support.builders import concepts_recalled, turn_recorded, turn_rejected
from tests.support.logs import fold

FAULTS = ("none", "dropped send", "lost tail")
NO_RECORD, INVALID = "no record here", "not a turn"
TURNS = 30
STEPS = 500
OWNERS = 12  # claims at most, before the last one

read: lru_cache[AnyEvent] = lru_cache(maxsize=10_000)(decode)  # type: ignore[type-arg,assignment]


class Worker:
    """Owns the partition from its claim until another one claims; then it is a zombie that does not know it."""

    def __init__(self) -> None:
        self.alive = True
        self.buffer: list[bytes] = []  # linked, not written yet
        self.unsure: list[bytes] = []  # written, but the ack was lost: written again some time

    def start(self, at: LogPosition, epoch: int) -> None:
        self.epoch, self.claim, self.seq, self.chain = epoch, at.claim, at.seq, at.chain
        self.position = at.source + 1

    def link(self, build: object, **facts: object) -> None:
        """Put the next event of this worker's chain into its buffer."""
        self.seq += 1
        link = {"epoch": self.epoch, "claim": self.claim, "seq": self.seq, "chain": self.chain[:8].hex()}
        event = build(**link, **facts)  # type: ignore[operator]
        self.buffer.append(encode(event))
        self.chain = hashlib.sha256(self.chain + self.buffer[-1]).digest()


class Simulation:
    """One run."""

    def __init__(self, seed: int, fault: str) -> None:
        self.random = random.Random(seed)
        self.fault = fault
        self.turns = list(self._published())
        self.log: list[bytes] = []
        self.regrown: list[list[bytes]] = []  # the log as it was, each time that a tail was lost
        self.retried: set[bytes] = set()  # written again, late
        self.workers: list[Worker] = []
        self.assign()

    def _published(self) -> Iterator[str]:
        for number in range(TURNS):
            yield f"turn {number}"
            if self.random.random() < 0.3:
                yield self.random.choice([f"turn {self.random.randint(0, number)}", NO_RECORD, INVALID])

    def records(self) -> list[tuple[int, str]]:
        """Return (offset, what it is) of all that `turns` holds."""
        return [(offset, turn) for offset, turn in enumerate(self.turns) if turn != NO_RECORD]

    @property
    def owner(self) -> Worker:
        return self.workers[-1]

    def happens(self, probability: float) -> bool:
        return self.random.random() < probability

    def assign(self) -> None:
        """Let a new worker claim the partition and fold up to its claim."""
        if self.fault == "lost tail" and self.happens(0.5):
            self.regrown.append(list(self.log))
            del self.log[max(0, len(self.log) - self.random.randint(1, 4)) :]
        epoch = len(self.log)  # where a lost claim of a zombie may have lain before
        self.log.append(encode(Claim(writer="worker", partitions=4, nonce=f"{self.random.random()}")))
        newcomer = Worker()
        newcomer.start(folded(self.log)[0], epoch)
        self.workers.append(newcomer)
        if self.happens(0.05):
            self.log.append(self.log[epoch])  # it goes on under its first claim, and is fenced by the very same again

    def consume(self, worker: Worker) -> None:
        """Let a worker read the next turn and link what it makes of it."""
        if worker.position >= len(self.turns):
            return
        turn = self.turns[worker.position]
        if turn == INVALID:
            worker.link(turn_rejected, src=worker.position)
        elif turn != NO_RECORD:
            worker.link(turn_recorded, src=worker.position, id=turn)
        worker.position += 1
        if self.happens(0.1):
            worker.link(concepts_recalled)

    def send(self, worker: Worker) -> None:
        """Write the head of a worker's buffer."""
        value = worker.buffer.pop(0)
        self.log.append(value)
        if self.happens(0.15):
            worker.unsure.append(value)
        if self.fault == "dropped send" and worker.buffer and self.happens(0.05):
            worker.buffer.pop(0)
            self.flush(worker, 2)
            worker.alive = self.happens(0.5)

    def flush(self, worker: Worker, most: int | None = None) -> None:
        self.log += worker.buffer[:most]
        del worker.buffer[:most]

    def write_again(self, values: list[bytes]) -> None:
        self.log += values
        self.retried.update(values)

    def step(self) -> None:
        worker = self.owner if self.happens(0.4) else self.random.choice(self.workers)
        action = self.random.random()
        if worker.unsure and action < 0.1:
            self.write_again([worker.unsure.pop()])  # a retry that arrives late, be its sender dead
        elif worker.alive and action < 0.45 and (worker is self.owner or self.happens(0.5)):
            self.consume(worker)
        elif worker.alive and action < 0.85 and worker.buffer:
            self.send(worker)
        elif action < 0.88:
            worker.alive = False
        elif action < 0.90 and len(self.workers) < OWNERS:
            self.assign()

    def run(self) -> None:
        for _ in range(STEPS):
            self.step()
        for worker in self.random.sample(self.workers, len(self.workers)):
            self.write_again(worker.unsure)
            self.flush(worker)
        last = max(source for source, _ in self.records())
        while folded(self.log)[0].source < last:  # an owner that was fenced has a successor
            self.assign()
            while self.owner.position < len(self.turns):
                self.consume(self.owner)
            self.flush(self.owner)


def folded(log: Sequence[bytes], position: LogPosition = LogPosition()) -> tuple[LogPosition, list[TurnRecorded]]:  # noqa: B008 - is frozen
    """Follow `log` beyond `position`: where that ends, and the turns accepted there (a repeated id among them)."""
    accepted = []
    for offset in range(position.watermark + 1, len(log)):
        value = log[offset]
        event = read(value)
        position, acceptance = position.after(offset, event, value)
        if acceptance is Acceptance.ACCEPTED and isinstance(event, TurnRecorded):
            accepted.append(event)
    return position, accepted


def stale_positions(simulation: Simulation) -> Iterator[LogPosition]:
    """Yield every position that a fold may have kept from before a tail was lost: it is of a log which is no more."""
    for regrown in simulation.regrown:
        position, same = LogPosition(), True
        for offset, value in enumerate(regrown):
            position, _ = position.after(offset, read(value), value)
            same = same and simulation.log[offset : offset + 1] == [value]
            if not same:
                yield position


def survived(seed: int, fault: str) -> Simulation:
    """Run one simulation and assert the invariants."""
    simulation = Simulation(seed, fault)
    simulation.run()
    position, accepted = folded(simulation.log)
    expected = [(source, turn) for source, turn in simulation.records() if turn != INVALID]
    assert [(event.src, event.id) for event in accepted] == expected, "a turn was lost, doubled or reordered"
    state = fold(enumerate(simulation.log))
    graph = state.graph("ada")
    assert graph is not None
    assert graph.passages.ids == list(dict.fromkeys(turn for _, turn in expected)), "a turn counts once, in order"
    assert (state.position.source, state.position.turns) == (position.source, len(graph.passages))
    cut = simulation.random.randrange(len(simulation.log))
    assert folded(simulation.log[:cut])[1] == accepted[: len(folded(simulation.log[:cut])[1])], "not a prefix"
    return simulation
