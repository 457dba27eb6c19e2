"""Which function is which mode.  `default`, `literal` and `staged` are put together of more (retrieval.py)."""

from __future__ import annotations

from typing import Final

from emgas.messages.modes import Mode
from processors.recall.retrieval.modes import path, ppr, ppr_push, steady_state, subtractive, vector
from processors.recall.retrieval.modes.seam import Retriever

FINDS: Final[dict[Mode, Retriever]] = {
    "ppr": ppr.find,
    "ppr-push": ppr_push.find,
    "steady-state": steady_state.find,
    "subtractive": subtractive.find,
    "path": path.find,
    "vector": vector.find,
}
