"""EMGAS, associative memory for conversational AI: the messages, and the client that other programs import."""

from emgas.client import MemoryClient
from emgas.errors import EmgasError
from emgas.messages import Description, Failure, Outcome, Query, Reply, Theme, Turn
from emgas.spreading import Spreading

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
