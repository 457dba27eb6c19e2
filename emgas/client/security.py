"""Settings for Kafka with TLS or passwords: EMGAS_* variables, for workers, commands and clients.

    EMGAS_SECURITY_PROTOCOL    PLAINTEXT (default), SSL, SASL_PLAINTEXT, SASL_SSL
    EMGAS_SASL_MECHANISM       SCRAM-SHA-512 (default), SCRAM-SHA-256, PLAIN, OAUTHBEARER
    EMGAS_SASL_USERNAME        of SCRAM and PLAIN
    EMGAS_SASL_PASSWORD        or EMGAS_SASL_PASSWORD_FILE; of OAUTHBEARER, the token: a file is read each time
    EMGAS_CA_FILE              the authority of the brokers' certificates, PEM; without it, those of the system
    EMGAS_CERT_FILE, _KEY_FILE the client's own certificate, PEM, if the brokers require one

Settings that do not fit together are refused: a password that the protocol does not use means a wrong protocol.
Secrets never appear in errors or logs; host names are always checked.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from emgas.errors import TransportError
from emgas.validation import describe_variables

if TYPE_CHECKING:
    from emgas.client.kafka import Security

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
_SASL = ("sasl_username", "sasl_password", "sasl_password_file")
_TLS = ("ca_file", "cert_file", "key_file")


class SecuritySettings(BaseModel):
    """See the module's docstring; the fields are named as the variables."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, defer_build=True)

    security_protocol: Protocol = "PLAINTEXT"
    sasl_mechanism: Mechanism = "SCRAM-SHA-512"
    sasl_username: str | None = None
    sasl_password: SecretStr | None = Field(None, description="or, of OAUTHBEARER, the token")
    sasl_password_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    @field_validator("security_protocol", "sasl_mechanism", *_SASL, *_TLS, mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object, info: object) -> object:
        return cls.model_fields[info.field_name].default if value == "" else value  # type: ignore[attr-defined]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        uses_sasl, uses_tls = self.security_protocol.startswith("SASL"), self.security_protocol.endswith("SSL")
        self._refuse_unused(_SASL, "SASL_SSL (or SASL_PLAINTEXT)", used=uses_sasl)
        self._refuse_unused(_TLS, "SASL_SSL or SSL", used=uses_tls)
        if self.key_file and not self.cert_file:
            raise ValueError("EMGAS_KEY_FILE needs EMGAS_CERT_FILE")
        if uses_sasl:
            self._check_credentials()
        return self

    def _refuse_unused(self, fields: tuple[str, ...], protocol: str, *, used: bool) -> None:
        for name in fields:
            if getattr(self, name) is not None and not used:
                raise ValueError(
                    f"EMGAS_{name.upper()} is set, but EMGAS_SECURITY_PROTOCOL is {self.security_protocol}: "
                    f"make it {protocol}, or unset it"
                )

    def _check_credentials(self) -> None:
        if (self.sasl_password is None) == (self.sasl_password_file is None):
            raise ValueError("set one of EMGAS_SASL_PASSWORD and EMGAS_SASL_PASSWORD_FILE")
        if self.sasl_username is None and self.sasl_mechanism != "OAUTHBEARER":
            raise ValueError(f"{self.sasl_mechanism} needs EMGAS_SASL_USERNAME")

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> SecuritySettings:
        """Read the variables.  Raises TransportError for what does not fit together."""
        variables = {name: environment.get(f"EMGAS_{name.upper()}", "") for name in cls.model_fields}
        try:
            return cls.model_validate(variables)
        except ValidationError as error:
            raise TransportError(describe_variables(error)) from None

    @property
    def security(self) -> Security:
        """Return the arguments for aiokafka.  Raises TransportError for a file that cannot be used."""
        arguments: Security = {}
        if self.security_protocol != "PLAINTEXT":
            arguments["security_protocol"] = self.security_protocol
        if self.security_protocol.endswith("SSL"):
            arguments["ssl_context"] = self._tls()
        if self.security_protocol.startswith("SASL"):
            self._add_sasl(arguments)
        return arguments

    def _tls(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file)
        except OSError as error:  # ssl.SSLError too; neither names the file
            files = ", ".join(f"EMGAS_{name.upper()}={getattr(self, name)}" for name in _TLS if getattr(self, name))
            raise TransportError(f"{files}: cannot be used for TLS ({error.strerror or error})") from None
        return context

    def _add_sasl(self, arguments: Security) -> None:
        arguments["sasl_mechanism"] = self.sasl_mechanism
        if self.sasl_mechanism == "OAUTHBEARER":
            from emgas.client.kafka import TokenProvider  # here: only Kafka needs it

            arguments["sasl_oauth_token_provider"] = TokenProvider(self.secret)
        else:
            arguments["sasl_plain_username"] = self.sasl_username or ""
            arguments["sasl_plain_password"] = self.secret()

    def secret(self) -> str:
        """Read the password, or the token.  Raises TransportError for a file that cannot be read."""
        if self.sasl_password is not None:
            return self.sasl_password.get_secret_value()
        assert self.sasl_password_file is not None  # noqa: S101 - checked with the settings
        try:
            return self.sasl_password_file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise TransportError(f"EMGAS_SASL_PASSWORD_FILE={self.sasl_password_file} cannot be read: {why}") from None
