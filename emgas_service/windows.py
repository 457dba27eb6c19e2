"""The lab's windows and decisions, as entry points.  A file of its own, as retrievers.py."""

from __future__ import annotations

from lab.gates.units import units
from lab.windows.conversations import CONVERSATION
from lab.windows.dreams import DREAM
from lab.windows.fading_links import faded_links
from lab.windows.leaving import leaving
from lab.windows.links import linked
from lab.windows.neighbours import related
from lab.windows.pace import adapted

__all__ = ["CONVERSATION", "DREAM", "adapted", "faded_links", "leaving", "linked", "related", "units"]
