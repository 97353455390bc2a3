"""How far the outputs are from what is to be said, summed over a batch of one kind of input."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from citewell.adapters.reader.outputs import OUTPUTS, POINTING
from citewell.adapters.reader.table_reader import TableInput
from reading_training.inputs import SOMEWHERE, MessageTokens, StatementTokens, TableTokens

_OF_CONTENT = 0.2
_OF_TABLES = {"meant": 1.5, "figure": 0.5, "direction": 0.5, "role": 0.6, "value": 0.6, "number": 0.8, "belongs": 0.8}
"""Weights of the parts, set by hand."""


def loss_of(outputs: Tensor, batch: Sequence[StatementTokens | MessageTokens | TableTokens]) -> Tensor:
    """outputs: shape (texts, tokens, outputs)."""
    statements = [one for one in batch if isinstance(one, StatementTokens)]
    messages = [one for one in batch if isinstance(one, MessageTokens)]
    tables = [one for one in batch if isinstance(one, TableTokens)]
    for kind, loss in ((statements, _of_statements), (messages, _of_messages), (tables, _of_tables)):
        if kind:
            assert len(kind) == len(batch), "a batch has one kind of input"
            return loss(outputs, kind)  # type: ignore[operator]
    return torch.zeros(())


def _of_statements(outputs: Tensor, batch: Sequence[StatementTokens]) -> Tensor:
    """Of the first and the last token, each chosen among those of the statement and the one that says that there is no answer."""
    allowed = torch.zeros(outputs.shape[:2], dtype=torch.bool)
    for row, one in enumerate(batch):
        allowed[row, one.start : len(one.ids) - 1] = allowed[row, 0] = True
    likely = outputs[..., OUTPUTS["answer"]].masked_fill(~allowed[:, :, None], -1e4).log_softmax(1)
    total = torch.zeros(())
    for side, places in enumerate(([one.first for one in batch], [one.last for one in batch])):
        place = torch.tensor(places)
        exact = likely[torch.arange(len(batch)), place.clamp(min=0), side]
        somewhere = torch.log1p(-likely[:, 0, side].exp().clamp(max=1 - 1e-4))
        total = total - torch.where(place == SOMEWHERE, somewhere, exact).sum()
    return total


def _of_messages(outputs: Tensor, batch: Sequence[MessageTokens]) -> Tensor:
    acts = torch.tensor([one.act for one in batch])
    total = functional.cross_entropy(outputs[:, 0, OUTPUTS["act"]], acts, reduction="sum")
    known = [row for row, one in enumerate(batch) if one.leans >= 0]
    leans = torch.tensor([float(batch[row].leans) for row in known])
    total = total + _binary(outputs[known, 0, OUTPUTS["leans"].start], leans)
    rows, places, labels = [], [], []
    for row, one in enumerate(batch):
        for place, label in enumerate(one.content, start=1):
            if label >= 0:
                rows.append(row)
                places.append(place)
                labels.append(float(label))
    return total + _OF_CONTENT * _binary(outputs[rows, places, OUTPUTS["content"].start], torch.tensor(labels))


def _of_tables(outputs: Tensor, batch: Sequence[TableTokens]) -> Tensor:
    whole, examples = outputs[:, 0], [one.example for one in batch]
    meant = torch.tensor([float(one.meant) for one in examples])
    total = _OF_TABLES["meant"] * _binary(whole[:, OUTPUTS["meant"].start], meant)
    likely = whole[:, OUTPUTS["operation"]].log_softmax(-1)
    for row, one in enumerate(examples):
        if one.operations:
            total = total - torch.logsumexp(likely[row, list(one.operations)], 0)
    for name in ("figure", "direction"):
        total = total + _OF_TABLES[name] * _chosen(whole[:, OUTPUTS[name]], [getattr(one, name) for one in examples])
    known = [row for row, one in enumerate(examples) if one.percent >= 0]
    wanted = torch.tensor([float(examples[row].percent) for row in known])
    return total + _binary(whole[known, OUTPUTS["percent"].start], wanted) + _of_places(outputs, batch)


def _of_places(outputs: Tensor, batch: Sequence[TableTokens]) -> Tensor:
    """Of columns, values and numbers."""
    columns, values, numbers = _Places(), _Places(), _Places()
    total = torch.zeros(())
    for row, one in enumerate(batch):
        tokens, example = one.tokens, one.example
        if example.columns is not None:
            columns.add(row, tokens.columns, [[float(role) for role in column] for column in example.columns])
        for places, uses in zip(tokens.values, example.values or (), strict=False):
            values.add(row, places, uses)
        if example.numbers is not None:
            numbers.add(row, tokens.numbers, [use for use, _ in example.numbers])
            total = total + _OF_TABLES["belongs"] * _belonging(outputs[row], tokens, example.numbers)
    if columns.rows:
        found = outputs[columns.rows, columns.places][:, OUTPUTS["role"]]
        total = total + _OF_TABLES["role"] * _binary(found, torch.tensor(columns.labels))
    for name, places in (("value", values), ("number", numbers)):
        if places.rows:
            found = outputs[places.rows, places.places][:, OUTPUTS[name]]
            total = total + _OF_TABLES[name] * _chosen(found, places.labels)
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
