"""Prometheus counters and timers of a worker.  Values that are read at a scrape: gauges.py.

    emgas_turns_total{result}         accepted, duplicate, rejected: once, when folded
    emgas_lost_turns_total            expired, or deleted, before anybody read them
    emgas_dead_letters_total          records that could not be accepted, and were kept
    emgas_answers_total{result}       reply, outcome, …, or the code of a failure: overloaded, not-yet, …
    emgas_ignored_events_total{reason}  of the log, met beside our own: fenced (a zombie's), gap
    emgas_claims_total                partitions taken up
    emgas_rebalances_total            times that the group took partitions away
    emgas_halts_total{what,error}     the worker, or a partition alone, by the class of the error
    emgas_advice_total{kind,result}   name, rate, …: given, late, unfit, sent, … (docs/lifecycle.md)
    emgas_append_seconds              from the first event of an append to the last ack
    emgas_fold_seconds                to fold and flush what was appended
    emgas_answer_seconds              of questions: waited and recalled

No label names a graph, a turn or a speaker.  Each worker has a registry of its own: two in one process do not mix.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from pydantic import BaseModel

from emgas.messages.queries import Reply
from emgas.messages.requests import Failure
from emgas.wire import Headers, Record, ReplyAddress
from streams.transport.sender import MessageSender
from streams.worker.traces import ANSWERED, folded

# A turn or an answer takes about a millisecond where all goes well, and seconds where a broker or a disk does not.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
RESULTS = ("accepted", "duplicate", "rejected")


class WorkerMetrics:
    """The metrics of one worker, listed above.  `last_folds`: partition → when something was last folded, s."""

    def __init__(self, events: str = "emgas.events") -> None:
        """`events`: the topic of the log."""
        self._events = events
        self.registry = CollectorRegistry()
        self.last_folds: dict[int, float] = {}
        self.turns = self._counter("turns", "Turns accounted for.", "result")
        self.lost_turns = self._counter("lost_turns", "Turns that were gone before anybody read them.")
        self.dead_letters = self._counter("dead_letters", "Records that could not be accepted, and were kept.")
        self.answers = self._counter("answers", "Answers sent, by kind, or by the code of a failure.", "result")
        self.ignored = self._counter("ignored_events", "Events of the log that the fold did not accept.", "reason")
        self.claims = self._counter("claims", "Partitions taken up.")
        self.rebalances = self._counter("rebalances", "Times that the group took partitions away.")
        self.halts = self._counter(
            "halts", "Halts: of the worker for good, of a partition for a while.", "what", "error"
        )
        self.advice = self._counter("advice", "What became of what an advisor was asked.", "kind", "result")
        self.append_seconds = self._histogram("append_seconds", "From the first event of an append to the last ack.")
        self.fold_seconds = self._histogram("fold_seconds", "To fold and flush what was appended.")
        self.answer_seconds = self._histogram("answer_seconds", "For which a question waited and was answered.")
        self._turns, self._answers = cache(self.turns.labels), cache(self.answers.labels)  # kept: there are few
        for result in RESULTS:
            self.turns.labels(result)  # a rate can only be told of what was 0 before

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"emgas_{name}", description, labels, registry=self.registry)

    def _histogram(self, name: str, description: str) -> Histogram:
        return Histogram(f"emgas_{name}", description, buckets=SECONDS, registry=self.registry)

    def count_outcome(self, result: str) -> None:
        """Count a turn that is accounted for."""
        self._turns(result).inc()

    def advised(self, kind: str, result: str) -> None:
        """Count the result of a task of an advisor."""
        self.advice.labels(kind, result).inc()

    def appended(self, partition: int, append_seconds: float, fold_seconds: float) -> None:
        """Time an append to a partition's log, and its fold."""
        self.append_seconds.observe(append_seconds)
        self.fold_seconds.observe(fold_seconds)
        self.last_folds[partition] = time.time()
        folded(self._events, partition, fold_seconds)

    def followed(self, partition: int) -> None:
        """Note that an event of another worker was folded."""
        self.last_folds[partition] = time.time()

    def answered(self, message: BaseModel) -> None:
        """Count an answer; time it, if it is a question's."""
        kind = (
            message.code if isinstance(message, Failure) else getattr(message, "kind", type(message).__name__.lower())
        )
        self._answers(kind).inc()
        if isinstance(message, Reply):
            self.answer_seconds.observe((message.timing.waited_ms + message.timing.recall_ms) / 1000)


class CountingSender(MessageSender):
    """A MessageSender whose answers and dead letters are counted; an answer ends the trace of its question."""

    def __init__(self, metrics: WorkerMetrics, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._metrics = metrics

    def start(
        self, to: ReplyAddress | None, kind: str, message: BaseModel, done: Callable[[], object] = lambda: None
    ) -> None:
        self._metrics.answered(message)
        super().start(to, kind, message, done)
        ANSWERED.get()()

    async def dead_letter(self, record: Record, errors: Headers) -> None:
        await super().dead_letter(record, errors)
        self._metrics.dead_letters.inc()
