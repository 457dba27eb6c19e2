"""Parse times on the command line as people write them; all other code uses ms."""

from __future__ import annotations

import typer

from emgas.errors import InvalidMessageError
from emgas.times import milliseconds

METAVAR = "TIME"


def time(text: str) -> int:
    """Read "2023-05-08T14:00" (UTC without a zone) as ms.  Raises BadParameter: the exit code of a wrong call."""
    try:
        return milliseconds(text)
    except InvalidMessageError as error:
        raise typer.BadParameter(str(error)) from None
