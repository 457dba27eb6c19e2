"""How a graph lives: decay, thresholds, windows; and the named ways to live.  Values are recorded as events.

The presets are what a name means on the day it is chosen: `GraphConfigured` holds every value, so changing a preset
here changes no graph that exists.

    default     fades over months, keeps what recurs
    forgetful   a week's half-life: for tests, demos and rooms that should stay small
    elephant    never forgets
    memorybank  MemoryBank's Ebbinghaus curve R = e^(−t/S), S in days, one more with every mention or recall.  There a
                piece that was recalled n times lasts 3 (n + 1) days; here words are strengthened, not turns, so a turn
                gets the 90 days of a piece that was recalled 29 times
    mofox       MoFox v2: activation × 0.9 a day, threshold 0.1, hourly consolidation (SEEDS M23–M26).  Its protection
                of "importance > 0.8" is left out: importance there is a model's judgement.  A memory that nothing
                activates lasts 22 days there; 60 leave room for those that would have been activated
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MOST_PATIENT = 5
Duration = Annotated[int, Field(ge=1, le=100 * 366 * DAY)]


class MemorySettings(BaseModel):
    """Every number that decides how a graph fades and consolidates.  Durations in ms.

    half_life         a fresh concept loses half its strength in this time (the seed's λ = ln 2 / half_life)
    stability         percent of `half_life` that every mention or recall after the first adds to a concept's own
    prune_below       a concept weaker than this is forgotten at the next decay window; 0: never
    episode_life      a turn leaves the graph this long after it was said, whatever words it holds; 0: never.  The
                      words stay by their own strength.  0 also where it is not recorded: logs are older than it
    recall_boost      what a recall adds to a concept's strength
    long_windows      a concept mentioned in so many consolidation windows becomes long-term; 0: never
    long_recalls      a concept recalled so often becomes long-term; 0: never
    long_tau, long_beta  long-term strength falls as (1 + elapsed / long_tau) ^ −long_beta: fast first, then hardly;
                      always slower than a fresh one where long_tau · ln 2 >= half_life · long_beta
    decay_every       tumbling windows of forgetting
    consolidate_every tumbling windows of consolidation
    idle              session window: silence after which a conversation counts as over, and is consolidated
    grace             how long after its end a window waits for late turns
    least_turns       new turns without which nothing is consolidated; see `enough_turns`
    duplicate_above   share of words in common (Jaccard) above which two turns say the same; from 1 on: never
    undo_events       so many of the graph's last events can be taken back; the store keeps as much as that needs
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
    half_life: Duration = 60 * DAY
    stability: Annotated[int, Field(ge=0, le=1000)] = 0
    prune_below: Annotated[float, Field(ge=0, le=1)] = 0.03
    episode_life: Annotated[int, Field(ge=0, le=100 * 366 * DAY)] = 0
    recall_boost: Annotated[float, Field(ge=0, le=10)] = 0.5
    long_windows: Annotated[int, Field(ge=0)] = 6
    long_recalls: Annotated[int, Field(ge=0)] = 10
    long_tau: Duration = 60 * DAY
    long_beta: Annotated[float, Field(ge=0.05, le=5)] = 0.5
    decay_every: Duration = DAY
    consolidate_every: Duration = 7 * DAY
    idle: Duration = 30 * MINUTE
    grace: Annotated[int, Field(ge=0, le=366 * DAY)] = 5 * MINUTE
    least_turns: Annotated[int, Field(ge=1)] = 12
    duplicate_above: Annotated[float, Field(gt=0, le=2)] = 0.9
    undo_events: Annotated[int, Field(ge=0, le=2**53)] = 1000

    def enough_turns(self, ever: int) -> int:
        """Return how many new turns are worth a consolidation, in a graph that has heard `ever` turns.

        What a window costs grows with the graph until the bounds of processors/lifecycle/clustering.py hold, so a large graph waits
        for more: a tenth of its turns, and at most MOST_PATIENT times `least_turns`.
        """
        return max(self.least_turns, min(ever // 10, MOST_PATIENT * self.least_turns))


PRESETS = {
    "default": MemorySettings(episode_life=730 * DAY),
    "forgetful": MemorySettings(
        half_life=7 * DAY,
        prune_below=0.1,
        episode_life=60 * DAY,
        decay_every=7 * DAY,
        long_windows=8,
        undo_events=30,
    ),
    "elephant": MemorySettings(prune_below=0.0, undo_events=1_000_000),
    "memorybank": MemorySettings(
        half_life=59_887_916, stability=100, prune_below=0.05, episode_life=90 * DAY, long_windows=0, long_recalls=0
    ),
    "mofox": MemorySettings(
        half_life=568_409_485, prune_below=0.1, episode_life=60 * DAY, consolidate_every=HOUR, idle=2 * HOUR
    ),
}
