"""EMGAS, associative memory for conversational AI: the messages, and the client that other programs import.

Names are imported when they are first used, so importing an error does not load every message.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.client.sync import Memory
    from emgas.errors import (
        BadSettingError,
        DataDirectoryInUseError,
        EmgasError,
        HaltedError,
        InvalidMessageError,
        NoAnswerError,
        NoMemoryError,
        NotInstalledError,
        QueryFailedError,
        TransportError,
        WrongEventLoopError,
    )
    from emgas.messages.contents import Turns
    from emgas.messages.filters import Filter
    from emgas.messages.pictures import Compared, Pictured
    from emgas.messages.queries import Description, Query, Reply, Theme
    from emgas.messages.requests import Failure, Outcome
    from emgas.messages.settings.memory_settings import PRESETS, Settings
    from emgas.messages.settings.modes import Guidance
    from emgas.messages.settings.spreading import Spreading
    from emgas.messages.turns import Turn
    from emgas.wire import Receipt

__version__ = "0.2.0"
__all__ = [
    "PRESETS",
    "BadSettingError",
    "Compared",
    "DataDirectoryInUseError",
    "Description",
    "EmgasError",
    "Failure",
    "Filter",
    "Guidance",
    "HaltedError",
    "InvalidMessageError",
    "Memory",
    "MemoryClient",
    "NoAnswerError",
    "NoMemoryError",
    "NotInstalledError",
    "Outcome",
    "Pictured",
    "Query",
    "QueryFailedError",
    "Receipt",
    "Reply",
    "Settings",
    "Spreading",
    "Theme",
    "TransportError",
    "Turn",
    "Turns",
    "WrongEventLoopError",
    "__version__",
]

_HOMES = {
    "emgas.client.client": ("MemoryClient",),
    "emgas.client.sync": ("Memory",),
    "emgas.errors": (
        "BadSettingError",
        "DataDirectoryInUseError",
        "EmgasError",
        "HaltedError",
        "InvalidMessageError",
        "NoAnswerError",
        "NoMemoryError",
        "NotInstalledError",
        "QueryFailedError",
        "TransportError",
        "WrongEventLoopError",
    ),
    "emgas.messages.contents": ("Turns",),
    "emgas.messages.filters": ("Filter",),
    "emgas.messages.settings.memory_settings": (
        "PRESETS",
        "Settings",
    ),
    "emgas.messages.settings.modes": ("Guidance",),
    "emgas.messages.pictures": (
        "Compared",
        "Pictured",
    ),
    "emgas.messages.queries": (
        "Description",
        "Query",
        "Reply",
        "Theme",
    ),
    "emgas.messages.requests": (
        "Failure",
        "Outcome",
    ),
    "emgas.messages.settings.spreading": ("Spreading",),
    "emgas.messages.turns": ("Turn",),
    "emgas.wire": ("Receipt",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # for a checker, what is not imported above is not there

    def __getattr__(name: str) -> Any:
        """Import a name of `__all__` when it is first used."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
