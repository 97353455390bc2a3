"""Where readers write: elements to a JSON Lines file, blobs and children to the scratch folder; counts coverage."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from citewell.errors import ExtractionError, LimitExceeded
from citewell.extract.core.names import own_title
from citewell.types import (
    CellPlace,
    ChildFile,
    Coverage,
    Element,
    ElementType,
    ExtractedBlob,
    ExtractOptions,
    JsonObject,
    Locator,
    UnitCoverage,
)

ELEMENTS_FILE = "elements.jsonl"
TITLE_FILE = "title.txt"
"""Holds the file's own title, as far as it is known when the first element is written."""
_WORD = re.compile(r"\w+")
_COUNTED_UNITS = frozenset({"page", "slide", "sheet", "chapter", "message"})
_PARAGRAPHS = frozenset({ElementType.PARAGRAPH, ElementType.LIST_ITEM})
_UNSURE = 0.75
"""Mean OCR confidence below which a page gets a warning: the engine's threshold for a doubtful line. Set by hand."""
_MUCH_BY_OCR = 0.2
"""Share of the page's characters read by OCR from which the warning applies; less is a logo or a stamp. Set by hand."""


@dataclass(slots=True)
class _Unit:
    """Counts of one page, sheet or slide while it is being read."""

    unit: str
    number: int
    name: str | None = None
    characters: int = 0
    words: int = 0
    tables: int = 0
    images: int = 0
    rows: int = 0
    ocr_characters: int = 0
    confidence_sum: float = 0.0
    skipped: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    def freeze(self) -> UnitCoverage:
        read_by_ocr = self.ocr_characters
        is_silent = not (self.characters or self.tables or self.images or self.skipped or self.warnings)
        warnings = [f"This {self.unit} has no text."] if is_silent else list(self.warnings)
        confidence = round(self.confidence_sum / read_by_ocr, 4) if read_by_ocr else None
        if confidence is not None and confidence < _UNSURE and read_by_ocr > _MUCH_BY_OCR * self.characters:
            warnings.append(f"OCR was unsure of the text of this {self.unit} (mean confidence {confidence:.2f}).")
        return UnitCoverage(
            unit=self.unit,
            number=self.number,
            name=self.name,
            characters=self.characters,
            words=self.words,
            tables=self.tables,
            images=self.images,
            rows=self.rows,
            ocr_share=round(read_by_ocr / self.characters, 4) if self.characters else 0.0,
            ocr_confidence=confidence,
            skipped=tuple(self.skipped),
            warnings=tuple(warnings),
        )


