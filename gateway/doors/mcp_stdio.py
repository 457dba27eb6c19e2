"""`emgas mcp`: the memory as an MCP server over stdio, for the program that starts it.

It opens the memory when a tool is first called: a worker's start takes seconds, and some programs give up before they
have listed the tools.  Nothing but MCP is written to stdout.
"""

from __future__ import annotations

import asyncio

from emgas.client.client import MemoryClient
from gateway.doors.mcp_tools import mcp_server


async def served(url: str | None, graph_id: str | None, *, everything: bool) -> None:
    """Serve until stdin ends."""
    client = MemoryClient(url)
    opening: asyncio.Future[MemoryClient] | None = None

    async def opened() -> MemoryClient:
        nonlocal opening
        opening = opening or asyncio.ensure_future(client.open())
        return await asyncio.shield(opening)

    try:
        await mcp_server(opened, graph_id=graph_id, everything=everything).run_stdio_async()
    finally:
        if opening is not None:
            opening.cancel()
            await asyncio.wait([opening])
        await client.close()
