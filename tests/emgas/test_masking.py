"""No error and no line of a log tells a secret of an address that it names."""

from __future__ import annotations

import pytest

from emgas.errors import QueryFailedError, TransportError
from emgas.masking import masked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Kafka at kafka://ada:geheim@host:9092 is away", "Kafka at kafka://***@host:9092 is away"),
        ("Kafka at ada:geheim@host:9092: refused", "Kafka at ***@host:9092: refused"),
        ("kafka://ada:ge@he/im@a:1,bob:x@b:2", "kafka://***@a:1,***@b:2"),
        ("s3://AKIA:wJalr/XUt@bucket/path", "s3://***@bucket/path"),
        ("s3://bucket/a?X-Amz-Signature=0f3&part=2", "s3://bucket/a?X-Amz-Signature=***&part=2"),
        ("abfs://c/?sv=1&sig=a%2Bb, and on", "abfs://c/?sv=1&sig=***, and on"),
        ("https://h/p?api_key=abc&access_token=d", "https://h/p?api_key=***&access_token=***"),
    ],
)
def test_user_password_and_telling_query_fields_are_masked(text: str, message: str) -> None:
    assert masked(text) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "turns 3..4 of partition 2",
        "Kafka at 127.0.0.1:9092: is the broker running?",
        "write to ada@example.org",
        "snapshots at s3://bucket/path?versionId=7",
        "graph 'a:b' belongs to partition 3",
        "emgas.turns[3] no longer has offset 7: see https://host:80/x",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_every_error_of_ours_masks_its_text() -> None:
    assert str(TransportError("kafka://ada:geheim@host")) == "kafka://***@host"
    assert "geheim" not in str(QueryFailedError("internal", "s3://ada:geheim@bucket is away"))
