"""What a cell of a statement holds: `$ (1,577)` is −1577 dollars, `15.6%` a percentage, and its scale is that of its table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from citewell.text.quantities import CURRENCY_CODES, CURRENCY_SIGNS, SCALES

MAX_CELL = 40
_CELL = re.compile(
    rf"\s*(?P<sign>[-−–])?\s*(?P<open>\()?\s*(?P<before>[{CURRENCY_SIGNS}]|USD|EUR|GBP|CHF|GHS)?\s*(?P<inner>\()?\s*(?P<minus>[-−–])?\s*"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*(?P<percent>%)?\s*\)?\s*(?P<after>%|x)?\s*(?:\(\w{1,2}\)|[*†‡]+)?\s*"
)
_NAMED = r"\s(?-i:[A-Z][a-z])"
_WORDS = "thousand|million|billion"
_MONEY = rf"(?:[{CURRENCY_SIGNS}]|\b(?:{CURRENCY_CODES})\b|\b(?:U\.?S\.?\s)?(?:dollars|euros|pounds|francs)\b)"
_SCALE = re.compile(
    rf"\A\W*(?:in\s)?(?P<whole>{_WORDS})s?\W*\Z"
    rf"|\b(?P<several>{_WORDS})s\b(?!{_NAMED})"
    rf"|{_MONEY}\s?(?P<behind>{_WORDS})\b(?!{_NAMED})"
    rf"|\b(?P<before>{_WORDS})\s(?:of\s)?{_MONEY}"
    rf"|[(\[][^()\[\]]{{0,60}}\b(?P<inside>{_WORDS})\b(?!{_NAMED})"
    rf"|\b(?P<zeros>000)[’']?s\b|{_MONEY}\s?(?P<letters>mn|bn|m)\b|\b(?P<last>mn|bn)\b(?=\W*$)|\A(?P<alone>m)\Z",
    re.I,
)
"""A word for a power of ten where a note says what its figures are in: beside a currency, in brackets, or in the plural; not
in a name, such as `Thousand Oaks`."""
_CURRENCY = re.compile(rf"[{CURRENCY_SIGNS}]|\b(?:{CURRENCY_CODES})\b|\b(?:U\.?S\.? )?dollars?\b|\beuros?\b", re.I)
NAMES = {0: "", 3: "thousand", 6: "million", 9: "billion"}


@dataclass(frozen=True, slots=True)
class CellValue:
    """A figure as a statement gives it. `exponent` is that of its table: 6 for millions."""

    number: Decimal
    percent: bool = False
    currency: str = ""
    exponent: int = 0

    @property
    def value(self) -> Decimal:
        """In single units; a percentage as it stands."""
        return self.number if self.percent else self.number.scaleb(self.exponent)


def read_cell(text: str) -> CellValue | None:
    """The one figure that a cell holds, before the scale of its table; None for texts, several figures and marks for nothing."""
    found = _CELL.fullmatch(text) if len(text) <= MAX_CELL else None
    if found is None:
        return None
    number = Decimal(found["digits"].replace(",", ""))
    negative = bool(found["sign"] or found["minus"] or found["open"] or found["inner"])
    percent = bool(found["percent"]) or found["after"] == "%"
    return CellValue(-number if negative else number, percent, found["before"] or "")


def scale_of(text: str) -> int | None:
    """The exponent of ten that a note such as “in millions, except per share data” states; None where it states none."""
    found = _SCALE.search(text)
    if found is None:
        return None
    return 3 if found["zeros"] else SCALES[found[found.lastgroup or ""].casefold()]


def currency_of(text: str) -> str:
    """The sign or code of the currency that a note names, `$` for dollars; empty where it names none."""
    found = _CURRENCY.search(text)
    if found is None:
        return ""
    name = found[0].casefold()
    return "$" if "dollar" in name else "€" if "euro" in name else found[0].upper()


def shown_value(value: CellValue) -> str:
    """`$17,606 million`, `-$4.2 billion`, `15.6%`, `$6.68`."""
    sign = "-" if value.number < 0 else ""
    digits = f"{abs(value.number):,f}"
    if value.percent:
        return f"{sign}{digits}%"
    currency = value.currency if len(value.currency) < 2 else f"{value.currency} "
    return f"{sign}{currency}{digits} {NAMES.get(value.exponent, '')}".rstrip()


def rounded(number: Decimal, places: int) -> Decimal:
    """At most so many decimal places."""
    return number.quantize(Decimal(1).scaleb(-places))


def converted(value: CellValue, exponent: int) -> CellValue:
    """The same amount at another scale, at most three decimal places."""
    if value.percent:
        return value
    number = value.number.scaleb(value.exponent - exponent)
    whole = rounded(number, 3)
    return CellValue(
        whole.normalize() if whole != whole.to_integral() else whole.to_integral(), False, value.currency, exponent
    )
