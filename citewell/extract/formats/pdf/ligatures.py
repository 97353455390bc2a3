"""Words that a ligature cuts: PDFium puts a space beside a glyph whose width in the file is not that on the page."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfTextPage

_AFTER = re.compile(r"f[il] (?=[^\W\d_])")
_ALONE = re.compile(r"ff?[il]")
_SAMPLE = 40
"""Spaces that show whether the file writes its spaces, or PDFium puts in all of them."""
# No word of a European language begins with a liquid or nasal before another consonant: `lter`, `nden`, `rma`.
_NO_BEGINNING = re.compile(r"[lmnr](?![lmnrhj])[bcdfgkpqstvwxz]")


def joined_at_ligatures(textpage: PdfTextPage, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the spans of words with those joined that only a ligature's glyph parts."""
    places = {match.end() - 1 for match in _AFTER.finditer(text)}
    cuts = {place for place in places if _is_cut(textpage, text, place)}
    if not cuts:
        return list(spans)
    written = _writes_spaces(textpage, text)
    out: list[tuple[int, int]] = []
    for start, end in spans:
        before = out[-1] if out else (0, 0)
        gap = start - 1 if start - before[1] == 1 else -1
        loose = written and gap >= 0 and _is_generated(textpage, gap)
        if (gap in cuts and (loose or _NO_BEGINNING.match(text, start))) or (
            loose and end in cuts and _ALONE.fullmatch(text, start, end) and text[before[1] - 1].islower()
        ):
            out[-1] = (before[0], end)
        else:
            out.append((start, end))
    return out


def _is_cut(textpage: PdfTextPage, text: str, place: int) -> bool:
    """Whether the space at `place` is between one glyph for two letters and a small letter."""
    return text[place + 1].islower() and _box(textpage, place - 2) == _box(textpage, place - 1)


def _writes_spaces(textpage: PdfTextPage, text: str) -> bool:
    spaces = [match.start() for match in re.finditer(" ", text)]
    sample = spaces[:: max(1, len(spaces) // _SAMPLE)]
    return 2 * sum(_is_generated(textpage, place) for place in sample) < len(sample)


def _is_generated(textpage: PdfTextPage, place: int) -> bool:
    return pdfium_c.FPDFText_IsGenerated(textpage.raw, place) == 1


def _box(textpage: PdfTextPage, place: int) -> tuple[float, float]:
    rect = pdfium_c.FS_RECTF()
    pdfium_c.FPDFText_GetLooseCharBox(textpage.raw, place, ctypes.byref(rect))
    return rect.left, rect.right
