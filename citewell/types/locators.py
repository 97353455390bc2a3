"""Where something is in a file: page and rectangles, sheet and row, slide, or character span."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from citewell.types.json import JsonValue


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in PDF points (1/72 inch), origin at the page's top left; pages count from 1.

    Coordinates are those of the page as a viewer shows it (after its /Rotate entry, relative to its crop box).
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    def to_json(self) -> dict[str, JsonValue]:
        """The public form, rounded to 1/100 point."""
        return {
            "page": self.page,
            "x0": round(self.x0, 2),
            "y0": round(self.y0, 2),
            "x1": round(self.x1, 2),
            "y1": round(self.y1, 2),
        }


_LISTED_ROWS = 6
"""How many separate rows a label lists; for more, it gives the first and the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """A place in one version of a resource. Pages, rows and slides count from 1; character offsets from 0.

    row:        the row number that a spreadsheet program shows; row_end closes a range
    rows:       the rows selected from the range, if not all
    column:     the name of the requested column, as in the table; with `row`, it denotes a single cell
    cell_boxes: the rectangles of that cell, inside `boxes`, if known
    second:     a position in a video, from its start
    char_start, char_end: offsets into the decoded text of a text file
    """

    page: int | None = None
    pages: tuple[int, ...] = ()
    page_label: str | None = None
    boxes: tuple[Box, ...] = ()
    sheet: str | None = None
    row: int | None = None
    row_end: int | None = None
    rows: tuple[int, ...] = ()
    column: str | None = None
    cell_boxes: tuple[Box, ...] = ()
    cell: str | None = None
    slide: int | None = None
    second: float | None = None
    char_start: int | None = None
    char_end: int | None = None
    headings: tuple[str, ...] = ()

    def with_headings(self, headings: tuple[str, ...]) -> Locator:
        """The same place, under another heading path."""
        return replace(self, headings=headings)

    def to_json(self) -> dict[str, JsonValue]:
        """The public form; absent keys are omitted."""
        out: dict[str, JsonValue] = {}
        if self.page is not None:
            out["page"] = self.page
        if self.pages:
            out["pages"] = list(self.pages)
        if self.page_label is not None:
            out["page_label"] = self.page_label
        if self.boxes:
            out["boxes"] = [box.to_json() for box in self.boxes]
        if self.rows:
            out["rows"] = list(self.rows)
        if self.cell_boxes:
            out["cell_boxes"] = [box.to_json() for box in self.cell_boxes]
        for key in ("sheet", "row", "row_end", "column", "cell", "slide", "second", "char_start", "char_end"):
            value = getattr(self, key)
            if value is not None:
                out[key] = value
        if self.headings:
            out["headings"] = list(self.headings)
        return out

    @staticmethod
    def from_json(data: dict[str, Any]) -> Locator:
        """The inverse of `to_json`."""
        return Locator(
            page=data.get("page"),
            pages=tuple(data.get("pages", ())),
            page_label=data.get("page_label"),
            boxes=tuple(Box(**box) for box in data.get("boxes", ())),
            sheet=data.get("sheet"),
            row=data.get("row"),
            row_end=data.get("row_end"),
            rows=tuple(data.get("rows", ())),
            column=data.get("column"),
            cell_boxes=tuple(Box(**box) for box in data.get("cell_boxes", ())),
            cell=data.get("cell"),
            slide=data.get("slide"),
            second=data.get("second"),
            char_start=data.get("char_start"),
            char_end=data.get("char_end"),
            headings=tuple(data.get("headings", ())),
        )

    def label(self, filename: str) -> str:
        """A readable name of the place: `Loan Policy.pdf (p. 3)`, `Finance.xlsx (Sheet "Loans", Row 5)`, `Deck.pptx (Slide 7)`."""
        place = self.place()
        return f"{filename} ({place})" if place else filename

    def place(self) -> str:
        """The part of `label` in parentheses; empty if the file has no smaller units."""
        if self.sheet is not None or self.row is not None:
            parts = [f'Sheet "{self.sheet}"'] if self.sheet is not None else []
            if 0 < len(self.rows) <= _LISTED_ROWS:
                parts.append(f"Rows {', '.join(map(str, self.rows))}")
            elif self.row is not None and self.row_end is not None and self.row_end != self.row:
                parts.append(f"Rows {self.row}-{self.row_end}")
            elif self.row is not None:
                parts.append(f"Row {self.row}")
            return ", ".join(parts)
        if self.slide is not None:
            return f"Slide {self.slide}"
        if self.second is not None:
            return clock(self.second)
        if len(self.pages) > 1:
            return f"pp. {self.pages[0]}-{self.pages[-1]}"
        if self.page is not None:
            return f"p. {self.page}"
        if self.headings:
            return f'"{self.headings[-1]}"'
        return ""


def clock(second: float) -> str:
    """A time as players show it: `1:05`, `1:02:07`."""
    minutes, rest = divmod(int(second), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
