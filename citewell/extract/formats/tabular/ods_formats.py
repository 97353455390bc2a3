"""Number formats of ODS cells (OpenDocument 1.3, 16.29 and 19.385): from their styles or else their value types."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from xml.parsers import expat

from citewell.extract.core.safezip import SafeZip
from citewell.extract.formats.tabular.number_formats import NumberFormat, number_format
from citewell.extract.formats.tabular.shown_formats import ShownFormats

_PARTS = ("styles.xml", "content.xml")
_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_TABLE, _STYLE, _NUMBER, _OFFICE = (f"{_SPACE}{name}:1.0 " for name in ("table", "style", "datastyle", "office"))
_CELLS = frozenset({f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"})
_DATA_STYLES = frozenset(f"{_NUMBER}{kind}-style" for kind in ("number", "percentage", "currency"))
_TEXTS = frozenset({f"{_NUMBER}text", f"{_NUMBER}currency-symbol"})
_NO_DECIMALS = frozenset({f"{_NUMBER}scientific-number", f"{_NUMBER}fraction"})
_NUMERIC = frozenset({"float", "percentage", "currency"})
_PARTS_OF_CODE = re.compile(r'"[^"]*"|.', re.DOTALL)
_MAX_DECIMALS = 15
_MAX_CODE = 255
"""Characters of the longest code that more is put into."""
_MAX_CHAIN = 20
"""Longest chain of base styles."""
_MAX_REPEATS = 10_000
"""Most adjacent cells that one element may stand for."""


def is_ods(container: SafeZip) -> bool:
    """Whether a container is an OpenDocument file rather than an Office one."""
    return _PARTS[1] in container


def ods_formats(container: SafeZip) -> dict[str, ShownFormats]:
    """Returns formats by sheet name; of damaged XML, those before the damage."""
    reader = _Reader()
    for part in _PARTS:
        if part in container:
            _parse(container, part, reader)
    return reader.sheets


def _parse(container: SafeZip, part: str, reader: _Reader) -> None:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        for piece in container.pieces(part):
            parser.Parse(piece)
    except expat.ExpatError:
        return


class _Reader:
    """Collects styles, and then the cells of each table."""

    def __init__(self) -> None:
        self.sheets: dict[str, ShownFormats] = {}
        self._codes: dict[str, str] = {}
        self._styles: dict[str, tuple[str, str]] = {}
        self._known: dict[str, NumberFormat | None] = {}
        self._data_style = ""
        self._is_text = False
        self._embedded_at: int | None = None
        self._shown = ShownFormats()
        self._row = self._column = self._rows = 0
        self._row_style = ""
        self._ends: list[int] = []
        self._defaults: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in _CELLS:
            self._cell(attributes)
        elif name.startswith(_TABLE):
            self._part_of_table(name.removeprefix(_TABLE), attributes)
        elif name == f"{_STYLE}style":
            parent, data = (
                attributes.get(f"{_STYLE}parent-style-name", ""),
                attributes.get(f"{_STYLE}data-style-name", ""),
            )
            self._styles[attributes.get(f"{_STYLE}name", "")] = (data, parent)
        elif name in _DATA_STYLES:
            self._data_style = attributes.get(f"{_STYLE}name", "")
            self._codes[self._data_style] = ""
        elif self._data_style and name == f"{_NUMBER}number":
            self._codes[self._data_style] += _digits(attributes)
        elif self._data_style and name == f"{_NUMBER}embedded-text":
            self._embedded_at = _count(attributes.get(f"{_NUMBER}position"), 0)
        elif self._data_style and name in _NO_DECIMALS:
            self._codes[self._data_style] += "0E+0"
        self._is_text = name in _TEXTS

    def end(self, name: str) -> None:
        self._is_text = False
        if name == f"{_NUMBER}embedded-text":
            self._embedded_at = None
        elif name in _DATA_STYLES:
            self._data_style = ""
        elif name == f"{_TABLE}table-row":
            self._row += self._rows

    def text(self, data: str) -> None:
        literal = data.replace('"', "")
        if self._embedded_at is not None and self._data_style:
            self._codes[self._data_style] = _embedded(self._codes[self._data_style], self._embedded_at, literal)
        elif self._is_text and self._data_style:
            self._codes[self._data_style] += "%" if literal.strip() == "%" else f'"{literal}"'

    def _part_of_table(self, kind: str, attributes: Mapping[str, str]) -> None:
        default = attributes.get(f"{_TABLE}default-cell-style-name", "")
        if kind == "table":
            self._shown = self.sheets.setdefault(attributes.get(f"{_TABLE}name", ""), ShownFormats())
            self._row, self._ends, self._defaults = 0, [], []
        elif kind == "table-column":
            before = self._ends[-1] if self._ends else 0
            self._ends.append(before + _count(attributes.get(f"{_TABLE}number-columns-repeated")))
            self._defaults.append(default)
        elif kind == "table-row":
            self._rows = _count(attributes.get(f"{_TABLE}number-rows-repeated"))
            self._column, self._row_style = 0, default

    def _cell(self, attributes: Mapping[str, str]) -> None:
        repeats = _count(attributes.get(f"{_TABLE}number-columns-repeated"))
        kind = attributes.get(f"{_OFFICE}value-type", "")
        for column in range(self._column, self._column + min(repeats, _MAX_REPEATS)) if kind in _NUMERIC else ():
            style = attributes.get(f"{_TABLE}style-name") or self._row_style or self._default(column)
            shown = self._format(style) or _by_type(kind, attributes.get(f"{_OFFICE}currency", ""))
            if shown is not None:
                self._shown.add(self._row, column, shown, self._rows)
        self._column += repeats

    def _default(self, column: int) -> str:
        place = bisect_left(self._ends, column + 1)
        return self._defaults[place] if place < len(self._defaults) else ""

    def _format(self, style: str) -> NumberFormat | None:
        if style not in self._known:
            name, data = style, ""
            for _ in range(_MAX_CHAIN):
                data, name = self._styles.get(name, ("", ""))
                if data or not name:
                    break
            self._known[style] = number_format(self._codes.get(data, ""))
        return self._known[style]


def _by_type(kind: str, currency: str) -> NumberFormat | None:
    """Returns the format of a cell whose style does not define its numbers."""
    return (
        NumberFormat("%", 100)
        if kind == "percentage"
        else number_format(f'0 "{currency}"')
        if currency.isalpha()
        else None
    )


def _embedded(code: str, digits: int, literal: str) -> str:
    """Returns a format code with a text in front of so many of its digits before the point."""
    if len(code) > _MAX_CODE:
        return code
    parts = _PARTS_OF_CODE.findall(code)
    at = parts.index(".") if "." in parts else len(parts)
    while at > 0 and digits > 0:
        at -= 1
        digits -= parts[at] in "0#"
    return "".join((*parts[:at], f'"{literal}"', *parts[at:]))


def _digits(attributes: Mapping[str, str]) -> str:
    """Returns the places of a number's digits as a format code: padded, grouped, in thousands."""
    places = min(_count(attributes.get(f"{_NUMBER}decimal-places"), 0), _MAX_DECIMALS)
    least = min(_count(attributes.get(f"{_NUMBER}min-integer-digits")), _MAX_DECIMALS)
    grouped = attributes.get(f"{_NUMBER}grouping") == "true"
    factor = _count(attributes.get(f"{_NUMBER}display-factor"))
    thousands = "," * ((len(str(factor)) - 1) // 3)
    whole = "#,##0" if grouped else "0" * least or "#"
    return f"{whole}{'.' if places else ''}{'0' * places}{thousands}"


def _count(value: str | None, default: int = 1) -> int:
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 12 else default
