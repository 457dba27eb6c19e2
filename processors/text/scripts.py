"""Classes of characters by script, each written once: what stands between the brackets of a regular expression."""

from __future__ import annotations

import re
from typing import Final

# Chinese characters, as far as people write words with them: the iteration mark 々 and the zero 〇, Extension A, the
# unified block, the compatibility block (texts before NFKC), and planes 2 and 3 as a whole, which hold all further
# extensions.  Radicals and strokes (2E80-2FDF, 31C0-31EF) also have the script Han, but are symbols: left out.
HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

# Scripts in which a character is about one token: Han; Thai and Lao, Myanmar, Khmer, kana with the signs before it,
# which are written without spaces; and Hangul.
DENSE: Final = HAN + "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\uac00-\ud7af"

# What continues a word but is no letter for `re`: vowel signs and accents of the scripts that have them.
COMBINING: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u0f00-\u109f\u1780-\u17d3"
)

_HAN: Final = re.compile(f"[{HAN}]")


def is_han(text: str) -> bool:
    """Return whether a text has Han characters."""
    return _HAN.search(text) is not None
