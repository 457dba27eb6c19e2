"""EMGAS, associative memory for conversational AI: the messages, and the client that other programs import."""

from emgas.client.client import MemoryClient
from emgas.client.sync import Memory
from emgas.errors import (
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
from emgas.messages.memory_settings import PRESETS, Settings
from emgas.messages.modes import Guidance
from emgas.messages.pictures import Compared, Pictured
from emgas.messages.queries import Description, Failure, Query, Reply, Theme
from emgas.messages.spreading import Spreading
from emgas.messages.turns import Outcome, Turn
from emgas.wire import Receipt

__version__ = "0.2.0"
__all__ = [
    "PRESETS",
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
