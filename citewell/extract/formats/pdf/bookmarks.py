"""The document's outline (bookmarks): titles with their pages and depths."""

from __future__ import annotations

from pypdfium2 import PdfDocument, PdfiumError

from citewell.extract.formats.pdf.structure import fold_title

_MAX_DEPTH = 8
_MAX_ENTRIES = 10_000


def outline_depths(document: PdfDocument) -> dict[tuple[int, str], int]:
    """(page, folded title) → depth, 1 for the top. A damaged outline is as good as none."""
    depths: dict[tuple[int, str], int] = {}
    try:
        for bookmark in document.get_toc(max_depth=_MAX_DEPTH):
            target = bookmark.get_dest()
            index = target.get_index() if target else None
            if index is not None and len(depths) < _MAX_ENTRIES:
                depths.setdefault((index + 1, fold_title(bookmark.get_title())), bookmark.level + 1)
    except (PdfiumError, UnicodeDecodeError):
        return depths
    return depths
