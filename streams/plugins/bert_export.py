"""A sentence encoder of the BERT family as its authors publish it, written as ONNX: what `embedders.py` runs.

    config.json, model.safetensors, tokenizer.json, 1_Pooling/config.json  ──▶  model.onnx, tokenizer.json

    ids (n, t) ─▶ words + positions + type 0, normed ─▶ layers × [attention, + , normed, feed forward, + , normed] ─▶
    vectors of tokens (n, t, d), or of the first token (n, d) where the model is pooled so

Neither torch nor transformers is needed: the weights are copied as they are, and the network is that of BERT (Devlin et
al. 2019) with its published names.  Needs the package onnx.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from emgas.errors import InvalidMessageError
from streams.plugins.package import package

FAMILIES: Final = {"bert": 0, "xlm-roberta": 1, "roberta": 1}  # model type → positions that padding takes
TYPES: Final = {"F32": np.float32, "F16": np.float16}
OPSET: Final = 20  # the first with Gelu
FORMAT: Final = 9  # of the file, as opset 20 came with it
MASKED: Final = -1e9  # what attention to padding is worth, before the softmax


@dataclass(frozen=True)
class _Shape:
    """The values of config.json that decide the network."""

    layers: int
    heads: int
    hidden: int
    epsilon: float
    offset: int  # of the first token's position
    by_first: bool  # whether a text is its first token, and not the mean of all

    @classmethod
    def of(cls, directory: Path) -> _Shape:
        """Read it.  Raises InvalidMessageError for a network that is another one."""
        config = _json(directory / "config.json")
        family, activation = config.get("model_type"), config.get("hidden_act")
        absolute = config.get("position_embedding_type") in {None, "absolute"}
        if family not in FAMILIES or activation != "gelu" or not absolute:
            raise InvalidMessageError(
                f"{directory}: config.json describes a {family} with {activation}; written as ONNX can be only "
                f"{', '.join(FAMILIES)} with gelu and absolute positions: give a directory with model.onnx"
            )
        pooling = directory / "1_Pooling" / "config.json"
        modes = _json(pooling) if pooling.is_file() else {}
        by_first = bool(modes.get("pooling_mode_cls_token"))
        if not by_first and not modes.get("pooling_mode_mean_tokens", True):
            raise InvalidMessageError(f"{pooling}: only the mean of tokens and the first token are known")
        return cls(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            hidden=config["hidden_size"],
            epsilon=config["layer_norm_eps"],
            offset=config.get("pad_token_id", 0) + 1 if FAMILIES[family] else 0,
            by_first=by_first,
        )


def export(directory: Path, into: Path) -> None:
    """Write the encoder of `directory` into the directory `into`.

    Raises InvalidMessageError when it is no such encoder, NotInstalledError without the package onnx.
    """
    onnx = package("onnx")
    shape = _Shape.of(directory)
    model = _Network(onnx, shape, _weights(directory / "model.safetensors")).model()
    onnx.checker.check_model(model)
    into.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(into / "model.onnx"))
    shutil.copyfile(directory / "tokenizer.json", into / "tokenizer.json")


def _json(file: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidMessageError(f"{file} cannot be read: {error}") from error
    return read


def _weights(file: Path) -> dict[str, Any]:
    """Read a file of safetensors: the length of its header (8 bytes), the header as JSON, then the numbers."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidMessageError(f"{file} cannot be read: {error.strerror}") from error
    begin = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8:begin])
    except ValueError as error:
        raise InvalidMessageError(f"{file} is no file of safetensors ({error})") from error
    header.pop("__metadata__", None)
    floats = {name: entry for name, entry in header.items() if entry["dtype"][0] != "I"}
    return {_plain(name): _array(data[begin:], entry, file) for name, entry in floats.items()}


def _plain(name: str) -> str:
    """Leave out the family that some publish before every name."""
    for family in ("bert.", "roberta."):
        name = name.removeprefix(family)
    return name


def _array(data: bytes, entry: dict[str, Any], file: Path) -> Any:
    if entry["dtype"] not in TYPES:
        raise InvalidMessageError(f"{file}: numbers of type {entry['dtype']} cannot be read, only {', '.join(TYPES)}")
    start, end = entry["data_offsets"]
    return np.frombuffer(data[start:end], TYPES[entry["dtype"]]).reshape(entry["shape"]).astype(np.float32)


