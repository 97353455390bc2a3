"""Pages as pictures, for image embedders."""

from __future__ import annotations

from pypdfium2 import PdfPage

from citewell.extract.core.pictures import MAX_SIDE, keep_preview
from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.geometry import PageFrame
from citewell.extract.formats.pdf.scans import is_blank, render

MAX_PAGE_PICTURES = 300
"""Pages of one file kept as pictures; each takes about 200 KB, and about 3,000 tokens of an embedding vendor."""
_POINTS = 72.0
"""PDF points per inch."""


class PagePictures:
    """Keeps the pages of one document requested by the options, as JPEGs of at most 1,568 pixels a side."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._kept = 0

    def keep(self, page: PdfPage, frame: PageFrame, *, scanned: bool) -> str | None:
        """Returns the name of the page's picture; None if none is requested, or for a blank page.

        scanned: its text was read by OCR, and the images that hold it are not kept
        """
        options = self._sink.options
        if (
            not options.multimodal
            or options.page_pictures == "none"
            or (options.page_pictures != "all" and not scanned)
        ):
            return None
        if self._kept >= MAX_PAGE_PICTURES:
            self._sink.skip(f"The page picture: the limit is {MAX_PAGE_PICTURES} per file.")
            return None
        dpi = _POINTS * MAX_SIDE / max(1.0, frame.width, frame.height)
        image = render(page, frame, None, dpi, options.max_pixels)
        name = None if is_blank(image) else keep_preview(self._sink, image)
        self._kept += name is not None
        return name
