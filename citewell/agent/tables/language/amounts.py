"""What `how much`, `the largest`, `cost` and `spent` are about where a question names no column: the one column of amounts."""

from __future__ import annotations

import re

from citewell.agent.tables.language.links import core_name, unit_of, unit_words
from citewell.agent.tables.language.wording import norm, norms
from citewell.types import TableColumn, TableInfo

_NUMERIC = frozenset({"integer", "number"})
_CURRENCY = re.compile(r"[A-Z]{3}|[$€£¥₵₦₹₩₽]|[A-Z]{2}\$")


def _stems(text: str) -> frozenset[str]:
    return frozenset(norm(word) for word in text.split())


_MONEY = _stems(
    "amount amounts price prices cost costs value total sum fee fees pay paid payment payments salary wage revenue sales turnover income expense "
    "expenses expenditure spend spent spending balance donation donations rent budget"
)
_ADDITIVE = _stems(
    "amount amounts paid payment payments revenue sales turnover income expense expenses expenditure spend spent spending donation donations "
    "debit credit proceeds sum total hours quantity units weight goals visits visitors volume pieces bottles"
)
_PRICED = _stems("price prices rate rates tariff per")
_SIZES = _stems("size area surface population capacity volume acres hectares m² sqm")
_UNITS = {
    "kilo": "kg", "kilogram": "kg", "kilogramm": "kg", "hour": "h", "minut": "min", "litr": "l", "liter": "l", "kilomet": "km", "metr": "m",
    "meter": "m", "tonn": "t", "ton": "t", "gram": "g", "mile": "mi", "euro": "eur", "dollar": "usd", "pound": "gbp",
}  # fmt: skip
_CODES = _stems(
    "id no nr number code year month day week rank position phone zip index line row lat lon latitude longitude"
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
    numeric = [column for column in table.columns if column.kind in _NUMERIC and not _is_code(column)]
    for chosen in (
        [c for c in numeric if _CURRENCY.fullmatch(c.unit or unit_of(c.name))],
        [c for c in numeric if _MONEY & {*norms(core_name(c.name))}],
        numeric,
    ):
        if chosen:
            return chosen[0] if len(chosen) == 1 else None
    return None


def is_money(column: TableColumn) -> bool:
    """Whether its unit or its name says that a column holds amounts of money."""
    return _CURRENCY.fullmatch(column.unit or unit_of(column.name)) is not None or bool(
        _MONEY & {*norms(core_name(column.name))}
    )


def adds_up(column: TableColumn) -> bool:
    """Whether the sum of several of its amounts answers `how much`: payments do, prices and rates do not."""
    return bool(_ADDITIVE & {*norms(core_name(column.name))})


def is_price(column: TableColumn) -> bool:
    """Whether a column says what one of something costs, so that a sum of its amounts means nothing."""
    return bool(_PRICED & {*norms(core_name(column.name))})


def size_column(table: TableInfo) -> TableColumn | None:
    """The only column of numbers that says how large things are; None where there is none, or several."""
    sizes = [c for c in table.columns if c.kind in _NUMERIC and _SIZES & {*norms(core_name(c.name))}]
    return sizes[0] if len(sizes) == 1 else None


def column_of_unit(table: TableInfo, word: str) -> TableColumn | None:
    """The only column of numbers that is in the unit with this stem: `Weight (kg)` for `kilo`."""
    units = {word, _UNITS.get(word, word)}
    held = [c for c in table.columns if c.kind in _NUMERIC and units & (unit_words(c.name) | {c.unit.casefold()})]
    return held[0] if len(held) == 1 else None


def _is_code(column: TableColumn) -> bool:
    return bool(_CODES & {*norms(core_name(column.name))})
