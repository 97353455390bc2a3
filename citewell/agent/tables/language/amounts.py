"""What `how much`, `the largest`, `cost` and `spent` are about where a question names no column: the one column of amounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from citewell.agent.tables.language.links import is_numbering, name_norms, unit_of, unit_words
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
_PRICED = _stems("price prices rate rates tariff per preis satz")
_SIZES = _stems("size area surface population capacity volume acres hectares m² sqm fläche größe")
_UNITS = {
    "kilo": "kg", "kilogram": "kg", "kilogramm": "kg", "hour": "h", "minut": "min", "litr": "l", "liter": "l", "kilomet": "km", "metr": "m",
    "meter": "m", "tonn": "t", "ton": "t", "gram": "g", "mile": "mi", "euro": "eur", "dollar": "usd", "pound": "gbp",
}  # fmt: skip
_CODES = _stems(
    "id no nr number code year month day week rank position phone zip index line row lat lon latitude longitude jahr monat tag woche plz"
)
DEALINGS = _stems(
    "spend spent spending pay pays paid paying cost costs costing lend lent lending borrow borrowed buy bought sell sold receive received earn earned "
    "charge charged repay repaid owe owed invest invested donate donated"
)
"""Verbs whose object is an amount of money; beside a column of amounts they say nothing that it does not."""

COSTING = _stems("cost costs costing charge charged pay pays paid")
"""Those of them that ask for a price."""

SUMMED = DEALINGS - _stems("cost costs costing charge charged")
"""Those of them that ask for what was dealt with in all."""
EARNED = _stems("earn earned spend spent pay paid owe owed")
"""Those whose object is asked for with `what`: `what did we earn`."""


def amount_column(table: TableInfo) -> TableColumn | None:
    """The column of amounts: the only one with a currency, else the only one that is called a price, a cost or the like, else the only one
    of numbers that are no codes. None where there is none, or several."""
    numeric = [
        column
        for column in table.columns
        if column.is_numeric and not (_is_called(column, _CODES) or is_numbering(column.name))
    ]
    for chosen in (
        [c for c in numeric if _has_currency(c)],
        [c for c in numeric if _is_called(c, _MONEY)],
        numeric,
    ):
        if chosen:
            return chosen[0] if len(chosen) == 1 else None
    return None


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


def adds_up(column: TableColumn) -> bool:
    """Whether the sum of several of its amounts answers `how much`: payments do, prices and rates do not."""
    return _is_called(column, _ADDITIVE)


def is_price(column: TableColumn) -> bool:
    """Whether a column says what one of something costs, so that a sum of its amounts means nothing."""
    return _is_called(column, _PRICED)


def size_column(table: TableInfo) -> TableColumn | None:
    """The only column of numbers that says how large things are; None where there is none, or several."""
    sizes = [c for c in table.columns if c.is_numeric and _is_called(c, _SIZES)]
    return sizes[0] if len(sizes) == 1 else None


def column_of_unit(table: TableInfo, word: str) -> TableColumn | None:
    """The only column of numbers that is in the unit with this stem: `Weight (kg)` for `kilo`."""
    units = {word, _UNITS.get(word, word)}
    held = [c for c in table.columns if c.is_numeric and units & (unit_words(c.name) | {c.unit.casefold()})]
    return held[0] if len(held) == 1 else None


def is_called_amount(name: str) -> bool:
    """Whether a column is called after what it measures: money, sizes, what adds up; not after what its numbers name."""
    return not is_numbering(name) and _is_called(TableColumn(name, "number"), _MONEY | _ADDITIVE | _SIZES)


def _has_currency(column: TableColumn) -> bool:
    return CURRENCY.fullmatch(column.unit or unit_of(column.name)) is not None


def _is_called(column: TableColumn, stems: frozenset[str]) -> bool:
    return not stems.isdisjoint(name_norms(column))
