"""EMGAS, associative memory for conversational AI: the messages, and the client that other programs import."""

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from emgas.messages.queries import Description, Failure, Query, Reply, Theme
from emgas.messages.spreading import Spreading
from emgas.messages.turns import Outcome, Turn

__version__ = "0.1.0"
__all__ = [
    "Description",
    "EmgasError",
    "Failure",
    "MemoryClient",
    "Outcome",
    "Query",
    "Reply",
    "Spreading",
    "Theme",
    "Turn",
    "__version__",
]
