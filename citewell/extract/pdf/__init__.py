"""PDF to elements: text with line rectangles in reading order, tables, images, annotations, attachments; OCR where text is missing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdfium2 import PdfDocument

from citewell.extract.pdf.bookmarks import outline_depths
from citewell.extract.pdf.content import PageContent, read_page
from citewell.extract.pdf.document import describe, open_document
from citewell.extract.pdf.structure import Survey, survey
from citewell.extract.pdf.writer import PageWriter
from citewell.extract.sink import Sink

_SAMPLE_PAGES = 12
_NEIGHBOURS = 2


def extract(path: Path, sink: Sink) -> None:
    """Read a PDF into the sink; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`.

    A page that cannot be read is a warning on that page; the others still come.
    """
    with open_document(path, sink.options) as document:
        sink.metadata.update(describe(document))
        writer = PageWriter(sink, _survey(document))
        total = len(document)
        for page, neighbours in _with_neighbours(
            read_page(document, index, sink.options.extract_tables) for index in range(total)
        ):
            writer.write(page, neighbours)
            sink.progress(page.number, total)


def _survey(document: PdfDocument) -> Survey:
    total = len(document)
    step = max(1, total // _SAMPLE_PAGES)
    sample = (read_page(document, index, with_tables=False) for index in range(0, total, step))
    lines = (run for page in sample for passage in page.passages for run in passage.runs)
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
