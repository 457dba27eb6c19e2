"""The lab's retrievers, as entry points.  A file of its own, so that a wheel can do without lab/ and this."""

from __future__ import annotations

from lab.retrievers.literal import RETRIEVER as LITERAL
from lab.retrievers.path import RETRIEVER as PATH
from lab.retrievers.ppr import RETRIEVER as PPR
from lab.retrievers.ppr_push import RETRIEVER as PPR_PUSH
from lab.retrievers.staged import RETRIEVER as STAGED
from lab.retrievers.steady_state import RETRIEVER as STEADY_STATE
from lab.retrievers.subtractive import RETRIEVER as SUBTRACTIVE
from lab.retrievers.vector import RETRIEVER as VECTOR

__all__ = ["LITERAL", "PATH", "PPR", "PPR_PUSH", "STAGED", "STEADY_STATE", "SUBTRACTIVE", "VECTOR"]
