"""The Faust transport on the embedded log: `EmbeddedTransport(log, app)`, by a log that is open.

Agents, tables, recovery and the assignor are Faust's and run unmodified; only what talks to a broker is replaced
(consumer.py, producer.py).  The code that opened the log closes it, after the app has stopped.
"""

from __future__ import annotations

import sqlite3

from faust.transport import base
from faust.types import AppT
from yarl import URL

from streams.transport.embedded.consumer import EmbeddedConsumer
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.producer import EmbeddedProducer


class EmbeddedTransport(base.Transport):
    """Consumers and producers of `log`."""

    Consumer = EmbeddedConsumer
    Producer = EmbeddedProducer
    default_port = 0
    driver_version = f"embedded-sqlite={sqlite3.sqlite_version}"

    def __init__(self, log: EmbeddedLog, app: AppT) -> None:
        super().__init__([URL.build(scheme="embedded", path=str(log.directory))], app)
        self.log = log
