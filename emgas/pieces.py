"""Fit texts of other programs into turns: long texts become pieces, and invalid names become a hash.

    id "d", 76 kB    "d", "d/1", "d/2" …, each but the first with metadata {"piece_of": "d"}

If you forget, erase or pin "d", all its pieces go with it (state/graph/pieces.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from emgas import limits
from emgas.redaction import spans_of_secrets

PIECE_BYTES = 4096  # of a turn: a longer one would be found by any word in it, and fill the context alone
PIECE_OF = "piece_of"  # the entry of a piece's metadata that names the whole
MARKS = ("\n\n", "\n", "。", ". ", " ")  # behind which a text is cut, the best first
LONGEST_NAME = limits.NAME_CHARACTERS - 16  # room for the number of a piece


def pieces(text: str, most: int = PIECE_BYTES) -> list[str]:
    """Split a text into pieces of at most `most` bytes, between paragraphs, lines, sentences or words if possible.

    A secret is never cut, because half of it would not be recognised and replaced.  So a piece that begins with one
    may be longer.  Returns no piece for a blank text.
    """
    text = text.replace("\0", "").encode(errors="replace").decode()
    secrets = spans_of_secrets(text) if len(text.encode()) > most else []
    parts, start = list[str](), 0
    while start < len(text):
        fitting = text[start : start + most].encode()[:most].decode(errors="ignore")  # no half characters
        end = start + len(fitting)
        if end < len(text):
            end = _outside(secrets, start, start + _end(fitting))
        parts.append(text[start:end].strip())
        start = end
    return [piece for piece in parts if piece]


def _outside(secrets: Sequence[tuple[int, int]], start: int, end: int) -> int:
    """Move the end of a piece before the secret that it would cut, or behind it if the piece begins with it."""
    for first, last in secrets:
        if first < end < last:
            return first if first > start else last
    return end


def _end(piece: str) -> int:
    """Return where to cut a piece: behind the last of the best marks that its second half has, else at its end."""
    found = ((piece.rfind(mark, len(piece) // 2), mark) for mark in MARKS)
    return next((place + len(mark) for place, mark in found if place >= 0), len(piece))


def in_pieces(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of the turns that a turn is stored as; none for a blank text.

    The first piece keeps the turn's id and its attachments.  The next has the id with /1, and names the whole.
    """
    first, *others = pieces(turn["text"]) or [""]
    if not first:
        return []
    marked = {**turn, "metadata": {**(turn.get("metadata") or {}), PIECE_OF: turn["id"]}}
    marked.pop("attachments", None)
    rest = ({**marked, "id": f"{turn['id']}/{number}", "text": text} for number, text in enumerate(others, start=1))
    return [{**turn, "text": first}, *rest]


def in_pieces_if_long(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a turn as it is, or in pieces if its text has more bytes than one turn holds (limits.TEXT_BYTES).

    A turn that is invalid for another reason stays as it is: building it raises the error.
    """
    text, metadata = turn.get("text"), turn.get("metadata")
    if not isinstance(text, str) or 4 * len(text) <= limits.TEXT_BYTES or not isinstance(turn.get("id"), str):
        return [dict(turn)]
    is_other = not isinstance(metadata, dict | None) or not _is_utf8(text)
    return [dict(turn)] if is_other or len(text.encode()) <= limits.TEXT_BYTES else in_pieces(turn)


def _is_utf8(text: str) -> bool:
    try:
        return limits.utf8(text) == text
    except ValueError:
        return False


def fitted(name: str) -> str:
    """Return a name that a turn accepts: `name` where it is valid, otherwise its hash."""
    try:
        if 0 < len(name) <= LONGEST_NAME:
            return limits.utf8(name)
    except ValueError:
        pass
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
