"""The lab's guide, as an entry point.  A file of its own, as retrievers.py."""

from __future__ import annotations

from lab.guidance.guide import GUIDE

__all__ = ["GUIDE"]
