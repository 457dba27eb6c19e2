"""The seam to whatever finds the concepts of turns before they are decided (streams/plugins/extraction_pool.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from processors.extraction.extractor import Extraction, Said


class AheadExtractor(Protocol):
    """Finds what turns hold, beside the event loop."""

    def start(self) -> None:
        """Begin to get ready, in the background: there is a burst of turns."""

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked."""

    async def found(self, said: Sequence[Said]) -> dict[Said, Extraction]:
        """Find what turns hold, as far as that can be found; never raise."""
