"""`emgas model add|list`: models of text embeddings, put where workers find them by name."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.cli.shared import output

app = typer.Typer(no_args_is_help=True, help="Models of text embeddings, for EMGAS_EMBEDDER.")


@app.command()
def add(
    source: Annotated[str, typer.Argument(metavar="NAME|PATH", help="An installed package, or a directory.")],
    json: output.Json = False,
) -> None:
    """Put a model into the data directory, where EMGAS_EMBEDDER=NAME finds it.  Nothing is downloaded."""
    from processors.recall.ranking.dense import model_name  # here: --help needs none of it
    from streams.plugins import model_store
    from streams.plugins.embedders import load

    data = output.settings().data
    with output.explained():
        place = model_store.add(source, data)
        embedder = load(place)
    told = {"name": place.name, "model": model_name(embedder), "numbers": int(embedder.embed(["a text"]).shape[1])}
    if json:
        output.print_json(told)
    else:
        output.out.print(f"added {told['model']}, {told['numbers']} numbers a text: export EMGAS_EMBEDDER={place.name}")


@app.command(name="list")
def list_(json: output.Json = False) -> None:
    """Show the models that were added."""
    from streams.plugins import model_store  # here: --help needs none of it

    found = model_store.names(output.settings().data)
    if json:
        output.print_json({"models": found})
    else:
        output.out.print("\n".join(found) or "no models")
