"""Log a sentence with facts, through the standard library's `logging`, below the logger "emgas".

As with any library, the program that embeds EMGAS decides what is shown: by default nothing, not even warnings; use
`logging.getLogger("emgas")` to show more.  A record's message is the sentence with its facts;
the facts stand on the record as well, as `facts`, for a formatter that wants them apart.
"""

from __future__ import annotations

import logging
from typing import Any

from emgas.masking import masked

logging.getLogger("emgas").addHandler(logging.NullHandler())


class FactLogger:
    """Logs sentences with facts.  Secrets of URLs are masked."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, sentence: str, **facts: Any) -> None:
        """Log what only helps to find a fault."""
        self._log(logging.DEBUG, sentence, facts)

    def info(self, sentence: str, **facts: Any) -> None:
        """Log what happens as it should."""
        self._log(logging.INFO, sentence, facts)

    def warning(self, sentence: str, **facts: Any) -> None:
        """Log what may not be as it should; `exc_info` as logging has it."""
        self._log(logging.WARNING, sentence, facts)

    def error(self, sentence: str, **facts: Any) -> None:
        """Log what went wrong; `exc_info` as logging has it."""
        self._log(logging.ERROR, sentence, facts)

    def exception(self, sentence: str, **facts: Any) -> None:
        """Log what went wrong, with the error that is being handled."""
        self._log(logging.ERROR, sentence, {"exc_info": True, **facts})

    def critical(self, sentence: str, **facts: Any) -> None:
        """Log what cannot go on; `exc_info` as logging has it."""
        self._log(logging.CRITICAL, sentence, facts)

    def _log(self, level: int, sentence: str, facts: dict[str, Any]) -> None:
        if not self._logger.isEnabledFor(level):
            return
        error = facts.pop("exc_info", None)
        kept = {name: masked(value) if isinstance(value, str) else value for name, value in facts.items()}
        message = " ".join([sentence, *(f"{name}={value!r}" for name, value in kept.items())])
        extra = {"sentence": sentence, "facts": kept}
        self._logger.log(level, "%s", message, exc_info=error, extra=extra, stacklevel=3)


def logger(room: str) -> FactLogger:
    """Return the logger of a room: "worker" logs as "emgas.worker"."""
    return FactLogger(f"emgas.{room}")
