"""Convert a `Security` (emgas/client/kafka.py) to Faust's credentials, which its drivers convert back for aiokafka."""

from __future__ import annotations

import faust
from aiokafka.abc import AbstractTokenProvider  # type: ignore[import-untyped]
from faust.auth import OAuthCredentials
from faust.types.auth import CredentialsT

from emgas.client.kafka import Security


def faust_credentials(security: Security) -> CredentialsT | None:
    """Make Faust's credentials; None for PLAINTEXT.  Whether there is TLS, Faust tells by the context."""
    context = security.get("ssl_context")
    if provider := security.get("sasl_oauth_token_provider"):
        assert isinstance(provider, AbstractTokenProvider)  # noqa: S101 - as aiokafka demands
        return OAuthCredentials(oauth_cb=provider, ssl_context=context)
    if mechanism := security.get("sasl_mechanism"):
        return faust.SASLCredentials(
            username=security["sasl_plain_username"],
            password=security["sasl_plain_password"],
            ssl_context=context,
            mechanism=mechanism,
        )
    return faust.SSLCredentials(context=context) if context else None
