"""PDF to elements: text with line rectangles in reading order, tables, images, annotations, attachments; OCR where text is missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdfium2 import PdfDocument

from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.attachments import AttachmentReader
from citewell.extract.formats.pdf.bookmarks import outline_depths
from citewell.extract.formats.pdf.content import PageContent
from citewell.extract.formats.pdf.document import describe, language, open_document
from citewell.extract.formats.pdf.reader import PageReader
from citewell.extract.formats.pdf.structure import Survey, survey
from citewell.extract.formats.pdf.tables.join import join_over_pages
from citewell.extract.formats.pdf.writer import PageWriter

_SAMPLE_PAGES = 12
_NEIGHBOURS = 2


def extract(path: Path, sink: Sink) -> None:
    """Read a PDF into the sink; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`.

    A page that cannot be read is a warning on that page; the others still come.
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
    sample = (reader.sample(index) for index in range(0, total, max(1, total // _SAMPLE_PAGES)))
    lines = ((run for passage in page.passages for run in passage.runs) for page in sample)
    return survey(lines, outline_depths(document))


def _with_neighbours(pages: Iterable[PageContent]) -> Iterator[tuple[PageContent, list[PageContent]]]:
    """Each page with up to two pages on either side."""
    window: deque[PageContent] = deque(maxlen=2 * _NEIGHBOURS + 1)
    waiting: deque[PageContent] = deque()
    for page in pages:
        window.append(page)
        waiting.append(page)
        if len(waiting) > _NEIGHBOURS:
            ready = waiting.popleft()
            yield ready, [other for other in window if other is not ready]
    for ready in waiting:
        yield (
            ready,
            [other for other in window if other is not ready and abs(other.number - ready.number) <= _NEIGHBOURS],
        )
