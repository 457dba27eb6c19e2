"""graph_for: make the id of a graph from a framework's names of users, rooms or namespaces.

    graph_for("ada")                 ada
    graph_for("shop", "ada")         shop::ada
    graph_for("auth0|5f7c")          auth0:7c:5f7c
    graph_for("张伟")                 g:-::5f20.4f1f:
    graph_for("x" * 200)             g:h:6f0e…   (SHA-256 of the parts)

Different parts never get the same id, so two users never share a memory: letters, digits and `_ . @ -` stand for
themselves, anything else is its code points in hex between colons, and two colons part the parts.  An id must begin
with a letter or a digit and hold at most 128 characters: `g:-:` goes before what begins otherwise, and a digest stands
for what is longer; neither can be written by what stands for itself.
"""

from __future__ import annotations

import hashlib
import json
import re

LONGEST = 128  # characters of a graph's id
ESCAPED = re.compile(r"[^A-Za-z0-9_.@-]+")


def graph_for(*parts: str) -> str:
    """Return the graph id for these parts.  Raises ValueError without any."""
    if not parts:
        raise ValueError("graph_for: name at least one part, such as the user's id")
    name = "::".join(ESCAPED.sub(_escape, part) for part in parts)
    name = name if re.match("[A-Za-z0-9]", name) else f"g:-:{name}"
    if len(name) > LONGEST:
        return f"g:h:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"
    return name


def _escape(match: re.Match[str]) -> str:
    return f":{'.'.join(f'{ord(character):x}' for character in match[0])}:"
