"""MiniLM with a head that tells how well a reading fits a question, in PyTorch, and its training. It starts as the trained reader."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from model_export.weights import WIDTH
from numpy.typing import NDArray
from reader_training.descent import descend
from reader_training.network import ReaderNetwork
from tokenizers import Tokenizer
from torch import Tensor, nn

from citewell.adapters.reader.reading_scorer import MAX_ANSWER_TOKENS, MAX_QUESTION_TOKENS
from scorer_training.candidates import Case

MAX_INPUT_TOKENS = 64
_CLS, _SEP, _MASK = 101, 102, 103
_TOKENS_PER_STEP = 4_096
_SORTED_TOGETHER = 2_000
_JOINING_RATE = 20.0
"""How much faster than the rest the two numbers learn that join the scores."""


@dataclass(frozen=True, slots=True)
class Input:
    """A case with the token ids of its pairs: the question beside each of its answers, and last beside nothing."""

    case: Case
    pairs: list[list[int]]
    length: int


def encode(cases: Sequence[Case], tokenizer: Tokenizer) -> list[Input]:
    """Question, and what a reading asks for with its answer, each ended by a separator; what is asked for is cut to fit."""
    told = [pair for one in cases for pair in one.told]
    questions, asks, answers = (
        tokenizer.encode_batch(texts, add_special_tokens=False)
        for texts in (
            [one.question for one in cases],
            [asked for asked, _ in told],
            [answer and f"= {answer}" for _, answer in told],
        )
    )
    read = iter(zip(asks, answers, strict=True))
    made: list[Input] = []
    for one, question in zip(cases, questions, strict=True):
        head = [_CLS, *question.ids[:MAX_QUESTION_TOKENS], _SEP]
        pairs: list[list[int]] = []
        for asked, answer in (next(read) for _ in one.told):
            last = [*answer.ids[:MAX_ANSWER_TOKENS], _SEP]
            pairs.append([*head, *asked.ids[: MAX_INPUT_TOKENS - len(head) - len(last)], *last])
        made.append(Input(one, pairs, max(map(len, pairs))))
    return made


class ScorerNetwork(nn.Module):
    """Gives each pair a logit at its first token. Embeddings and the first block stay as the reader has them.

    prior: what the logarithm of an answer's probability is multiplied by; another: the logit of any answer that is not shown;
    dropout: share of each block's output that is left out in training, and twice the share of words that are hidden, so that pairs are
    not learned by heart.
    """

    def __init__(self, reader: dict[str, np.ndarray], dropout: float = 0.0) -> None:
        super().__init__()
        self.body = ReaderNetwork(reader)
        self.body.head = nn.Linear(WIDTH, 1)
        nn.init.normal_(self.body.head.weight, std=0.01)
        nn.init.zeros_(self.body.head.bias)
        self.prior = nn.Parameter(torch.tensor(1.0))
        self.another = nn.Parameter(torch.tensor(0.0))
        self.dropout = dropout

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits, shape (pairs,); mask: shape (pairs, 1, 1, tokens), false where there is no token."""
        if self.training and self.dropout:
            ids = torch.where((torch.rand(ids.shape) < self.dropout / 2) & (ids > _SEP), _MASK, ids)
        states = self.body.norm(self.body.words(ids) + self.body.positions[: ids.shape[1]])
        for layer in self.body.layers:
            states = nn.functional.dropout(layer(states, mask), self.dropout, self.training)
        return self.body.head(states[:, 0]).float()[:, 0]


def train(network: ScorerNetwork, inputs: Sequence[Input], *, epochs: float, rate: float, seed: int) -> None:
    """Fit to the inputs; prints the loss."""
    joining = [network.prior, network.another]
    rest = [one for one in network.body.parameters() if one.requires_grad]
    groups = [{"params": rest}, {"params": joining, "lr": _JOINING_RATE * rate, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, weight_decay=0.01)
    steps = int(epochs * len(_batches(inputs, random.Random(seed))))
    network.train()
    descend(
        optimizer,
        partial(_batches, inputs, random.Random(seed)),
        partial(loss_of, network),
        steps=steps,
        clipped=rest,
    )


def loss_of(network: ScorerNetwork, batch: Sequence[Input]) -> Tensor:
    """Of the right ones among the answers that are read, nothing, and another answer."""
    total = torch.zeros(())
    for one, logits in zip(batch, _logits(network, batch), strict=True):
        scores = torch.cat([logits, network.another[None]]) + network.prior * torch.from_numpy(one.case.prior)
        right = torch.from_numpy(one.case.right)
        total = total - (scores[right].logsumexp(0) - scores.logsumexp(0))
    return total


@torch.no_grad()
def scored(network: ScorerNetwork, inputs: Sequence[Input]) -> list[NDArray[np.float32]]:
    """The logits of each input's pairs."""
    network.eval()
    order = sorted(range(len(inputs)), key=lambda index: inputs[index].length)
    found = iter(
        logits.numpy() for batch in _filled([inputs[index] for index in order]) for logits in _logits(network, batch)
    )
    by_index = dict(zip(order, found, strict=True))
    return [by_index[index] for index in range(len(inputs))]


def _logits(network: ScorerNetwork, batch: Sequence[Input]) -> tuple[Tensor, ...]:
    rows = [pair for one in batch for pair in one.pairs]
    length = max(map(len, rows))
    ids = torch.zeros(len(rows), length, dtype=torch.long)
    mask = torch.zeros(len(rows), 1, 1, length, dtype=torch.bool)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row)
        mask[number, ..., : len(row)] = True
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return network(ids, mask).split([len(one.pairs) for one in batch])


def _batches(inputs: Sequence[Input], source: random.Random) -> list[list[Input]]:
    """All inputs once, in batches of about one length, in an order of their own."""
    shuffled = source.sample(inputs, len(inputs))
    batches: list[list[Input]] = []
    for start in range(0, len(shuffled), _SORTED_TOGETHER):
        batches.extend(_filled(sorted(shuffled[start : start + _SORTED_TOGETHER], key=lambda one: one.length)))
    source.shuffle(batches)
    return batches


def _filled(inputs: Sequence[Input]) -> Iterator[list[Input]]:
    """Batches of inputs in their order, which is that of their length."""
    batch: list[Input] = []
    rows = 0
    for one in inputs:
        if batch and (rows + len(one.pairs)) * one.length > _TOKENS_PER_STEP:
            yield batch
            batch, rows = [], 0
        batch.append(one)
        rows += len(one.pairs)
    if batch:
        yield batch
