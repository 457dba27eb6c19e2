"""Models of text embeddings, local or installed; nothing is ever fetched.  Each: Embedder (ranking/dense.py).

    FILE.npz    a table of word vectors: `words` (v,) texts, `vectors` (v, d).  A text is the mean of its words: each as
                it is written, else casefolded, else in simplified characters, else its dictionary form
    DIRECTORY   a sentence encoder as published for ONNX: tokenizer.json and model.onnx (or onnx/model.onnx), with
                input_ids and attention_mask in, vectors of tokens (n, t, d) or of texts (n, d) out.  A text is the mean
                of its tokens.  Needs the packages onnxruntime and tokenizers: the extra `dense` of EMGAS
    package.module.name  of an installed package: called without arguments, it returns an Embedder, or what encodes
                texts as sentence-transformers' models do: `encode(texts)`, (n, d) vectors

The version of a file is a hash of its bytes: a model that was trained further has another.  That of a package is the
package's own.  `emgas admin model add` puts models where they are found by name (model_store.py).
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from emgas.errors import BadSettingError, InvalidMessageError, NotInstalledError
from emgas.limits import DIMENSIONS
from processors.recall.ranking.dense import Embedder, Vectors, unit
from processors.text.chinese import simplified
from processors.text.language import Language, clean
from state.arrays import Mask
from streams.plugins.model_store import named
from streams.plugins.package import package

AT_ONCE = 32  # texts encoded together
MOST_TOKENS = 256  # of a text that an encoder reads; longer ones are cut
READABLE = (
    0.7  # share of its tokens that an encoder must know of a text: an English one knows some 35 % of a Chinese text
)
_IMPORTABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def load(path: Path) -> Embedder:
    """Load the model that `path` names.

    Raises InvalidMessageError when there is none, NotInstalledError when a package is missing.
    """
    if path.is_file() and path.suffix == ".npz":
        return WordVectors(path)
    model = next((path / name for name in ("model.onnx", "onnx/model.onnx") if (path / name).is_file()), None)
    if model is not None and (path / "tokenizer.json").is_file():
        return Encoder(path, model)
    if not path.exists() and _IMPORTABLE.fullmatch(str(path)):
        return _installed(str(path))
    raise InvalidMessageError(
        f"{path} is no model: give a table of word vectors (.npz), a directory with tokenizer.json and model.onnx, or "
        "package.module.name of an installed embedder"
    )


def _installed(path: str) -> Embedder:
    module, _, name = path.rpartition(".")
    try:
        made = getattr(import_module(module), name)()
        embedder: Embedder = made if hasattr(made, "embed") else Installed(path, made.encode)
        _ = embedder.name, embedder.version
    except (ImportError, AttributeError, TypeError) as error:
        raise InvalidMessageError(
            f"{path} names no embedder ({error}): name an importable package.module.name that is called without "
            "arguments and returns what processors/recall/ranking/dense.py describes, or has encode(texts)"
        ) from error
    return embedder


def chosen(path: Path | None, data: Path) -> Embedder | None:
    """Load the model that EMGAS_EMBEDDER names, None without one.  Raises BadSettingError when it cannot be used.

    data  the data directory: `emgas admin model add` puts models there
    """
    if (path := named(path, data)) is None:
        return None
    try:
        embedder = load(path)
    except (InvalidMessageError, NotInstalledError) as error:
        raise BadSettingError(f"EMGAS_EMBEDDER: {error}. Without the setting, turns are not embedded.") from error
    width = embedder.embed(["warm up"]).shape[1]
    if not 1 <= width <= DIMENSIONS:
        raise BadSettingError(
            f"EMGAS_EMBEDDER: {path} gives {width} numbers a text, at most {DIMENSIONS} can be recorded"
        )
    return embedder


class Installed:
    """A model of an installed package that encodes texts, and knows nothing of EMGAS."""

    def __init__(self, path: str, encode: Callable[[list[str]], Any]) -> None:
        (module, *_), self._encode = path.split("."), encode
        distributions = packages_distributions().get(module, [])
        self.name, self.version = path, "+".join(version(each) for each in distributions) or "unknown"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as (n, d) what the package makes of each text, of length 1."""
        return unit(np.asarray(self._encode(list(texts)), np.float32)) if texts else np.zeros((0, 1), np.float32)


