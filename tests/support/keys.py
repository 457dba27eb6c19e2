"""Places of keys that fail as real ones do."""

from __future__ import annotations

from emgas.errors import TransportError
from streams.transport.keys.file_keys import FileKeys


class OutOfReach(FileKeys):
    """Keys that cannot be read again, as where the topic of the keys has no leader."""

    tries = 0

    async def refresh(self) -> None:
        OutOfReach.tries += 1
        raise TransportError("the topic of the keys cannot be reached")
