"""Haystack: EmgasRetriever, a component that returns turns as documents."""

from __future__ import annotations

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from emgas.client.sync import Memory
from emgas.integrations.remembering import Remembering
from emgas.messages.queries import RecalledPassage


@component
class EmgasRetriever:
    """Finds turns of a graph.  A pipeline can be serialised if the memory is an address."""

    def __init__(self, memory: Memory | str, graph: str, *, top_k: int | None = None, tolerant: bool = False) -> None:
        """`memory`: an open Memory, or the address of one that is opened with the pipeline.

        top_k     how many; None: as many as the question needs
        tolerant  nothing is found where the memory fails, instead of an error
        """
        self.memory, self.graph, self.top_k, self.tolerant = memory, graph, top_k, tolerant
        self._opened: Memory | None = None if isinstance(memory, str) else memory

    def warm_up(self) -> None:
        """Open the memory, if it is an address."""
        self._open()

    def close(self) -> None:
        """Close the memory, if `warm_up` opened it."""
        if isinstance(self.memory, str) and self._opened is not None:
            self._opened.close()
            self._opened = None

    @component.output_types(documents=list[Document])
    def run(self, query: str, graph: str | None = None, top_k: int | None = None) -> dict[str, list[Document]]:
        """Find turns; `graph` and `top_k` override the component's own."""
        return self._remembering.wait(lambda: self._search(query, graph, top_k))

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, graph: str | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Find turns, as `run` does."""
        return await self._search(query, graph, top_k)

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component.  Raises TypeError where the memory is not an address."""
        if not isinstance(self.memory, str):
            raise TypeError('memory: only an address can be written down: EmgasRetriever("http://…", graph=…)')
        return default_to_dict(self, memory=self.memory, graph=self.graph, top_k=self.top_k, tolerant=self.tolerant)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> EmgasRetriever:
        """Build the component from what `to_dict` returned."""
        return default_from_dict(cls, data)

    def _open(self) -> Memory:
        if self._opened is None:
            self._opened = Memory(str(self.memory)).open()
        return self._opened

    @property
    def _remembering(self) -> Remembering:
        return Remembering(self._open(), self.tolerant)

    async def _search(self, query: str, graph: str | None, top_k: int | None) -> dict[str, list[Document]]:
        most = self.top_k if top_k is None else top_k
        passages = await self._remembering.passages(graph or self.graph, query, top_passages=most)
        return {"documents": [_document(passage) for passage in passages]}


def _document(passage: RecalledPassage) -> Document:
    fields = ("speaker", "session", "role", "at", "archived")
    meta = {name: getattr(passage, name) for name in fields}
    return Document(id=passage.id, content=passage.text, score=passage.score, meta=meta)
