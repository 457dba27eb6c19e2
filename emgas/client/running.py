"""Running memory: what recall brought in the last turns of a chat, so that an answer does not forget it at once.

    running = RunningMemory()
    for question in chat:
        reply = await memory.query("ada", question)
        in_prompt = running.turn(reply.passages)

A passage stays for TURNS turns of the chat; of more than ITEMS, the latest stay; near-duplicates are skipped
(difflib's ratio).  Nothing is stored: it lives as long as the object.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final

from emgas.messages.queries import RecalledPassage

TURNS: Final = 3
ITEMS: Final = 3
SAME: Final = 0.7


@dataclass
class RunningMemory:
    """The current passages, each with its age in turns of the chat, the latest last."""

    _passages: list[tuple[RecalledPassage, int]] = field(default_factory=list)

    def turn(self, passages: Iterable[RecalledPassage]) -> list[RecalledPassage]:
        """Count a turn of the chat, add the passages that recall returned, best first, and return the current ones."""
        self._passages = [(passage, turns + 1) for passage, turns in self._passages if turns + 1 < TURNS]
        best = list(passages)[:ITEMS]
        for passage in reversed(best):  # the best comes last, and stays
            if not any(_alike(passage.text, other.text) for other, _ in self._passages):
                self._passages.append((passage, 0))
        self._passages = self._passages[-ITEMS:]
        return [passage for passage, _ in self._passages]


def _alike(text: str, other: str) -> bool:
    return SequenceMatcher(None, text, other).ratio() >= SAME
