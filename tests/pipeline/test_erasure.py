"""Erasure on the embedded log: the contract, and that no file below the data directory holds a word of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from emgas.messages.operator import Checkpoint
from emgas.messages.turns import Erase
from tests.contracts.pipeline_erasure import CHINESE, ENGLISH, Erases, converse, erased
from tests.pipeline.test_embedded import embedded
from tests.support.pipeline import Pipeline, a_turn

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def encrypted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with embedded(tmp_path_factory.mktemp("erasure"), encryption=True) as pipeline:
        yield pipeline


class TestErasureOnTheEmbeddedLog(Erases):
    pass


def holding(directory: Path, *words: str) -> dict[str, list[Path]]:
    """Find the files below a directory that hold one of these words, as UTF-8, UTF-16 or escaped."""
    files: dict[str, list[Path]] = {}
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        value = path.read_bytes()
        for word in words:
            escaped = word.encode("unicode_escape")
            if any(form in value for form in {word.encode(), word.encode("utf-16-le"), escaped}):
                files.setdefault(word, []).append(path)
    return files


WORDS = ("kryptonite", "zebrawood", "whistles", "氪石", "斑马木", "水壶", "小明")


async def test_no_file_holds_a_word_of_a_graph_once_it_is_erased(tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots"
    async with embedded(tmp_path / "data", encryption=True, snapshots=str(snapshots)) as pipeline:
        await converse(pipeline, "ada")
        await pipeline.memory.query("ada", "Who needs the zebrawood inhaler? 谁对氪石过敏？")
        rejected = await pipeline.memory.record(a_turn("ada", "e1", "Another text about kryptonite."))
        assert rejected.status == "rejected"
        await pipeline.memory.send(Checkpoint(), partition=pipeline.place("ada"))
        assert holding(tmp_path / "data", "kryptonite"), "turns and replies are in clear as long as they are kept"
        assert holding(snapshots, *WORDS) == {}
        await erased(pipeline, "ada", whole=True)
        assert holding(tmp_path, *WORDS) == {}
        await pipeline.restart()
        assert holding(tmp_path, *WORDS) == {}


async def test_no_file_holds_what_an_erased_speaker_alone_said(tmp_path: Path) -> None:
    async with embedded(tmp_path, encryption=True) as pipeline:
        await converse(pipeline, "ada")
        await erased(pipeline, "ada", speaker="Ada")
        await erased(pipeline, "ada", speaker="小明")
        assert holding(tmp_path, "kryptonite", "zebrawood", "氪石", "斑马木", "小明") == {}
        assert pipeline.ids("ada") == ["e2", "z2"]


async def test_a_graph_that_was_never_encrypted_is_not_erased_and_the_answer_says_what_to_do(tmp_path: Path) -> None:
    async with embedded(tmp_path) as pipeline:
        await converse(pipeline, "plain")
        outcome = await pipeline.memory.send(Erase(graph="plain", whole=True))
        assert outcome.status == "rejected"
        assert "is not encrypted" in (outcome.reason or "")
        assert "emgas replay branch --without plain" in (outcome.reason or "")
        assert len(pipeline.ids("plain")) == len(ENGLISH) + len(CHINESE)


async def test_a_graph_that_was_born_in_clear_stays_in_clear_when_encryption_is_switched_on(tmp_path: Path) -> None:
    async with embedded(tmp_path) as pipeline:
        await converse(pipeline, "plain")
    async with embedded(tmp_path, encryption=True) as pipeline:
        await pipeline.record("plain", id="later", text="The tulips bloom.")
        await converse(pipeline, "young")
        assert (await pipeline.memory.send(Erase(graph="plain", turn="later"))).status == "rejected"
        await erased(pipeline, "young", turn="e1")
    async with embedded(tmp_path) as pipeline:
        assert "e1" not in pipeline.ids("young")
        await pipeline.record("young", id="later", text="The tulips bloom.")
        assert holding(tmp_path / "embedded" / "test" / "partitions", "tulips") != {}, "of the graph in clear"
        await erased(pipeline, "young", turn="later")
