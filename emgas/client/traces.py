"""Traces through Kafka: a client's `traceparent` travels in a record's headers, and its worker goes on from there.

Off, and nothing of OpenTelemetry imported, unless EMGAS_OTEL=1, or the environment names where traces go
(OTEL_TRACES_EXPORTER or OTEL_EXPORTER_OTLP_[TRACES_]ENDPOINT) and the extra `otel` is installed.  EMGAS_OTEL=0 and
OTEL_SDK_DISABLED=true end it.  A program that uses the client sets up the SDK itself; `emgas worker` does so
(streams/worker/traces.py).

Names are those of OpenTelemetry's conventions for messaging.  A trace is of one call, and never in an event.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec

from emgas.client.connection import Connection
from emgas.errors import NotInstalledError
from emgas.wire import ProducerRecord, Receipt, Record

WHERE = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def tracing_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    """Check whether calls are traced.  Raises NotInstalledError if they should be and OpenTelemetry is missing."""
    switch = environment.get("EMGAS_OTEL", "")
    if switch == "0" or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    is_there = find_spec("opentelemetry") is not None
    if switch and not is_there:
        raise NotInstalledError("EMGAS_OTEL is set: install emgas with the extra `otel`, or unset it")
    return is_there and (bool(switch) or any(environment.get(name, "none") not in {"", "none"} for name in WHERE))


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
