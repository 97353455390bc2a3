"""HTML tables: tells data tables from page layout, and reads their cells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from citewell.extract.core.cells import CellPlacer, Table, build_table
from citewell.extract.core.names import own_description
from citewell.extract.core.raised import is_raised_style, raised
from citewell.extract.core.safexml import XmlElement
from citewell.extract.core.symbols import TICKED, UNTICKED

_LINE_BREAKING = frozenset(
    (
        "p", "div", "li", "br", "tr", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "table",
        "ul", "ol",
    )
)  # fmt: skip
_LEFT_OUT = frozenset(["script", "style", "template", "noscript"])
_INLINE = frozenset(("a", "b", "em", "font", "i", "small", "span", "strong"))
_MAX_CELL_TEXT = 4_000
"""Characters in a cell beyond which a table is page layout."""
_MAX_SPAN = 1_000
"""Largest row or column span accepted."""


_UNSHOWN_INPUTS = frozenset(["hidden", "password", "file", "image", "submit", "button", "reset", "color", "range"])


def field_text(node: XmlElement) -> str:
    """Returns what an `<input>` or `<select>` shows: its value, the state of a box, or the options chosen."""
    if node.tag == "select":
        return ", ".join(
            "".join(one.itertext()).strip() for one in node.iter("option") if one.get("selected") is not None
        )
    kind = (node.get("type") or "text").strip().lower()
    if kind in ("checkbox", "radio"):
        return UNTICKED if node.get("checked") is None else TICKED
    return "" if kind in _UNSHOWN_INPUTS else node.get("value") or ""


def is_data_table(table: XmlElement) -> bool:
    """Whether a `<table>` holds data: it has header cells or a caption, or it is not used for layout."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return False
    rows = list(_rows(table))
    if sum(len(_cells(row)) for row in rows) < 2:
        return False
    if any(cell.tag == "th" for row in rows for cell in _cells(row)) or table.find("caption") is not None:
        return True
    if len(rows) < 2 or max(len(_cells(row)) for row in rows) < 2:
        return False
    if next(table.iterdescendants("table", "h1", "h2", "h3", "form", "nav"), None) is not None:
        return False
    return all(len("".join(cell.itertext())) <= _MAX_CELL_TEXT for row in rows for cell in _cells(row))


def read_table(table: XmlElement) -> Table | None:
    """Reads the table with its spans; None if it is empty or too large."""
    placer = CellPlacer()
    header_rows = 0
    rows = list(_rows(table))
    for number, row in enumerate(rows):
        placer.next_row()
        parent = row.getparent()
        if parent is not None and parent.tag == "thead" and number == header_rows:
            header_rows += 1
        for cell in _cells(row):
            rowspan = _span(cell.get("rowspan")) or len(rows) - number
            placer.add(
                cell_text(cell), min(rowspan, len(rows) - number), _span(cell.get("colspan")) or 1, cell.tag == "th"
            )
    if not any(cell.text for cell in placer.cells):
        return None
    return build_table(placer.cells, header_rows if 0 < header_rows < len(rows) else None)


def cell_text(cell: XmlElement) -> str:
    """Returns a cell's text, with inner blocks on separate lines and images replaced by their descriptions."""
    parts: list[str] = []
    depth = 0
    walk = etree.iterwalk(cell, events=("start", "end"))
    for event, node in walk:
        if event == "start":
            depth += is_raised(node)
            if node.tag in _LEFT_OUT:
                walk.skip_subtree()
                continue
            if node.tag in _LINE_BREAKING:
                parts.append("\n")
            elif node.tag in ("td", "th") and node is not cell:
                parts.append(" ")
            elif node.tag in ("input", "select"):
                parts.append(f" {field_text(node)} ")
                if node.tag == "select":
                    walk.skip_subtree()
                    continue
            elif node.tag == "img":
                parts.append(f" {own_description(node.get('alt') or '')} ")
            parts.append(_raised(_flat(node.text), depth))
        elif node is not cell:
            depth -= is_raised(node)
            if node.tag in _LINE_BREAKING and node.tag != "br":
                parts.append("\n")
            parts.append(_raised(_flat(node.tail), depth))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def is_raised(node: XmlElement) -> bool:
    """Whether an element raises its text."""
    return node.tag == "sup" or (node.tag in _INLINE and is_raised_style(node.get("style") or ""))


def _raised(text: str, depth: int) -> str:
    return raised(text) if depth else text


def _rows(table: XmlElement) -> Iterator[XmlElement]:
    """Yields the table's own rows, without those of nested tables."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _cells(row: XmlElement) -> list[XmlElement]:
    return [cell for cell in row if cell.tag in ("td", "th")]


def _span(value: str | None) -> int:
    """Parses a span attribute; 0 means "to the end"."""
    if value is None or not re.fullmatch(r"\s*\d{1,6}\s*", value):
        return 1
    return min(int(value), _MAX_SPAN)


def _flat(text: str | None) -> str:
    return " ".join(text.split("\n")) if text else ""
