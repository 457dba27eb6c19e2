"""`emgas serve` and `emgas mcp`: their options, and the checks before a server starts.

The command line finds them through the entry points `emgas.commands`.  The web libraries are imported only when a
server starts, so that other commands neither load nor need them.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from emgas.errors import EmgasError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from gateway.auth.keys import Keys

FAILURE, USAGE = 1, 2  # exit codes, as docs/operations.md has them
NEEDED = ("fastapi", "httpx2", "jwt", "mcp", "mcp_types", "prometheus_client", "starlette", "uvicorn")
TOOLS = "MCP tools to offer; all: also those that explore, configure and undo."


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")] = 8088,
    *,
    keys: Annotated[
        Path | None,
        typer.Option(envvar="EMGAS_KEYS", help="TOML file of API keys; required for any address but loopback."),
    ] = None,
    create_keys: Annotated[
        bool, typer.Option("--create-keys", help="If the file of --keys is missing, create it and print a key once.")
    ] = False,
    url: Annotated[
        str | None, typer.Option(help="Memory to serve: kafka://… or embedded:DIRECTORY; from the settings by default.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            envvar="EMGAS_MODEL_URL",
            help="OpenAI-compatible API of a model, as http://localhost:11434/v1, to add memory to. "
            "Its key is EMGAS_MODEL_KEY, else the caller's if this server has no keys.",
        ),
    ] = None,
    tools: Annotated[Literal["usual", "all"], typer.Option(help=TOOLS)] = "usual",
    connections: Annotated[
        int, typer.Option(min=1, envvar="EMGAS_CONNECTIONS", help="Maximum number of open connections.")
    ] = 4096,
    connections_per_peer: Annotated[
        int,
        typer.Option(
            min=1,
            envvar="EMGAS_CONNECTIONS_PER_PEER",
            help="Maximum number from one address; behind a proxy, set it as high as --connections.",
        ),
    ] = 2048,
    new_key_for: Annotated[
        str | None,
        typer.Option("--new-key", metavar="NAME", help="Print a new API key and its entry for the file, and exit."),
    ] = None,
) -> None:
    """Start the HTTP and MCP server with a web page: routes at /docs, MCP at /mcp."""
    if new_key_for is not None:
        _print_key(new_key_for)
        return
    _check_installed()
    from gateway.auth.access import is_loopback
    from gateway.doors.chat import ChatModel
    from gateway.http.connections import Limits
    from gateway.serve import served

    if create_keys:
        _create_keys(keys)
    callers = _keys(keys)
    if not callers.are_required and not is_loopback(host):
        fail(f"{host} is not loopback, and there are no keys: give --keys FILE (--new-key NAME makes one)", USAGE)
    if model is not None and not model.startswith(("http://", "https://")):
        fail(f"--model {model}: write the address of its API, as http://localhost:11434/v1", USAGE)
    chat_model = None if model is None else ChatModel(model, os.environ.get("EMGAS_MODEL_KEY"))
    limits = Limits(connections, connections_per_peer)
    _run(served(url, host=host, port=port, keys=callers, model=chat_model, all_tools=tools == "all", limits=limits))


def mcp(
    graph: Annotated[str | None, typer.Option(help="Graph that all tools use.")] = None,
    tools: Annotated[Literal["usual", "all"], typer.Option(help=TOOLS)] = "usual",
    url: Annotated[
        str | None, typer.Option(help="Memory to connect to: kafka://…, http://… or embedded:DIRECTORY.")
    ] = None,
) -> None:
    """Start an MCP server on stdio, for Claude, Cursor, VS Code and other assistants."""
    _check_installed()
    from emgas.validation import checked_graph
    from gateway.doors.mcp_stdio import served

    try:
        pinned = None if graph is None else checked_graph(graph)
    except EmgasError as error:
        fail(str(error), USAGE)
    _run(served(url, pinned, everything=tools == "all"))


def fail(message: str, code: int = FAILURE) -> NoReturn:
    """Print an error and exit."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(code)


def _check_installed() -> None:
    try:
        for name in NEEDED:
            __import__(name)
    except ImportError:
        fail(f"`emgas {sys.argv[1]}` is not installed: pip install 'emgas[serve]'", FAILURE)


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.run(work)
    except EmgasError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot listen: {error.strerror or error}; give another --host or --port", USAGE)


def _keys(path: Path | None) -> Keys:
    from gateway.auth.keys import Keys, read_keys

    if path is None:
        return Keys(None)
    try:
        return read_keys(path)
    except EmgasError as error:
        fail(str(error), USAGE)


def _create_keys(path: Path | None) -> None:
    """Create the file of keys with one key that has all rights, and print the key; leave a file as it is."""
    from gateway.auth.new_keys import entry, new_key

    if path is None:
        fail("--create-keys: name the file with --keys FILE", USAGE)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        fail(f"cannot create {path}: {error.strerror}", USAGE)
    key = new_key()
    with os.fdopen(file, "w", encoding="utf-8") as opened:
        opened.write(entry("me", key, ("read", "write", "forget", "admin")))
    typer.echo(f"your key, shown once: {key}  (its digest is in {path})")
    sys.stdout.flush()


def _print_key(name: str) -> None:
    from gateway.auth.new_keys import KEY_BYTES, entry, new_key

    key = new_key()
    typer.echo(f"# the key, shown once ({KEY_BYTES} random bytes): {key}")
    typer.echo(entry(name, key, ("read", "write")), nl=False)
