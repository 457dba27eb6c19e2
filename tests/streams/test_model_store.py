"""Models put where workers find them by name: written as ONNX from published weights or copied, whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from emgas.errors import InvalidMessageError
from streams.plugins import model_store
from streams.plugins.embedders import load

Weights = dict[str, NDArray[np.float32]]
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 8,
    "layer_norm_eps": 1e-12,
}
WORDS = ["[PAD]", "tea", "cup", "sun"]


def weights(positions: int = 6) -> Weights:
    """Draw the weights of a tiny BERT, by the names that they are published under."""
    generator = np.random.default_rng(1)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), 8),
        "embeddings.position_embeddings.weight": (positions, 8),
        "embeddings.token_type_embeddings.weight": (2, 8),
    }
    for layer in range(2):
        at = f"encoder.layer.{layer}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            shapes |= {f"{at}{name}.weight": (8, 8), f"{at}{name}.bias": (8,)}
        shapes |= {f"{at}intermediate.dense.weight": (16, 8), f"{at}intermediate.dense.bias": (16,)}
        shapes |= {f"{at}output.dense.weight": (8, 16), f"{at}output.dense.bias": (8,)}
    norms = ["embeddings.LayerNorm"]
    norms += [
        f"encoder.layer.{layer}.{part}.LayerNorm" for layer in range(2) for part in ("attention.output", "output")
    ]
    shapes |= {f"{name}.{which}": (8,) for name in norms for which in ("weight", "bias")}
    return {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def published(directory: Path, arrays: Mapping[str, NDArray[Any]], **config: Any) -> Path:
    """Write a model as its authors would."""
    directory.mkdir(parents=True, exist_ok=True)
    header, data = dict[str, Any](__metadata__={"format": "pt"}), b""
    for name, array in arrays.items():
        kind = {"float32": "F32", "float16": "F16", "int64": "I64", "float64": "F64"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    (directory / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (directory / "config.json").write_text(json.dumps(CONFIG | config))
    model = {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[PAD]"}
    tokenizer = {"version": "1.0", "model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer))
    return directory


def by_hand(w: Weights, words: list[int], offset: int = 0) -> NDArray[np.float64]:
    """Compute the vectors (t, 8) of one text's tokens as BERT's authors describe it."""

    def normed(x: Any, name: str) -> Any:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]

    positions = w["embeddings.position_embeddings.weight"][offset : offset + len(words)]
    x = w["embeddings.word_embeddings.weight"][words].astype(np.float64) + positions
    x = normed(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(2):
        at, heads = f"encoder.layer.{layer}.", []
        q, k, v = (linear(x, f"{at}attention.self.{name}") for name in ("query", "key", "value"))
        for head in (slice(0, 4), slice(4, 8)):
            likeness = np.exp(q[:, head] @ k[:, head].T / 2)
            heads.append(likeness / likeness.sum(-1, keepdims=True) @ v[:, head])
        attended = linear(np.concatenate(heads, axis=1), f"{at}attention.output.dense")
        x = normed(x + attended, f"{at}attention.output.LayerNorm")
        inner = linear(x, f"{at}intermediate.dense")
        gelu = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = normed(x + linear(gelu, f"{at}output.dense"), f"{at}output.LayerNorm")
    return np.asarray(x, np.float64)


def at_length_one(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vector / np.linalg.norm(vector), np.float64)


def test_published_weights_become_the_network_that_they_were_trained_in(tmp_path: Path) -> None:
    options = weights()
    place = model_store.add(str(published(tmp_path / "tiny", options)), tmp_path / "data")
    made = load(place).embed(["tea cup sun", "cup"])
    assert made[0] == pytest.approx(at_length_one(by_hand(options, [1, 2, 3]).mean(0)), abs=1e-5)
    assert made[1] == pytest.approx(at_length_one(by_hand(options, [2]).mean(0)), abs=1e-5), "padding counts nothing"


def test_a_model_may_take_the_first_token_for_the_text_and_leave_places_for_padding(tmp_path: Path) -> None:
    options = weights(positions=8)
    source = published(
        tmp_path / "tiny",
        {f"roberta.{name}": array for name, array in options.items()},
        model_type="xlm-roberta",
        pad_token_id=1,
    )
    (source / "1_Pooling").mkdir()
    (source / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    made = load(model_store.add(str(source), tmp_path / "data")).embed(["tea cup", "sun"])
    assert made[0] == pytest.approx(at_length_one(by_hand(options, [1, 2], offset=2)[0]), abs=1e-5)
    assert made[1] == pytest.approx(at_length_one(by_hand(options, [3], offset=2)[0]), abs=1e-5)


def test_half_precision_is_read_and_counters_are_passed_over(tmp_path: Path) -> None:
    options = weights()
    half = {name: array.astype(np.float16) for name, array in options.items()}
    source = published(tmp_path / "tiny", half | {"embeddings.position_ids": np.arange(6)})
    made = load(model_store.add(str(source), tmp_path / "data")).embed(["tea cup"])
    near = by_hand({name: array.astype(np.float32) for name, array in half.items()}, [1, 2]).mean(0)
    assert made[0] == pytest.approx(at_length_one(near), abs=1e-4)


def test_a_model_that_is_onnx_already_is_copied_and_found_by_its_name(tmp_path: Path) -> None:
    first = model_store.add(str(published(tmp_path / "tiny", weights())), tmp_path / "data")
    (tmp_path / "other" / "onnx").mkdir(parents=True)
    (first / "model.onnx").rename(tmp_path / "other" / "onnx" / "model.onnx")
    (first / "tokenizer.json").rename(tmp_path / "other" / "tokenizer.json")
    place = model_store.add(str(tmp_path / "other"), tmp_path / "data")
    assert model_store.named(Path("other"), tmp_path / "data") == place
    assert model_store.named(Path("elsewhere"), tmp_path / "data") == Path("elsewhere")
    assert model_store.named(None, tmp_path / "data") is None
    assert model_store.names(tmp_path / "data") == ["other", "tiny"]
    assert load(place).embed(["tea"]).shape == (1, 8)


def test_a_model_comes_out_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published(tmp_path / "site" / "a_tiny_model" / "model", weights())
    (tmp_path / "site" / "a_tiny_model" / "__init__.py").write_text("raise RuntimeError('nobody imports this')")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    place = model_store.add("a-tiny-model", tmp_path / "data")
    assert place.name == "a-tiny-model"
    assert load(place).embed(["tea"]).shape == (1, 8)


def test_what_is_no_model_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    source, data = tmp_path / "tiny", tmp_path / "data"
    for options, config, answer in (
        (weights(), {"hidden_act": "relu"}, "describes a bert with relu"),
        (weights(), {"model_type": "mpnet"}, "describes a mpnet"),
        ({}, {}, "has no encoder.layer|has no embeddings"),
        ({"a": np.zeros(2)}, {}, "type F64 cannot be read"),
    ):
        published(source, options, **config)
        with pytest.raises(InvalidMessageError, match=answer):
            model_store.add(str(source), data)
    (source / "model.safetensors").write_bytes(b"noise and more noise")
    with pytest.raises(InvalidMessageError, match="no file of safetensors"):
        model_store.add(str(source), data)
    for nowhere in (str(tmp_path / "nowhere"), "nowhere-to-be-found", "json"):
        with pytest.raises(InvalidMessageError, match="there is no model"):
            model_store.add(nowhere, data)
    assert model_store.names(data) == []
    assert not list(data.glob("models/*"))


def test_a_name_that_is_taken_is_told(tmp_path: Path) -> None:
    source = published(tmp_path / "tiny", weights())
    model_store.add(str(source), tmp_path / "data")
    with pytest.raises(InvalidMessageError, match="there is a model tiny"):
        model_store.add(str(source), tmp_path / "data")
