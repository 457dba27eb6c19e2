"""The two transports under the names by which Faust finds them; nothing of either is imported before it is used.

embedded:///directory          streams/transport/embedded/transport.py
emgas-kafka://host:9092        streams/transport/kafka/transport.py
"""

from __future__ import annotations

from pathlib import Path

from faust.transport.drivers import TRANSPORTS
from yarl import URL

TRANSPORTS.aliases["embedded"] = "streams.transport.embedded.transport:EmbeddedTransport"
TRANSPORTS.aliases["emgas-kafka"] = "streams.transport.kafka.transport:KafkaTransport"


def embedded_broker(directory: Path) -> list[URL]:
    """Return Faust's `broker` setting for the embedded log in `directory`."""
    return [URL.build(scheme="embedded", path=str(directory.expanduser().resolve()))]


def kafka_broker(bootstrap: str, fetch_wait_ms: int = 50) -> list[URL]:
    """Return Faust's `broker` setting for `host:port`, several with commas between, with or without a scheme."""
    hosts = [part.rpartition("://")[2].strip() for part in bootstrap.split(",")]
    return [URL(f"emgas-kafka://{host}") % {"fetch_wait_ms": fetch_wait_ms} for host in hosts if host]
