"""Reads a file as the parser process does, and gives back what stands in its folder."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.errors import ExtractionError
from citewell.extract.core.sink import ELEMENTS_FILE, TITLE_FILE, Sink
from citewell.extract.registry import extract_file
from citewell.types import Element, ElementType, ExtractionSummary, ExtractOptions


@dataclass(frozen=True)
class Reading:
    """The outcome of one extraction."""

    summary: ExtractionSummary
    elements: list[Element]
    folder: Path

    def of(self, *types: ElementType) -> list[Element]:
        return [element for element in self.elements if element.type in types]

    def texts(self, *types: ElementType) -> list[str]:
        return [element.text for element in (self.of(*types) if types else self.elements)]

    @property
    def text(self) -> str:
        return "\n".join(element.text for element in self.elements)

    def notes(self) -> str:
        """Everything the coverage report says in words."""
        coverage = self.summary.coverage
        units = [note for unit in coverage.units for note in (*unit.warnings, *unit.skipped)]
        return "\n".join((*coverage.warnings, *coverage.skipped, *units))

    def child(self, name: str) -> bytes:
        found = next(child for child in self.summary.children if child.filename == name)
        return (self.folder / found.path).read_bytes()


def read(path: Path, filename: str | None = None, **options: Any) -> Reading:
    """Extract `path`; OCR is off unless asked for, as most tests are not about it."""
    folder = path.parent / f"{path.name}.out-{len(list(path.parent.iterdir()))}"
    folder.mkdir()
    settings: dict[str, Any] = {"ocr": False, **options}
    with Sink(folder, ExtractOptions(**settings)) as sink:
        summary = extract_file(path, filename or path.name, sink)
    lines = (folder / ELEMENTS_FILE).read_bytes().splitlines()
    return Reading(summary, [Element.from_json(json.loads(line)) for line in lines], folder)


def read_bytes(folder: Path, name: str, data: bytes | str, **options: Any) -> Reading:
    """Extract bytes (or text as UTF-8) as if uploaded under `name`."""
    path = folder / name
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return read(path, **options)


def read_or_refused(folder: Path, name: str, data: bytes) -> None:
    """Anything but an `ExtractionError` with a message is a bug, and so is a file that nothing declares."""
    with suppress(ExtractionError):
        reading = read_bytes(folder, name, data)
        known = {blob.path for blob in reading.summary.blobs} | {child.path for child in reading.summary.children}
        assert {path.name for path in reading.folder.iterdir()} <= known | {ELEMENTS_FILE, TITLE_FILE}
    assert len(list(folder.iterdir())) == 2
