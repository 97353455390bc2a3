"""The parser process's report on a file: its type, what was read page by page, and the files found inside it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from citewell.types.json import JsonObject, JsonValue
from citewell.types.locators import Locator

PAGE_PICTURE = "page"
"""Metadata key of an element that is a picture of its whole page."""

PREVIEW = "preview"
"""The kind of a blob that is a small copy of a picture, for a vision model; `of` in its metadata names the picture."""

LIKENESS = "likeness"
"""The kind of a file that the parser process writes of each picture, to find it by an example; `of` in its metadata names the picture."""
LIKENESS_SHAPE_BYTES = 10
"""Bytes of the coarse shape, which come before the corners."""
LIKENESS_FEATURE = [("x", "<u2"), ("y", "<u2"), ("octave", "u1"), ("angle", "u1"), ("bits", "V32")]
"""The layout of a corner, as numpy reads it: pixels of the scaled picture, octave of its size, 256ths of a turn, description."""


class Category(StrEnum):
    """How Citewell treats a file. Decides the pipeline and the final status (`rag` → indexed, `data` → analyzed, `image` → described)."""

    RAG = "rag"
    DATA = "data"
    IMAGE = "image"
    VIDEO = "video"
    BINARY = "binary"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DetectedType:
    """The type detected from the content, and the type the name claims. `extractor` is None if no reader exists."""

    mime_type: str
    label: str
    category: Category
    extractor: str | None
    mismatch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions:
    """The uploader's options, and the limits that extraction enforces (see `docs/configuration.md`).

    readers:       the only readers that may run; a file of another type is detected and not read. Empty for all
    page_pictures: which pages of a PDF are kept as pictures with `multimodal`: `none`, `scans` or `all`
    view_page: if not 0, only draw this page as a picture and mark the rectangles of `view_boxes` (x0, y0, x1, y1 in points of the
               page as shown)
    likeness_only: only read what is needed to find copies of the picture that the file is
    """

    password: str | None = None
    readers: tuple[str, ...] = ()
    extract_tables: bool = True
    extract_images: bool = True
    multimodal: bool = False
    page_pictures: str = "none"
    ocr: bool = True
    max_pages: int = 2_000
    max_pixels: int = 89_000_000
    max_output_bytes: int = 512 * 1024 * 1024
    max_archive_ratio: int = 100
    max_archive_members: int = 10_000
    max_depth: int = 2
    depth: int = 0
    view_page: int = 0
    view_boxes: tuple[tuple[float, float, float, float], ...] = ()
    likeness_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCoverage:
    """What was read from one page, sheet or slide, or (`unit="file"`) from a file without smaller units.

    ocr_share: the share of `characters` read by OCR, 0..1
    skipped:   what was left out, and why
    """

    unit: str
    number: int
    name: str | None = None
    characters: int = 0
    words: int = 0
    tables: int = 0
    images: int = 0
    rows: int = 0
    ocr_share: float = 0.0
    ocr_confidence: float | None = None
    skipped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was read from a file, unit by unit. Totals are sums over the units; `warnings` concern the whole file."""

    units: tuple[UnitCoverage, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    elements: int = 0
    characters: int = 0
    words: int = 0
    tables: int = 0
    images: int = 0
    rows: int = 0
    empty_units: int = 0

    def to_json(self) -> dict[str, JsonValue]:
        """The public and stored form."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Coverage:
        """The inverse of `to_json`."""
        rest = _with_tuples(data)
        rest["units"] = tuple(UnitCoverage(**_with_tuples(unit)) for unit in data["units"])
        return Coverage(**rest)


def _with_tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "skipped": tuple(data["skipped"]), "warnings": tuple(data["warnings"])}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedBlob:
    """A file that extraction wrote to its scratch folder: an image of the document (`image`), a small copy of one (`preview`), what finds
    its copies (`likeness`), or a table's exact copy (`parquet`).

    name is unique within the resource version; path is relative to the scratch folder.
    """

    name: str
    path: str
    mime_type: str
    kind: str
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildFile:
    """A file inside another (attachment, archive member), which becomes a separate resource with `parent_id`.

    path:   where it was written
    inside: an archive member's folders and name as in the archive, made safe to display; never used as a path
    """

    filename: str
    path: str
    locator: Locator = Locator()
    inside: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSummary:
    """The report without the elements, which are in `elements.jsonl` in the same folder."""

    detected: DetectedType
    coverage: Coverage
    metadata: JsonObject
    language: str | None = None
    blobs: tuple[ExtractedBlob, ...] = ()
    children: tuple[ChildFile, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        """The report as the parser process writes it."""
        children = [
            {"filename": c.filename, "path": c.path, "locator": c.locator.to_json(), "inside": c.inside}
            for c in self.children
        ]
        return {**asdict(self), "children": children}

    @staticmethod
    def from_json(data: dict[str, Any]) -> ExtractionSummary:
        """The inverse of `to_json`."""
        detected: dict[str, Any] = {**data["detected"], "category": Category(data["detected"]["category"])}
        return ExtractionSummary(
            detected=DetectedType(**detected),
            coverage=Coverage.from_json(data["coverage"]),
            metadata=data["metadata"],
            language=data["language"],
            blobs=tuple(ExtractedBlob(**blob) for blob in data["blobs"]),
            children=tuple(
                ChildFile(
                    filename=c["filename"],
                    path=c["path"],
                    locator=Locator.from_json(c["locator"]),
                    inside=c.get("inside"),
                )
                for c in data["children"]
            ),
        )
