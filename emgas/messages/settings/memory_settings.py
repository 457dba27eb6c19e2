"""The settings of a graph: decay, thresholds, windows; and presets.  The one place that declares a setting.

From the fields of `AllSettings` come

    what the wire accepts                   `Settings` below: each field optional, with the same bounds
    what the event GraphConfigured records  state/events/memory_settings.py
    options of `configure` and `branch`     streams/cli/shared/setting_options.py
    the table in docs/reference.md          scripts/docs

so whatever the wire lets through can be recorded.

A setting is a field with a default, its bounds, its unit (a `Duration` is in ms; other numbers have none) and one line
that says what it does.

Presets, each as what differs from the defaults of the fields, and the mode of questions (PRESET_MODES).  What fades
under any of them is archived: it leaves the active tier, and can still be found, where a source may prune.  Those
of the sources stand value by value, with what the source has and why ours differs, in lab/preset_sources.py:

    default     fades over months, keeps what recurs
    forgetful   a week's half-life: for tests, demos and rooms that should stay small
    elephant    archives nothing
    emgas, soulmem, memorybank, maibot, mofox, simplemem, hello-agents    as these systems describe themselves
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, create_model
from pydantic.fields import FieldInfo

from emgas.messages.fields import Message
from emgas.messages.settings.modes import Mode, Rerank
from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS

CENTURY_MS = 100 * 366 * DAY_MS
LARGEST_COUNT = 2**53  # up to here, every language's JSON library reads an integer exactly


class Unit(Enum):
    """What a setting counts, where it is not a plain number."""

    MILLISECONDS = auto()


Duration = Annotated[int, Unit.MILLISECONDS]


def added(default: float, **bounds: Any) -> Any:
    """Declare a setting that older logs lack: left out of what is recorded and hashed while it has its default.

    So a new setting changes no event and no digest; those of the first version are `Field`s, and always recorded.
    """
    return Field(default, exclude_if=lambda value: value == default, **bounds)


class AllSettings(Message):
    """Every number that decides how a graph fades and consolidates, each with the default that presets differ from."""

    half_life: Duration = Field(
        60 * DAY_MS, ge=1, le=CENTURY_MS, description="in which a fresh concept loses half its strength"
    )
    stability: int = Field(
        0,
        ge=0,
        le=1000,
        description="percent of the half-life that every mention or recall after the first adds to a concept's own",
    )
    prune_below: float = Field(
        0.03,
        ge=0,
        le=1,
        description="weaker than this, a concept is archived at the next decay window; 0: never",
    )
    # 0 also where it is not recorded: there are logs that are older than it.
    episode_life: Duration = Field(
        0,
        ge=0,
        le=CENTURY_MS,
        description="a turn is archived at the next decay window when it was said so long ago, whatever words it "
        "holds; 0s: never",
    )
    recall_boost: float = Field(0.5, ge=0, le=10, description="what a reinforcing recall adds to a concept's strength")
    long_windows: int = Field(
        6,
        ge=0,
        le=LARGEST_COUNT,
        description="mentioned in so many consolidation windows, a concept becomes long-term; 0: never",
    )
    long_recalls: int = Field(
        10, ge=0, le=LARGEST_COUNT, description="recalled so often, a concept becomes long-term; 0: never"
    )
    # Long-term strength falls as (1 + elapsed / long_tau) ^ −long_beta: always slower than a fresh one where
    # long_tau · ln 2 >= half_life · long_beta.
    long_tau: Duration = Field(60 * DAY_MS, ge=1, le=CENTURY_MS, description="time scale of long-term fading")
    long_beta: float = Field(0.5, ge=0.05, le=5, description="steepness of long-term fading")
    decay_every: Duration = Field(DAY_MS, ge=1, le=CENTURY_MS, description="length of decay windows")
    consolidate_every: Duration = Field(
        7 * DAY_MS, ge=1, le=CENTURY_MS, description="length of the windows of consolidation"
    )
    idle: Duration = Field(
        30 * MINUTE_MS,
        ge=1,
        le=CENTURY_MS,
        description="silence after which a conversation is over, and is consolidated",
    )
    grace: Duration = Field(
        5 * MINUTE_MS, ge=0, le=366 * DAY_MS, description="how long after its end a window waits for late turns"
    )
    least_turns: int = Field(
        12,
        ge=1,
        le=LARGEST_COUNT,
        description="new turns without which nothing is consolidated; a large graph waits for a tenth of all its "
        "turns, at most for five times as many",
    )
    duplicate_above: float = Field(
        0.9,
        gt=0,
        le=2,
        description="share of words in common (Jaccard) from which two turns of a conversation say the same; "
        "from 1 on: never",
    )
    affinity_above: float = added(
        0.75, ge=0, le=2, description="affinity from which two turns are near: what hangs together so is one habit"
    )
    affinity_gamma: float = added(
        0.5, ge=0, le=1, description="share of the words in affinity; the rest is how near in time two turns were said"
    )
    affinity_tau: Duration = added(
        30 * DAY_MS, ge=1, le=CENTURY_MS, description="time scale of affinity: days for projects, months for habits"
    )
    affinity_dated: float = added(
        1.0,
        ge=0,
        le=2,
        description="what gamma is multiplied by between turns that tell a time: less than 1, and what was said at one "
        "time belongs together sooner than what is alike",
    )
    affinity_tau_dated: Duration = added(
        0, ge=0, le=CENTURY_MS, description="time scale of affinity between turns that tell a time; 0s: as of others"
    )
    habit_members: int = added(
        5, ge=0, le=LARGEST_COUNT, description="turns that make a habit, at least; 0: none are looked for"
    )
    habit_days: int = added(3, ge=1, le=LARGEST_COUNT, description="days on which they were said, at least")
    archive_covered: Duration = added(
        0,
        ge=0,
        le=CENTURY_MS,
        description="a turn that a habit holds is archived at the next consolidation when it was said so long ago; "
        "0s: never",
    )
    active_turns: int = added(
        0,
        ge=0,
        le=LARGEST_COUNT,
        description="more turns than so many that are active, and the oldest are archived at the next consolidation; "
        "0: never",
    )
    steady_growth: float = added(
        0.0,
        ge=0,
        le=10,
        description="share by which active turns may grow from one consolidation to the next; where they grow more, "
        "the next comes sooner and takes more together; 0: windows are as they are set",
    )
    undo_events: int = Field(
        1000,
        ge=0,
        le=LARGEST_COUNT,
        description="how many of the last events can be taken back; the store keeps as much as that needs",
    )
    end_sessions: int = added(
        0,
        ge=0,
        le=1,
        description="1: that a conversation ended by silence (`idle`) is recorded, with what it was about",
    )
    session_turns: int = added(
        0, ge=0, le=LARGEST_COUNT, description="turns after which a conversation ends, and goes on as another; 0: never"
    )
    topic_shift: float = added(
        0.0,
        ge=0,
        le=1,
        description="a conversation ends where a turn has less than this share of its words in common with the last "
        "ones; 0: never",
    )
    links_below: float = added(
        0.0,
        ge=0,
        le=LARGEST_COUNT,
        description="a link of less strength than this goes at the next decay window, and a word without any is "
        "archived; its strength is how often its words were together, and fades as theirs; 0: links do not fade",
    )
    links_step: Duration = added(
        0,
        ge=0,
        le=CENTURY_MS,
        description="a link loses one of its strength in so long a silence, and goes with the last, instead of fading "
        "by the half-life; 0s: by the half-life",
    )
    drop: float = added(
        6.0,
        ge=0,
        le=1000,
        description="how much worse than the third best a turn may score and still be shown: e^−drop times as likely",
    )
    recording: int = added(1, ge=0, le=1, description="0: what is said is not recorded, only that something was")
    recalling: int = added(1, ge=0, le=1, description="0: questions bring back nothing, and are told why")
    # What is counted of what comes (docs/lifecycle.md "Gates").  The log keeps all of it.
    novelty_above: float = added(
        0.0,
        ge=0,
        le=1,
        description="a turn whose score of novelty is lower is redundant: it goes to the archive at once; 0: none does",
    )
    novelty_alpha: float = added(
        0.5,
        ge=0,
        le=1,
        description="share of what is named for the first time in that score; the rest is how far the "
        "words are from those said lately",
    )
    novelty_beta: float = added(
        0.1, ge=0.01, le=1, description="share of each turn in the moving average of the words said lately"
    )
    novelty_border: float = added(
        0.2,
        ge=0,
        le=1,
        description="so far below `novelty_above`, a turn that names something for the first time stays active all "
        "the same",
    )
    novelty_literal: int = added(
        0, ge=0, le=1, description="1: what is named for the first time is a share of all words, not of what is named"
    )
    worth_words: int = added(
        0,
        ge=0,
        le=LARGEST_COUNT,
        description="content words that make a turn worth remembering, unless it holds a name, a time, a statement or "
        "an anchor; else it goes to the archive at once; 0: none does",
    )
    window_tokens: int = added(
        0,
        ge=0,
        le=LARGEST_COUNT,
        description="length in words of the windows in which words are counted as said together; 0: a turn, and the "
        "one before it",
    )
    window_overlap: float = added(
        0.5, ge=0, le=0.9, description="share of such a window that the one before it holds, too"
    )
    clauses: int = added(0, ge=0, le=1, description="1: only words of one clause are counted as said together")
    # What windows replay, link and strengthen (docs/lifecycle.md "Dreams").
    dream_every: Duration = added(
        0, ge=0, le=CENTURY_MS, description="length of the windows at whose end the graph dreams; 0s: never"
    )
    dream_at: Duration = added(
        0, ge=0, le=CENTURY_MS, description="how long after the beginning of such a stretch the dream is: 3h of 1d"
    )
    dream_walks: int = added(8, ge=1, le=1000, description="random walks of a dream")
    dream_steps: int = added(4, ge=1, le=100, description="steps of each of them")
    dream_boost: float = added(
        0.1, ge=0, le=10, description="what a dream adds to the strength of a concept that it comes by"
    )
    frequent_linked: int = added(
        0,
        ge=0,
        le=100,
        description="concepts recalled most frequently that a consolidation links with what is new; 0: none",
    )
    recall_spread: float = added(
        0.0,
        ge=0,
        le=1,
        description="share of `recall_boost` that neighbours of a recalled concept get, too; 0: none",
    )
    recall_related: int = added(5, ge=1, le=100, description="neighbours of a concept that do, at most: the nearest")
    keep_information: int = added(
        0,
        ge=0,
        le=1,
        description="1: of two turns that say the same, the one whose words tell more stays, not the longer one",
    )
    consolidate_batch: int = added(
        0,
        ge=0,
        le=LARGEST_COUNT,
        description="new turns that a consolidation compares, those that matter most first; 0: all",
    )
    link_candidates: int = added(
        0,
        ge=0,
        le=1000,
        description="turns nearest to each new one that a consolidation tries to link with it; 0: none",
    )
    link_importance: float = added(
        0.5, ge=0, le=1, description="how important a new turn must be to be linked like this; 0.5 by default"
    )
    link_above: float = added(
        0.7, ge=0, le=1, description="share of the words (cosine) from which a turn may be linked with it"
    )
    link_confidence: float = added(0.7, ge=0, le=1, description="affinity from which it is")


MOST_WEIGHTS = 64
Weight = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Weights = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=64)], Weight], Field(max_length=MOST_WEIGHTS)
]  # what features of a turn are worth in recall, by name: where it is not the default (docs/recall.md)


def _optional(field: FieldInfo) -> Any:
    """Declare a setting's field once more, with its bounds, as one that may be left out."""
    bounded = cast(Any, Annotated)[field.annotation, *field.metadata]
    return bounded | None, Field(None, description=field.description)


