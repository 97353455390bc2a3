"""PDF to elements: text with line rectangles in reading order, tables, images, annotations, attachments; OCR where text is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from citewell.extract.pdf.document import describe, open_document
from citewell.extract.pdf.flow import flow
from citewell.extract.pdf.geometry import page_frame
from citewell.extract.pdf.words import Word, read_words
from citewell.extract.sink import Sink
from citewell.types import Box, ElementType, Locator

_PARAGRAPH_GAP = 0.6


def extract(path: Path, sink: Sink) -> None:
    """Read a PDF into the sink; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`.

    A page that cannot be read is a warning on that page; the others still come.
    """
    with open_document(path, sink.options) as document:
        sink.metadata.update(describe(document))
        total = len(document)
        for index in range(total):
            sink.progress(index, total)
            sink.start_unit("page", index + 1, document.get_page_label(index) or None)
            _page(document, index, sink)


def _page(document: PdfDocument, index: int, sink: Sink) -> None:
    try:
        page = document[index]
    except PdfiumError:
        sink.warn(f"Page {index + 1} is damaged and could not be read.")
        return
    try:
        _text(page, index + 1, sink)
    finally:
        page.close()


def _text(page: PdfPage, number: int, sink: Sink) -> None:
    try:
        textpage = page.get_textpage()
    except PdfiumError:
        sink.warn(f"The text of page {number} could not be read.")
        return
    words = read_words(textpage, page_frame(page))
    for lines in _paragraphs(words):
        running = flow(lines)
        boxes = tuple(Box(number, r.x0, r.y0, r.x1, r.y1) for r in running.rects)
        locator = Locator(page=number, pages=(number,), boxes=boxes)
        sink.emit(ElementType.PARAGRAPH, running.text, locator, span_starts=running.starts)


def _paragraphs(words: list[Word]) -> Iterator[list[list[Word]]]:
    lines: list[list[Word]] = []
    for word in words:
        if lines and not word.breaks:
            lines[-1].append(word)
            continue
        if lines and _parted(lines[-1][0], word):
            yield lines
            lines = []
        lines.append([word])
    if lines:
        yield lines


def _parted(above: Word, below: Word) -> bool:
    gap = below.rect.y0 - above.rect.y1
    return gap > _PARAGRAPH_GAP * above.size or gap < -2 * above.size
