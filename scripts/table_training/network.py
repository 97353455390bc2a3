"""MiniLM with a head that reads tables, in PyTorch, and its training."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from model_export.weights import WIDTH as STATES
from reader_training.network import ReaderNetwork
from torch import Tensor, nn
from torch.nn import functional

from citewell.adapters.reader.table_reader import KINDS, OUTPUTS, POINTING, VALUE, WIDTH, TableInput
from table_training.questions import Example

_MARKS = max(*KINDS.values(), VALUE) + 1
_TOKENS_PER_STEP, _SORTED_TOGETHER = 4_096, 4_000
_WARMING, _HEAD_RATE = 0.05, 5.0
_REPORTED_EVERY = 100
_WEIGHTS = {"meant": 1.5, "figure": 0.5, "direction": 0.5, "role": 0.6, "value": 0.6, "number": 0.8, "belongs": 0.8}
"""Of the parts of the loss; set by hand."""


@dataclass(frozen=True, slots=True)
class Input:
    """An example in tokens."""

    tokens: TableInput
    example: Example

    @property
    def length(self) -> int:
        return len(self.tokens.ids)


class TableNetwork(nn.Module):
    """Gives each token the outputs that `OUTPUTS` names. Word embeddings stay as published, but for the marks before columns and values."""

    def __init__(self, published: dict[str, np.ndarray], dropout: float = 0.1) -> None:
        super().__init__()
        self.body = ReaderNetwork(published)
        self.body.requires_grad_(True)
        self.body.words.requires_grad_(False)
        self.body.head = nn.Linear(STATES, WIDTH)
        nn.init.normal_(self.body.head.weight, std=0.02)
        nn.init.zeros_(self.body.head.bias)
        self.marks = nn.Parameter(torch.randn(_MARKS, STATES) * 0.03)
        self.dropout = dropout

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Outputs, shape (texts, tokens, `WIDTH`); mask: shape (texts, 1, 1, tokens), false where there is no token."""
        is_mark = ((ids > 0) & (ids < _MARKS))[..., None]
        words = torch.where(is_mark, self.marks[ids.clamp(max=_MARKS - 1)], self.body.words(ids))
        states = self.body.norm(words + self.body.positions[: ids.shape[1]])
        states = functional.dropout(states, self.dropout / 2, self.training)
        for layer in self.body.layers:
            states = functional.dropout(layer(states, mask), self.dropout, self.training)
        return self.body.head(states).float()

    @torch.no_grad()
    def trained(self, published: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The published weights with the trained ones in their place."""
        found = self.body.trained(published)
        for part in ("weight", "bias"):
            found[f"embeddings.LayerNorm.{part}"] = getattr(self.body.norm, part).numpy()
        words = found["embeddings.word_embeddings.weight"].copy()
        words[1:_MARKS] = self.marks[1:].numpy()
        return {**found, "embeddings.word_embeddings.weight": words}


def train(
    network: TableNetwork, passes: Iterator[list[Input]], *, steps: int, rate: float, source: random.Random
) -> None:
    """Fit to the inputs of as many passes as the steps need; prints the mean loss of an example."""
    heads = [*network.body.head.parameters(), network.marks]
    body = [one for one in network.parameters() if one.requires_grad and all(one is not head for head in heads)]
    groups = [{"params": body, "lr": rate}, {"params": heads, "lr": _HEAD_RATE * rate}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    highest = [float(group["lr"]) for group in optimizer.param_groups]
    began, loss_sum, count, done = time.monotonic(), 0.0, 0, 0
    network.train()
    for batch in (batch for inputs in passes for batch in _batches(inputs, source)):
        share = done / steps
        for group, most in zip(optimizer.param_groups, highest, strict=True):
            group["lr"] = most * min(share / _WARMING + 0.02, (1 - share) / (1 - _WARMING))
        loss = loss_of(network, batch)
        (loss / len(batch)).backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss_sum, count, done = loss_sum + loss.item(), count + len(batch), done + 1
        if done % _REPORTED_EVERY == 0:
            seconds = time.monotonic() - began
            print(f"step {done} of {steps}: loss {loss_sum / count:.4f}, {seconds:.0f} s", flush=True)
            loss_sum, count = 0.0, 0
        if done == steps:
            return


def loss_of(network: TableNetwork, batch: Sequence[Input]) -> Tensor:
    """Of all that is known of the examples."""
    ids, mask = padded([one.tokens.ids for one in batch])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = network(ids, mask)
    whole, examples = outputs[:, 0], [one.example for one in batch]
    meant = torch.tensor([float(one.meant) for one in examples])
    total = _WEIGHTS["meant"] * _binary(whole[:, OUTPUTS["meant"]][:, 0], meant)
    likely = whole[:, OUTPUTS["operation"]].log_softmax(-1)
    for row, one in enumerate(examples):
        if one.operations:
            total = total - torch.logsumexp(likely[row, list(one.operations)], 0)
    for name in ("figure", "direction"):
        total = total + _WEIGHTS[name] * _chosen(whole[:, OUTPUTS[name]], [getattr(one, name) for one in examples])
    known = [row for row, one in enumerate(examples) if one.percent >= 0]
    wanted = torch.tensor([float(examples[row].percent) for row in known])
    return total + _binary(whole[known, OUTPUTS["percent"].start], wanted) + _loss_of_places(outputs, batch)


def _loss_of_places(outputs: Tensor, batch: Sequence[Input]) -> Tensor:
    """Of columns, values and numbers."""
    roles = _Places(), _Places(), _Places()
    total = torch.zeros(())
    for row, one in enumerate(batch):
        tokens, example = one.tokens, one.example
        if example.columns is not None:
            roles[0].add(row, tokens.columns, [[float(role) for role in column] for column in example.columns])
        for places, uses in zip(tokens.values, example.values or (), strict=False):
            roles[1].add(row, places, uses)
        if example.numbers is not None:
            roles[2].add(row, tokens.numbers, [use for use, _ in example.numbers])
            total = total + _WEIGHTS["belongs"] * _belonging(outputs[row], tokens, example.numbers)
    columns, values, numbers = roles
    if columns.rows:
        found = outputs[columns.rows, columns.places][:, OUTPUTS["role"]]
        total = total + _WEIGHTS["role"] * _binary(found, torch.tensor(columns.labels))
    for name, places in (("value", values), ("number", numbers)):
        if places.rows:
            total = total + _WEIGHTS[name] * _chosen(
                outputs[places.rows, places.places][:, OUTPUTS[name]], places.labels
            )
    return total


class _Places:
    """Tokens of a batch, and what is to be read there."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.places: list[int] = []
        self.labels: list[object] = []

    def add(self, row: int, places: Sequence[int], labels: Sequence[object]) -> None:
        for place, label in zip(places, labels, strict=True):
            if place >= 0:
                self.rows.append(row)
                self.places.append(place)
                self.labels.append(label)


def _belonging(outputs: Tensor, tokens: TableInput, numbers: Sequence[tuple[int, int]]) -> Tensor:
    """Of the column that each number is compared with, among those that are shown."""
    shown = [place for place in tokens.columns if place >= 0]
    total = torch.zeros(())
    for place, (_, column) in zip(tokens.numbers, numbers, strict=True):
        if place >= 0 and column >= 0 and tokens.columns[column] >= 0:
            scores = outputs[shown][:, OUTPUTS["pointed"]] @ outputs[place, OUTPUTS["points"]] * POINTING**-0.5
            total = total - scores.log_softmax(0)[shown.index(tokens.columns[column])]
    return total


def _binary(logits: Tensor, wanted: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")


def _chosen(logits: Tensor, labels: Sequence[object]) -> Tensor:
    return functional.cross_entropy(logits, torch.tensor(labels), ignore_index=-1, reduction="sum")


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids, and the mask of attention."""
    length = max(map(len, rows))
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    mask = torch.zeros(len(rows), 1, 1, length, dtype=torch.bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, ..., : len(row)] = True
    return ids, mask


def _batches(inputs: Sequence[Input], source: random.Random) -> list[list[Input]]:
    """All inputs once, in batches of about one length, in an order of their own."""
    shuffled = source.sample(inputs, len(inputs))
    batches: list[list[Input]] = []
    for start in range(0, len(shuffled), _SORTED_TOGETHER):
        batch: list[Input] = []
        for one in sorted(shuffled[start : start + _SORTED_TOGETHER], key=lambda one: one.length):
            if batch and (len(batch) + 1) * one.length > _TOKENS_PER_STEP:
                batches.append(batch)
                batch = []
            batch.append(one)
        batches.append(batch)
    source.shuffle(batches)
    return batches
