"""Fit texts of other programs into turns: long texts become pieces, and invalid names become a hash."""

from __future__ import annotations

import hashlib

from emgas import limits

PIECE_BYTES = 4096  # of a turn: a longer one would be found by any word in it, and fill the context alone
LONGEST_NAME = limits.NAME_CHARACTERS - 16  # room for the number of a piece


def pieces(text: str, most: int = PIECE_BYTES) -> list[str]:
    """Split a text into pieces of at most `most` bytes, between lines or words if possible; none for a blank text."""
    rest = text.replace("\0", "").encode(errors="replace")
    parts = []
    while rest:
        piece = rest[:most].decode(errors="ignore")  # a character that was cut in two goes into the next piece
        if len(rest) > most:
            piece = _to_the_last("\n", piece) or _to_the_last(" ", piece) or piece
        rest = rest[len(piece.encode()) :]
        parts.append(piece.strip())
    return [piece for piece in parts if piece]


def numbered(id: str, text: str) -> list[tuple[str, str]]:
    """Return the pieces of a text, each with its id: the first has `id`, the next has `id`/1."""
    return [(id if number == 0 else f"{id}/{number}", piece) for number, piece in enumerate(pieces(text))]


def _to_the_last(mark: str, piece: str) -> str:
    """Cut a piece at its last mark in the second half; "" if there is none."""
    end = piece.rfind(mark, len(piece) // 2) + 1
    return piece[:end]


def fitted(name: str) -> str:
    """Return a name that a turn accepts: `name` where it is valid, otherwise its hash."""
    try:
        if 0 < len(name) <= LONGEST_NAME:
            return limits.utf8(name)
    except ValueError:
        pass
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
