"""One file for each verb, with the function that decides it; `DECIDERS` finds them all by the message class."""

import pkgutil
from importlib import import_module

from streams.ingest.verbs.deciding import DECIDERS

__all__ = ["DECIDERS"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
