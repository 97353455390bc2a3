"""The words of a page with their rectangles, read through PDFium's text page."""

from __future__ import annotations

import ctypes
import re
from typing import NamedTuple

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfTextPage

from citewell.extract.pdf.geometry import PageFrame, Rect

_WORD = re.compile(r"[^\s。！？]+[。！？]*|[。！？]+")
_NEWLINE = re.compile(r"[\r\n]")


class Word(NamedTuple):
    """A run of characters without white space, on one line.

    start, end:    character offsets in PDFium's text page
    space_before:  whether white space stands between it and the word before
    breaks:        whether PDFium starts a new line with it
    size:          height of the font's box in points
    """

    text: str
    rect: Rect
    start: int
    end: int
    space_before: bool
    breaks: bool
    size: float


def read_text(textpage: PdfTextPage) -> str:
    """All characters of the page; offset i is PDFium's character i."""
    count = pdfium_c.FPDFText_CountChars(textpage.raw)
    if count <= 0:
        return ""
    buffer = (ctypes.c_uint16 * (count + 1))()
    written = pdfium_c.FPDFText_GetText(textpage.raw, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    return "".join(_character(pdfium_c.FPDFText_GetUnicode(textpage.raw, i)) for i in range(count))


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "\ufffd"


def read_words(textpage: PdfTextPage, frame: PageFrame) -> list[Word]:
    """The page's words in the order of its content stream."""
    text = read_text(textpage)
    words: list[Word] = []
    box = pdfium_c.FS_RECTF()
    pointer = ctypes.byref(box)
    read_box = pdfium_c.FPDFText_GetLooseCharBox
    previous = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        read_box(textpage.raw, start, pointer)
        rect = frame.rect(box.left, box.bottom, box.right, box.top)
        if end - start > 1:
            read_box(textpage.raw, end - 1, pointer)
            rect = rect.union(frame.rect(box.left, box.bottom, box.right, box.top))
        between = text[previous:start]
        words.append(Word(match.group(), rect, start, end, bool(between), bool(_NEWLINE.search(between)), rect.height))
        previous = end
    return words
