"""The lab's renderers, as entry points.  A file of its own, as retrievers.py."""

from __future__ import annotations

from lab.masks import masked

__all__ = ["masked"]
