"""The coverage report of a resource adds up: to its elements, and to what its chunks hold."""

from __future__ import annotations

import asyncio
import io
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import xlsxwriter
from reportlab.pdfgen.canvas import Canvas

from citewell.adapters import registry
from citewell.composition import Services, open_services
from citewell.ports import Embedder
from citewell.settings import EmbeddingSettings, load_settings
from citewell.system.console import coverage_notes
from citewell.testing.embedder import HashEmbedder
from citewell.types import Chunk, Element, ElementType, Resource
from tests.extract.pdf.drawing import HEIGHT, RATES, Draw, lines, pdf, prose, ruled

FURNITURE = (ElementType.HEADER, ElementType.FOOTER)


@pytest.fixture(autouse=True)
def hash_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(settings: EmbeddingSettings) -> Embedder:
        return HashEmbedder("default", 64)

    monkeypatch.setattr(registry, "build_embedder", build)


def report() -> bytes:
    """Four pages: prose under a running title, one of them with a table, one with nothing on it."""

    def page(number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            lines(canvas, 60, 20, ["Annual report of the waterworks"], size=8)
            lines(canvas, 60, 60, prose(12, start=5 * number))
            canvas.drawString(300, 20, str(number))
            if number == 2:
                ruled(canvas, 300, RATES)

        return draw

    def blank(canvas: Canvas) -> None:
        canvas.line(0, HEIGHT, 1, HEIGHT)

    return pdf(page(1), page(2), page(3), blank)


def workbook() -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        for name in ("Wells", "Pumps"):
            sheet = book.add_worksheet(name)
            sheet.write_row("A1", ["name", "depth"])
            for row in range(1, 81):
                sheet.write_row(row, 0, [f"{name} {row}", row * 1.5])
        book.add_worksheet("Blank").hide()
    return buffer.getvalue()


async def read(services: Services, data: bytes, name: str) -> tuple[Resource, list[Element], list[Chunk]]:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    file = await services.resources.capture.spool(pieces())
    resource, _ = await services.resources.upload(services.local_owner, file, name)
    async with asyncio.timeout(60):
        resource = await services.resources.wait(services.local_owner, resource.id)
    content = services.contents.content
    elements = [e async for batch in content.iterate_elements(resource.id, 1) for e in batch]
    chunks, cursor = await content.chunks_page(resource.id, 1_000)
    assert cursor is None
    return resource, elements, chunks


def unchunked(elements: list[Element], chunks: list[Chunk]) -> Counter[str]:
    """Characters of each element, white space apart, that stand in no chunk."""
    held: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks:
        for piece in chunk.pieces:
            held[piece.element_id].update(range(piece.start, piece.end))
    missing: Counter[str] = Counter()
    for element in elements:
        missing[element.id] += sum(
            not c.isspace() and c not in "|-" and i not in held[element.id] for i, c in enumerate(element.text)
        )
    return +missing


@pytest.mark.full
@pytest.mark.parametrize(("data", "name"), [(report(), "report.pdf"), (workbook(), "wells.xlsx")])
async def test_the_totals_add_up_to_what_was_indexed(tmp_path: Path, data: bytes, name: str) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False)) as services:
        resource, elements, chunks = await read(services, data, name)
    coverage = resource.coverage
    assert coverage is not None
    assert coverage.elements == len(elements)
    assert coverage.characters == sum(len(e.text) for e in elements) == sum(u.characters for u in coverage.units)
    assert (
        coverage.tables == sum(e.type is ElementType.TABLE for e in elements) == sum(u.tables for u in coverage.units)
    )
    assert coverage.rows == sum(e.type is ElementType.ROW for e in elements) == sum(u.rows for u in coverage.units)
    assert coverage.words == sum(u.words for u in coverage.units)
    left_out = unchunked(elements, chunks)
    named = {heading for chunk in chunks for heading in chunk.context.split(" > ")}
    kept = {e.id for e in elements if e.type in FURNITURE or (e.type is ElementType.TITLE and e.text in named)}
    assert set(left_out) <= kept
    assert resource.chunk_count == len(chunks)


@pytest.mark.full
async def test_what_is_off_is_said_per_page_and_sheet(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False)) as services:
        document, _, _ = await read(services, report(), "report.pdf")
        sheets, _, _ = await read(services, workbook(), "wells.xlsx")
    assert document.coverage is not None
    assert document.coverage.empty_units == 1
    assert coverage_notes(document.coverage.to_json()) == ["page 4: This page has no text."]
    assert sheets.coverage is not None
    assert coverage_notes(sheets.coverage.to_json()) == [
        "sheet Blank: this sheet is hidden in the program",
        "sheet Blank: the sheet has no cells with content",
    ]
