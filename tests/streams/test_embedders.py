"""Models of text embeddings from a path: tiny ones, made here; and what is said of a path that holds none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from emgas.errors import InvalidMessageError, NotInstalledError
from streams.plugins import package
from streams.plugins.embedders import load

WORDS = ["cat", "dog", "running", "run", "猫", "学习", "Paris"]
VECTORS = np.array([[1, 0, 0], [0.8, 0.6, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 3, 4], [0, 0, 2]])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.npz"
    np.savez(path, words=np.array(WORDS), vectors=VECTORS)
    return path


# word vectors


def test_a_text_is_the_mean_of_its_words_at_length_one(table: Path) -> None:
    (vector,) = load(table).embed(["The cat, the dog!"])
    assert vector.dtype == np.float32
    assert vector == pytest.approx(np.array([1.8, 0.6, 0]) / np.hypot(1.8, 0.6))


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("running", "running"),
        ("RUNNING", "running"),
        ("ran", "run"),
        ("Paris", "Paris"),
        ("我的貓", "猫"),
        ("学习", "学习"),
    ],
)
def test_a_word_is_looked_up_as_written_then_in_its_plainer_forms(table: Path, text: str, like: str) -> None:
    row = VECTORS[WORDS.index(like)]
    assert load(table).embed([text])[0] == pytest.approx(row / np.linalg.norm(row))


def test_a_text_of_unknown_words_is_zeros(table: Path) -> None:
    assert load(table).embed(["volcano", ""]).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert load(table).embed([]).shape == (0, 3)


def test_a_model_is_named_after_its_path_and_its_version_follows_its_bytes(table: Path) -> None:
    before = load(table)
    assert (before.name, before.version) == ("tiny", load(table).version)
    np.savez(table, words=np.array(WORDS), vectors=VECTORS * 2)
    assert load(table).version != before.version


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(["a"])}, "needs the arrays words and vectors"),
        ({"words": np.array(["a"], object), "vectors": VECTORS[:1]}, "needs the arrays words and vectors"),
        ({"words": np.array(["a", "b"]), "vectors": VECTORS[:1]}, "must be"),
        ({"words": np.array([1]), "vectors": VECTORS[:1]}, "must be"),
    ],
)
def test_a_table_that_is_none_is_told(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InvalidMessageError, match=message):
        load(tmp_path / "bad.npz")


class Constant:
    """An embedder as a package of somebody else may have it."""

    name, version = "constant", "1"

    def embed(self, texts: list[str]) -> Any:
        return np.tile(np.float32([0.6, 0.8]), (len(texts), 1))


def test_a_model_may_come_from_an_installed_package() -> None:
    model = load(Path(f"{__name__}.{Constant.__name__}"))
    assert (model.name, model.version, model.embed(["a", "b"]).shape) == ("constant", "1", (2, 2))


class Encodes:
    """A model that encodes texts as others' do, and knows nothing of EMGAS."""

    def encode(self, texts: list[str]) -> list[list[float]]:
        return [[3.0, 4.0 * len(text)] for text in texts]


def test_a_package_whose_model_encodes_texts_needs_no_adapter() -> None:
    model = load(Path(f"{__name__}.{Encodes.__name__}"))
    assert model.name == f"{__name__}.{Encodes.__name__}"
    assert model.embed(["a"])[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("name", ["nowhere.to.be.found", "json.nothing", "json.loads", "pathlib.Path"])
def test_a_name_that_gives_no_model_is_told(name: str) -> None:
    with pytest.raises(InvalidMessageError, match=f"{name} names no embedder"):
        load(Path(name))


def test_a_file_that_is_no_archive_and_a_path_without_a_model_are_told(tmp_path: Path) -> None:
    (tmp_path / "noise.npz").write_bytes(b"noise")
    with pytest.raises(InvalidMessageError, match="needs the arrays"):
        load(tmp_path / "noise.npz")
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidMessageError, match="is no model: give a table"):
            load(path)


# a sentence encoder


def test_an_encoder_without_its_packages_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").touch()
    (tmp_path / "tokenizer.json").touch()

    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(package, "import_module", absent)
    with pytest.raises(NotInstalledError, match="pip install onnxruntime tokenizers"):
        load(tmp_path)


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """Return an encoder that looks token vectors up: what the bigger ones do, without the layers between."""
    make, kinds = onnx.helper, onnx.TensorProto
    weights = onnx.numpy_helper.from_array(np.array([[9, 9], [1, 0], [0, 1]], np.float32), "table")
    ids, mask = (make.make_tensor_value_info(name, kinds.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask"))
    out = make.make_tensor_value_info("last_hidden_state", kinds.FLOAT, ["n", "t", 2])
    nodes = [make.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    graph = make.make_graph(nodes, "tiny", [ids, mask], [out], [weights])
    (tmp_path / "onnx").mkdir()
    onnx.save(
        make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9), tmp_path / "onnx/model.onnx"
    )
    model = {"type": "WordLevel", "vocab": {"[PAD]": 0, "cat": 1, "dog": 2}, "unk_token": "[PAD]"}
    (tmp_path / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []})
    )
    return tmp_path


def test_an_encoder_means_its_tokens_and_leaves_the_padding_out(encoder: Path) -> None:
    made = load(encoder).embed(["cat", "cat dog", *["dog"] * 40])
    assert made[:2] == pytest.approx(np.array([[1, 0], [2**-0.5, 2**-0.5]]))
    assert made[2:] == pytest.approx(np.tile([0, 1], (40, 1))), "more texts than fit at once"


def test_a_text_that_an_encoder_cannot_read_has_no_vector(encoder: Path) -> None:
    made = load(encoder).embed(["猫 和 狗", "cat cat 猫", "cat cat cat 猫", "dog"])
    assert made.any(axis=1).tolist() == [False, False, True, True]


def test_an_encoder_is_named_after_its_directory(encoder: Path) -> None:
    model = load(encoder)
    assert (model.name, len(model.version)) == (encoder.name, 16)


def test_an_encoder_that_cannot_be_loaded_is_told(encoder: Path) -> None:
    (encoder / "onnx/model.onnx").write_bytes(b"noise")
    with pytest.raises(InvalidMessageError, match="cannot be loaded"):
        load(encoder)
