"""A PDF as a whole: opening, metadata, outline, and attached files."""

from __future__ import annotations

import ctypes
import logging
import re
from pathlib import Path

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfAttachment, PdfDocument, PdfFormEnv, PdfiumError

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.structure import fold_title
from citewell.types import ExtractOptions, Locator

_FIELDS = {
    "Title": "title",
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
    "Creator": "creator",
    "Producer": "producer",
    "CreationDate": "created",
    "ModDate": "modified",
}
_MAX_LANGUAGE = 128
"""Bytes of the longest language tag (UTF-16); anything longer is ignored."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_DATES = ("created", "modified")
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?")


def open_document(path: Path, options: ExtractOptions) -> PdfDocument:
    """Opens the document; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`."""
    try:
        document = PdfDocument(path, password=options.password)
    except PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise (WrongPassword() if options.password else PasswordRequired()) from error
        raise CorruptFile() from error
    if len(document) > options.max_pages:
        pages = len(document)
        document.close()
        raise LimitExceeded(f"The file has {pages:,} pages; at most {options.max_pages:,} are read.", pages=pages)
    return document


def open_form(document: PdfDocument) -> PdfFormEnv | None:
    """Returns the environment for reading form fields; None if the document has no form, or a damaged one."""
    logging.getLogger("pypdfium2").setLevel(logging.ERROR)
    try:
        document.init_forms()
    except PdfiumError:
        return None
    return document.formenv


def describe(document: PdfDocument) -> dict[str, object]:
    """Returns pages and their labels, title, author, dates (ISO 8601) and producer, as far as the file has them."""
    found: dict[str, object] = {"pages": len(document)}
    for key, name in _FIELDS.items():
        value = document.get_metadata_value(key).strip("\x00 \t\r\n")
        if value:
            found[name] = iso_date(value) if name in _DATES else value
    labels = [document.get_page_label(index) for index in range(len(document))]
    if any(labels):
        found["page_labels"] = labels
    return found


def language(document: PdfDocument) -> str | None:
    """Returns the document's declared language as a BCP 47 tag."""
    needed = pdfium_c.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < needed <= _MAX_LANGUAGE:
        return None
    buffer = (ctypes.c_ushort * (needed // 2))()
    pdfium_c.FPDFCatalog_GetLanguage(document.raw, buffer, needed)
    tag = bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00").strip()
    return tag if _LANGUAGE.fullmatch(tag) else None


def iso_date(value: str) -> str:
    """Converts a PDF date (`D:20240131120000+01'00'`, ISO 32000-1, 7.9.4) to ISO 8601; returns other text unchanged."""
    match = _DATE.match(value.strip())
    if not match:
        return value
    year, month, day, hour, minute, second, zulu, sign, zone_hours, zone_minutes = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return date
    zone = "+00:00" if zulu else f"{sign}{zone_hours}:{zone_minutes or '00'}" if sign else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"


_MAX_DEPTH = 8
"""Outline levels read; headings have six."""
_MAX_ENTRIES = 10_000
"""Bookmarks read from the outline; bounds memory."""


def outline_depths(document: PdfDocument) -> dict[tuple[int, str], int]:
    """Returns (page, folded title) → depth, 1 for the top. A damaged outline is read as far as possible."""
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


_MAX_NAME = 200
"""Characters kept of an attachment's name."""


class AttachmentReader:
    """Writes attachments as children, within the depth, number and size limits."""

    def __init__(self, document: PdfDocument, sink: Sink) -> None:
        self._document = document
        self._sink = sink
        self._left = sink.options.max_output_bytes

    def of_document(self) -> None:
        """Writes the attachments of the document as a whole."""
        count = self._document.count_attachments()
        for index in range(count):
            if not self._allowed():
                self._sink.skip(f"{count - index} attachments beyond the limits for embedded files")
                return
            self._sink.progress(0, len(self._document))
            try:
                attachment = self._document.get_attachment(index)
            except PdfiumError:
                self._sink.warn(f"Attachment {index + 1} is damaged.")
                continue
            self._write(attachment, Locator())

    def of_page(self, handle: object, locator: Locator) -> None:
        """Writes an attachment pinned to a page; `handle` is PDFium's."""
        if self._allowed():
            self._write(PdfAttachment(handle, self._document), locator)
        else:
            self._sink.skip("An attachment beyond the limits for embedded files")

    def _allowed(self) -> bool:
        options = self._sink.options
        return options.depth < options.max_depth and len(self._sink.children) < options.max_archive_members

    def _write(self, attachment: PdfAttachment, locator: Locator) -> None:
        try:
            name = _file_name(attachment.get_name())
            size = _size(attachment.raw)
            if size > self._left:
                self._sink.skip(f"Attachment {name!r} of {size:,} bytes: larger than the limit")
                return
            data = bytes(attachment.get_data())
        except (PdfiumError, UnicodeDecodeError):
            self._sink.warn("An attachment is damaged or empty.")
            return
        self._left -= size
        self._sink.add_child(name, locator).write_bytes(data)


def _size(attachment: object) -> int:
    needed = ctypes.c_ulong()
    pdfium_c.FPDFAttachment_GetFile(attachment, None, 0, ctypes.byref(needed))
    return int(needed.value)


def _file_name(name: str) -> str:
    """Returns the last component of the name: the file must not choose folders."""
    last = name.replace("\\", "/").replace("\x00", "").rsplit("/", 1)[-1].strip()
    return last[:_MAX_NAME] or "attachment"
