"""What came with turns: found by its caption or by what it is like, with the source's constants."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emgas.messages.filters import Filter
from emgas.times import DAY_MS
from processors.recall.answer.perceptual import PREFIX, rank_perceived
from processors.recall.ranking.filters import NO_FILTER, Allowed
from processors.recall.retrieval.recall import Ranked
from state.events.extraction_types import Attached
from state.events.vectors import packed
from state.graph.graph import Graph
from tests.support.builders import turn_embedded, turn_recorded
from tests.support.cli import ROOT, emgas
from tests.support.clocks import NOON

sys.path.insert(0, str(ROOT / "examples"))
from colour_histogram import ColourHistogram, read_png

COLOURS = {"sea": (20, 60, 200), "lake": (30, 50, 210), "fire": (220, 60, 10), "leaf": (20, 180, 40)}
MODEL = f"{PREFIX}image test 1"


def png(path: Path, colour: tuple[int, int, int], size: int = 8) -> str:
    """Write a picture of one colour and a black corner, each row under another filter; return its address."""
    pixels = np.full((size, size, 3), colour, np.uint8)
    pixels[:2, :2] = 0
    rows = [bytes([0]) + pixels[0].tobytes()]
    rows += [bytes([2]) + (pixels[y].astype(int) - pixels[y - 1]).astype(np.uint8).tobytes() for y in range(1, size)]
    body = zlib.compress(b"".join(rows))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    raw = b"".join(struct.pack(">I", len(data)) + kind + data + bytes(4) for kind, data in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + raw)
    return path.as_uri()


def graph_of(*turns: tuple[str, int, float | None, list[float]]) -> Graph:
    """Fold turns with a photo each: id, days before the last, importance, vector; none without a vector."""
    graph = Graph("ada")
    for name, days, importance, vector in turns:
        attached = [Attached(uri=name, kind="image")] if vector else []
        at = NOON - days * DAY_MS
        graph.fold(turn_recorded(id=name, concepts="photo", at=at, importance=importance, attachments=attached))
        if vector:
            graph.fold(turn_embedded(id=name, at=at, model=MODEL, vector=packed(np.array(vector, np.float32))))
    return graph


def ranked(graph: Graph, like: str | None = None, candidates: tuple[Ranked, ...] = (), only: Filter = NO_FILTER) -> Any:
    view = graph.view()
    return {
        view.passage_id[each.number]: each.score
        for each in rank_perceived(view, candidates, allowed=Allowed(view, only), like=like)
    }


@pytest.mark.source("H14")
def test_a_score_has_the_constants_of_the_source() -> None:
    graph = graph_of(
        ("asked", 0, None, [1, 0]), ("same", 10, 1.0, [1, 0]), ("near", 0, None, [0.6, 0.8]), ("text", 0, None, [])
    )
    ranking = ranked(graph, like="asked")
    assert ranking == pytest.approx({"same": (0.8 + 0.2 * np.exp(-1)) * 1.2, "near": (0.8 * 0.6 + 0.2) * 1.0}, abs=1e-3)
    assert list(ranking) == ["same", "near"]


def test_without_a_turn_that_it_is_like_the_captions_decide_and_only_turns_with_something_come_back() -> None:
    graph = graph_of(("old", 400, None, [1, 0]), ("new", 0, None, [1, 0]), ("text", 0, None, []))
    ranking = ranked(graph, candidates=(Ranked(0, 5.0), Ranked(1, 5.0), Ranked(2, 9.0)))
    assert list(ranking) == ["new", "old"]
    assert list(ranked(graph, candidates=(Ranked(0, 5.0), Ranked(1, 5.0)), only=Filter(exclude=["new"]))) == ["old"]
    assert ranked(graph, like="text") == {}
    assert ranked(graph, like="nobody") == {}


@pytest.mark.source("H13")
def test_the_example_tells_colours_and_reads_nothing_but_what_it_can(tmp_path: Path) -> None:
    encoder, vector = ColourHistogram(), {}
    for name, colour in COLOURS.items():
        uri = png(tmp_path / f"{name}.png", colour)
        vector[name] = encoder.encode(uri)
        assert (read_png((tmp_path / f"{name}.png").read_bytes())[-1] == colour).all()
    assert vector["sea"] @ vector["lake"] > 0.99
    assert vector["sea"] @ vector["fire"] < 0.2
    (tmp_path / "text.png").write_bytes(b"no picture")
    assert encoder.encode(str(tmp_path / "text.png")) is None
    assert encoder.encode("https://example.invalid/sea.png") is None


@pytest.mark.slow
@pytest.mark.source("H13", "P49")
def test_photos_like_another_are_found_by_vectors_that_the_log_holds(tmp_path: Path) -> None:
    photos = {name: png(tmp_path / f"{name}.png", colour) for name, colour in COLOURS.items()}
    turns = [
        {"id": name, "graph": "ada", "speaker": "Ada", "text": f"Photo {name}.", "at": NOON + number,
         "attachments": [{"uri": uri, "kind": "image", "caption": f"A picture {number}"}]}
        for number, (name, uri) in enumerate(photos.items())
    ]  # fmt: skip
    turns.append({"id": "gone", "graph": "ada", "speaker": "Ada", "text": "Lost.", "at": NOON + 9,
                  "attachments": [{"uri": str(tmp_path / "none.png")}]})  # fmt: skip
    lines = "".join(json.dumps(turn) + "\n" for turn in turns).encode()
    encoders = {"encoders": "colour_histogram.ColourHistogram"}
    file = tmp_path / "said.jsonl"
    file.write_bytes(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "examples"))
        emgas(tmp_path / "data", "publish", str(file), **encoders)
    for name in COLOURS:
        (tmp_path / f"{name}.png").unlink()
    query = ("query", "ada", "anything like this?", "--kind", "perceptual", "--like", "sea", "--json")
    passages = emgas(tmp_path / "data", *query).json["passages"]  # by a worker that has no encoder
    assert passages[0]["id"] == "lake"
    assert "gone" not in [each["id"] for each in passages]
    assert passages[0]["attachments"][0]["caption"] == "A picture 1"
