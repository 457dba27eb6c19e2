"""`emgas mcp`: the memory as an MCP server over stdio, for the program that starts it.

It answers the first call at once and opens the memory behind it: a worker's start takes seconds, and some programs give
up before.  Nothing but MCP is written to stdout.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer

from emgas.client.client import MemoryClient
from gateway.mcp_tools import mcp_server


def mcp(
    graph: Annotated[str | None, typer.Option(help="The one graph that all tools are about.")] = None,
    tools: Annotated[Literal["usual", "all"], typer.Option(help="all: configure and undo too.")] = "usual",
    url: Annotated[str | None, typer.Option(help="kafka://…, http://…, embedded:DIRECTORY.")] = None,
) -> None:
    """Serve a memory to an assistant over stdio (MCP)."""
    asyncio.run(_serve(url, graph, everything=tools == "all"))


async def _serve(url: str | None, graph_id: str | None, *, everything: bool) -> None:
    client = MemoryClient(url)
    opening = asyncio.ensure_future(client.__aenter__())

    async def opened() -> MemoryClient:
        return await asyncio.shield(opening)

    try:
        await mcp_server(opened, graph_id=graph_id, everything=everything).run_stdio_async()
    finally:
        if opening.done() and opening.exception() is None:
            await client.__aexit__(None, None, None)
        else:
            opening.cancel()
            await asyncio.wait([opening])
