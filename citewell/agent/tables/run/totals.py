"""Finds total rows: rows of a table that sum up the others, and would be counted twice."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from citewell.agent.tables.query.typed import (
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import TableEngine, table_key
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.errors import InvalidInput
from citewell.types import ROW_COLUMN, TableInfo

_LABEL = re.compile(
    r"(?:grand |sub-?|over-?all |sum )?totals?:?|sum|overall|(?:grand |sub-?)?total (?:19|20)\d\d|year (?:19|20)\d\d|fy ?\d{2,4}|gesamt|summe"
    r"|insgesamt|total g[eé]n[eé]ral|all",
    re.I,
)
_NAME = 40  # characters
_SUBTOTAL = re.compile(
    r"\s*(?:(?:grand |sub-?|over-?all )?totals?|gesamt|(?:zwischen)?summe|insgesamt"
    r"|gross (?:profit|margin)|operating (?:profit|income|result|loss)|ebitd?a?|net (?:profit|income|loss|earnings)|rohertrag|betriebsergebnis)\b",
    re.I,
)


async def find_total_rows(engine: TableEngine, owner_id: str, table: TableInfo) -> tuple[int, ...]:
    """The row number of the last row if it is a total of all the others: called so and equal in one numeric column at least,
    or equal in two and more without the name; else nothing."""
    numeric = [column.name for column in table.columns if column.is_numeric]
    texts = [column.name for column in table.columns if not column.is_numeric]
    if table.rows < THRESHOLDS.least_rows or not numeric:
        return ()
    last = await engine.run(
        owner_id,
        table,
        TableQuery(source=table_key(table), columns=(*texts, *numeric), order=(Order(ROW_COLUMN, True),), limit=1),
    )
    number = last.rows[0].rows.first
    others = TableQuery(
        source=table_key(table),
        conditions=(RowCondition(ColumnRef(ROW_COLUMN), Comparator.LT, number or 0),),
        aggregates=tuple(Aggregate(Function.SUM, name) for name in numeric),
    )
    try:
        sums = await engine.run(owner_id, table, others)
    except InvalidInput:  # a sum is out of range: no cell can hold it
        return ()
    values = last.rows[0].values
    label = next((str(value).strip() for value in values[: len(texts)] if value not in (None, "")), "")
    if number is not None and _is_total(label, values[len(texts) :], sums.rows[0].values):
        return (number,)
    return ()


def holds_subtotals(values: Mapping[str, Sequence[str]], known: int) -> bool:
    """Whether a text column has more values called totals, or lines of a statement that are such, than the `known` total rows account for."""
    return any(sum(bool(_SUBTOTAL.match(value)) for value in texts) > known for texts in values.values())


def is_total(label: str) -> bool:
    """Whether a row's name says that it sums up others."""
    return len(label) < _NAME and _LABEL.fullmatch(label) is not None


def _is_total(label: str, last: Sequence[Any], sums: Sequence[Any]) -> bool:
    pairs = [(float(a), float(b)) for a, b in zip(last, sums, strict=True) if a is not None and b is not None]
    if not all(math.isfinite(value) for pair in pairs for value in pair):
        return False
    equal = [a for a, b in pairs if abs(a - b) <= THRESHOLDS.equal * max(abs(a), 1.0) and abs(a) > 0]
    named = _LABEL.fullmatch(label) is not None
    return bool(equal) if named else len(equal) >= THRESHOLDS.unnamed_columns and len(equal) == len(pairs)
