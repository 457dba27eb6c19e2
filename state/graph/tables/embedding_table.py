"""The vectors of a graph's turns, as the log recorded them: an optional view, which needs no model.

    model, dimensions    ──▶  passage  (k,)    numbers of the passages that have a vector of it
                              vector   (k, d)  float32, row by row

How the log holds a vector: state/events/vectors.py.  The first vector of a passage and a model stays.  Vectors of
another length are kept apart, even of one model's name.

Rows are appended, and a view sees those that were there when it was taken, passages ascending: so a question is
compared bit by bit alike with a graph and with the fold of its log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from state.arrays import Counts, Integers
from state.events.vectors import DTYPE

_FEWEST = 16  # rows that there is room for


class Model(NamedTuple):
    """The identity of a model: only vectors with the same name, version and length may be compared."""

    name: str
    dimensions: int


class Embeddings(NamedTuple):
    """The numbers of k passages (k,), ascending, and the vector of each, (k, d) float32."""

    passage: Counts
    vector: NDArray[np.float32]


class EmbeddingTable:
    """The rows of every model.  Only the graph's fold writes here."""

    def __init__(self) -> None:
        self._models: dict[Model, _Rows] = {}

    @property
    def size(self) -> int:
        """Return the approximate memory use in bytes."""
        return sum(rows.size for rows in self._models.values())

    def add(self, passage: int, name: str, stored: bytes) -> bool:
        """Append a passage's vector by the model called `name`; return False if it has one already."""
        vector = np.frombuffer(stored, DTYPE)
        model = Model(name, len(vector))
        rows = self._models.setdefault(model, _Rows(model.dimensions))
        return rows.add(passage, vector)

    def embeddings(self) -> Mapping[Model, Embeddings]:
        """Show the vectors that there are now, by model, passages ascending; rows that come later are not in them."""
        return {model: rows.taken() for model, rows in self._models.items() if rows.count}

    def renumber(self, passages: Integers) -> None:
        """Renumber passage i to passages[i] (p,), and drop those of -1."""
        models, self._models = self._models, {}
        for model, rows in models.items():
            taken = rows.taken()
            number = passages[taken.passage]
            self._models[model] = _Rows.of(number[number >= 0], taken.vector[number >= 0])

    def values(self) -> list[list[Any]]:
        """List [name, dimensions] of the models that vectors are of, in canonical order."""
        return [list(model) for model in sorted(self.embeddings())]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy the columns of each model of `values` into arrays by name; passages ascending."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, (_, (passage, vector)) in enumerate(sorted(self.embeddings().items())):
            arrays[f"embedding_{number}_passage"] = passage
            arrays[f"embedding_{number}_vector"] = vector.astype(DTYPE).ravel()
        return arrays

    @classmethod
    def of(cls, values: Sequence[Sequence[Any]], arrays: Mapping[str, NDArray[Any]]) -> EmbeddingTable:
        """Build the table that `values` and `arrays` described."""
        table = cls()
        for number, (name, dimensions) in enumerate(values):
            passages, vectors = arrays[f"embedding_{number}_passage"], arrays[f"embedding_{number}_vector"]
            table._models[Model(name, dimensions)] = _Rows.of(passages, vectors.reshape(-1, dimensions))
        return table


class _Rows:
    """The rows of one model, with room for more; what was taken never changes."""

    def __init__(self, dimensions: int) -> None:
        self.count = 0
        self._ascending = True
        self._numbers_in: set[int] = set()
        self._passage = np.empty(_FEWEST, np.int32)
        self._vector = np.empty((_FEWEST, dimensions), np.float32)

    @property
    def size(self) -> int:
        return self._vector.nbytes + 70 * self.count

    @classmethod
    def of(cls, passages: NDArray[Any], vectors: NDArray[Any]) -> _Rows:
        """Build rows of ascending passages, in arrays of their own."""
        rows = cls(vectors.shape[1])
        rows.count, rows._numbers_in = len(passages), set(passages.tolist())
        rows._passage = np.concatenate((passages.astype(np.int32), rows._passage))
        rows._vector = np.concatenate((vectors.astype(np.float32), rows._vector))
        return rows

    def add(self, passage: int, vector: NDArray[Any]) -> bool:
        if passage in self._numbers_in:
            return False
        if self.count == len(self._passage):
            self._passage = np.concatenate((self._passage, np.empty_like(self._passage)))
            self._vector = np.concatenate((self._vector, np.empty_like(self._vector)))
        self._ascending &= not self.count or passage > int(self._passage[self.count - 1])
        self._numbers_in.add(passage)
        self._passage[self.count], self._vector[self.count] = passage, vector
        self.count += 1
        return True

    def taken(self) -> Embeddings:
        passage, vector = self._passage[: self.count], self._vector[: self.count]
        if self._ascending:
            return Embeddings(passage, vector)
        order = np.argsort(passage)
        return Embeddings(passage[order], vector[order])
