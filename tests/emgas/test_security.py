"""Security settings: what fits together is what aiokafka gets, what does not is refused, and no secret is shown."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from pydantic import ValidationError

from emgas.client.connect import connect
from emgas.client.security import SecuritySettings
from emgas.errors import TransportError
from emgas.wire import TopicNames
from streams.settings import WorkerSettings

SECRET = "correct-horse-battery"
NAMED = {"security_protocol": "SASL_PLAINTEXT", "sasl_username": "ada", "sasl_password": SECRET}


def of(**options: object) -> SecuritySettings:
    return SecuritySettings.of_environment({f"EMGAS_{name.upper()}": str(value) for name, value in options.items()})


def test_without_any_setting_nothing_is_asked_of_the_broker() -> None:
    assert of().security == {}
    assert of(**dict.fromkeys(SecuritySettings.model_fields, "")).security == {}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_name_and_a_password_are_handed_on(mechanism: str) -> None:
    assert of(**NAMED, sasl_mechanism=mechanism).security == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "ada",
        "sasl_plain_password": SECRET,
    }


def test_tls_checks_who_the_broker_is_and_its_name() -> None:
    context = of(security_protocol="SSL").security["ssl_context"]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


async def test_a_token_comes_from_its_file_as_it_is_at_that_moment(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    settings = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}
    tokens = of(**settings, sasl_password_file=tmp_path / "token").security["sasl_oauth_token_provider"]
    assert await tokens.token() == "first"  # type: ignore[attr-defined]
    (tmp_path / "token").write_text("second\n")
    assert await tokens.token() == "second"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sasl_password": SECRET}, "EMGAS_SASL_PASSWORD is set, but EMGAS_SECURITY_PROTOCOL is PLAINTEXT"),
        ({"ca_file": "ca.pem"}, "EMGAS_CA_FILE is set, but"),
        ({**NAMED, "key_file": "key.pem"}, "EMGAS_KEY_FILE is set, but"),
        ({"security_protocol": "SSL", "key_file": "key.pem"}, "EMGAS_KEY_FILE needs EMGAS_CERT_FILE"),
        ({"security_protocol": "SASL_SSL", "sasl_username": "ada"}, "one of EMGAS_SASL_PASSWORD and"),
        ({**NAMED, "sasl_password_file": "secret"}, "one of EMGAS_SASL_PASSWORD and"),
        ({"security_protocol": "SASL_SSL", "sasl_password": SECRET}, "SCRAM-SHA-512 needs EMGAS_SASL_USERNAME"),
        ({**NAMED, "sasl_mechanism": SECRET}, "EMGAS_SASL_MECHANISM: "),
        ({**NAMED, "security_protocol": SECRET}, "EMGAS_SECURITY_PROTOCOL: "),
    ],
)
def test_what_does_not_fit_together_is_refused_and_no_secret_is_repeated(options: dict[str, str], message: str) -> None:
    with pytest.raises(TransportError) as refused:
        of(**options)
    assert message in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_workers_settings_refuse_the_same_and_repeat_no_secret_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_SASL_PASSWORD", SECRET)
    with pytest.raises(ValidationError, match=r"EMGAS_SASL_PASSWORD is set, but") as refused:
        WorkerSettings()
    assert SECRET not in str(refused.value)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    for read in (lambda url: WorkerSettings(broker=url), lambda url: connect(url, TopicNames("emgas"), 1.0)):
        with pytest.raises((ValidationError, TransportError), match=r"EMGAS_SASL_PASSWORD") as refused:
            read(f"kafka://ada:{SECRET}@broker:9092")
        assert SECRET not in str(refused.value)


def test_settings_that_are_printed_show_no_secret() -> None:
    settings = WorkerSettings(**NAMED)
    assert SECRET not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"


@pytest.mark.parametrize("name", ["ca_file", "cert_file"])
def test_a_file_that_is_missing_or_is_no_certificate_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "text").write_text("not a certificate")
    for file in (tmp_path / "text", tmp_path / "missing"):
        with pytest.raises(TransportError, match=f"EMGAS_{name.upper()}={file}"):
            _ = of(security_protocol="SSL", **{name: file}).security


def test_a_password_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    settings = of(security_protocol="SASL_SSL", sasl_username="ada", sasl_password_file=tmp_path / "missing")
    with pytest.raises(TransportError, match=r"EMGAS_SASL_PASSWORD_FILE=.*missing cannot be read: No such file"):
        _ = settings.security
