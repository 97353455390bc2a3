"""How much of the questions that were left out is read rightly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from citewell.adapters.reader.table_reader import OUTPUTS, interpreted
from citewell.types.table_reading import TableRead
from table_training.network import Input, TableNetwork, padded
from table_training.questions import OPERATIONS, Example

_TEXTS = 48


def print_measured(network: TableNetwork, inputs: Sequence[Input], name: str) -> None:
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
def _outputs(network: TableNetwork, inputs: Sequence[Input]) -> Iterator[tuple[Input, NDArray[np.float32]]]:
    network.eval()
    order = sorted(inputs, key=lambda one: one.length)
    for start in range(0, len(order), _TEXTS):
        batch = order[start : start + _TEXTS]
        ids, mask = padded([one.tokens.ids for one in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = network(ids, mask).numpy()
        yield from ((one, outputs[row, : one.length]) for row, one in enumerate(batch))
