"""Topics that are only read: beside whoever owns the embedded log, and never made by reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from emgas.errors import TransportError
from emgas.wire import ProducerRecord
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.topic_plan import TopicPlan


async def test_reading_takes_no_lock_and_sees_what_comes(tmp_path: Path) -> None:
    settings = WorkerSettings(data=tmp_path, broker=None, partitions=3)
    await select.create(settings)
    log = EmbeddedLog(settings.home)
    async with select.readable(settings) as topics:
        events = topics.reader(settings.topics.events)
        assert topics.partitions == await events.partitions() == 3
        assert await events.bounds(1) == (0, 0)
        log.append([ProducerRecord(settings.topics.events, b"ada", b"{}", (), 1, 5)])
        assert await events.bounds(1) == (0, 1)
        assert [record.value async for batch in events.read(1, 0, 1) for record in batch] == [b"{}"]
    log.close()


async def test_reading_makes_no_log(tmp_path: Path) -> None:
    with pytest.raises(TransportError, match="Start one with `emgas add`"):
        async with select.readable(WorkerSettings(data=tmp_path / "data", broker=None)):
            pass
    assert not (tmp_path / "data").exists()


async def test_another_prefix_is_another_log(tmp_path: Path) -> None:
    await select.create(WorkerSettings(data=tmp_path, broker=None))
    with pytest.raises(TransportError, match="other"):
        async with select.readable(WorkerSettings(data=tmp_path, broker=None, prefix="other")):
            pass


@pytest.mark.parametrize("made", range(6))
def test_a_log_whose_birth_was_cut_off_between_two_topics_is_born_by_who_opens_it_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: int
) -> None:
    settings, left, create = WorkerSettings(data=tmp_path, broker=None), iter(range(made)), EmbeddedLog.create_topic

    def cut_off(log: EmbeddedLog, topic_plan: TopicPlan) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt  # as good as a kill: what was made is in the file, and nothing follows
        create(log, topic_plan)

    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedLog, "create_topic", cut_off)
        with pytest.raises(KeyboardInterrupt), select.opened(settings):
            pass
    with select.opened(settings) as log:
        assert set(log.topics()) == {each.name for each in select.planned(settings)}
