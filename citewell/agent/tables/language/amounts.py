"""What `how much`, `the largest`, `cost` and `spent` are about where a question names no column: the one column of amounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from citewell.agent.tables.language.links import is_numbering, name_norms, unit_of
from citewell.agent.tables.language.wording import norm
from citewell.types import TableColumn, TableInfo, figures

CURRENCY = re.compile(f"[A-Z]{{3}}|{figures.CURRENCY}")
"""What a column's unit is where its numbers are amounts of money."""


def _stems(text: str) -> frozenset[str]:
    return frozenset(norm(word) for word in text.split())


_MONEY = _stems(
    "amount amounts price prices cost costs value total sum fee fees pay paid payment payments salary wage revenue sales turnover income expense "
    "expenses expenditure spend spent spending balance donation donations rent budget "
    "betrag preis kosten miete umsatz gehalt lohn gebühr einnahmen ausgaben"
)
_ADDITIVE = _stems(
    "amount amounts paid payment payments revenue sales turnover income expense expenses expenditure spend spent spending donation donations "
    "debit credit proceeds sum total hours quantity units weight goals visits visitors volume pieces bottles "
    "betrag umsatz einnahmen ausgaben stunden menge"
)
_SIZES = _stems("size area surface population capacity volume acres hectares m² sqm fläche größe")


def is_money(column: TableColumn) -> bool:
    """Whether its unit or its name says that a column holds amounts of money."""
    return _has_currency(column) or _is_called(column, _MONEY)


def currencies_beside(
    table: TableInfo, values: Mapping[str, Sequence[str]]
) -> tuple[TableColumn, Sequence[str]] | None:
    """The column that says in which of several currencies a row's amounts are, and these; None where there is none."""
    for column in table.columns:
        texts = values.get(column.name, ())
        if column.kind == "text" and len(texts) > 1 and all(map(CURRENCY.fullmatch, texts)):
            return column, texts
    return None


def is_called_amount(name: str) -> bool:
    """Whether a column is called after what it measures: money, sizes, what adds up; not after what its numbers name."""
    return not is_numbering(name) and _is_called(TableColumn(name, "number"), _MONEY | _ADDITIVE | _SIZES)


def _has_currency(column: TableColumn) -> bool:
    return CURRENCY.fullmatch(column.unit or unit_of(column.name)) is not None


def _is_called(column: TableColumn, stems: frozenset[str]) -> bool:
    return not stems.isdisjoint(name_norms(column))
