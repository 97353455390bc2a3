"""The PDFium functions called once per word: the same symbols with handles as plain integers, at half the cost."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import cast

import pypdfium2.raw as pdfium_c

_VOID = ctypes.c_void_p
_INT = ctypes.c_int


def _typed(symbol: object, result: object, *arguments: object) -> Callable[..., int]:
    address = ctypes.cast(symbol, _VOID).value  # pyright: ignore[reportArgumentType]
    return ctypes.CFUNCTYPE(result, *arguments)(address)  # pyright: ignore[reportArgumentType, reportCallIssue]


loose_char_box = _typed(pdfium_c.FPDFText_GetLooseCharBox, _INT, _VOID, _INT, _VOID)
"""(textpage, character, address of 4 floats: left, top, right, bottom) → success."""

char_box = _typed(pdfium_c.FPDFText_GetCharBox, _INT, _VOID, _INT, _VOID, _VOID, _VOID, _VOID)
"""(textpage, character, addresses of 4 doubles: left, right, bottom, top) → success; around the glyph."""

count_rects = _typed(pdfium_c.FPDFText_CountRects, _INT, _VOID, _INT, _INT)
"""(textpage, first character, count) → number of rectangles around their glyphs, one per text object."""

text_rect = _typed(pdfium_c.FPDFText_GetRect, _INT, _VOID, _INT, _VOID, _VOID, _VOID, _VOID)
"""(textpage, index among those last counted, addresses of 4 doubles: left, top, right, bottom) → success."""

char_matrix = _typed(pdfium_c.FPDFText_GetMatrix, _INT, _VOID, _INT, _VOID)
"""(textpage, character, address of 6 floats) → success."""

text_object = _typed(pdfium_c.FPDFText_GetTextObject, _VOID, _VOID, _INT)
"""(textpage, character) → address of the text object, or None."""

text_size = _typed(pdfium_c.FPDFTextObj_GetFontSize, _INT, _VOID, _VOID)
"""(text object, address of a float) → success."""

object_font = _typed(pdfium_c.FPDFTextObj_GetFont, _VOID, _VOID)
"""(text object) → address of its font, or None."""

font_name = _typed(pdfium_c.FPDFFont_GetBaseFontName, ctypes.c_size_t, _VOID, _VOID, ctypes.c_size_t)
"""(font, buffer, its size) → bytes needed, with the final NUL."""

font_flags = _typed(pdfium_c.FPDFFont_GetFlags, _INT, _VOID)
"""(font) → flags of its descriptor (ISO 32000-1, table 123), -1 on failure."""

font_weight = _typed(pdfium_c.FPDFFont_GetWeight, _INT, _VOID)
"""(font) → weight as estimated from its descriptor, -1 on failure."""

font_ascent = _typed(pdfium_c.FPDFFont_GetAscent, _INT, _VOID, ctypes.c_float, _VOID)
"""(font, size, address of a float) → success; points above the baseline."""

font_descent = _typed(pdfium_c.FPDFFont_GetDescent, _INT, _VOID, ctypes.c_float, _VOID)
"""(font, size, address of a float) → success; points below the baseline, negative."""

count_objects = _typed(pdfium_c.FPDFPage_CountObjects, _INT, _VOID)
"""(page) → number of its objects, those inside forms not counted."""

page_object = _typed(pdfium_c.FPDFPage_GetObject, _VOID, _VOID, _INT)
"""(page, index) → address of the object, or None."""

render_mode = _typed(pdfium_c.FPDFTextObj_GetTextRenderMode, _INT, _VOID)
"""(text object) → how it is drawn (ISO 32000-1, table 106)."""

fill_color = _typed(pdfium_c.FPDFPageObj_GetFillColor, _INT, _VOID, _VOID, _VOID, _VOID, _VOID)
"""(object, addresses of 4 unsigned integers: red, green, blue, alpha) → success."""

count_marks = _typed(pdfium_c.FPDFPageObj_CountMarks, _INT, _VOID)
"""(object) → number of its content marks."""

object_mark = _typed(pdfium_c.FPDFPageObj_GetMark, _VOID, _VOID, ctypes.c_ulong)
"""(object, index) → address of the mark, or None."""

mark_name = _typed(pdfium_c.FPDFPageObjMark_GetName, _INT, _VOID, _VOID, ctypes.c_ulong, _VOID)
"""(mark, buffer, its size, address of the bytes written) → success; UTF-16 with the final NUL."""

set_active = _typed(pdfium_c.FPDFPageObj_SetIsActive, _INT, _VOID, _INT)
"""(object, 0 or 1) → success; one that is not active is not drawn."""


def handle(value: object) -> int:
    """Returns the address in a PDFium handle."""
    return cast(int, ctypes.cast(value, _VOID).value)  # pyright: ignore[reportArgumentType]
