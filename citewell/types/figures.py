"""How people write numbers: the one grammar for cells, in every format of files, and for queries over texts.

Patterns are in the syntax that Python and DuckDB (RE2) share, for texts that `plain` has folded.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

MAX_FIGURE = 60
"""Characters of the longest text that is read as a figure."""
CURRENCY_CODES = (
    "AED|AFN|ALL|AMD|AOA|ARS|AUD|AWG|AZN|BAM|BBD|BDT|BGN|BHD|BIF|BMD|BND|BOB|BRL|BSD|BTN|BWP|BYN|BZD|CAD|CDF|CHF|CLP|CNY|COP|CRC|CUP|CVE|"
    "CZK|DJF|DKK|DOP|DZD|EGP|ERN|ETB|EUR|FJD|FKP|GBP|GEL|GHS|GIP|GMD|GNF|GTQ|GYD|HKD|HNL|HTG|HUF|IDR|ILS|INR|IQD|IRR|ISK|JMD|JOD|JPY|KES|"
    "KGS|KHR|KMF|KPW|KRW|KWD|KYD|KZT|LAK|LBP|LKR|LRD|LSL|LYD|MAD|MDL|MGA|MKD|MMK|MNT|MOP|MRU|MUR|MVR|MWK|MXN|MYR|MZN|NAD|NGN|NIO|NOK|NPR|"
    "NZD|OMR|PAB|PEN|PGK|PHP|PKR|PLN|PYG|QAR|RON|RSD|RUB|RWF|SAR|SBD|SCR|SDG|SEK|SGD|SHP|SLE|SOS|SRD|SSP|STN|SYP|SZL|THB|TJS|TMT|TND|TOP|"
    "TRY|TTD|TWD|TZS|UAH|UGX|USD|UYU|UZS|VES|VND|VUV|WST|XAF|XCD|XOF|XPF|YER|ZAR|ZMW|ZWG"
)
"""Of ISO 4217, those that are legal tender, as alternatives of a pattern."""
_SYMBOLS = (
    r"GH₵|[A-Z]{0,3}\$|F?CFA|[KTU][Ss]h|SFr|Fr|kr|Kr|Kč|zł|Ft|Rs|Rp|RM|S/|Kz|lei|Lei|лв|руб|ден|сом|"
    "[¢£¤¥֏؋৳฿៛\u20a0-\u20c0﷼]"
)
"""Those of Unicode's locale data (CLDR) that are more than a single letter."""
CURRENCY = rf"(?:(?:{_SYMBOLS})\.?|{CURRENCY_CODES})"
UNIT = f"(?:{CURRENCY}|%)"
"""The sign of an amount of money or a percentage."""

_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_FOLDED = {
    **{sign: str(value) for sign in map(chr, range(128, 0x10000)) if (value := unicodedata.decimal(sign, None)) is not None},
    **dict.fromkeys(_SPACES, " "), **dict.fromkeys("−﹣－", "-"), **dict.fromkeys("’‘ʼ＇٬", "'"), **dict.fromkeys("٫．", "."), "，": ",",
    "％": "%", "٪": "%", "＄": "$", "￥": "¥", "￡": "£", "￦": "₩", "（": "(", "）": ")", "＋": "+",
}  # fmt: skip
FOLD_FROM, FOLD_TO = "".join(_FOLDED), "".join(_FOLDED.values())
"""Digits of all scripts and the variants of separators and signs, and what each becomes, in the same order."""
_FOLD = str.maketrans(_FOLDED)

_CENTS = "(?:[0-9]*|-{1,2}|–)"
POINT = rf"(?:(?:[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+|[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}|[1-9][0-9]{{0,2}}(?:[ '][0-9]{{3}})+|0|[1-9][0-9]*)(?:[.]{_CENTS})?|[.][0-9]+)"
"""Digits with a decimal point: `1,234.50`, `12,34,567` (lakh), `1'234.50`, `1 234.50`, `12.-`."""
COMMA = rf"(?:[1-9][0-9]{{0,2}}(?:[.][0-9]{{3}})+|[1-9][0-9]{{0,2}}(?:[ '][0-9]{{3}})+|0|[1-9][0-9]*)(?:,{_CENTS})?"
"""Digits with a decimal comma: `1.234,50`, `1 234,50`, `1'234,50`, `12,-`."""


def amount(digits: str) -> str:
    """Returns the pattern of a whole cell with digits, a currency or percent sign and a sign: `-$5`, `5.00-`, `(5)`."""
    signed = rf"[+-]? ?{UNIT}? ?[+-]? ?{digits} ?-? ?{UNIT}? ?-?"
    return rf"(?:[(] ?{signed} ?[)]|{UNIT} ?[(]{signed}[)]|{signed})"


_FIRST = {
    False: r"(?:[0-9]{1,3}(?:[,' ][0-9]{3})+(?:[.][0-9]+)?|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:[.][0-9]+)?|[0-9]+(?:[.][0-9]+)?|[.][0-9]+)",
    True: r"(?:[0-9]{1,3}(?:[.' ][0-9]{3})+(?:,[0-9]+)?|[0-9]+(?:,[0-9]+)?)",
}
"""Digits as cells with words beside them have them: `007` is 7. By whether the decimal sign is a comma."""
_MEASURE = (
    r"(?P<open>[(])? ?(?P<minus>[-–])? ?(?P<before>CURRENCY|[^LETTERDIGIT\s(){}\[\].,-]{1,2})? ?(?P<inner>[(])? ?(?P<sign>[-–])? ?"
    r"(?P<digits>FIRST)(?P<after>-)? ?(?P<unit>%|‰|°[A-Z]?|CURRENCY|[LETTER]{1,12}[.]?[²³]?(?:/[LETTER]{1,9}[.]?[²³]?)?)? ?"
    r"(?P<last>-)? ?(?P<close>[)])?\s*(?:[\[(].{0,60})?[^LETTERDIGIT\s(-]{0,3}"
)
_CLASSES = {"python": (r"^\W\d", r"\w"), "sql": (r"\p{L}", r"\p{L}\p{N}_")}
_MARK = "[⁰¹²³⁴-⁹ᵃ-ᶻ]{1,3}"
NOTE_MARKS = f"([0-9]){_MARK}(?:,{_MARK})*"
"""Raised marks at a figure, and in a group the digit before them."""
_POWER = re.compile(r"(?<![0-9])10[⁰¹²³⁴-⁹⁻]")
OPEN_YEARS = "(?:1[0-9]|20)[0-9]{2}-"
"""`1998-` is a time that has not ended, not a negative number."""


