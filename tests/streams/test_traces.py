"""A trace goes from a client's call through Kafka's headers to the worker that answers, and never into the log."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from emgas import MemoryClient
from emgas.client.traces import tracing_enabled
from emgas.wire import partition_of
from gateway.app import gateway
from gateway.auth.keys import Keys
from streams.worker.embedded_connection import EmbeddedConnection
from tests.support.pipeline import settings_for
from tests.support.served import listening

ROOT = Path(__file__).resolve().parents[2]
TURN = {"id": "1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke again."}


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Set up the SDK, as a program does once."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setenv("EMGAS_OTEL", "1")
    exporter.clear()
    yield exporter
    exporter.clear()


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


async def test_a_worker_goes_on_with_the_trace_of_a_turn_and_of_a_question(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    connection = EmbeddedConnection(settings_for(tmp_path, "traced", None))
    async with MemoryClient(connection) as memory:
        with trace.get_tracer("a program").start_as_current_span("a call") as call:
            await memory.record(TURN)
            await memory.query("ada", "what broke?")
        result = by_name(spans)
        for topic, offset in (("traced.turns", 0), ("traced.queries", 0)):
            sent, processed = result[f"send {topic}"], result[f"process {topic}"]
            operation = result["update_memory" if topic == "traced.turns" else "search_memory"]
            assert operation.parent == call.get_span_context()
            assert sent.parent == operation.get_span_context()
            assert processed.context.trace_id == call.get_span_context().trace_id
            assert processed.parent
            assert processed.parent.span_id == sent.context.span_id
            assert (sent.kind, processed.kind) == (trace.SpanKind.PRODUCER, trace.SpanKind.CONSUMER)
            assert dict(processed.attributes or {}) == {
                "messaging.system": "kafka",
                "messaging.destination.name": topic,
                "messaging.destination.partition.id": str(partition_of("ada", 2)),
                "messaging.kafka.offset": offset,
                "messaging.operation.name": "process",
                "messaging.operation.type": "process",
                "messaging.consumer.group.name": "traced",
            }
        events = connection._log.read("traced.events", partition_of("ada", 2), 0)  # noqa: SLF001 - only from inside can this be told
        assert len(events) == 3  # a claim, how the graph lives, and the turn
        trace_id = f"{call.get_span_context().trace_id:032x}".encode()
        assert all(not record.headers and trace_id not in record.value for record in events)


async def test_an_answer_has_a_span_for_each_stage_and_a_fold_has_one_and_none_holds_a_text_or_a_graph(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    async with MemoryClient(EmbeddedConnection(settings_for(tmp_path, "traced", None))) as memory:
        await memory.record(TURN)
        await memory.query("ada", "what broke?")
        await memory.forget("ada", turns=["1"])
        await memory.publish({**TURN, "id": "2"})
    result = by_name(spans)
    asked = result["process traced.queries"]
    for stage in ("wait", "prepare", "activate", "pack"):
        assert result[stage].parent == asked.get_span_context()
        assert asked.start_time <= result[stage].start_time <= result[stage].end_time  # type: ignore[operator]
    assert result["fold traced.events"].end_time >= result["fold traced.events"].start_time  # type: ignore[operator]
    kinds = {"update_memory": "turn", "search_memory": "query", "delete_memory": "forget"}
    for name, kind in kinds.items():
        assert dict(result[name].attributes or {}) == {
            "gen_ai.operation.name": name,
            "gen_ai.provider.name": "emgas",
            "emgas.message.kind": kind,
        }
    told = "".join(f"{span.name}{span.attributes}" for span in spans.get_finished_spans())
    assert not [word for word in ("ada", "kettle", "broke", "Ada") if word in told]


async def test_a_trace_goes_from_an_http_request_through_the_client_to_the_worker(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    memory = MemoryClient(EmbeddedConnection(settings_for(tmp_path, "traced", None)))
    app = gateway(lambda: memory, Keys(None))
    trace_id, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    async with listening(app) as address, httpx2.AsyncClient(base_url=address) as http:
        turn = {name: value for name, value in TURN.items() if name != "graph"}
        headers = {"traceparent": f"00-{trace_id}-{parent}-01"}
        answer = await http.post("/v1/graphs/ada/turns", json=turn, headers=headers)
        assert answer.status_code < 300, answer.text
    result, spanned = by_name(spans), {span.context.span_id: span for span in spans.get_finished_spans()}
    lineage, span = [], result["process traced.turns"]
    while span.parent is not None and span.parent.span_id in spanned:
        lineage.append(span.name)
        span = spanned[span.parent.span_id]
    assert lineage[:3] == ["process traced.turns", "send traced.turns", "update_memory"]
    assert span.kind is trace.SpanKind.SERVER
    assert span.parent is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (trace_id, parent)
    assert (span.attributes or {})["http.route"] == "/v1/graphs/{graph}/turns"


async def test_a_turn_that_comes_without_a_trace_begins_one(
    spans: InMemorySpanExporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = EmbeddedConnection(settings_for(tmp_path, "traced", None))
    async with MemoryClient(connection) as memory:
        inner = memory._open.connection  # noqa: SLF001 - only from inside can this be told
        inner._propagator.inject = lambda carrier: carrier.update(traceparent="no-trace")  # noqa: SLF001 - type: ignore[attr-defined]
        await memory.record(TURN)
    assert by_name(spans)["process traced.turns"].parent is None


def test_nothing_of_it_is_imported_and_no_header_is_added_where_nobody_wants_traces() -> None:
    program = (
        "import sys, emgas.client.client, streams.cli.main, streams.worker.service;"
        "from streams.worker.traces import tracing; from emgas.client.traces import configure, traced;"
        "connection = object(); assert traced(connection) is connection; tracing('emgas'); configure('emgas');"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("environment", "is_wanted"),
    [
        ({}, False),
        ({"EMGAS_OTEL": "1"}, True),
        ({"EMGAS_OTEL": "0", "OTEL_TRACES_EXPORTER": "otlp"}, False),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True),
        ({"EMGAS_OTEL": "1", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_the_environment_says_whether_there_are_traces(environment: dict[str, str], is_wanted: bool) -> None:
    assert tracing_enabled(environment) is is_wanted
