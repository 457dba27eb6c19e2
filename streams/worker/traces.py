"""A worker's part of a trace: from when a record is handed over to when it is accounted for, or answered.

    process emgas.turns      ends when the turn is folded           process emgas.queries   when the answer is sent

Each goes on from the record's `traceparent` (emgas/client/traces.py), or begins a trace of its own.  What was dropped
with its partition ends nowhere, and is not told.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from emgas.client.traces import attributes, tracing_enabled
from emgas.wire import Record, as_mapping

End = Callable[[], object]
Begin = Callable[[str, int, Record], End]  # of the record of a topic's partition


def _nothing() -> None:
    """End no trace: tracing is off."""


ANSWERED: ContextVar[End] = ContextVar("answered", default=_nothing)  # of the question that this task answers


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
        return tracer.start_span(f"process {topic}", context=where, kind=kind, attributes=span_attributes).end

    return begin


def configure() -> None:
    """Send this process's traces where OTEL_* says, by OTLP; a name of the service that is set there counts."""
    if not tracing_enabled():
        return
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: "emgas-worker"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