class WordVectors:
    """A table of word vectors."""

    def __init__(self, path: Path) -> None:
        try:
            with np.load(path, allow_pickle=False) as table:
                words, vectors = table["words"], table["vectors"]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise InvalidMessageError(
                f"{path}: needs the arrays words and vectors, words as texts ({error})"
            ) from error
        if words.ndim != 1 or vectors.ndim != 2 or len(words) != len(vectors) or words.dtype.kind != "U":
            raise InvalidMessageError(f"{path}: words must be (v,) texts and vectors (v, d) numbers")
        self.name, self.version = path.stem, _hash(path)
        self._rows = {word: row for row, word in reversed(list(enumerate(words.tolist())))}
        self._vectors = vectors.astype(np.float32)
        self._language = Language("en", ())  # only cuts and normalises here, so it needs no function words

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as (n, d) the mean vector of each text's words, of length 1; zeros where no word is in the table."""
        made = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            rows = list(self._rows_of(text))
            if rows:
                made[row] = self._vectors[rows].mean(axis=0)
        return unit(made)

    def _rows_of(self, text: str) -> Iterator[int]:
        for word in self._language.words(clean(text)):
            forms = word.surface, word.surface.casefold(), simplified(word.surface), word.form
            row = next((self._rows[form] for form in forms if form in self._rows), None)
            if row is not None:
                yield row


class Encoder:
    """A sentence encoder in ONNX, on the processor."""

    def __init__(self, path: Path, model: Path) -> None:
        runtime, tokenizers = package("onnxruntime"), package("tokenizers")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
            self._session = runtime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        except Exception as error:  # both raise types of their own, some of them plain Exception
            raise InvalidMessageError(f"{path} cannot be loaded: {error}") from error
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.enable_padding()
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._unknown = self._tokenizer.token_to_id(_unknown_token(path / "tokenizer.json"))
        self.name, self.version = path.resolve().name, _hash(model, path / "tokenizer.json")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed as (n, d) the mean vector of each text's tokens, of length 1; 0 for what the model cannot read."""
        parts = [self._encoded(texts[start : start + AT_ONCE]) for start in range(0, len(texts), AT_ONCE)]
        return unit(np.concatenate(parts)) if parts else np.zeros((0, 1), np.float32)

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        encodings = self._tokenizer.encode_batch(list(texts))
        attended = np.array([each.attention_mask for each in encodings], np.int64)
        inputs = {
            "input_ids": np.array([each.ids for each in encodings], np.int64),
            "attention_mask": attended,
            "token_type_ids": np.zeros_like(attended),
        }
        out: Any = self._session.run(None, {name: inputs[name] for name in inputs if name in self._inputs})[0]
        made: Vectors = _mean(out, attended) if out.ndim == 3 else out
        return np.where(self._reads(inputs["input_ids"], encodings)[:, None], made, np.float32(0))

    def _reads(self, ids: Any, encodings: Sequence[Any]) -> Mask:
        """Return whether the model knows enough tokens of each text: (n,)."""
        own = np.array([each.special_tokens_mask for each in encodings], np.int64) == 0
        unknown = (ids == self._unknown) & own if self._unknown is not None else np.zeros_like(own)
        reads: Mask = unknown.sum(axis=1) <= (1 - READABLE) * own.sum(axis=1)
        return reads


def _unknown_token(tokenizer: Path) -> str:
    """Return the token by which a tokenizer stands for what it does not know; "" if it has none."""
    name: str | None = json.loads(tokenizer.read_text("utf-8"))["model"].get("unk_token")
    return name or ""


def _mean(tokens: Any, attended: Any) -> Vectors:
    """Average the vectors (n, t, d) of the tokens that count into (n, d)."""
    weight = attended[:, :, None].astype(np.float32)
    mean: Vectors = (tokens * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1)
    return mean


def _hash(*files: Path) -> str:
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()[:16]
