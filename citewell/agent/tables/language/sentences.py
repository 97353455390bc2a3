"""The sentences of table answers: figures with their units, names in a row, and what was highest where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from citewell.agent.tables.language.amounts import CURRENCY, is_called_amount
from citewell.agent.tables.language.links import core_name, is_numbering, unit_of
from citewell.agent.tables.run.engine import PlainInteger
from citewell.agent.tables.run.results import shown

_UNIT = re.compile(r"%|[^\W\d_]{1,3}[²³]?|[^\W\d_]{3,11}s|[^\W\d_]{1,6}/[^\W\d_]{1,6}[²³]?")
_TENTHS = re.compile(r"[^.]*\.\d")
_PLURAL = re.compile(r"[^\W\d_]{3,}(?<![su])s", re.I)
_PERIOD = re.compile(r"(?:[QHW]\d{1,2}\W*)?(?:FY\W?)?(?:1[5-9]|20)\d\d(?:\W\d\d(?:\d\d)?)?(?:\W*[QHW]\d)?", re.I)
_MONTH = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
    r"\.?(?:\W*\d{4})?",
    re.I,
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.? [^\W\d_]{3,9},? \d{4}|[^\W\d_]{3,9} \d{1,2},? \d{4}")


def title(column: str) -> str:
    """A column's name; without its unit where `figure` says it: `Expenses` for `Expenses (GHS)`, but `Sales (2)` as it is."""
    unit = unit_of(column)
    return core_name(column) if CURRENCY.fullmatch(unit) or _UNIT.fullmatch(unit) else column


def figure(value: Any, column: str) -> str:
    """A value with the unit that its column's name has in parentheses: `GHS 82,750`, `£4.50`, `18 months`, `45%`."""
    text, unit = as_cell(value, column), unit_of(column)
    if not text or isinstance(value, str) or not unit:
        return text
    if CURRENCY.fullmatch(unit):
        return f"{unit}{'' if len(unit) == 1 else ' '}{f'{text}0' if _TENTHS.fullmatch(text) else text}"
    if _UNIT.fullmatch(unit):
        return f"{text}{'' if unit == '%' else ' '}{unit}"
    return text


def as_cell(value: Any, column: str) -> str:
    """A value without its unit: `82,750` of an amount, but the number of an order as it is, `100234`."""
    if isinstance(value, PlainInteger):
        return shown(int(value) if unit_of(column) or is_called_amount(column) else value)
    numbers_rows = isinstance(value, int) and not isinstance(value, bool) and is_numbering(column)
    return str(value) if numbers_rows else shown(value)


def row_sentence(cells: Sequence[tuple[str, Any]]) -> str:
    """A row in words: the value that it begins with, then what the other columns say of it.

    `AC-2513: Borrower B-113, Amount GHS 4500, Status overdue`, `Invoice No 1002: Customer Bauer GmbH`. Where a value has a comma, semicolons
    part them.
    """
    (name, first), *rest = cells
    key = figure(first, name)
    lead = f"{title(name)} {key}" if isinstance(first, int | float | Decimal) and key == as_cell(first, name) else key
    said = [f"{title(column)} {figure(value, column) or '(empty)'}" for column, value in rest]
    if not said:
        return lead
    separator = "; " if any(", " in text for text in said) else ", "
    return f"{lead or '(empty)'}: {separator.join(said)}"


def verb_of(column: str) -> str:
    """`were` after a name in the plural (`Expenses`), else `was`."""
    words = core_name(column).split()
    return "were" if words and _PLURAL.fullmatch(words[-1]) else "was"


def at(name: str) -> str:
    """Where a figure was found: `in 2019`, `in Q4 2025`, `on 3 May 1999`, `for Accra`."""
    if _DAY.fullmatch(name):
        return f"on {name}"
    return f"in {name}" if _PERIOD.fullmatch(name) or _MONTH.fullmatch(name) else f"for {name}"


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def marked(names: Sequence[str], marks: Sequence[str]) -> tuple[str, str]:
    """Names in a row, each with its marker, and nothing; of a single one the name, and its marker for the end of the sentence."""
    if len(names) == 1:
        return names[0], marks[0]
    return joined([f"{name}{mark}" for name, mark in zip(names, marks, strict=True)]), ""


def highest(column: str, word: str, names: Sequence[str], marks: Sequence[str], value: str, where: str) -> str:
    """`Expenses were highest in Q4 2025: GHS 82,750 [1]`; `Expenses were highest, GHS 82,750, in Q2 2025 [1] and Q4 2025 [2]`."""
    text, mark = marked([at(names[0]), *names[1:]], marks)
    lead = f"{title(column)} {verb_of(column)} {word}"
    return f"{lead} {text}{where}: {value}{mark}" if mark else f"{lead}{where}, {value}, {text}"
