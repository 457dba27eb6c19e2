"""A bot in a channel with many people, as on Discord or Telegram.  Here, the channel is a file.

Each line is `Name: text`.  The bot remembers all of them, and answers those that begin with `!ask`:

    python examples/channel.py channel.txt          # up to its end
    tail -n +1 -f channel.txt | python examples/channel.py -

In a bot of your own, `on_message` is the function that you give to the library of your chat.
"""

from __future__ import annotations

import sys
from pathlib import Path

from emgas import Memory
from emgas.errors import EmgasError

COMMAND = "!ask "


def on_message(memory: Memory, speaker: str, text: str) -> str | None:
    """Answer a question; remember anything else."""
    if not text.startswith(COMMAND):
        memory.add(text, speaker=speaker)
        return None
    found = memory.search(text.removeprefix(COMMAND), asker=speaker, top_passages=3)
    return "\n".join(f"  {each.speaker}: {each.text}" for each in found.passages) or "  I do not know."


def main() -> None:
    """Read the channel line by line."""
    channel = sys.stdin if sys.argv[1] == "-" else Path(sys.argv[1]).open(encoding="utf-8")  # noqa: SIM115
    with channel, Memory(graph="channel") as memory:
        for line in channel:
            speaker, colon, text = line.strip().partition(": ")
            if not colon:
                continue
            try:
                reply = on_message(memory, speaker, text)
            except EmgasError as error:  # a bot goes on without its memory
                print(f"the memory failed: {error}", file=sys.stderr)
                continue
            if reply is not None:
                print(f"{speaker} asks: {text.removeprefix(COMMAND)}\n{reply}", flush=True)


if __name__ == "__main__":
    main()
