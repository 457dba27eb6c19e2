"""Dependencies of routes beside the body: the memory, the graph of the path, and an idempotency key."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path, Request

from emgas.client.client import MemoryClient
from emgas.messages.fields import Name
from gateway.http.paths import PathGraph


async def memory_of(request: Request) -> MemoryClient:
    """Return the client of this gateway.  A coroutine, because the framework runs plain functions in a thread."""
    client: MemoryClient = request.app.state.memory
    return client


Memory = Annotated[MemoryClient, Depends(memory_of)]
Graph = Annotated[PathGraph, Path(description="whose memory: a user, an agent, a room")]
IdempotencyKey = Annotated[
    Name | None, Header(description="the id of a body without one: the same id again has no effect")
]