class _Network:
    """Builds the graph: each method adds nodes and returns the name of what they give."""

    def __init__(self, onnx: Any, shape: _Shape, weights: dict[str, Any]) -> None:
        self._onnx, self._shape, self._weights = onnx, shape, weights
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self) -> Any:
        """Build the whole: input_ids and attention_mask, (n, t) int64, in; vectors out."""
        helper, number = self._onnx.helper, self._onnx.TensorProto
        mask, tokens = self._mask(), self._embedded()
        for layer in range(self._shape.layers):
            tokens = self._layer(f"encoder.layer.{layer}.", tokens, mask)
        out = self._node("Gather", tokens, self._integers([0]), axis=1) if self._shape.by_first else tokens
        out = self._node("Squeeze", out, self._integers([1])) if self._shape.by_first else out
        size = ["n", self._shape.hidden] if self._shape.by_first else ["n", "t", self._shape.hidden]
        self._nodes.append(helper.make_node("Identity", [out], ["vectors"]))
        graph_inputs = [
            helper.make_tensor_value_info(name, number.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")
        ]
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            graph_inputs,
            [helper.make_tensor_value_info("vectors", number.FLOAT, size)],
            [self._onnx.numpy_helper.from_array(value, name) for name, value in self._constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT)

    def _embedded(self) -> str:
        """Add up words, positions and type 0 of each token."""
        positions = self._weight("embeddings.position_embeddings.weight")[self._shape.offset :]
        typed = positions + self._weight("embeddings.token_type_embeddings.weight")[0]
        words = self._node("Gather", self._constant(self._weight("embeddings.word_embeddings.weight")), "input_ids")
        length = self._node("Slice", self._node("Shape", "input_ids"), *map(self._integers, ([1], [2])))
        places = self._node("Slice", self._constant(typed), self._integers([0]), length, self._integers([0]))
        return self._normed("embeddings.LayerNorm", self._node("Add", words, places))

    def _mask(self) -> str:
        """Make (n, 1, 1, t): 0 for tokens, MASKED for padding."""
        kept = self._node("Cast", "attention_mask", to=self._onnx.TensorProto.FLOAT)
        away = self._node("Sub", self._constant(np.float32(1)), kept)
        weighed = self._node("Mul", away, self._constant(np.float32(MASKED)))
        return self._node("Unsqueeze", weighed, self._integers([1, 2]))

    def _layer(self, at: str, tokens: str, mask: str) -> str:
        attended = self._linear(f"{at}attention.output.dense", self._attention(f"{at}attention.self.", tokens, mask))
        tokens = self._normed(f"{at}attention.output.LayerNorm", self._node("Add", attended, tokens))
        inner = self._node("Gelu", self._linear(f"{at}intermediate.dense", tokens))
        return self._normed(
            f"{at}output.LayerNorm", self._node("Add", self._linear(f"{at}output.dense", inner), tokens)
        )

    def _attention(self, at: str, tokens: str, mask: str) -> str:
        query, value = (self._heads(f"{at}{name}", tokens, (0, 2, 1, 3)) for name in ("query", "value"))
        key = self._heads(f"{at}key", tokens, (0, 2, 3, 1))
        scale = self._constant(np.float32((self._shape.hidden // self._shape.heads) ** -0.5))
        likeness = self._node("Add", self._node("Mul", self._node("MatMul", query, key), scale), mask)
        seen = self._node("MatMul", self._node("Softmax", likeness, axis=-1), value)
        return self._node("Reshape", self._node("Transpose", seen, perm=(0, 2, 1, 3)), self._integers([0, 0, -1]))

    def _heads(self, name: str, tokens: str, order: Sequence[int]) -> str:
        apart = self._node("Reshape", self._linear(name, tokens), self._integers([0, 0, self._shape.heads, -1]))
        return self._node("Transpose", apart, perm=order)

    def _linear(self, name: str, tokens: str) -> str:
        weight = self._constant(np.ascontiguousarray(self._weight(f"{name}.weight").T))
        return self._node("Add", self._node("MatMul", tokens, weight), self._constant(self._weight(f"{name}.bias")))

    def _normed(self, name: str, tokens: str) -> str:
        scale, bias = (self._constant(self._weight(f"{name}.{which}")) for which in ("weight", "bias"))
        return self._node("LayerNormalization", tokens, scale, bias, epsilon=self._shape.epsilon)

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _constant(self, value: Any) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants[name] = np.asarray(value)
        return name

    def _integers(self, values: Sequence[int]) -> str:
        return self._constant(np.array(values, np.int64))

    def _weight(self, name: str) -> Any:
        if name not in self._weights:
            raise InvalidMessageError(f"model.safetensors has no {name}: this is no encoder of {', '.join(FAMILIES)}")
        return self._weights[name]