class Settings(
    create_model(  # type: ignore[misc]  # mypy cannot see fields that are derived
        "Settings",
        __base__=Message,
        **{name: _optional(field) for name, field in AllSettings.model_fields.items()},
    )
):
    """The settings of a graph; a setting that is not set has the preset's value.  Durations in ms."""


def is_duration(setting: str) -> bool:
    """Check whether a setting is a duration in milliseconds."""
    return Unit.MILLISECONDS in AllSettings.model_fields[setting].metadata


PRESETS = {
    "default": Settings(episode_life=730 * DAY_MS),
    "forgetful": Settings(
        half_life=7 * DAY_MS,
        prune_below=0.1,
        episode_life=60 * DAY_MS,
        decay_every=7 * DAY_MS,
        long_windows=8,
        undo_events=30,
    ),
    "elephant": Settings(prune_below=0.0, undo_events=1_000_000),
    "memorybank": Settings(
        half_life=59_887_916,
        stability=100,
        prune_below=0.05,
        episode_life=90 * DAY_MS,
        long_windows=0,
        long_recalls=0,
    ),
    "mofox": Settings(
        half_life=568_409_485,
        prune_below=0.1,
        episode_life=60 * DAY_MS,
        consolidate_every=HOUR_MS,
        idle=2 * HOUR_MS,
        recall_spread=0.5,
        consolidate_batch=100,
        link_candidates=10,
    ),
    "emgas": Settings(long_windows=0, long_recalls=0, habit_members=0, duplicate_above=1.0),
    "soulmem": Settings(
        prune_below=0.0,
        long_windows=0,
        long_recalls=0,
        end_sessions=1,
        session_turns=20,
        topic_shift=0.1,
        frequent_linked=5,
        dream_every=DAY_MS,
        recall_spread=0.5,
        links_below=0.5,
    ),
    "simplemem": Settings(
        prune_below=0.0,
        episode_life=30 * DAY_MS,
        novelty_above=0.35,
        window_tokens=512,
        clauses=1,
        archive_covered=1,
        steady_growth=0.1,
    ),
    "hello-agents": Settings(
        prune_below=0.0, long_windows=0, long_recalls=0, idle=HOUR_MS, habit_members=0, duplicate_above=1.0
    ),
    "maibot": Settings(
        prune_below=0.0,
        long_windows=0,
        long_recalls=0,
        decay_every=50 * MINUTE_MS,
        consolidate_every=1_000_000,
        links_step=48 * HOUR_MS,
        duplicate_above=0.7,
        keep_information=1,
        worth_words=2,
        habit_members=0,
    ),
}

# The mode and the reranker ("" for none) of questions that name no mode.
PRESET_MODES: dict[str, tuple[Mode, Rerank | Literal[""]]] = {
    "emgas": ("literal", ""),
    "soulmem": ("staged", ""),
    "memorybank": ("vector", ""),
    "maibot": ("subtractive", ""),
    "mofox": ("path", "mofox"),
    "simplemem": ("default", "simplemem"),
    "hello-agents": ("vector", "hello-agents"),
}


def valid_preset(name: str) -> str:
    """Return the name of a preset.  Raises ValueError for an unknown one."""
    if name not in PRESETS:
        raise ValueError(f"there is no such preset: choose one of {', '.join(PRESETS)}")
    return name


PresetName = Annotated[str, AfterValidator(valid_preset), Field(json_schema_extra={"enum": list(PRESETS)})]
