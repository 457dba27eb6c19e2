"""What a program that embeds EMGAS hears of it: nothing, until it asks; then a sentence with facts, and no secret."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from emgas.logs import logger


def test_nothing_is_shown_where_nobody_asked() -> None:
    code = "from emgas.logs import logger; logger('worker').warning('a'); logger('worker').critical('b')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_whoever_asks_hears_the_sentence_with_its_facts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "emgas"):
        logger("worker").info("owns", partitions=[1, 2])
        logger("worker").debug("unheard")
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("emgas.worker", "owns partitions=[1, 2]")
    assert record.facts == {"partitions": [1, 2]}  # type: ignore[attr-defined]


def test_a_secret_of_a_url_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "emgas"):
        logger("worker").error("lost", broker="kafka://ada:hunter2@localhost:9092")
    assert "lost" in caplog.text
    assert "hunter2" not in caplog.text


def test_the_error_that_is_handled_comes_along(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "emgas"):
        try:
            raise ValueError("odd %s")
        except ValueError:
            logger("query").exception("answer failed", offset=7)
    assert caplog.records[0].exc_info is not None
    assert "answer failed offset=7" in caplog.text
