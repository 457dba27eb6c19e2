"""The readers that need no broker keep the reader contract: a list, the embedded log, and the same read-only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from emgas.wire import ProducerRecord
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan
from tests.contracts.reader_contract import KeptReaderContract, ReaderContract, a_log
from tests.support.fakes import ListReader


class TestListReader(ReaderContract):
    @pytest.fixture
    def reader(self) -> ListReader:
        return ListReader([a_log(10), [], a_log(1)])


class TestEmbeddedReader(KeptReaderContract):
    @pytest.fixture
    def log(self, tmp_path: Path) -> Iterator[EmbeddedLog]:
        log = EmbeddedLog(tmp_path)
        log.create_topic(TopicPlan("events", 3, FOR_EVER, 1_000_000))
        for partition, size in ((0, 10), (2, 1)):
            log.append(
                [ProducerRecord("events", r.key, r.value, r.headers, partition, r.timestamp) for r in a_log(size)]
            )
        yield log
        log.close()

    @pytest.fixture
    def reader(self, log: EmbeddedLog) -> EmbeddedReader:
        return EmbeddedReader(log, "events", batch=3)

    @pytest.fixture
    def missing(self, log: EmbeddedLog) -> EmbeddedReader:
        return EmbeddedReader(log, "missing")


class TestReadOnlyReader(TestEmbeddedReader):
    @pytest.fixture
    def beside(self, log: EmbeddedLog) -> Iterator[ReadOnlyLog]:
        beside = ReadOnlyLog(log.directory)
        yield beside
        beside.close()

    @pytest.fixture
    def reader(self, beside: ReadOnlyLog) -> EmbeddedReader:  # type: ignore[override]
        return EmbeddedReader(beside, "events", batch=3)

    @pytest.fixture
    def missing(self, beside: ReadOnlyLog) -> EmbeddedReader:  # type: ignore[override]
        return EmbeddedReader(beside, "missing")
