"""The entry points: the command `emgas`, and the connection that MemoryClient("embedded:…") finds by its scheme.

pyproject.toml names them by a path that is the same in the repository and in a wheel, where everything else moves.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emgas.client.connection import Connection
    from emgas.wire import TopicNames

OTHERS = {"install", "log", "--help"}  # of `emgas hook …`, what no host runs: streams/cli/exchange/hook.py


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["hook"] and not {*sys.argv[2:3]} <= OTHERS:  # at every prompt: see emgas/hooks/firing.py
        from emgas.hooks.firing import main as fire

        fire(sys.argv[2:])
        return
    import atexit  # here: a hook needs none of this
    import gc
    import os
    import signal

    if "worker" in sys.argv[1:]:  # a stop during its imports has nothing to close; a native module half imported may
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # crash while the interpreter ends in order
        atexit.register(signal.signal, signal.SIGTERM, signal.SIG_IGN)  # a worker that ends has an exit code already
    gc.set_threshold(50_000, 20, 20)  # what a command imports is never garbage: to look through it took a tenth
    atexit.register(gc.freeze)  # and at its end a fifth
    if problem := mixed():
        sys.exit(f"error: {problem}")
    from streams.cli.main import main as run  # here: another version's client may not even be importable

    run()


def connect(url: str, topics: TopicNames) -> Connection:
    """Return a connection to a worker in this process.  See streams/worker/shared_connection.py."""
    try:
        from streams.worker.shared_connection import connect as connect_embedded
    except ImportError as error:
        if problem := hidden(error):
            from emgas.errors import NotInstalledError  # here: see main

            raise NotInstalledError(problem) from None
        raise
    return connect_embedded(url, topics)


def hidden(error: ImportError) -> str | None:
    """Return what is wrong where a program's own module, such as state.py, was imported as a package of a clone."""
    name = (error.name or "").partition(".")[0]
    ours, file = Path(__file__).parents[1] / name, getattr(sys.modules.get(name), "__file__", None)
    if file is None or not ours.is_dir() or ours in Path(file).parents:
        return None
    return (
        f"{file} has the name of a package of EMGAS: rename it, or install EMGAS with `pip install .`; all its "
        "packages then have names of their own"
    )


def mixed() -> str | None:
    """Return what is wrong where the client's own wheel lies over, or under, a service of another version.

    Both bring the package emgas, so one environment needs one of them; of the same version, they do no harm.
    """
    installed = [Path(folder) for folder in sys.path if folder]
    if not any(any(folder.glob("emgas_client-*")) for folder in installed):
        return None
    from importlib.metadata import (  # here: takes as long as all other imports of this file
        PackageNotFoundError,
        version,
    )

    try:
        client, service = version("emgas-client"), version("emgas")
    except PackageNotFoundError:
        return None
    if client == service:
        return None
    return (
        f"emgas {service} and emgas-client {client} are installed over each other; the service has its client in it: "
        "`pip uninstall emgas-client`, then install emgas again (`pip install --force-reinstall --no-deps …`)"
    )
