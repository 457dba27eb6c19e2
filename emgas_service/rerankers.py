"""The lab's rerankers, as entry points.  A file of its own, as retrievers.py."""

from __future__ import annotations

from lab.rerankers.formulas import HELLO_AGENTS, MOFOX, SIMPLEMEM

__all__ = ["HELLO_AGENTS", "MOFOX", "SIMPLEMEM"]
