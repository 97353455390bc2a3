"""Where the reading model's outputs for a token are, and how many there are."""

from __future__ import annotations

from citewell.types.message_reading import Act
from citewell.types.table_reading import ColumnRole, GroupFigure, NumberUse, RowOperation, ValueUse

POINTING = 32
"""Outputs of a number, and of a column, whose product says whether they belong together."""


def _layout() -> tuple[dict[str, slice], int]:
    sizes = {
        "answer": 2,
        "content": 1,
        "leans": 1,
        "act": len(Act),
        "meant": 1,
        "operation": len(RowOperation),
        "figure": len(GroupFigure),
        "direction": 3,
        "percent": 1,
        "role": len(ColumnRole),
        "value": len(ValueUse),
        "number": len(NumberUse),
        "points": POINTING,
        "pointed": POINTING,
    }
    places: dict[str, slice] = {}
    start = 0
    for name, size in sizes.items():
        places[name] = slice(start, start + size)
        start += size
    return places, start


OUTPUTS, WIDTH = _layout()
"""answer: that one begins, and ends, with this token; content: that a word of a message says what it is about; direction: none, highest
first, lowest first. Of the first token: `leans`, `act`, and what is meant of a whole table."""
