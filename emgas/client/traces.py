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


def wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether calls are to be traced.  Raises NotInstalledError where they are, and cannot be."""
    asked = environment.get("EMGAS_OTEL", "")
    if asked == "0" or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    is_there = find_spec("opentelemetry") is not None
    if asked and not is_there:
        raise NotInstalledError("EMGAS_OTEL is set: install emgas with the extra `otel`, or unset it")
    return is_there and (bool(asked) or any(environment.get(name, "none") not in {"", "none"} for name in WHERE))


def traced(connection: Connection) -> Connection:
    """Let what is sent through `connection` carry its trace, if anybody wants that."""
    return TracedConnection(connection) if wanted() else connection


def attributes(topic: str, partition: int | None, offset: int | None = None) -> dict[str, str | int]:
    """Describe a record in the words of the conventions."""
    found: dict[str, str | int] = {"messaging.system": "kafka", "messaging.destination.name": topic}
    if partition is not None:
        found["messaging.destination.partition.id"] = str(partition)
    if offset is not None:
        found["messaging.kafka.offset"] = offset
    return found


class TracedConnection:
    """A `Connection` (emgas/client/connection.py) that opens a span for every record it sends."""

    def __init__(self, connection: Connection) -> None:
        from opentelemetry import trace  # here and below: whoever wants no traces does not pay for them
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
        told = attributes(record.topic, record.partition)
        told |= {"messaging.operation.name": "send", "messaging.operation.type": "send"}
        with self._tracer.start_as_current_span(f"send {record.topic}", kind=self._kind, attributes=told) as span:
            carrier: dict[str, str] = {}
            self._propagator.inject(carrier)
            headers = tuple((name, value.encode()) for name, value in carrier.items())
            receipt = await self._connection.send(record._replace(headers=(*record.headers, *headers)))
            span.set_attributes(attributes(record.topic, receipt.partition, receipt.offset))
            return receipt
