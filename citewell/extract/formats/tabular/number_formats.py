"""What number formats show: a percent sign, a currency, decimals (ECMA-376 part 1, 18.8.30 and 18.8.31)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from citewell.extract.core.safexml import XmlElement
from citewell.extract.formats.ooxml.package import child
from citewell.extract.formats.tabular.format_codes import FormatCode, read_code
from citewell.types.figures import UNIT

_BUILT_IN = {
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
}
"""Formats that files need not define, by number. Currency formats are missing: they depend on the reader's machine."""
_CODE_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(?P<end>;)|(?P<plain>.)',
    re.DOTALL,
)
_UNITS = re.compile(rf"(?<![A-Za-z]){UNIT}(?![A-Za-z])")
_GROUPED = re.compile(r"[0#],[0#]")
_DECIMALS = re.compile(r"\.(0+)")
_SHOWN_DIGITS = 15
"""Significant digits shown by spreadsheet programs."""
_MORE_OF_PERCENT, _MORE_OF_AMOUNT = 2, 4
"""Decimals beyond those of the format: totals of amounts stay correct to the cent."""
_MAX_CODE = 255
"""Characters of a format code that programs accept."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a cell's number is written: with its `unit` (empty without one), multiplied by `times`, and with at least
    this many `decimals`.

    grouped: with signs between groups of digits; code: what shows more than that, if anything
    """

    unit: str
    times: int = 1
    decimals: int = 0
    grouped: bool = field(default=False, compare=False)
    code: FormatCode | None = None

    def shown(self, number: float) -> str:
        """Returns the number as text, with up to two more decimals than the format for percentages, four for amounts.

        >>> NumberFormat("%", 100).shown(0.245), NumberFormat("€", decimals=2).shown(-1234.5), NumberFormat("GHS").shown(900)
        ('24.5%', '-€1,234.50', 'GHS 900')
        """
        exact = Decimal(number) if isinstance(number, int) else Decimal(f"{number:.{_SHOWN_DIGITS}g}")
        value = exact * self.times
        more = _MORE_OF_PERCENT if self.unit == "%" else _MORE_OF_AMOUNT
        places = max(min(_decimals(value), self.decimals + more), self.decimals)
        digits = f"{abs(value):,.{places}f}"
        if self.unit == "%":
            written = f"{digits}%"
        else:
            written = f"{self.unit} {digits}" if self.unit.isalpha() else f"{self.unit}{digits}"
        return f"-{written}" if value < 0 else written


def format_of_code(code: str) -> NumberFormat | None:
    """Returns what a format code such as `#,##0.00 "€"` shows of positive numbers; None without a percent sign, one
    currency or decimals.
    """
    plain, literal = "", ""
    for part in _CODE_PART.finditer(code[:_MAX_CODE]):
        if part["end"]:
            break
        plain += part["plain"] or ""
        literal += part["quoted"] or part["escaped"] or part["currency"] or part["plain"] or " "
    if not re.search("[0#?]", plain):
        return None
    decimals = _DECIMALS.search(plain)
    places = len(decimals[1]) if decimals else 0
    if "%" in plain:
        return NumberFormat("%", 100, places)
    units = set(_UNITS.findall(literal))
    if len(units) == 1:
        return NumberFormat(units.pop(), 1, places)
    return NumberFormat("", 1, places) if places and not units and "E" not in plain else None


def number_format(code: str) -> NumberFormat | None:
    """Returns all that a format code shows besides plain digits; None for nothing, and for dates."""
    coded, found = read_code(code), format_of_code(code)
    grouped = _GROUPED.search(code.split(";")[0]) is not None
    if coded is not None:
        return NumberFormat(coded.unit, 1, 0, grouped, coded)
    if found is not None:
        return replace(found, grouped=grouped)
    return NumberFormat("", grouped=True) if grouped else None


def formats_of_styles(styles: XmlElement | None) -> dict[int, NumberFormat]:
    """Returns the styles with more than plain numbers, by cell style number (`s`), from the part `xl/styles.xml`."""
    codes = {
        int(number): element.get("formatCode", "")
        for element in _children(styles, "numFmts")
        if (number := element.get("numFmtId") or "").isdecimal()
    }
    used = (element.get("numFmtId") or "" for element in _children(styles, "cellXfs"))
    return formats_of_codes(codes, [int(number) if number.isdecimal() else 0 for number in used])


def formats_of_codes(codes: Mapping[int, str], used: Iterable[int]) -> dict[int, NumberFormat]:
    """Returns the formats with more than plain numbers, by cell style number.

    codes: the formats that the file defines, by number; used: the number of each style's format
    """
    found = {number: shown for number, code in (_BUILT_IN | dict(codes)).items() if (shown := number_format(code))}
    return {style: found[number] for style, number in enumerate(used) if number in found}


def _decimals(value: Decimal) -> int:
    """Returns the number of decimals without trailing zeros."""
    exponent = value.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _children(element: XmlElement | None, name: str) -> Sequence[XmlElement]:
    parent = child(element, name)
    return () if parent is None else list(parent)
