"""By which way a producer reaches a partition now: what both transports' producers tell beside Faust's own."""

from __future__ import annotations

from typing import Protocol

from faust.types import TP


class Routes(Protocol):
    """A producer whose routes can be compared."""

    def route(self, tp: TP) -> object:
        """Give what leads to `tp`: its leader and the connection to it; equal to one given before if both are the same.

        What a log loses after it was acknowledged is lost with its leader (an unclean election, a crash of the machine
        before what it had was on its disk): whoever appends before and behind that did so by two routes.
        """
