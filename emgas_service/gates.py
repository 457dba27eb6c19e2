"""The lab's gates, as entry points.  A file of its own, as retrievers.py."""

from __future__ import annotations

from lab.gates.novelty import gate as novelty
from lab.gates.worth import gate as worth

__all__ = ["novelty", "worth"]
