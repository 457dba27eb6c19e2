"""Traces of a request to a gateway, a client's call, the record that it sends, and the worker's part.

    POST /v1/graphs/{graph}/query     of a gateway, by FastAPI; goes on from the request's `traceparent`
      search_memory                   of a client: a question; update_memory or delete_memory for a command
        send emgas.queries            its record, in whose headers the trace travels to the worker


Off, and nothing of OpenTelemetry imported, unless EMGAS_OTEL=1, or the environment names where traces go
(OTEL_TRACES_EXPORTER or OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT) and the extra `otel` is installed.  EMGAS_OTEL=0 and
OTEL_SDK_DISABLED=true end it.  A program that uses the client sets up the SDK itself; `emgas worker` and `emgas serve`
do so (`configure`).

Names are those of OpenTelemetry's conventions for messaging and for memories of GenAI (in development).  A trace is of
one call, and never in an event.  It holds no text, and no name of a graph.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from emgas.client.connection import Connection
from emgas.errors import NotInstalledError
from emgas.messages.requests import Command
from emgas.wire import ProducerRecord, Receipt, Record

WHERE = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

DELETES = ("forget", "erase")  # commands that remove what is remembered


def tracing_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Check whether calls are traced.  Raises NotInstalledError if they should be and OpenTelemetry is missing."""
    switch = environment.get("EMGAS_OTEL", "")
    if switch == "0" or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if not switch and all(environment.get(name, "none") in {"", "none"} for name in WHERE):
        return False
    is_there = find_spec("opentelemetry") is not None
    if switch and not is_there:
        raise NotInstalledError("EMGAS_OTEL is set: install emgas with the extra `otel`, or unset it")
    return is_there


def configure(service: str) -> None:
    """Send this process's traces where OTEL_* says, by OTLP; a name of the service that is set there counts."""
    if not tracing_enabled():
        return
    from opentelemetry import trace  # here and below: imported only if traces are on
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({SERVICE_NAME: service}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


@contextmanager
def operation(request: object) -> Iterator[None]:
    """Open the span of an operation on a memory for as long as the block lasts, if tracing is on."""
    if not tracing_enabled():
        yield
        return
    from opentelemetry import trace

    kind = type(request).__name__.lower()
    name = "update_memory" if isinstance(request, Command) else "search_memory"
    name = "delete_memory" if kind in DELETES else name
    values = {"gen_ai.operation.name": name, "gen_ai.provider.name": "emgas", "emgas.message.kind": kind}
    with trace.get_tracer("emgas").start_as_current_span(name, kind=trace.SpanKind.CLIENT, attributes=values):
        yield


def traced(connection: Connection) -> Connection:
    """Wrap `connection` so that its records carry traces, if tracing is on."""
    return TracedConnection(connection) if tracing_enabled() else connection


def attributes(topic: str, partition: int | None, offset: int | None = None) -> dict[str, str | int]:
    """Return a record's attributes, named by OpenTelemetry's conventions."""
    values: dict[str, str | int] = {"messaging.system": "kafka", "messaging.destination.name": topic}
    if partition is not None:
        values["messaging.destination.partition.id"] = str(partition)
    if offset is not None:
        values["messaging.kafka.offset"] = offset
    return values


class TracedConnection:
    """A `Connection` (emgas/client/connection.py) that opens a span for every record it sends."""

    def __init__(self, connection: Connection) -> None:
        from opentelemetry import trace  # here and below: imported only if traces are on
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self.topics = connection.topics
        self._connection = connection
        self._tracer = trace.get_tracer("emgas")
        self._kind = trace.SpanKind.PRODUCER
        self._propagator = TraceContextTextMapPropagator()

    @property
    def reply_partition(self) -> int:
        return self._connection.reply_partition

    async def open(self) -> None:
        await self._connection.open()

    async def close(self) -> None:
        await self._connection.close()

    async def partitions(self) -> int:
        return await self._connection.partitions()

    def answers(self) -> AsyncIterator[Record]:
        return self._connection.answers()

    async def send(self, record: ProducerRecord) -> Receipt:
        values = attributes(record.topic, record.partition)
        values |= {"messaging.operation.name": "send", "messaging.operation.type": "send"}
        with self._tracer.start_as_current_span(f"send {record.topic}", kind=self._kind, attributes=values) as span:
            carrier: dict[str, str] = {}
            self._propagator.inject(carrier)
            headers = tuple((name, value.encode()) for name, value in carrier.items())
            receipt = await self._connection.send(record._replace(headers=(*record.headers, *headers)))
            span.set_attributes(attributes(record.topic, receipt.partition, receipt.offset))
            return receipt
