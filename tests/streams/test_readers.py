"""The readers that need no broker keep the reader contract: a list, the embedded log, and the same read-only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.wire import ProducerRecord
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from streams.transport.topic_plan import FOR_EVER, TopicPlan
from tests.contracts.reader_contract import NOW, FollowContract, KeptReaderContract, ReaderContract, a_log
from tests.support.fakes import ListReader


class TestListReader(ReaderContract):
    @pytest.fixture
    def reader(self) -> ListReader:
        return ListReader([a_log(10), [], a_log(1)])


class TestEmbeddedReader(KeptReaderContract, FollowContract):
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
    def growing(self, log: EmbeddedLog) -> tuple[EmbeddedReader, Any]:
        async def append(number: int) -> None:
            log.append([ProducerRecord("events", b"k", b"value %d" % number, (), 0, NOW)])

        return EmbeddedReader(log, "events", batch=3), append

    @pytest.fixture
    def missing(self, log: EmbeddedLog) -> EmbeddedReader:
        return EmbeddedReader(log, "missing")


class TestReadOnlyReader(KeptReaderContract):
    log = TestEmbeddedReader.log

    @pytest.fixture
    def beside(self, log: EmbeddedLog) -> Iterator[ReadOnlyLog]:
        beside = ReadOnlyLog(log.directory)
        yield beside
        beside.close()

    @pytest.fixture
    def reader(self, beside: ReadOnlyLog) -> EmbeddedReader:
        return EmbeddedReader(beside, "events", batch=3)

    @pytest.fixture
    def missing(self, beside: ReadOnlyLog) -> EmbeddedReader:
        return EmbeddedReader(beside, "missing")


async def test_a_log_that_is_another_process_cannot_be_followed(tmp_path: Path) -> None:
    with closing(EmbeddedLog(tmp_path)) as log:
        log.create_topic(TopicPlan("events", 1, FOR_EVER, 1_000_000))
        with closing(ReadOnlyLog(tmp_path)) as beside, pytest.raises(TransportError, match="owns"):
            await anext(EmbeddedReader(beside, "events").follow(0, 0))
