"""Opening a PDF: password, damage and page limits turned into our errors; what the file says about itself."""

from __future__ import annotations

import ctypes
import logging
import re
from pathlib import Path

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfDocument, PdfFormEnv, PdfiumError

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.types import ExtractOptions

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
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_DATES = ("created", "modified")
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?'?)?")


def open_document(path: Path, options: ExtractOptions) -> PdfDocument:
    """The opened document; raises `PasswordRequired`, `WrongPassword`, `CorruptFile` or `LimitExceeded`."""
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
    """What reading form fields needs; None when the document has no form, or a damaged one."""
    logging.getLogger("pypdfium2").setLevel(logging.ERROR)
    try:
        document.init_forms()
    except PdfiumError:
        return None
    return document.formenv


def describe(document: PdfDocument) -> dict[str, object]:
    """Pages and their labels, title, author, dates (ISO 8601) and producer, as far as the file tells them."""
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
    """The language that the document declares, as a BCP 47 tag."""
    needed = pdfium_c.FPDFCatalog_GetLanguage(document.raw, None, 0)
    if not 2 < needed <= _MAX_LANGUAGE:
        return None
    buffer = (ctypes.c_ushort * (needed // 2))()
    pdfium_c.FPDFCatalog_GetLanguage(document.raw, buffer, needed)
    tag = bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00").strip()
    return tag if _LANGUAGE.fullmatch(tag) else None


def iso_date(value: str) -> str:
    """A PDF date (`D:20240131120000+01'00'`, ISO 32000-1, 7.9.4) as ISO 8601; other text is returned as it is."""
    match = _DATE.match(value.strip())
    if not match:
        return value
    year, month, day, hour, minute, second, zulu, sign, zone_hours, zone_minutes = match.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return date
    zone = "+00:00" if zulu else f"{sign}{zone_hours}:{zone_minutes or '00'}" if sign else ""
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"
