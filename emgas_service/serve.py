"""The commands `emgas serve` and `emgas mcp`.  What they need is imported once they run (gateway/commands.py)."""

from __future__ import annotations

from gateway.commands import mcp, serve

__all__ = ["mcp", "serve"]
