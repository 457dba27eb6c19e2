"""The settings of a graph as the event `GraphConfigured` records them: every value, because presets may change later.

emgas/messages/settings/memory_settings.py declares all settings with their bounds and defaults.
"""

from __future__ import annotations

from emgas.messages.settings import memory_settings
from emgas.messages.settings.memory_settings import CENTURY_MS, AllSettings, Settings

MOST_PATIENT = 5
LOOSER = 0.05  # affinity that a step of pace takes less for the same habit


class MemorySettings(AllSettings):
    """All settings of a graph."""

    def enough_turns(self, ever: int) -> int:
        """Count how many new turns are worth a consolidation, in a graph that has heard `ever` turns.

        The cost of a window grows with the graph, where processors/lifecycle/consolidation/clustering.py has no bounds,
        so a large graph waits for more turns: a tenth of its turns, at most MOST_PATIENT times `least_turns`.
        """
        return max(self.least_turns, min(ever // 10, MOST_PATIENT * self.least_turns))

    def paced(self, pace: int) -> MemorySettings:
        """Change the settings of consolidation to a pace: each step up, it comes twice as soon and takes more together.

        They stay within their bounds.
        """
        if not pace:
            return self
        return self.model_copy(
            update={
                "least_turns": max(1, round(self.least_turns * 2.0**-pace)),
                "consolidate_every": min(max(1, round(self.consolidate_every * 2.0**-pace)), CENTURY_MS),
                "affinity_above": min(max(0.0, self.affinity_above - LOOSER * pace), 2.0),
                "archive_covered": min(round(self.archive_covered * 2.0**-pace), CENTURY_MS),
            }
        )

    @property
    def ends_sessions(self) -> bool:
        """Return whether conversations end automatically."""
        return bool(self.end_sessions or self.session_turns or self.topic_shift)

    @property
    def fades_links(self) -> bool:
        """Return whether links fade."""
        return bool(self.links_below or self.links_step)

    @property
    def links_besides(self) -> bool:
        """Return whether a consolidation links more than what was said together."""
        return bool(self.frequent_linked or self.link_candidates)

    @property
    def counts_units(self) -> bool:
        """Return whether words count as said together by clauses or windows of tokens, not by turns."""
        return bool(self.clauses or self.window_tokens)

    @property
    def has_gates(self) -> bool:
        """Return whether a turn is checked before it is counted: all turns before it must be folded by then."""
        return bool(self.novelty_above or self.worth_words or self.counts_units)

    def changed(self, settings: Settings) -> MemorySettings:
        """Return these settings, overridden by those that `settings` has.  Raises pydantic.ValidationError."""
        # Through validation: `model_copy(update=…)` would take anything, and what cannot be read back bricks a graph.
        chosen = settings.model_dump(exclude_none=True)
        return type(self).model_validate({**self.model_dump(), **chosen})


SWITCHES = ("recording", "recalling")  # what a user said of them holds, whatever preset a graph lives by


# What each name means on the day it is chosen: changing a preset changes no graph that exists.
PRESETS = {name: MemorySettings().changed(differing) for name, differing in memory_settings.PRESETS.items()}
