"""Files inside the file: attachments of the document (portfolios too) and of spots on its pages become files of their own."""

from __future__ import annotations

import ctypes

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfAttachment, PdfDocument, PdfiumError

from citewell.extract.core.sink import Sink
from citewell.types import Locator

_MAX_NAME = 200


class AttachmentReader:
    """Writes attachments as children, within the depth, number and size limits."""

    def __init__(self, document: PdfDocument, sink: Sink) -> None:
        self._document = document
        self._sink = sink
        self._left = sink.options.max_output_bytes

    def of_document(self) -> None:
        """Those that belong to the document as a whole."""
        count = self._document.count_attachments()
        for index in range(count):
            if not self._allowed():
                self._sink.skip(f"{count - index} attachments beyond the limits for files inside files")
                return
            self._sink.progress(0, len(self._document))
            try:
                attachment = self._document.get_attachment(index)
            except PdfiumError:
                self._sink.warn(f"Attachment {index + 1} is damaged.")
                continue
            self._write(attachment, Locator())

    def of_page(self, handle: object, locator: Locator) -> None:
        """One that is pinned to a page; `handle` is PDFium's."""
        if self._allowed():
            self._write(PdfAttachment(handle, self._document), locator)
        else:
            self._sink.skip("An attachment beyond the limits for files inside files")

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
    """The last part of the name, which is all that a name may say here."""
    last = name.replace("\\", "/").replace("\x00", "").rsplit("/", 1)[-1].strip()
    return last[:_MAX_NAME] or "attachment"
