"""An extractor that ends its process at one text, for tests of who has to live with that."""

from __future__ import annotations

import os
import signal

from processors.extraction.extractor import Extraction
from tests.support.fakes import OneConcept

DEADLY = "end here"


class Deadly(OneConcept):
    """As OneConcept, but for one text, which ends the process, and one at which it fails."""

    def __init__(self, language: str) -> None:
        super().__init__()

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        if text == DEADLY:
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "fail here":
            raise ValueError("a text that nobody understands")
        return super().of_turn(text, speaker=speaker, at=at)
