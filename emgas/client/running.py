"""Running memory: what recall brought in the last turns of a chat, so that an answer does not forget it at once.

    running = RunningMemory()
    for question in chat:
        reply = await memory.query("ada", question)
        in_prompt = running.turn(reply.passages)

Whatever was brought back stays for TURNS turns of the chat; of more than ITEMS, the latest stay; what says nearly the
same as one that is there is passed over (difflib's ratio).  It lives with the loop that has it, and nothing of it is
kept.  Source: SEEDS M12, with its numbers.
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
    """Passages that are at hand, each with the turns of the chat that it is there for, the latest last."""

    _held: list[tuple[RecalledPassage, int]] = field(default_factory=list)

    def turn(self, passages: Iterable[RecalledPassage]) -> list[RecalledPassage]:
        """Let a turn of the chat pass, take in what recall brought, best first, and give what is at hand."""
        self._held = [(passage, turns + 1) for passage, turns in self._held if turns + 1 < TURNS]
        best = list(passages)[:ITEMS]
        for passage in reversed(best):  # the best comes last, and stays
            if not any(_alike(passage.text, held.text) for held, _ in self._held):
                self._held.append((passage, 0))
        self._held = self._held[-ITEMS:]
        return [passage for passage, _ in self._held]


def _alike(text: str, other: str) -> bool:
    return SequenceMatcher(None, text, other).ratio() >= SAME
