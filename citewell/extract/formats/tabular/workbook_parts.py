"""XLSX content besides cells: named tables, comments, pictures, charts, and hints from the sheets' XML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from citewell.errors import CorruptFile, ExtractionError, LimitExceeded
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.sink import Sink
from citewell.extract.formats.ooxml.graphics import Graphics, description_of, visible
from citewell.extract.formats.ooxml.package import OfficePackage, attribute, child, read_properties
from citewell.extract.formats.tabular.number_formats import formats_of_styles
from citewell.extract.formats.tabular.regions import Region
from citewell.extract.formats.tabular.sheet_scan import SheetScan, cell_place, scan
from citewell.types import ElementType, Locator

_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")
_MAIN_PARTS = ("xl/workbook.xml",)
_DATA_MODEL = "xl/model/item.data"


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table defined by the workbook's author: `region` with its header rows (0 or 1)."""

    name: str
    region: Region
    header: int


class WorkbookParts:
    """The parts of an XLSX file by sheet name. `CorruptFile` or `LimitExceeded` if the package cannot be opened."""

    def __init__(self, path: Path, sink: Sink) -> None:
        self._sink = sink
        self._package = OfficePackage(path, sink.options)
        self._graphics = Graphics(self._package, sink)
        self._main = self._package.main_part(_MAIN_PARTS)
        self._sheets = self._sheet_parts()
        self._formats = formats_of_styles(self._styles())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._package.__exit__(kind, error, trace)

    def read_properties(self) -> None:
        """Copies title, author and dates into the sink's metadata, and notes a data model, which is not read."""
        read_properties(self._package, self._sink)
        if self._package.related(self._main, "powerPivotData") or _DATA_MODEL in self._package:
            self._sink.skip(
                "The tables of the workbook's data model (Power Pivot), except what its sheets show of them. "
                "Export them to sheets or CSV files to have them read."
            )

    def scan(self, sheet: str) -> SheetScan:
        """Returns hints from the sheet's XML; none if it is too large to scan."""
        part = self._sheets.get(sheet)
        try:
            return scan(self._package.pieces(part), self._formats) if part else SheetScan()
        except (LimitExceeded, CorruptFile):
            return SheetScan()

    def tables(self, sheet: str) -> list[NamedTable]:
        """Returns the sheet's named tables."""
        part = self._sheets.get(sheet, "")
        roots = [self._package.optional_xml(target, self._sink) for target in self._package.related(part, "table")]
        return [table for root in roots if root is not None and (table := _named_table(root))]

    def emit_rest(self, sheet: str) -> None:
        """Emits comments, pictures and charts of a sheet."""
        part = self._sheets.get(sheet)
        if part is None:
            return
        for kind in ("comments", "threadedComment"):
            for target in self._package.related(part, kind):
                self._emit_comments(target, sheet)
        for target in self._package.related(part, "drawing"):
            self._emit_drawing(target, sheet)

    def finish(self) -> None:
        """Must be called after the last sheet."""
        self._graphics.finish()

    def _sheet_parts(self) -> dict[str, str]:
        relationships = self._package.relationships(self._main)
        found: dict[str, str] = {}
        for element in self._package.xml(self._main).iter():
            if local_name(element) == "sheet":
                related = relationships.get(attribute(element, "id") or "")
                if related is not None and related.target in self._package:
                    found[element.get("name") or ""] = related.target
        return found

    def _styles(self) -> XmlElement | None:
        part = next(iter(self._package.related(self._main, "styles")), None)
        try:
            return self._package.optional_xml(part, self._sink)
        except LimitExceeded:
            return None

    def _emit_comments(self, part: str, sheet: str) -> None:
        root = self._package.optional_xml(part, self._sink)
        for element in root.iter() if root is not None else ():
            if local_name(element) in ("comment", "threadedComment"):
                cell = element.get("ref") or ""
                texts = [inner.text or "" for inner in element.iter() if local_name(inner) in ("t", "text")]
                text = "".join(texts).strip()
                if text and not text.startswith("[Threaded comment]"):
                    self._sink.emit(ElementType.COMMENT, text, _place(sheet, cell))

    def _emit_drawing(self, part: str, sheet: str) -> None:
        root = self._package.optional_xml(part, self._sink)
        for anchor in root if root is not None else ():
            corner = child(anchor, "from", "row")
            text = (corner.text if corner is not None else None) or ""
            place = Locator(sheet=sheet, row=int(text) + 1 if text.isdigit() else None)
            try:
                self._emit_anchored(anchor, part, place)
            except ExtractionError as error:
                self._sink.skip(f"A drawing was left out: {error.message}")

    def _emit_anchored(self, anchor: XmlElement, part: str, place: Locator) -> None:
        description = next((description_of(e) for e in anchor.iter() if local_name(e) == "cNvPr"), "")
        for element in visible(anchor):
            name = local_name(element)
            if name == "blip":
                self._graphics.picture(part, element, place, description)
            elif name == "chart":
                self._graphics.chart(part, element, place)
            elif name == "relIds":
                self._graphics.diagram(part, element, place)
            elif name == "txBody":
                lines = [
                    "".join(t.text or "" for t in p.iter() if local_name(t) == "t")
                    for p in element
                    if local_name(p) == "p"
                ]
                if text := "\n".join(line for line in lines if line.strip()):
                    self._sink.emit(ElementType.PARAGRAPH, text, place)


def _place(sheet: str, cell: str) -> Locator:
    match = _RANGE.fullmatch(cell)
    return Locator(sheet=sheet, row=int(match[2]), cell=cell) if match else Locator(sheet=sheet)


def _named_table(root: XmlElement) -> NamedTable | None:
    match = _RANGE.fullmatch(root.get("ref") or "")
    if match is None or match[3] is None:
        return None
    top, left = cell_place(match[1], match[2])
    bottom, right = cell_place(match[3], match[4])
    header = 0 if root.get("headerRowCount") == "0" else 1
    if bottom - top < header or right < left:
        return None
    return NamedTable(root.get("displayName") or root.get("name") or "", Region(top, bottom, left, right), header)
