"""Settings come from the environment, are checked at once, and keep transports and prefixes apart on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from streams.settings import WorkerSettings


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in WorkerSettings.model_fields:
        monkeypatch.delenv(f"EMGAS_{name.upper()}", raising=False)


def test_without_a_broker_the_log_is_embedded() -> None:
    settings = WorkerSettings()
    assert (settings.is_embedded, settings.bootstrap, settings.topics.events) == (True, "", "emgas.events")


def test_an_empty_broker_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_BROKER", "")
    assert WorkerSettings().is_embedded


def test_a_broker_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_BROKER", "kafka://one:9092,two:9092")
    monkeypatch.setenv("EMGAS_PREFIX", "mine")
    settings = WorkerSettings()
    assert (settings.is_embedded, settings.bootstrap) == (False, "one:9092,two:9092")
    assert settings.topics.dead_letters == "mine.dead-letters"


@pytest.mark.parametrize("text", ["", "a", " a , b ,", "a,b"])
def test_reply_topics_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("EMGAS_REPLY_TOPICS", text)
    assert WorkerSettings().reply_topics == [name.strip() for name in text.split(",") if name.strip()]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("broker", "localhost:9092"),
        ("broker", "http://localhost"),
        ("broker", "kafka://"),
        ("prefix", "Upper"),
        ("prefix", "../up"),
        ("prefix", ""),
        ("partitions", "0"),
        ("partitions", "many"),
        ("replication", "0"),
        ("skew_ms", "-1"),
        ("batch_turns", "0"),
        ("append_timeout", "0"),
        ("log_level", "LOUD"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"EMGAS_{name.upper()}", value)
    with pytest.raises(ValidationError) as answer:
        WorkerSettings()
    assert answer.value.errors()[0]["loc"] == (name,)


def test_words_of_ones_own_are_read_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert WorkerSettings().own_words == []
    (tmp_path / "words").write_text("机器学习\n\n蟳埔\n", "utf-8")
    monkeypatch.setenv("EMGAS_WORDS", str(tmp_path / "words"))
    assert WorkerSettings().own_words == ["机器学习", "", "蟳埔"]


@pytest.mark.parametrize("content", [None, b"Go\n", "机器学习".encode("gbk")])
def test_a_file_without_such_words_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "words").write_bytes(content)
    monkeypatch.setenv("EMGAS_WORDS", str(tmp_path / "words"))
    with pytest.raises(ValidationError) as answer:
        WorkerSettings()
    assert answer.value.errors()[0]["loc"] == ("words",)


def test_stores_of_different_logs_never_meet(tmp_path: Path) -> None:
    places = {
        WorkerSettings(data=tmp_path, broker=broker, prefix=prefix).store_of(3)
        for broker in (None, "kafka://one:9092")
        for prefix in ("emgas", "other")
    }
    assert len(places) == 4
    assert all(tmp_path in place.parents for place in places)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        WorkerSettings().prefix = "other"
