"""The messages: everything that travels on the wire, by topic.

A module of this package is imported when it is first used, as in `messages.turns.Turn`: a program that asks one
question needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:  # a checker knows the modules

    def __getattr__(name: str) -> Any:
        """Import the module `name` of this package."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
