"""How much of what was left out is read rightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from citewell.adapters.reader.builtin import best_span
from citewell.adapters.reader.outputs import OUTPUTS
from citewell.adapters.reader.table_reader import interpreted
from citewell.types.message_reading import Act
from citewell.types.table_reading import TableRead
from reading_training.inputs import MessageTokens, StatementTokens, TableTokens
from reading_training.network import ReadingNetwork, padded
from reading_training.tables import OPERATIONS, Example

_TEXTS = 48
Tokens = TypeVar("Tokens", StatementTokens, MessageTokens, TableTokens)


def print_of_tables(network: ReadingNetwork, inputs: Sequence[TableTokens], name: str) -> None:
    """The share of the questions of which each part is read rightly, and of which all is, by operation."""
    right, asked = Counter[str](), Counter[str]()
    for one, outputs in _outputs(network, inputs):
        example, read = one.example, interpreted(outputs, one.tokens)
        parts = {"meant": (read.meant > 0) == example.meant, **dict(_parts(example, read, outputs))}
        if example.meant:
            parts["all"] = all(parts.values())
            parts[OPERATIONS[example.operations[0]]] = parts["all"]
        for part, is_right in parts.items():
            asked[part] += 1
            right[part] += is_right
    print(name, {part: round(right[part] / asked[part], 3) for part in asked})


def print_of_statements(network: ReadingNetwork, inputs: Sequence[StatementTokens], name: str) -> None:
    """How often it is told rightly whether a statement answers, and how often the answer's first token is found."""
    told, found, answering = 0, 0, 0
    for one, outputs in _outputs(network, inputs):
        logits = outputs[:, OUTPUTS["answer"]]
        first, _, sure = best_span(logits[one.start : len(one.ids) - 1], logits[0])
        told += (sure > 0) == (one.first != 0)
        if one.first > 0:
            answering += 1
            found += one.start + first == one.first
    print(
        name, f"told {told / len(inputs):.3f} of {len(inputs)}, placed {found / max(answering, 1):.3f} of {answering}"
    )


def print_of_messages(network: ReadingNetwork, inputs: Sequence[MessageTokens], name: str) -> None:
    """The share of each act's messages that are taken for it, and of those in threads whose leaning is told."""
    right, asked = Counter[str](), Counter[str]()
    for one, outputs in _outputs(network, inputs):
        parts = {list(Act)[one.act].value: int(outputs[0, OUTPUTS["act"]].argmax()) == one.act}
        if one.leans >= 0:
            parts["leans"] = (outputs[0, OUTPUTS["leans"].start] > 0) == bool(one.leans)
        for part, is_right in parts.items():
            asked[part] += 1
            right[part] += is_right
    print(name, {part: round(right[part] / asked[part], 3) for part in asked})


def _parts(example: Example, read: TableRead, outputs: NDArray[np.float32]) -> Iterator[tuple[str, bool]]:
    if not example.operations:
        return
    yield "operation", int(read.operations.argmax()) in example.operations
    if example.figure > 0:
        yield "figure", int(read.figures.argmax()) == example.figure
    if example.direction > 0:
        yield "direction", int(outputs[0, OUTPUTS["direction"]].argmax()) == example.direction
    if example.percent >= 0:
        yield "percent", (read.percent > 0) == bool(example.percent)
    if example.columns is not None:
        yield "columns", bool(((read.roles > 0) == np.array(example.columns, bool)).all())
    if example.values is not None:
        pairs = zip(read.values, example.values, strict=True)
        yield "values", all((found.argmax(-1) == np.array(uses)).all() for found, uses in pairs if len(uses))
    if example.numbers is not None:
        yield (
            "numbers",
            all(
                int(read.numbers[number].argmax()) == use
                and (column < 0 or int(read.belongs[number].argmax()) == column)
                for number, (use, column) in enumerate(example.numbers)
            ),
        )


@torch.no_grad()
def _outputs(network: ReadingNetwork, inputs: Sequence[Tokens]) -> Iterator[tuple[Tokens, NDArray[np.float32]]]:
    network.eval()
    order = sorted(inputs, key=lambda one: len(one.ids))
    for start in range(0, len(order), _TEXTS):
        batch = order[start : start + _TEXTS]
        ids, mask = padded([one.ids for one in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = network(ids, mask).numpy()
        yield from ((one, outputs[row, : len(one.ids)]) for row, one in enumerate(batch))
