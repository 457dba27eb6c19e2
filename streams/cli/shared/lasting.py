"""The options --origin, --expires-in and --expires-at: where the text of a turn comes from, and how long it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from emgas.messages.fields import Origin as Origins
from streams.cli.shared import output
from streams.cli.shared.times import METAVAR, duration, time

if TYPE_CHECKING:
    from emgas import Turn

Origin = Annotated[
    str | None, typer.Option(help="Where the text comes from: user, assistant, tool or web; web and tool never inject.")
]
ExpiresIn = Annotated[
    int | None,
    typer.Option(parser=duration, metavar="DURATION", help="Forget it so long after it was said: 30d."),
]
ExpiresAt = Annotated[
    int | None, typer.Option(parser=time, metavar=METAVAR, help="Forget it at this time: 2030-05-08T14:00 (UTC).")
]


def lasting(
    origin: str | None, expires_in: int | None, expires_at: int | None, now: Callable[[], int]
) -> Callable[[Turn], Turn]:
    """Return a function that gives a turn these options, as far as it does not say otherwise; exits if they clash."""
    if origin not in (None, *get_args(Origins)):
        output.fail(f"--origin {origin}: choose one of {', '.join(get_args(Origins))}", output.USAGE)
    if expires_in is not None and expires_at is not None:
        output.fail("give --expires-in or --expires-at, not both", output.USAGE)

    def marked(turn: Turn) -> Turn:
        from emgas import Turn  # here: --help needs none of it
        from emgas.validation import build

        end = expires_at if expires_in is None else (now() if turn.at is None else turn.at) + expires_in
        options: dict[str, Any] = {"origin": origin, "expires_at": end}
        missing = {name: value for name, value in options.items() if value is not None and getattr(turn, name) is None}
        return build(Turn, {**turn.model_dump(), **missing}) if missing else turn

    return marked
