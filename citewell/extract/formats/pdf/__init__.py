"""PDF to elements: text in reading order with rectangles, tables, images, annotations, attachments; OCR if needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdfium2 import PdfDocument

from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.document import AttachmentReader, describe, language, open_document, outline_depths
from citewell.extract.formats.pdf.furniture import THRESHOLDS as FURNITURE
from citewell.extract.formats.pdf.pages import PageContent, PageReader
from citewell.extract.formats.pdf.structure import THRESHOLDS as STRUCTURE
from citewell.extract.formats.pdf.structure import Survey, survey
from citewell.extract.formats.pdf.tables.continued import join_over_pages
from citewell.extract.formats.pdf.writer import PageWriter


def extract(path: Path, sink: Sink) -> None:
    """Reads a PDF into the sink; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`.

    An unreadable page becomes a warning on that page; the others are still read.
    """
    with open_document(path, sink.options) as document:
        sink.metadata.update(describe(document))
        sink.language = language(document)
        attachments = AttachmentReader(document, sink)
        attachments.of_document()
        reader = PageReader(document, sink)
        writer = PageWriter(sink, _survey(document, reader), attachments)
        total = len(document)
        pages = join_over_pages(reader.read(index) for index in range(total))
        for page, neighbours in _with_neighbours(pages):
            writer.write(page, neighbours)
            sink.progress(page.number, total)


def _survey(document: PdfDocument, reader: PageReader) -> Survey:
    total = len(document)
    sample = (reader.sample(index) for index in range(0, total, max(1, total // STRUCTURE.sample_pages)))
    lines = ((run for passage in page.passages for run in passage.runs) for page in sample)
    return survey(lines, outline_depths(document))


def _with_neighbours(pages: Iterable[PageContent]) -> Iterator[tuple[PageContent, list[PageContent]]]:
    """Yields each page with the surrounding pages that may share its running headers."""
    window: deque[PageContent] = deque(maxlen=2 * FURNITURE.neighbours + 1)
    waiting: deque[PageContent] = deque()
    for page in pages:
        window.append(page)
        waiting.append(page)
        if len(waiting) > FURNITURE.neighbours:
            ready = waiting.popleft()
            yield ready, [other for other in window if other is not ready]
    for ready in waiting:
        yield (
            ready,
            [
                other
                for other in window
                if other is not ready and abs(other.number - ready.number) <= FURNITURE.neighbours
            ],
        )
