"""A memory whose own questions are answered otherwise than the defaults think: by what assistants ask, in short.

Of each of SUBJECTS somebody tells at length, and an assistant asks back in a few words.  Whoever asks wants the asking
back: by default such turns weigh little (features.py `asks`, `length`), so there is something to fit, and it is known.
"""

from __future__ import annotations

from typing import Any

SUBJECTS = (
    "kettle", "lighthouse", "violin", "harbour", "orchard", "glacier", "bakery", "tandem", "compass", "meadow",
    "lantern", "pelican", "quarry", "sundial", "trumpet", "umbrella", "vineyard", "walnut", "yacht", "zeppelin",
    "anvil", "basilica", "cactus", "dolphin", "emerald",
)  # fmt: skip
STATEMENT = "I have thought about the {0} for a long while and want to keep the {0} as it is because everybody likes it"
QUESTION = "Is the {0} finished?"


def turns(graph: str = "own") -> list[dict[str, Any]]:
    """Return what is said, as turns to publish."""
    turns_made: list[dict[str, Any]] = []
    for number, subject in enumerate(SUBJECTS):
        for place, (role, text) in enumerate((("user", STATEMENT), ("assistant", QUESTION))):
            turn = {"id": f"{subject}-{role}", "graph": graph, "session": f"s{number}", "role": role}
            at = 1_700_000_000_000 + number * 86_400_000 + place * 60_000
            turns_made.append({**turn, "speaker": role, "text": text.format(subject), "at": at})
    return turns_made


def questions() -> list[dict[str, Any]]:
    """Return the questions, each wanting what the assistant asked back."""
    return [{"question": f"What about the {subject}?", "turns": [f"{subject}-assistant"]} for subject in SUBJECTS]
