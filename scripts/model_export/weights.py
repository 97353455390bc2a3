"""The published weights, checked by their hash and arranged as the graph wants them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load

Array: TypeAlias = npt.NDArray[np.float32]

PUBLISHED = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
LAYERS, HEADS, WIDTH, MAX_TOKENS = 6, 12, 384, 256


@dataclass(frozen=True, slots=True)
class Dense:
    """A fully connected layer, y = x @ weight + bias; weight has shape (inputs, outputs)."""

    name: str
    weight: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation."""

    name: str
    gain: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Block:
    """One transformer block; `qkv` computes queries, keys and values side by side."""

    qkv: Dense
    attention_out: Dense
    attention_norm: Norm
    up: Dense
    down: Dense
    norm: Norm

    @property
    def dense(self) -> tuple[Dense, Dense, Dense, Dense]:
        return self.qkv, self.attention_out, self.up, self.down


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole encoder. `positions` has the embedding of token type 0 added, the only type that is used."""

    words: Array
    positions: Array
    norm: Norm
    blocks: tuple[Block, ...]


def published(folder: Path, name: str) -> bytes:
    """The file's bytes; exits when they are not the published ones."""
    data = (folder / name).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != PUBLISHED[name]:
        raise SystemExit(f"{folder / name} is not the published file: sha256 {found}, expected {PUBLISHED[name]}")
    return data


def read(folder: Path) -> Weights:
    """The encoder's weights from `model.safetensors` in `folder`."""
    return arranged(load(published(folder, "model.safetensors")))


def arranged(tensors: Mapping[str, Array]) -> Weights:
    """Weights under the published names, as the graph wants them."""

    def norm(name: str) -> Norm:
        return Norm(name, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def dense(name: str, *sources: str) -> Dense:
        weight = np.concatenate([tensors[f"{source}.weight"].T for source in sources], axis=1)
        return Dense(name, weight, np.concatenate([tensors[f"{source}.bias"] for source in sources]))

    def block(number: int) -> Block:
        prefix = f"encoder.layer.{number}"
        attention = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        return Block(
            qkv=dense(f"{prefix}.qkv", *attention),
            attention_out=dense(f"{prefix}.attention_out", f"{prefix}.attention.output.dense"),
            attention_norm=norm(f"{prefix}.attention.output.LayerNorm"),
            up=dense(f"{prefix}.up", f"{prefix}.intermediate.dense"),
            down=dense(f"{prefix}.down", f"{prefix}.output.dense"),
            norm=norm(f"{prefix}.output.LayerNorm"),
        )

    return Weights(
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        + tensors["embeddings.token_type_embeddings.weight"][0],
        norm=norm("embeddings.LayerNorm"),
        blocks=tuple(block(number) for number in range(LAYERS)),
    )