def measure(comma: bool, dialect: str = "python") -> str:
    """Returns the pattern of a cell that is one figure, with its sign, unit and notes; groups as in `MEASURE_GROUPS`.

    dialect: `python` or `sql`, whose classes of characters differ in how they are written
    """
    letter, word = _CLASSES[dialect]
    sign = rf"(?:(?:{_SYMBOLS})\.?|[A-Z]{{3}})"  # which code it may be is looked up: so many alternatives are slow
    pattern = _MEASURE.replace("LETTERDIGIT", word).replace("CURRENCY", sign).replace("FIRST", _FIRST[comma])
    return pattern.replace("[LETTER]", f"[{letter}]")


MEASURE_GROUPS = ("open", "minus", "before", "inner", "sign", "digits", "after", "unit", "last", "close")
_MEASURES = {comma: re.compile(measure(comma)) for comma in (False, True)}
_NUMBERS = {comma: re.compile(digits) for comma, digits in _FIRST.items()}


class WrittenFigure(NamedTuple):
    """A number in a cell, and its unit as written: a currency, `%`, a word such as `kg`, or empty."""

    value: Decimal
    unit: str


def plain(text: str) -> str:
    """Folds digits of all scripts to 0–9, spaces to one kind, and the variants of signs and separators.

    >>> plain(" \u0661\u0662\u066b\u0665 "), plain("1\u202f234,50"), plain("\u22125")
    ('12.5', '1 234,50', '-5')
    """
    return (text if text.isascii() else text.translate(_FOLD)).strip()


@lru_cache(maxsize=20_000)
def read_figure(text: str, comma: bool = False) -> WrittenFigure | None:
    """Returns the figure that a cell is, with what may be around it; None for other texts and for `1998-`.

    comma: the decimal sign is a comma

    >>> read_figure("(1,200)"), read_figure("1.234,50 €", comma=True), read_figure("$5-"), read_figure("95¹")
    (WrittenFigure(value=Decimal('-1200'), unit=''), WrittenFigure(value=Decimal('1234.50'), unit='€'), WrittenFigure(value=Decimal('-5'), unit='$'), WrittenFigure(value=Decimal('95'), unit=''))
    """
    folded = re.sub(NOTE_MARKS, r"\1", plain(text)) if _POWER.search(text) is None else ""
    found = _MEASURES[comma].fullmatch(folded) if 0 < len(folded) <= MAX_FIGURE else None
    if found is None or re.fullmatch(OPEN_YEARS, folded):
        return None
    signs = found["minus"] or found["sign"] or found["after"] or found["last"]
    bracketed = (found["open"] or found["inner"]) and found["close"]
    value = _value(found["digits"], comma)
    before = found["before"] or ""
    if not re.fullmatch(CURRENCY, before):
        if before.isalpha():
            return None
        before = ""
    return WrittenFigure(-value if signs or bracketed else value, before + (found["unit"] or ""))


def first_number(text: str, comma: bool = False) -> Decimal | None:
    """Returns the figure that a cell is, else the first number in it: `1998–2004` begins with 1998, `3rd` with 3."""
    figure = read_figure(text, comma)
    if figure is not None:
        return figure.value
    found = _NUMBERS[comma].search(plain(text))
    return None if found is None else _value(found[0], comma)


def _value(digits: str, comma: bool) -> Decimal:
    return Decimal(re.sub("[^0-9,]" if comma else "[^0-9.]", "", digits).replace(",", "."))


def number_sql(cell: str, comma: bool = False) -> str:
    """Returns `first_number` of a text column in DuckDB's SQL, as DOUBLE. Lists of one bind what is used several times."""
    folded = f"regexp_replace(trim(translate({cell}, {_quoted(FOLD_FROM)}, {_quoted(FOLD_TO)})), {_quoted(NOTE_MARKS)}, '\\1', 'g')"
    groups = ", ".join(map(_quoted, MEASURE_GROUPS))
    pattern = _quoted(f"^(?:{measure(comma, 'sql')})$")
    whole = f"f.digits <> '' AND NOT regexp_full_match(t, {_quoted(OPEN_YEARS)}) AND length(t) <= {MAX_FIGURE}"
    negative = "f.minus || f.sign || f.after || f.last <> '' OR (f.open || f.inner <> '' AND f.close <> '')"
    kept, point = ("[^0-9,]", ",") if comma else ("[^0-9.]", ".")
    digits = f"CASE WHEN {whole} THEN f.digits ELSE regexp_extract(t, {_quoted(_FIRST[comma])}) END"
    bare = f"replace(regexp_replace({digits}, '{kept}', '', 'g'), '{point}', '.')"
    value = f"TRY_CAST({bare} AS DOUBLE) * CASE WHEN {whole} AND ({negative}) THEN -1 ELSE 1 END"
    return (
        f"list_transform([{folded}], lambda t: "
        f"list_transform([regexp_extract(t, {pattern}, [{groups}])], lambda f: {value})[1])[1]"
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
