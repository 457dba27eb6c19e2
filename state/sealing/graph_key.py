"""The keys of one graph: a tree of secrets: any leaf can be destroyed without touching the others.

    depth 0                 root                  kept: one secret, as long as nothing was erased
                         ╱        ╲
    depth 1          left            right        child = sha256(secret │ 0 or 1): from a parent both children
                    ╱    ╲          ╱    ╲        follow, from a child neither its parent nor its sibling
      …
    depth DEPTH    0  1   2  3  …                 one leaf for each event of the graph, by its ordinal

To destroy the leaves of some events, what is kept is replaced by the secrets that cover all other leaves: the siblings
along the way down.  So a key per event costs nothing when an event is written (nothing is stored for it), and can be
destroyed alone, as a key per graph could not.  (Goldreich, Goldwasser, Micali 1986; "puncturable" since Boneh, Waters
2013.)  Destroying k of n leaves in a row of events leaves some k log2(n / k) secrets, and DEPTH more for those to come.

`working` seals what is derived from many events and can be made again: snapshots of the graph, dead letters.  It is
replaced by another one whenever something is erased, so nothing that was derived before can be read any more.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

import orjson

DEPTH: Final = 40  # so many events, at most 2^40, may a graph have
SECRET_BYTES: Final = 32
ID_BYTES: Final = 8
BLOCK_LEVELS: Final = 6  # the last ones: their 64 leaves are mostly asked for one after the other

Node = tuple[int, int]  # depth, and which one of that depth from the left
Run = tuple[int, int]  # ordinals: first, last


class GraphKey:
    """One key of a graph: a value that does not change.

    id       identifies the key among those of the graph, hex: a graph that is created again after an erasure has
             another
    nodes    the secrets that are kept; no two on one way down; none once all is destroyed
    working  see the module's docstring; empty once all is destroyed
    """

    __slots__ = ("_at_hand", "graph", "id", "nodes", "working")

    def __init__(self, graph: str, id: str, nodes: Mapping[Node, bytes], working: bytes) -> None:
        self.graph, self.id, self.nodes, self.working = graph, id, nodes, working
        self._at_hand = -1, b""  # the block of leaves that was asked for last, and its secret

    @classmethod
    def born(cls, graph: str, name: bytes, root: bytes, working: bytes) -> GraphKey:
        """Make a key of random bytes: ID_BYTES, and twice SECRET_BYTES."""
        return cls(graph, name.hex(), {(0, 0): root}, working)

    @property
    def is_destroyed(self) -> bool:
        """Return whether only the id of the key is left."""
        return not self.nodes

    def secret_of(self, ordinal: int) -> bytes | None:
        """Derive the secret of one event, None for one that was destroyed."""
        block = ordinal >> BLOCK_LEVELS
        if self._at_hand[0] != block:
            secret = self._below(DEPTH - BLOCK_LEVELS, block)
            if secret is None:
                return self._below(DEPTH, ordinal)
            self._at_hand = block, secret
        return _descend(self._at_hand[1], ordinal, BLOCK_LEVELS)

    def _below(self, depth: int, place: int) -> bytes | None:
        for above in range(depth + 1):
            secret = self.nodes.get((depth - above, place >> above))
            if secret is not None:
                return _descend(secret, place, above)
        return None

    def without(self, runs: Iterable[Run], working: bytes) -> GraphKey:
        """Destroy the secrets of events, and put `working` in the place of the working secret.

        A key that lacks them all already is given as it is.
        """
        ascending = sorted(runs)
        nodes = {spared: secret for kept in self.nodes.items() for spared, secret in _spared(*kept, ascending)}
        return self if nodes.keys() == self.nodes.keys() else GraphKey(self.graph, self.id, nodes, working)

    def destroyed(self) -> GraphKey:
        """Destroy all of it."""
        return GraphKey(self.graph, self.id, {}, b"")

    def meet(self, other: GraphKey) -> GraphKey:
        """Return the key of this id that opens what this key and `other` both open: what is destroyed stays destroyed.

        It is `other` where that opens no more than this one.  Where each opens something that the other does not, the
        working secret is neither's.
        """
        nodes = {**self._kept_by(other), **other._kept_by(self)}
        for key in (other, self):
            if key.nodes.keys() == nodes.keys():
                return key
        working = hashlib.sha256(b"".join(sorted((self.working, other.working)))).digest()
        return GraphKey(self.graph, self.id, nodes, working)

    def _kept_by(self, other: GraphKey) -> dict[Node, bytes]:
        """Find the secrets of this key that follow from those of `other`."""
        return {node: secret for node, secret in self.nodes.items() if other._below(*node) is not None}

    def to_bytes(self) -> bytes:
        """Pack into JSON."""
        nodes = [[depth, place, secret.hex()] for (depth, place), secret in self.nodes.items()]
        return orjson.dumps({"graph": self.graph, "id": self.id, "working": self.working.hex(), "nodes": nodes})

    @classmethod
    def of_bytes(cls, value: bytes) -> GraphKey:
        """Unpack what `to_bytes` packed.  Raises ValueError, KeyError, TypeError for anything else."""
        packed = orjson.loads(value)
        nodes = {(depth, place): bytes.fromhex(secret) for depth, place, secret in packed["nodes"]}
        return cls(packed["graph"], packed["id"], nodes, bytes.fromhex(packed["working"]))


def _descend(secret: bytes, place: int, levels: int) -> bytes:
    for level in reversed(range(levels)):
        secret = hashlib.sha256(secret + (b"\x01" if place >> level & 1 else b"\x00")).digest()
    return secret


def _spared(node: Node, secret: bytes, runs: Sequence[Run]) -> Iterator[tuple[Node, bytes]]:
    """Yield what has to be kept in the place of a node so that the leaves of `runs`, and no others, are lost.

    runs  ascending, none within another
    """
    depth, place = node
    below = DEPTH - depth
    first, last = place << below, ((place + 1) << below) - 1
    met = runs[bisect_left(runs, first, key=itemgetter(1)) : bisect_right(runs, last, key=itemgetter(0))]
    if not met:
        yield node, secret
    elif not (met[0][0] <= first and last <= met[0][1]):
        for bit in (0, 1):
            child = 2 * place + bit
            yield from _spared((depth + 1, child), _descend(secret, child, 1), met)
