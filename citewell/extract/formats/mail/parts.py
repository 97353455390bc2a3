"""Shared by all message formats: header fields as text, the choice among body alternatives, attachments."""

from __future__ import annotations

import mimetypes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message

from citewell.errors import CorruptFile
from citewell.extract.core.decode import decode_bytes
from citewell.extract.core.names import safe_name
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import XmlElement
from citewell.extract.core.sink import Sink
from citewell.extract.formats import plain
from citewell.extract.formats.html.flow import HtmlFlow
from citewell.extract.formats.html.reader import parse_html
from citewell.extract.formats.html.tables import cell_text
from citewell.extract.formats.rtf import read_rtf
from citewell.types import ElementType, JsonValue

_FIELDS = ("From", "To", "Cc", "Bcc", "Reply-To", "Date", "Subject", "Message-ID")
_SHOWN = ("From", "To", "Cc", "Bcc", "Date", "Subject")
_MAX_FIELD = 4_000


class MailBody:
    """Collects a message's body, and emits its best alternative."""

    def __init__(self, sink: Sink, outline: Outline) -> None:
        self._sink = sink
        self._outline = outline
        self._html: list[str] = []
        self._plain: list[str] = []
        self._rtf: list[bytes] = []
        self._pictures: list[tuple[bytes, str]] = []

    def header(self, fields: dict[str, JsonValue]) -> None:
        """Emits the subject as a heading, and the header fields that people read."""
        subject = str(fields.get("subject", ""))
        if subject:
            self._sink.emit(ElementType.TITLE, subject, self._outline.locator(), level=1)
            self._outline.enter(0, subject)
        lines = [f"{name}: {fields[_key(name)]}" for name in _SHOWN if fields.get(_key(name))]
        if lines:
            self._sink.emit(
                ElementType.PARAGRAPH, "\n".join(lines), self._outline.locator(), metadata={"email_header": True}
            )

    def add_html(self, text: str) -> None:
        """Adds a part of the body as HTML."""
        self._html.append(text)

    def add_plain(self, text: str) -> None:
        """Adds a part of the body as plain text."""
        self._plain.append(text)

    def add_rtf(self, data: bytes) -> None:
        """Adds the body as RTF, for a message without any other form."""
        self._rtf.append(data)

    def add_picture(self, data: bytes, name: str) -> None:
        """Adds a picture shown in the body."""
        self._pictures.append((data, name))

    def shows(self, part: Message) -> bool:
        """Whether the body shows this picture, by its content id or location; others are attachments."""
        identifiers = (str(part.get("Content-ID", "")).strip("<> "), str(part.get("Content-Location", "")).strip())
        return any(self.mentions(identifier) for identifier in identifiers)

    def mentions(self, identifier: str) -> bool:
        """Whether the HTML refers to this content id or location."""
        return bool(identifier) and any(identifier in text for text in self._html)

    def attach(self, name: str, data: bytes) -> None:
        """Adds a file as a child; beyond the limit it is noted as skipped."""
        if not data:
            self._sink.skip(f"The attachment {name} is empty.")
        elif len(self._sink.children) >= self._sink.options.max_archive_members:
            self._sink.skip(f"The attachment {name} was skipped: there are too many.")
        else:
            self._sink.add_child(name, self._outline.locator()).write_bytes(data)

    def write(self) -> None:
        """Emits the body: HTML if it is as complete as the plain text (it keeps tables and lists), else plain text."""
        html = [root for root in map(_parsed, self._html) if root is not None]
        rich = sum(len(cell_text(root)) for root in html)
        bare = sum(len(" ".join(text.split())) for text in self._plain)
        if html and rich * 2 >= bare:
            for root in html:
                HtmlFlow(self._sink, self._outline, levels=1).read(root)
        else:
            for text in self._plain:
                for _, paragraph in plain.paragraphs(text.splitlines(keepends=True)):
                    self._sink.emit(ElementType.PARAGRAPH, paragraph.replace("\r\n", "\n"), self._outline.locator())
        for data in self._rtf:
            read_rtf(data, self._sink, self._outline)
        pictures = Pictures(self._sink)
        for data, name in self._pictures:
            pictures.emit(data, name, self._outline.locator())
        pictures.finish()


def header_fields(message: Message) -> dict[str, JsonValue]:
    """Returns the header fields to keep, decoded, by lowercase name with underscores."""
    out: dict[str, JsonValue] = {}
    for name in _FIELDS:
        values = [decoded_header(value) for value in message.get_all(name, [])]
        text = ", ".join(value for value in values if value)
        if text:
            out[_key(name)] = text[:_MAX_FIELD]
    return out


def decoded_header(value: object) -> str:
    """Returns a header field's text with its encoded words (RFC 2047) decoded; damaged ones are kept as they are."""
    if value is None:
        return ""
    try:
        pieces = decode_header(str(value))
    except (HeaderParseError, ValueError, TypeError):
        return " ".join(str(value).split())
    text = "".join(
        piece if isinstance(piece, str) else decode_bytes(piece, _charset(charset)).text for piece, charset in pieces
    )
    return " ".join(text.split())


def part_text(part: Message) -> str:
    """Returns the text of a part in its declared encoding, or else the detected one."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError):
        data = None
    if not isinstance(data, bytes):
        return str(part.get_payload())
    return decode_bytes(data, _charset(part.get_content_charset())).text


def given_name(part: Message) -> str:
    """Returns the file name of a part, decoded; empty if it has none that can be read."""
    try:
        return decoded_header(part.get_filename())
    except (ValueError, TypeError, LookupError, AttributeError):
        return ""


def attachment_name(part: Message) -> str:
    """Returns a part's file name without folders, or else a name made from its type."""
    given = given_name(part)
    if not given and part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        subject = (
            decoded_header(inner[0].get("Subject")) if isinstance(inner, list) and isinstance(inner[0], Message) else ""
        )
        given = f"{subject[:100] or 'message'}.eml"
    name = safe_name(given)
    return name or f"attachment{mimetypes.guess_extension(part.get_content_type()) or ''}"


def _parsed(text: str) -> XmlElement | None:
    """Returns the tree of an HTML body; None if it has no element."""
    try:
        return parse_html(text) if text.strip() else None
    except CorruptFile:
        return None


def _key(name: str) -> str:
    return name.lower().replace("-", "_")


def _charset(name: str | None) -> str | None:
    """Returns a part's encoding; mail programs write `us-ascii` and `iso-8859-1` for Windows-1252."""
    if name is None or name.lower() in ("us-ascii", "ascii", "unknown-8bit", "default"):
        return None
    return {"iso-8859-1": "cp1252", "gb2312": "gb18030", "ks_c_5601-1987": "cp949", "shift_jis": "cp932"}.get(
        name.lower(), name
    )