class Sink:
    """Collects what a reader finds in one file.

    A reader calls `start_unit` before the elements of each page, sheet or slide (in order), `emit` per element, and
    `progress` at least every few seconds. Emitted elements are not kept in memory.
    """

    def __init__(
        self, folder: Path, options: ExtractOptions, heartbeat: Callable[[int, int | None], None] | None = None
    ) -> None:
        self.folder = folder
        self.options = options
        self.blobs: list[ExtractedBlob] = []
        self.children: list[ChildFile] = []
        self.metadata: dict[str, object] = {}
        self.language: str | None = None
        self._heartbeat = heartbeat
        self._units: list[_Unit] = []
        self._warnings: list[str] = []
        self._skipped: list[str] = []
        self._elements = 0
        self._paragraphs = 0
        self._written = 0
        self._file = (folder / ELEMENTS_FILE).open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def written(self) -> int:
        """Bytes of elements written so far; beyond `options.max_output_bytes`, elements are rejected."""
        return self._written

    def require(self, reader: str) -> None:
        """Raises `ExtractionError` if `reader`, of which the current one needs a part, may not run (`options.readers`)."""
        if self.options.readers and reader not in self.options.readers:
            raise ExtractionError

    def next_id(self) -> str:
        """Returns the id that the next emitted element must carry."""
        return f"e{self._elements}"

    def start_unit(self, unit: str, number: int, name: str | None = None) -> None:
        """Begins a page, sheet, slide or the file itself (`unit="file"`, number 1)."""
        self._units.append(_Unit(unit, number, name))

    def emit(
        self,
        type: ElementType,
        text: str,
        locator: Locator,
        *,
        span_starts: tuple[int, ...] = (),
        level: int | None = None,
        html: str | None = None,
        grid: tuple[tuple[str, ...], ...] | None = None,
        header_rows: int = 0,
        cells: tuple[CellPlace, ...] = (),
        values: JsonObject | None = None,
        blob: str | None = None,
        confidence: float | None = None,
        metadata: JsonObject | None = None,
    ) -> Element:
        """Writes one element and counts it in the current unit. `confidence` marks text read by OCR."""
        element = Element(
            id=self.next_id(),
            type=type,
            text=_printable(text),
            locator=locator,
            span_starts=span_starts,
            level=level,
            html=html,
            grid=grid,
            header_rows=header_rows,
            cells=cells,
            values=values,
            blob=blob,
            confidence=confidence,
            metadata=metadata or {},
        )
        self._write(element.to_json())
        self._count(element)
        return element

    def emit_row(self, text: str, locator: Locator, values: JsonObject, metadata: JsonObject) -> None:
        """Emits a ROW like `emit`, without building the element: data files have millions of them."""
        text = _printable(text)
        self._write(
            {
                "id": self.next_id(),
                "type": ElementType.ROW.value,
                "text": text,
                "locator": locator.to_json(),
                "values": values,
                "metadata": metadata,
            }
        )
        unit = self._present_unit()
        unit.characters += len(text)
        unit.words += len(_WORD.findall(text))
        unit.rows += 1

    def add_blob(self, name: str, mime_type: str, kind: str, metadata: JsonObject | None = None) -> Path:
        """Declares a blob and returns the path to write it to. `kind` is `image`, `preview` or `parquet`."""
        path = f"blob-{len(self.blobs)}"
        self.blobs.append(ExtractedBlob(name=name, path=path, mime_type=mime_type, kind=kind, metadata=metadata or {}))
        return self.folder / path

    def add_child(self, filename: str, locator: Locator | None = None, inside: str | None = None) -> Path:
        """Declares a file found inside this one and returns the path to write it to. inside: see `ChildFile`."""
        self.check_children(len(self.children) + 1)
        path = f"child-{len(self.children)}"
        self.children.append(ChildFile(filename=filename, path=path, locator=locator or Locator(), inside=inside))
        return self.folder / path

    def check_children(self, count: int) -> None:
        """Raises `LimitExceeded` if `count` files are more than one file may contain."""
        if count > self.options.max_archive_members:
            raise LimitExceeded(
                f"This file contains more than {self.options.max_archive_members} files. Split it and upload the parts."
            )

    def warn(self, message: str) -> None:
        """Notes something odd about the current unit (or the file, before the first one)."""
        (self._units[-1].warnings if self._units else self._warnings).append(message)

    def skip(self, message: str) -> None:
        """Notes something left out of the current unit (or the file), and why."""
        (self._units[-1].skipped if self._units else self._skipped).append(message)

    def progress(self, done: int, total: int | None = None) -> None:
        """Reports that work continues; a parser silent for a minute is killed."""
        if self._heartbeat:
            self._heartbeat(done, total)

    def coverage(self) -> Coverage:
        """Returns the report so far; totals are the sums of the units."""
        units = tuple(unit.freeze() for unit in self._units)
        return Coverage(
            units=units,
            warnings=tuple(self._warnings),
            skipped=tuple(self._skipped),
            elements=self._elements,
            characters=sum(u.characters for u in units),
            words=sum(u.words for u in units),
            tables=sum(u.tables for u in units),
            images=sum(u.images for u in units),
            rows=sum(u.rows for u in units),
            empty_units=sum(1 for u in units if not (u.characters or u.tables or u.images)),
        )

    def counts(self) -> dict[str, int]:
        """Returns totals by name: `page_count` and the like for the file's units, then words, tables, images."""
        counts = Counter(f"{unit.unit}_count" for unit in self._units if unit.unit in _COUNTED_UNITS)
        for name in ("word", "character", "table", "image"):
            counts[f"{name}_count"] = sum(getattr(unit, f"{name}s") for unit in self._units)
        return {**counts, "paragraph_count": self._paragraphs}

    def _write(self, element: JsonObject) -> None:
        line = _encoded(element)
        self._written += len(line)
        if self._written > self.options.max_output_bytes:
            raise LimitExceeded(
                f"The text of this file exceeds the limit of {self.options.max_output_bytes:,} bytes. Split it and upload the parts."
            )
        if not self._elements:
            (self.folder / TITLE_FILE).write_text(
                own_title(self.metadata.get("title")) or "", "utf-8", errors="replace"
            )
        self._file.write(line)
        self._elements += 1

    def _present_unit(self) -> _Unit:
        if not self._units:
            self.start_unit("file", 1)
        return self._units[-1]

    def _count(self, element: Element) -> None:
        unit = self._present_unit()
        characters = len(element.text)
        self._paragraphs += element.type in _PARAGRAPHS
        unit.characters += characters
        unit.words += len(_WORD.findall(element.text))
        unit.tables += element.type is ElementType.TABLE
        unit.images += element.type is ElementType.IMAGE
        unit.rows += element.type is ElementType.ROW
        if element.confidence is not None:
            unit.ocr_characters += characters
            unit.confidence_sum += element.confidence * characters


def _encoded(element: JsonObject) -> bytes:
    """Returns the element as one line of JSON."""
    try:
        return orjson.dumps(element, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # integers beyond 64 bits and lone surrogates, which Python's own encoder accepts
        return json.dumps(element, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _printable(text: str) -> str:
    """Returns text that JSON, SQL and a browser accept: no lone surrogates, no NUL."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
