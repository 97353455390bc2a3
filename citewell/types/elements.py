"""Elements: the content that extraction finds in a file, in reading order, each with its location."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from citewell.types.json import JsonObject, JsonValue
from citewell.types.locators import Box, Locator


class ElementType(StrEnum):
    """The kinds of element. `HEADER` and `FOOTER` are running page furniture: each distinct text is chunked once."""

    TITLE = "title"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    IMAGE = "image"
    ROW = "row"
    CODE = "code"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    COMMENT = "comment"
    FORM_FIELD = "form_field"
    NOTE = "note"
    HEADER = "header"
    FOOTER = "footer"


@dataclass(frozen=True, slots=True)
class CellPlace:
    """The rectangle around the words of a table cell, `grid[row][column]`, both from 0."""

    row: int
    column: int
    box: Box

    def to_json(self) -> list[JsonValue]:
        """Row, column, page and the four sides, rounded to 1/100 point, because a table can have thousands of cells."""
        sides = (self.box.x0, self.box.y0, self.box.x1, self.box.y1)
        return [self.row, self.column, self.box.page, *(round(side, 2) for side in sides)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One piece of a document.

    id:           unique within one resource version, stable for the same bytes and extractor (`e0`, `e1`, …)
    text:         plain text; for a table Markdown; for a row `Header: value | Header: value`; for an image its OCR text
    locator:      where it is; for PDF text `locator.boxes` holds one rectangle per span (a line, the part of a sentence on it, or less)
    span_starts:  offset in `text` at which each of `locator.boxes` begins, ascending; same length as boxes, or empty
    level:        heading level (1 = top) of a TITLE; nesting depth of a LIST_ITEM
    html:         a TABLE as `<table>` with rowspan/colspan
    grid:         a TABLE's cells row by row, a spanning cell's text in its first cell, all rows the same length
    header_rows:  how many rows at the top of `grid` are header rows
    cells:        where the filled cells of a TABLE are on the pages of a PDF
    values:       a ROW's cells: header → value
    blob:         name of its extracted blob (an image's PNG)
    confidence:   mean OCR confidence, 0..1, if the text was read by OCR, else None
    """

    id: str
    type: ElementType
    text: str
    locator: Locator
    span_starts: tuple[int, ...] = ()
    level: int | None = None
    html: str | None = None
    grid: tuple[tuple[str, ...], ...] | None = None
    header_rows: int = 0
    cells: tuple[CellPlace, ...] = ()
    values: JsonObject | None = None
    blob: str | None = None
    confidence: float | None = None
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])

    def to_json(self) -> dict[str, JsonValue]:
        """The public and stored form; absent keys are omitted."""
        out: dict[str, JsonValue] = {
            "id": self.id,
            "type": self.type.value,
            "text": self.text,
            "locator": self.locator.to_json(),
        }
        if self.span_starts:
            out["span_starts"] = list(self.span_starts)
        if self.grid is not None:
            out["grid"] = [list(row) for row in self.grid]
            out["header_rows"] = self.header_rows
        if self.cells:
            out["cells"] = [cell.to_json() for cell in self.cells]
        for key in ("level", "html", "values", "blob", "confidence"):
            value = getattr(self, key)
            if value is not None:
                out[key] = value
        if self.metadata:
            out["metadata"] = self.metadata
        return out

    @staticmethod
    def from_json(data: dict[str, Any]) -> Element:
        """The inverse of `to_json`."""
        grid = data.get("grid")
        return Element(
            id=data["id"],
            type=ElementType(data["type"]),
            text=data["text"],
            locator=Locator.from_json(data["locator"]),
            span_starts=tuple(data.get("span_starts", ())),
            level=data.get("level"),
            html=data.get("html"),
            grid=tuple(tuple(row) for row in grid) if grid is not None else None,
            header_rows=data.get("header_rows", 0),
            cells=tuple(CellPlace(row, column, Box(*box)) for row, column, *box in data.get("cells", ())),
            values=data.get("values"),
            blob=data.get("blob"),
            confidence=data.get("confidence"),
            metadata=data.get("metadata", {}),
        )
