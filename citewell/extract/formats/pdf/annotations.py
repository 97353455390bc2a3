"""Annotations and form fields of a page: comments, links, attached files, field values."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfFormEnv, PdfPage

from citewell.extract.formats.pdf.geometry import PageFrame, Rect

_COMMENTS = {
    pdfium_c.FPDF_ANNOT_TEXT: "note",
    pdfium_c.FPDF_ANNOT_FREETEXT: "text",
    pdfium_c.FPDF_ANNOT_HIGHLIGHT: "highlight",
    pdfium_c.FPDF_ANNOT_UNDERLINE: "underline",
    pdfium_c.FPDF_ANNOT_SQUIGGLY: "squiggly",
    pdfium_c.FPDF_ANNOT_STRIKEOUT: "strikeout",
    pdfium_c.FPDF_ANNOT_STAMP: "stamp",
    pdfium_c.FPDF_ANNOT_CARET: "caret",
    pdfium_c.FPDF_ANNOT_LINE: "line",
    pdfium_c.FPDF_ANNOT_SQUARE: "square",
    pdfium_c.FPDF_ANNOT_CIRCLE: "circle",
    pdfium_c.FPDF_ANNOT_POLYGON: "polygon",
    pdfium_c.FPDF_ANNOT_POLYLINE: "polyline",
    pdfium_c.FPDF_ANNOT_INK: "ink",
    pdfium_c.FPDF_ANNOT_FILEATTACHMENT: "attachment",
}
_CHECKABLE = (pdfium_c.FPDF_FORMFIELD_CHECKBOX, pdfium_c.FPDF_FORMFIELD_RADIOBUTTON)
_FILLABLE = (
    pdfium_c.FPDF_FORMFIELD_TEXTFIELD,
    pdfium_c.FPDF_FORMFIELD_COMBOBOX,
    pdfium_c.FPDF_FORMFIELD_LISTBOX,
    *_CHECKABLE,
)
_MAX_ANNOTATIONS = 5_000
"""Annotations read per page; bounds time."""
_MAX_TEXT = 64 * 1024
"""Bytes read of a comment or form field (UTF-16)."""
_SCHEMES = ("http://", "https://", "mailto:")
_LINK_LIMIT = 4_096
"""Bytes read of a link."""


@dataclass(frozen=True, slots=True)
class Comment:
    """An annotation's text, with its author and kind (`note`, `highlight`, …)."""

    rect: Rect
    text: str
    kind: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A form field. `value` is empty for one that is not filled in; `checked` is the state of a box, None for others.

    tooltip: the author's description; empty if it repeats the name
    """

    rect: Rect
    name: str
    value: str
    tooltip: str = ""
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a target outside the file."""

    rect: Rect
    url: str


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file attached to a spot on the page (a PDFium handle, valid as long as its document)."""

    rect: Rect
    handle: object


@dataclass(frozen=True, slots=True)
class Annotations:
    """All annotations of a page that carry text, links or files."""

    comments: tuple[Comment, ...] = ()
    fields: tuple[Field, ...] = ()
    links: tuple[Link, ...] = ()
    files: tuple[PinnedFile, ...] = ()


def read_annotations(page: PdfPage, frame: PageFrame, document: object, form: PdfFormEnv | None) -> Annotations:
    """Reads the annotations of a page. `document` is its PDFium handle; `form` is needed for field values."""
    comments: list[Comment] = []
    fields: list[Field] = []
    links: list[Link] = []
    files: list[PinnedFile] = []
    count = pdfium_c.FPDFPage_GetAnnotCount(page.raw)
    for index in range(min(count, _MAX_ANNOTATIONS)):
        with _annotation(page, index) as annotation:
            if annotation is None:
                continue
            kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
            rect = _rect(annotation, frame)
            if kind == pdfium_c.FPDF_ANNOT_FILEATTACHMENT:
                pinned = pdfium_c.FPDFAnnot_GetFileAttachment(annotation)
                files += [PinnedFile(rect, pinned)] if pinned else []
            if kind in _COMMENTS:
                text = _string(annotation, b"Contents").strip()
                if text:
                    comments.append(Comment(rect, text, _COMMENTS[kind], _string(annotation, b"T").strip()))
            elif kind == pdfium_c.FPDF_ANNOT_LINK:
                url = _url(document, annotation)
                links += [Link(rect, url)] if url else []
            elif kind == pdfium_c.FPDF_ANNOT_WIDGET and form is not None:
                fields += _field(form, annotation, rect)
    return Annotations(tuple(comments), tuple(fields), tuple(links), tuple(files))


@contextmanager
def _annotation(page: PdfPage, index: int) -> Generator[object | None]:
    annotation = pdfium_c.FPDFPage_GetAnnot(page.raw, index)
    if not annotation:
        yield None
        return
    try:
        yield annotation
    finally:
        pdfium_c.FPDFPage_CloseAnnot(annotation)


def _rect(annotation: object, frame: PageFrame) -> Rect:
    box = pdfium_c.FS_RECTF()
    if not pdfium_c.FPDFAnnot_GetRect(annotation, ctypes.byref(box)):
        return Rect(0, 0, 0, 0)
    return frame.rect(box.left, box.bottom, box.right, box.top)


def _wide(read: Callable[[object, int], int]) -> str:
    """Returns text from a PDFium function that fills a UTF-16 buffer and returns the bytes it needs."""
    needed = min(read(None, 0), _MAX_TEXT)
    if needed <= 2:
        return ""
    buffer = ctypes.create_string_buffer(needed)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), needed)
    return buffer.raw[: needed - needed % 2].decode("utf-16-le", "replace").split("\x00", 1)[0]


def _string(annotation: object, key: bytes) -> str:
    return _wide(lambda buffer, size: pdfium_c.FPDFAnnot_GetStringValue(annotation, key, buffer, size))


def _url(document: object, annotation: object) -> str | None:
    link = pdfium_c.FPDFAnnot_GetLink(annotation)
    action = pdfium_c.FPDFLink_GetAction(link) if link else None
    if not action or pdfium_c.FPDFAction_GetType(action) != pdfium_c.PDFACTION_URI:
        return None
    buffer = ctypes.create_string_buffer(_LINK_LIMIT)
    length = pdfium_c.FPDFAction_GetURIPath(document, action, buffer, _LINK_LIMIT)
    url = buffer.raw[: max(0, min(length, _LINK_LIMIT) - 1)].decode("utf-8", "replace").strip()
    return url if url.lower().startswith(_SCHEMES) else None


def _field(form: PdfFormEnv, annotation: object, rect: Rect) -> list[Field]:
    kind = pdfium_c.FPDFAnnot_GetFormFieldType(form.raw, annotation)
    if kind not in _FILLABLE:
        return []
    tooltip = _wide(lambda b, n: pdfium_c.FPDFAnnot_GetFormFieldAlternateName(form.raw, annotation, b, n)).strip()
    name = _wide(lambda b, n: pdfium_c.FPDFAnnot_GetFormFieldName(form.raw, annotation, b, n)).strip()
    tooltip = "" if tooltip == name else tooltip
    if kind in _CHECKABLE:
        checked = bool(pdfium_c.FPDFAnnot_IsChecked(form.raw, annotation))
        value = _wide(lambda b, n: pdfium_c.FPDFAnnot_GetFormFieldExportValue(form.raw, annotation, b, n)).strip()
        return [Field(rect, name, (value or "yes") if checked else "", tooltip, checked)]
    value = _wide(lambda b, n: pdfium_c.FPDFAnnot_GetFormFieldValue(form.raw, annotation, b, n)).strip()
    return [Field(rect, name, value, tooltip)]
