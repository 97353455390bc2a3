"""The reading model in PyTorch: multilingual-e5-small with outputs for what messages want, where answers are, and what is meant of tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from citewell.adapters.reader.outputs import WIDTH as OUTPUTS
from reading_training.base import INNER, WIDTH, Array

LAYERS, HEADS = 12, 12
_DENSE = {"out": "attention.output.dense", "up": "intermediate.dense", "down": "output.dense"}
_NORMS = {"attention_norm": "attention.output.LayerNorm", "norm": "output.LayerNorm"}
_ATTENTION = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))


class _Layer(nn.Module):
    """One block. Queries, keys and values are computed side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.Linear(WIDTH, 3 * WIDTH)
        self.out, self.up, self.down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        texts, tokens, _ = states.shape
        parts = self.attention(states).view(texts, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = parts
        # Written out: with heads this narrow, the backward pass of PyTorch's fused attention takes a third of a step.
        weights = (query @ key.transpose(-1, -2)) * (WIDTH // HEADS) ** -0.5
        mixed = (weights + mask.to(weights.dtype)).softmax(-1).to(value.dtype) @ value
        states = self.attention_norm(states + self.out(mixed.transpose(1, 2).reshape(texts, tokens, WIDTH)))
        return self.norm(states + self.down(nn.functional.gelu(self.up(states))))


class ReadingNetwork(nn.Module):
    """Gives each token the outputs that `citewell.adapters.reader.outputs` names. Word vectors and the first block stay as published."""

    def __init__(self, published: dict[str, Array]) -> None:
        super().__init__()
        tensors = {name: torch.from_numpy(array) for name, array in published.items()}
        self.words = nn.Embedding.from_pretrained(tensors["embeddings.word_embeddings.weight"].bfloat16())
        positions = tensors["embeddings.position_embeddings.weight"]
        self.register_buffer("positions", positions + tensors["embeddings.token_type_embeddings.weight"][0])
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.norm.load_state_dict({part: tensors[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")})
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            layer.load_state_dict(_of_layer(tensors, f"encoder.layer.{number}"))
        self.head = nn.Linear(WIDTH, OUTPUTS)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        self.vector = nn.Linear(WIDTH, WIDTH)
        nn.init.normal_(self.vector.weight, std=0.02)
        nn.init.zeros_(self.vector.bias)
        for module in (self.words, self.norm, self.layers[0]):
            module.requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Outputs, shape (texts, tokens, outputs); mask: shape (texts, 1, 1, tokens), 0 where there is a token and very low elsewhere."""
        return self.head(self._states(ids, mask)).float()

    def vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Of each text one vector of unit length, shape (texts, 384)."""
        return nn.functional.normalize(self.vector(self._states(ids, mask)[:, 0]).float(), dim=-1)

    def _states(self, ids: Tensor, mask: Tensor) -> Tensor:
        states = self.norm(self.words(ids).float() + self.positions[: ids.shape[1]])
        for layer in self.layers:
            states = layer(states, mask)
        return states

    @torch.no_grad()
    def trained(self, published: dict[str, Array]) -> dict[str, Array]:
        """The published weights with those of the trained blocks in their place."""
        found = dict(published)
        for number, layer in enumerate(self.layers):
            to = f"encoder.layer.{number}"
            for part in ("weight", "bias"):
                whole = getattr(layer.attention, part).numpy()
                for name, value in zip(_ATTENTION, np.split(whole, 3), strict=True):
                    found[f"{to}.{name}.{part}"] = np.ascontiguousarray(value)
                for own, name in (_DENSE | _NORMS).items():
                    found[f"{to}.{name}.{part}"] = getattr(getattr(layer, own), part).numpy()
        return found


def _of_layer(tensors: dict[str, Tensor], to: str) -> dict[str, Tensor]:
    found = {
        f"attention.{part}": torch.cat([tensors[f"{to}.{name}.{part}"] for name in _ATTENTION])
        for part in ("weight", "bias")
    }
    for own, name in (_DENSE | _NORMS).items():
        found |= {f"{own}.{part}": tensors[f"{to}.{name}.{part}"] for part in ("weight", "bias")}
    return found


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids, and the mask of attention."""
    length = max(map(len, rows))
    ids = torch.ones(len(rows), length, dtype=torch.long)
    mask = torch.full((len(rows), 1, 1, length), -1e4)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, ..., : len(row)] = 0
    return ids, mask
