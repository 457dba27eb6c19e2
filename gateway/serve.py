"""`emgas serve`: one process that owns an embedded memory, or stands before Kafka, and lets everybody else in.

The command is found through the entry points `emgas.commands`: nothing below knows the gateway.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from gateway.app import gateway
from gateway.keys import KEY_BYTES, Keys, digest, new_key, read_keys

UNSAFE = 2  # exit code of wrong usage


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 8088,
    keys: Annotated[
        Path | None, typer.Option(envvar="EMGAS_KEYS", help="A TOML file of keys; nothing beyond loopback without one.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="The memory: kafka://…, embedded:DIRECTORY; else the settings'.")
    ] = None,
    new_key_for: Annotated[
        str | None,
        typer.Option("--new-key", metavar="NAME", help="Print a new key and its entry for the file; serve nothing."),
    ] = None,
) -> None:
    """Serve a memory over HTTP: /docs has every route."""
    if new_key_for is not None:
        _print_key(new_key_for)
        return
    try:
        known = read_keys(keys) if keys is not None else Keys(None)
    except EmgasError as error:
        typer.echo(f"serve: {error}", err=True)
        raise typer.Exit(UNSAFE) from None
    if not known.are_wanted and not is_loopback(host):
        typer.echo(
            f"serve: {host} is not loopback, and there are no keys: give --keys FILE (--new-key NAME makes one)",
            err=True,
        )
        raise typer.Exit(UNSAFE)
    typer.echo(f"serving on http://{host}:{port}  (routes: /docs)", err=True)
    uvicorn.run(gateway(lambda: MemoryClient(url), known), host=host, port=port, log_level="warning", ws="none")


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _print_key(name: str) -> None:
    key = new_key()
    typer.echo(f"# the key, shown once ({KEY_BYTES} random bytes): {key}")
    typer.echo(f'[[key]]\nname = "{name}"\nsha256 = "{digest(key)}"\ngraphs = ["*"]\nrights = ["read", "write"]')
