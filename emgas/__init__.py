"""EMGAS, associative memory for conversational AI: the messages, and the client that other programs import."""

from emgas.client.client import MemoryClient
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
)
from emgas.messages.filters import Filter
from emgas.messages.memory_settings import PRESETS, Settings
from emgas.messages.queries import Description, Failure, Query, Reply, Theme
from emgas.messages.spreading import Spreading
from emgas.messages.turns import Outcome, Turn

__version__ = "0.1.0"
__all__ = [
    "PRESETS",
    "DataDirectoryInUseError",
    "Description",
    "EmgasError",
    "Failure",
    "Filter",
    "HaltedError",
    "InvalidMessageError",
    "MemoryClient",
    "NoAnswerError",
    "NoMemoryError",
    "NotInstalledError",
    "Outcome",
    "Query",
    "QueryFailedError",
    "Reply",
    "Settings",
    "Spreading",
    "Theme",
    "TransportError",
    "Turn",
    "__version__",
]
