"""Pause a graph and resume it: two of its settings, `recording` and `recalling`, changed while all others stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.requests import Outcome


async def pause(
    memory: MemoryClient, graph: str, *, recording: bool = True, recalling: bool = True, timeout: float | None = None
) -> Outcome:
    """Stop a graph from recording turns, from answering with them, or both, until `resume`."""
    return await _switch(memory, graph, {"recording": recording, "recalling": recalling}, 0, timeout)


async def resume(
    memory: MemoryClient, graph: str, *, recording: bool = True, recalling: bool = True, timeout: float | None = None
) -> Outcome:
    """Resume recording turns in a paused graph, or answering with them, or both."""
    return await _switch(memory, graph, {"recording": recording, "recalling": recalling}, 1, timeout)


async def _switch(
    memory: MemoryClient, graph: str, chosen: dict[str, bool], value: int, timeout: float | None
) -> Outcome:
    current = await memory.describe(graph, timeout=timeout)
    changed: dict[str, Any] = current.settings | {name: value for name, is_chosen in chosen.items() if is_chosen}
    return await memory.configure(graph, current.preset, timeout=timeout, **changed)
