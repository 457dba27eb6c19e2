"""The seam to whatever finds the concepts of turns before they are decided (streams/plugins/extraction_pool.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from processors.extraction.extractor import Extraction, Said


class AheadExtractor(Protocol):
    """Finds what turns hold, beside the event loop."""

    def takes(self, queued: int) -> bool:
        """Tell whether to ask about turns of which `queued` wait."""

    async def found(self, said: Sequence[Said]) -> dict[Said, Extraction]:
        """Find what turns hold, as far as that can be found; never raise."""
