"""A broker that asks who comes: whoever may is let in, on every way; who may not is told so in a sentence."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emgas import MemoryClient
from emgas.client.kafka import Security
from emgas.client.security import SecuritySettings
from emgas.errors import TransportError
from emgas.wire import ProducerRecord, TopicNames
from streams.transport.kafka.reader import KafkaReader
from streams.worker.service import running
from tests.support.cli import COMMAND, emgas, environment
from tests.support.clocks import PATIENCE
from tests.support.pipeline import settings_for
from tests.support.secured import SecuredKafka, can_start, secured_kafka

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

PREFIX = "guarded"
WRONG = "not-the-secret-of-anybody"


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    if not can_start():
        assert os.environ.get("EMGAS_REQUIRE_KAFKA") != "1", "needs Java, Maven and openssl"
        pytest.skip("NOT TESTED: a broker with SASL and TLS needs Java, Maven and openssl here")
    home = tmp_path_factory.mktemp("admin")
    with secured_kafka() as kafka:
        plain = {"broker": f"kafka://{kafka.plain}", "prefix": PREFIX}
        emgas(home, "topics", "create", "--partitions", "2", **plain)
        printed = emgas(home, "topics", "acls", "--worker", "worker", "--client", "client", **plain).out
        kafka.allow(printed.splitlines())
        yield kafka


def of(settings: dict[str, Any]) -> Security:
    return SecuritySettings(**{name: value for name, value in settings.items() if name != "broker"}).security


def client(settings: dict[str, Any], **more: Any) -> MemoryClient:
    return MemoryClient(settings["broker"], prefix=PREFIX, **of(settings), **more)


def refuse(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("SASL_SSL", "SCRAM-SHA-512"),
        ("SASL_SSL", "PLAIN"),
        ("SASL_SSL", "OAUTHBEARER"),
        ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ],
)
async def test_a_worker_and_a_client_with_the_printed_rights_and_no_others_remember_and_answer(
    kafka: SecuredKafka, tmp_path: Path, protocol: str, mechanism: str
) -> None:
    settings = settings_for(tmp_path, PREFIX, **kafka.settings(protocol, "worker", mechanism))
    graph = f"{protocol}-{mechanism}".lower()
    async with running(settings, refuse) as app:
        async with asyncio.timeout(PATIENCE):
            await app.ready.wait()
        async with client(kafka.settings(protocol, "client", mechanism), timeout=PATIENCE) as memory:
            turn = {"id": "1", "graph": graph, "speaker": "Ada", "text": "The kettle broke again."}
            assert (await memory.record(turn)).status == "accepted"
            assert (await memory.query(graph, "what broke?")).passages[0].text == turn["text"]
        async with client(kafka.settings("SSL", "client"), timeout=PATIENCE) as memory:  # known by its certificate
            assert (await memory.query(graph, "what broke?")).found


async def test_a_client_keeps_what_it_cannot_send_but_answers_nobody(kafka: SecuredKafka) -> None:
    async with client(kafka.settings("SASL_SSL", "client", "SCRAM-SHA-512")) as memory:
        await memory._open.connection.send(ProducerRecord(TopicNames(PREFIX).dead_letters, b"k", b"v"))  # noqa: SLF001 - only from inside can this be told
        with pytest.raises(TransportError, match="lacks an ACL"):
            await memory._open.connection.send(ProducerRecord(TopicNames(PREFIX).replies, b"k", b"v"))  # noqa: SLF001 - only from inside can this be told


def test_who_only_looks_reads_the_log_and_the_dead_letters(kafka: SecuredKafka, tmp_path: Path) -> None:
    ways = kafka.settings("SASL_SSL", "emgas-operator", "OAUTHBEARER")
    assert emgas(tmp_path, "topics", "describe", "--json", prefix=PREFIX, **ways).json["topics"]
    assert "dead_letters" in emgas(tmp_path, "dead-letters", "list", "--json", prefix=PREFIX, **ways).json
    emgas(tmp_path, "export", "--out", str(tmp_path / "log.jsonl"), prefix=PREFIX, **ways)


def wrong(kafka: SecuredKafka) -> dict[str, dict[str, Any]]:
    way = ("SASL_SSL", "worker", "SCRAM-SHA-512")
    return {
        "a wrong password": kafka.settings(*way, sasl_password=WRONG),
        "an unknown user": kafka.settings("SASL_SSL", "mallory", "SCRAM-SHA-512", sasl_password=WRONG),
        "a certificate of another authority": kafka.settings(*way, ca_file=str(kafka.folder / "other-ca.pem")),
        "no certificate where one is asked for": kafka.settings("SSL", "client", cert_file=""),
    }


REFUSED = {
    "a wrong password": "refused the user name, the password or the token",
    "an unknown user": "refused the user name, the password or the token",
    "a certificate of another authority": "EMGAS_CA_FILE",
    "no certificate where one is asked for": "those of its listener",  # the broker only hangs up
}


@pytest.mark.parametrize("command", [("worker",), ("query", "ada", "hello")])
def test_who_may_not_come_in_is_told_in_one_sentence_without_the_secret(
    kafka: SecuredKafka, tmp_path: Path, command: tuple[str, ...]
) -> None:
    running = {
        what: subprocess.Popen(
            [*COMMAND, *command],
            env=environment(tmp_path, prefix=PREFIX, **settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for what, settings in wrong(kafka).items()
    }
    for what, process in running.items():
        output = process.communicate(timeout=PATIENCE)[0].decode()
        assert process.returncode == 1, f"{what}: {output}"
        assert "security settings" in output.replace("\n", " "), f"{what}: {output}"
        assert REFUSED[what] in output.replace("\n", " "), f"{what}: {output}"
        assert "Traceback" not in output
        assert WRONG not in output


async def test_settings_of_the_environment_reach_a_client_that_is_told_none(
    kafka: SecuredKafka, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = kafka.settings("SASL_SSL", "client", "SCRAM-SHA-512")
    (tmp_path / "secret").write_text(settings.pop("sasl_password") + "\n")
    for name, value in {**settings, "sasl_password_file": str(tmp_path / "secret")}.items():
        monkeypatch.setenv(f"EMGAS_{name.upper()}", str(value))
    async with MemoryClient(prefix=PREFIX) as memory:
        assert await memory.partitions() == 2


async def test_a_token_is_read_anew_for_every_connection(kafka: SecuredKafka, tmp_path: Path) -> None:
    settings = kafka.settings("SASL_SSL", "client", "OAUTHBEARER")
    (tmp_path / "token").write_text("an old one")
    renewed, settings["sasl_password_file"] = settings.pop("sasl_password"), tmp_path / "token"
    reader = KafkaReader(settings.pop("broker").removeprefix("kafka://"), TopicNames(PREFIX).replies, **of(settings))
    with pytest.raises(TransportError):
        await reader.partitions()
    (tmp_path / "token").write_text(renewed)
    assert await reader.partitions() > 0
