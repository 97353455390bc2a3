"""MiniLM with a head that marks answers, in PyTorch, and its training. The graph that ships is made of the trained weights."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from model_export.weights import HEADS, LAYERS, MAX_TOKENS, WIDTH
from tokenizers import Tokenizer
from torch import Tensor, nn

from reader_training.descent import descend
from reader_training.questions import Example

MAX_QUESTION_TOKENS, MAX_BEFORE_TOKENS, MAX_INPUT_TOKENS = 40, 48, 192
_CLS, _SEP = 101, 102
_INNER = 1536
_TOKENS_PER_STEP = 4_096
_SORTED_TOGETHER = 4_000
_SOMEWHERE = -1


@dataclass(frozen=True, slots=True)
class Input:
    """Token ids of one example; its statement begins at `start`. first, last: tokens of the answer; 0 for none, -1 for an unknown place."""

    ids: np.ndarray
    start: int
    first: int
    last: int


def encode(examples: Sequence[Example], tokenizer: Tokenizer) -> list[Input]:
    """Question, statement before and statement, each ended by a separator; examples whose answer was cut off are left out."""
    parts = [
        tokenizer.encode_batch([getattr(one, name) for one in examples], add_special_tokens=False)
        for name in ("question", "before", "statement")
    ]
    made: list[Input] = []
    for example, question, before, statement in zip(examples, *parts, strict=True):
        head = [_CLS, *question.ids[:MAX_QUESTION_TOKENS], _SEP, *before.ids[-MAX_BEFORE_TOKENS:], _SEP]
        room = MAX_INPUT_TOKENS - len(head) - 1
        first = last = 0
        if example.answer == (0, 0):
            first = last = _SOMEWHERE
        elif example.answer is not None:
            start, end = example.answer
            within = [i for i, (a, b) in enumerate(statement.offsets[:room]) if b > start and a < end]
            if not within:
                continue
            first, last = len(head) + within[0], len(head) + within[-1]
        made.append(Input(np.array([*head, *statement.ids[:room], _SEP], np.int64), len(head), first, last))
    return made


class _Layer(nn.Module):
    """One block, its parts under the names of the published weights."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, _INNER), nn.Linear(_INNER, WIDTH)
        self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        texts, tokens, _ = states.shape

        def heads(x: Tensor) -> Tensor:
            return x.view(texts, tokens, HEADS, -1).transpose(1, 2)

        # Written out: with heads this narrow, the backward pass of PyTorch's fused attention takes a third of a step.
        weights = heads(self.query(states)) @ heads(self.key(states)).transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        mixed = weights.masked_fill(~mask, -1e4).softmax(-1).to(weights.dtype) @ heads(self.value(states))
        states = self.attention_norm(states + self.out(mixed.transpose(1, 2).reshape(texts, tokens, WIDTH)))
        return self.norm(states + self.down(nn.functional.gelu(self.up(states))))


_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}


class ReaderNetwork(nn.Module):
    """Gives each token two logits: that the answer begins, and that it ends, with it. At the first token: that there is none.

    Embeddings and the first block stay as published.
    """

    def __init__(self, published: dict[str, np.ndarray]) -> None:
        super().__init__()
        tensors = {name: torch.from_numpy(array) for name, array in published.items()}
        self.words = nn.Embedding.from_pretrained(tensors["embeddings.word_embeddings.weight"])
        positions = tensors["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        self.register_buffer("positions", positions + tensors["embeddings.token_type_embeddings.weight"][0])
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.norm.load_state_dict({part: tensors[f"embeddings.LayerNorm.{part}"] for part in ("weight", "bias")})
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        for number, layer in enumerate(self.layers):
            layer.load_state_dict(
                {
                    f"{own}.{part}": tensors[f"encoder.layer.{number}.{name}.{part}"]
                    for own, name in _NAMES.items()
                    for part in ("weight", "bias")
                }
            )
        self.head = nn.Linear(WIDTH, 2)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)
        for module in (self.words, self.norm, self.layers[0]):
            module.requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits, shape (texts, tokens, 2); mask: shape (texts, 1, 1, tokens), false where there is no token."""
        states = self.norm(self.words(ids) + self.positions[: ids.shape[1]])
        for layer in self.layers:
            states = layer(states, mask)
        return self.head(states).float()

    def trained(self, published: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The published weights with those of the trained blocks in their place."""
        found = dict(published)
        for number, layer in enumerate(self.layers):
            for own, value in layer.state_dict().items():
                name, _, part = own.rpartition(".")
                found[f"encoder.layer.{number}.{_NAMES[name]}.{part}"] = value.numpy()
        return found


def train(network: ReaderNetwork, inputs: Sequence[Input], *, epochs: float, rate: float, seed: int = 1) -> None:
    """Fit to the inputs; prints the loss."""
    source = random.Random(seed)
    parameters = [one for one in network.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01, fused=True)
    steps = int(epochs * sum(1 for _ in _batches(inputs, source)))
    descend(
        optimizer,
        partial(_batches, inputs, source),
        partial(loss_of, network),
        steps=steps,
        clipped=parameters,
    )


def loss_of(network: ReaderNetwork, batch: Sequence[Input]) -> Tensor:
    """Of the first and the last token, each chosen among those of the statement and the one that says that there is no answer."""
    ids, mask, allowed = _padded(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = network(ids, mask)
    likely = logits.masked_fill(~allowed[:, :, None], -1e4).log_softmax(1)
    total = torch.zeros(())
    for side, places in enumerate(([one.first for one in batch], [one.last for one in batch])):
        place = torch.tensor(places)
        exact = likely[torch.arange(len(batch)), place.clamp(min=0), side]
        somewhere = torch.log1p(-likely[:, 0, side].exp().clamp(max=1 - 1e-4))
        total = total - torch.where(place == _SOMEWHERE, somewhere, exact).sum()
    return total


def _padded(batch: Sequence[Input]) -> tuple[Tensor, Tensor, Tensor]:
    """Token ids, the mask of attention, and where an answer may begin or end."""
    length = max(len(one.ids) for one in batch)
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    mask = torch.zeros(len(batch), 1, 1, length, dtype=torch.bool)
    allowed = torch.zeros(len(batch), length, dtype=torch.bool)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.from_numpy(one.ids)
        mask[row, ..., : len(one.ids)] = True
        allowed[row, one.start : len(one.ids) - 1] = allowed[row, 0] = True
    return ids, mask, allowed


def _batches(inputs: Sequence[Input], source: random.Random) -> Iterator[list[Input]]:
    """All inputs once, in batches of about one length, in an order of their own."""
    shuffled = source.sample(inputs, len(inputs))
    batches: list[list[Input]] = []
    for start in range(0, len(shuffled), _SORTED_TOGETHER):
        batch: list[Input] = []
        for one in sorted(shuffled[start : start + _SORTED_TOGETHER], key=lambda one: len(one.ids)):
            if batch and (len(batch) + 1) * len(one.ids) > _TOKENS_PER_STEP:
                batches.append(batch)
                batch = []
            batch.append(one)
        batches.append(batch)
    source.shuffle(batches)
    yield from batches
