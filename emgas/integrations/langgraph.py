"""LangGraph: EmgasStore, any store whose `search(…, query=…)` is answered by a memory.

Items live in the other store, whole; each namespace is a graph, and each item a turn in it that says the item's text.

    put     the item's former turn is forgotten, and its new text recorded
    search  with a `query`: what recall finds in the namespaces below the prefix, best first, of each the best 100;
            without one, as the other store does it
    delete  the turn is forgotten

A turn's session is its item's key, and its id a digest of the item as it was written.  So what the memory still holds
of an item that was changed in the other store is never shown: the other store always has the last word.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.errors import InvalidMessageError
from emgas.integrations.graph_names import graph_for
from emgas.integrations.remembering import MOST, Remembering
from emgas.messages.queries import RecalledPassage
from emgas.pieces import LONGEST_NAME, fitted

Batch = Callable[[list[Op]], Awaitable[list[Result]]]  # the other store's
Place = tuple[tuple[str, ...], str]  # an item's namespace and key
PAGE = 1000  # namespaces or items that the other store is asked for at once
SPEAKER = "store"


class EmgasStore(BaseStore):
    """Around any store; `memory` is a Memory, or a MemoryClient where only `a…` methods are called."""

    def __init__(self, items: BaseStore, memory: Memory | MemoryClient, *, tolerant: bool = False) -> None:
        """`tolerant`: where the memory fails, a search finds nothing and an item is kept but not found by its text."""
        self._items = items
        self._remembering = Remembering(memory, tolerant)
        self.supports_ttl = items.supports_ttl
        self.ttl_config = items.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        these = list(ops)
        return self._remembering.wait(lambda: self._results(these, self._batch_in_a_thread))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._results(list(ops), self._items.abatch)

    def _batch_in_a_thread(self, ops: list[Op]) -> Awaitable[list[Result]]:
        return asyncio.to_thread(self._items.batch, ops)

    async def _results(self, ops: list[Op], items: Batch) -> list[Result]:
        """Answer a batch: searches and reads see the state before it; of two writes of an item, the last one counts."""
        writes = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        _refuse_what_cannot_be_named(writes)
        searches = {place: op for place, op in enumerate(ops) if isinstance(op, SearchOp) and op.query}
        matches = await asyncio.gather(*(self._search(op, items) for op in searches.values()))
        former = await _items(list(writes), items)
        others = iter(await items([op for op in ops if not (isinstance(op, SearchOp) and op.query)]))
        answers = dict(zip(searches, matches, strict=True))
        results: list[Result] = [answers[place] if place in answers else next(others) for place in range(len(ops))]
        await self._remember(writes, former, await _items(list(writes), items))
        return results

    async def _remember(
        self, writes: dict[Place, PutOp], former: Mapping[Place, Item], present: Mapping[Place, Item]
    ) -> None:
        for (namespace, key), item in former.items():
            after = present.get((namespace, key))
            if after is None or _turn_of(after) != _turn_of(item):
                await self._remembering.forget(graph_for(*namespace), sessions=[key])
        for (namespace, key), item in present.items():
            text = "\n".join(_texts(item.value, writes[namespace, key].index))
            await self._remembering.record(graph_for(*namespace), text, speaker=SPEAKER, session=key, id=_turn_of(item))

    async def _search(self, op: SearchOp, items: Batch) -> list[SearchItem]:
        namespaces = await _namespaces(op.namespace_prefix, items)
        of_each = await asyncio.gather(*(self._search_in(namespace, op, items) for namespace in namespaces))
        best = sorted((item for matches in of_each for item in matches), key=lambda item: -(item.score or 0))
        return best[op.offset : op.offset + op.limit]

    async def _search_in(self, namespace: tuple[str, ...], op: SearchOp, items: Batch) -> list[SearchItem]:
        most = MOST if op.filter else min(MOST, op.offset + op.limit)
        graph = graph_for(*namespace)
        passages = await self._remembering.passages(graph, op.query or "", top_passages=most, budget=0)
        stored = await _items([(namespace, passage.session) for passage in passages], items, refresh_ttl=op.refresh_ttl)
        keys = await _keys_of_filter(namespace, op.filter, items)
        matches: dict[str, SearchItem] = {}
        for passage in passages:
            item = stored.get((namespace, passage.session))
            if item is not None and _is_of(passage, item) and (keys is None or item.key in keys):
                matches.setdefault(item.key, _scored(item, passage.score))
        return list(matches.values())


async def _items(places: Sequence[Place], items: Batch, *, refresh_ttl: bool = False) -> dict[Place, Item]:
    """Read the items at these places."""
    once = list(dict.fromkeys(places))
    got = await items([GetOp(namespace, key, refresh_ttl) for namespace, key in once]) if once else []
    return {place: item for place, item in zip(once, got, strict=True) if isinstance(item, Item)}


async def _namespaces(prefix: tuple[str, ...], items: Batch) -> list[tuple[str, ...]]:
    conditions = (MatchCondition("prefix", prefix),) if prefix else None
    return [name async for name in _pages(lambda first: ListNamespacesOp(conditions, None, PAGE, first), items)]


async def _keys_of_filter(namespace: tuple[str, ...], only: dict[str, Any] | None, items: Batch) -> set[str] | None:
    """Return the keys of a namespace that pass a filter; None: all."""
    if not only:
        return None
    passed = _pages(lambda first: SearchOp(namespace, only, PAGE, first, refresh_ttl=False), items)
    return {item.key async for item in passed if item.namespace == namespace}


async def _pages(page: Callable[[int], Op], items: Batch) -> AsyncIterator[Any]:
    """Yield the entries of all pages; `page` builds the request for the page that begins at an index."""
    first = 0
    entries: list[Any] = []
    while first == 0 or len(entries) == PAGE:
        entries = cast(list[Any], (await items([page(first)]))[0])
        for entry in entries:
            yield entry
        first += PAGE


def _refuse_what_cannot_be_named(writes: Mapping[Place, PutOp]) -> None:
    for (_, key), op in writes.items():
        if op.value is not None and op.index is not False and fitted(key) != key:
            raise InvalidMessageError(
                f"key: must be 1 to {LONGEST_NAME} characters without U+0000, so that the item can be found by its "
                "text; or put it with index=False"
            )


def _texts(value: Any, index: Literal[False] | list[str] | None) -> Iterator[str]:
    """Yield the searchable texts of an item: those at its paths, or else every text and number in it."""
    if index is False:
        return
    if index is not None:
        for path in index:
            yield from get_text_at_path(value, tokenize_path(path))
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part, None)
    elif value is not None:
        yield str(value)


def _turn_of(item: Item) -> str:
    """Return the id of the turn that holds this version of an item; each write gets a new one."""
    written = [item.key, item.updated_at.timestamp(), item.value]
    return hashlib.sha256(json.dumps(written, sort_keys=True, default=str).encode()).hexdigest()


def _is_of(passage: RecalledPassage, item: Item) -> bool:
    return passage.id.split("/")[0] == _turn_of(item)  # of a long text, a piece


def _scored(item: Item, score: float) -> SearchItem:
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)
