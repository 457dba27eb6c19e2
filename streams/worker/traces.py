"""A worker's part of a trace: from when a record is handed over to when it is accounted for, or answered.

    process emgas.turns      ends when the turn is folded           process emgas.queries   when the answer is sent

      fold emgas.events    a batch of events, once the log has it         wait, prepare, activate, pack

Each continues the record's `traceparent` (emgas/client/traces.py), or begins a trace of its own.  The span of a record
that is dropped with its partition is not reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from emgas.client.traces import attributes, tracing_enabled
from emgas.wire import Record, as_mapping

End = Callable[[], object]
Begin = Callable[[str, int, Record], End]  # of the record of a topic's partition


def _nothing() -> None:
    """End no trace: tracing is off."""


ANSWERED: ContextVar[End] = ContextVar("answered", default=_nothing)  # of the question that this task answers
SPAN: ContextVar[Any] = ContextVar("span", default=None)  # of the record that this task processes; None: of nothing


def tracing(group: str) -> Begin:
    """Make what begins the spans of a worker of the consumer `group`.  Raises NotInstalledError."""
    return _tracing(group) if tracing_enabled() else lambda topic, partition, record: _nothing


def _tracing(group: str) -> Begin:
    from opentelemetry import trace  # here and below: workers without traces do not pay for the import
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    tracer, propagator = trace.get_tracer("emgas"), TraceContextTextMapPropagator()

    def begin(topic: str, partition: int, record: Record) -> End:
        headers = as_mapping(record.headers)
        carrier = {name: headers[name].decode(errors="replace") for name in propagator.fields if name in headers}
        span_attributes = attributes(topic, partition, record.offset)
        span_attributes |= {"messaging.operation.name": "process", "messaging.operation.type": "process"}
        span_attributes["messaging.consumer.group.name"] = group
        where, kind = propagator.extract(carrier), trace.SpanKind.CONSUMER
        span = tracer.start_span(f"process {topic}", context=where, kind=kind, attributes=span_attributes)
        SPAN.set(trace.set_span_in_context(span))
        return span.end

    return begin


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Open the span of a stage of an answer, below the question that this task answers; none without a trace."""
    where = SPAN.get()
    if where is None:
        yield
        return
    from opentelemetry import trace  # here: as above

    span = trace.get_tracer("emgas").start_span(name, where)
    try:
        yield
    finally:  # it is never the current span: a stage may pause, and others go on meanwhile
        span.end()


def folded(topic: str, partition: int, seconds: float) -> None:
    """Note a batch of events that was just folded and flushed, and how long that took."""
    if not tracing_enabled():
        return
    from opentelemetry import trace  # here: as above

    end = time.time_ns()
    span = trace.get_tracer("emgas").start_span(
        f"fold {topic}", attributes=attributes(topic, partition), start_time=end - round(seconds * 1e9)
    )
    span.end(end)
