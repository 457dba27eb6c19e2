"""Choose the connection for an address: Kafka, a gateway, the embedded log, or an installed package's.

kafka://host:port[,host:port]    http://host:port, https://…    embedded:DIRECTORY    what a package registered
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Unpack, cast

from emgas.client.connection import Connection, Waiting
from emgas.client.security import SecuritySettings
from emgas.errors import NotInstalledError, TransportError
from emgas.wire import TopicNames

if TYPE_CHECKING:
    from emgas.client.kafka import Security


def named_topics(prefix: str | None) -> TopicNames:
    """Return the topics under `prefix`; by default under $EMGAS_PREFIX, as workers and commands do."""
    return TopicNames(prefix or os.environ.get("EMGAS_PREFIX") or "emgas")


def is_redacting() -> bool:
    """Check whether secrets are replaced in texts: they are, unless $EMGAS_REDACT turns it off."""
    return os.environ.get("EMGAS_REDACT", "").strip().lower() not in ("0", "off", "no", "false")


def connect(
    url: str | Connection | None,
    topics: TopicNames,
    timeout: float,
    *,
    key: str | None = None,
    **security: Unpack[Security],
) -> Connection:
    """Build the connection for `url`, or for the environment's address, without opening it.

    Without `security`, EMGAS_* variables decide (emgas/client/security.py).

    Raises NotInstalledError for a scheme without an installed connection, TransportError for an invalid address.
    """
    if not isinstance(url, str | None):
        return url
    url = url or os.environ.get("EMGAS_BROKER") or "embedded:" + os.environ.get("EMGAS_DATA", "")
    scheme, _, address = url.partition(":")
    if scheme == "kafka":
        from emgas.client.kafka import (
            KafkaConnection,  # here: the embedded log, and `import emgas`, need no Kafka client
        )

        security = security or SecuritySettings.of_environment().security
        return KafkaConnection(_brokers(address), topics, timeout=timeout, **security)
    if scheme in ("http", "https"):
        try:
            from emgas.client.http import HttpConnection  # here: only HTTP addresses need an HTTP client
        except ImportError as error:
            raise NotInstalledError("http: addresses need more: pip install 'emgas-client[http]'") from error
        return HttpConnection(url, topics, key=key or os.environ.get("EMGAS_KEY"), timeout=timeout)
    if key is not None:
        raise TransportError("key: belongs to http:// and https:// addresses")
    if security:
        raise TransportError(
            f"{', '.join(security)}: not for {scheme}: addresses.  Security settings belong to kafka:// addresses; "
            "a memory is named by its address alone, as in MemoryClient('embedded:DIRECTORY')"
        )
    connection = _installed(scheme, url, topics)
    if isinstance(connection, Waiting):
        connection.timeout = timeout
    return connection


def _brokers(address: str) -> str:
    brokers = address.strip("/")
    if not brokers or "@" in brokers or "/" in brokers:  # not repeated: it may hold a password
        raise TransportError(
            "write the address as kafka://host:port[,host:port]; credentials are settings of their own "
            "(sasl_plain_username=…, sasl_plain_password=…; EMGAS_SASL_USERNAME, EMGAS_SASL_PASSWORD)"
        )
    return brokers


def _installed(scheme: str, url: str, topics: TopicNames) -> Connection:
    """Build the connection of the installed package that registered `scheme` in "emgas.connections"."""
    from importlib.metadata import entry_points  # here: Kafka and HTTP need none of it

    for entry in entry_points(group="emgas.connections", name=scheme):
        try:
            factory = entry.load()
        except ImportError as error:
            raise NotInstalledError(
                f"{scheme}: {entry.value} cannot be imported ({error}): reinstall `emgas`"
            ) from error
        return cast(Connection, factory(url, topics))
    raise NotInstalledError(
        f"cannot connect to {scheme}: addresses: use http://host:port, kafka://host:port, or, where `emgas` itself is "
        "installed, embedded:DIRECTORY"
    )
