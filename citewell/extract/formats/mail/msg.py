"""Outlook messages ([MS-OXMSG]): header fields, body and attachments from the property streams of an OLE file."""

from __future__ import annotations

import struct
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.parser import HeaderParser
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.compound import CompoundFile
from citewell.extract.core.damage import RECORD_DAMAGE
from citewell.extract.core.decode import decode_bytes, is_usable
from citewell.extract.core.names import safe_name
from citewell.extract.core.outline import Outline
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.reader import declared_charset
from citewell.extract.formats.mail.compressed_rtf import decompressed, wrapped_html
from citewell.extract.formats.mail.parts import MailBody, decoded_header
from citewell.types import JsonValue

_MAX_NESTING = 4
_TEXT, _BYTES, _UNICODE = "001E", "0102", "001F"
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = "0C1A", "0C1F", "5D01"
_TO, _CC, _BCC = "0E04", "0E03", "0E02"
_NAME_LONG, _NAME_SHORT, _NAME_SHOWN, _DATA, _CONTENT_ID = "3707", "3704", "3001", "3701", "3712"
_SENT, _DELIVERED = 0x0039, 0x0E06
_CODEPAGE, _HTML_CODEPAGE = 0x3FFD, 0x3FDE
_CODEPAGES = {
    65001: "utf-8",
    20127: "cp1252",
    28591: "cp1252",
    936: "gb18030",
    20936: "gb18030",
    50220: "iso2022_jp",
    51932: "euc_jp",
    51949: "euc_kr",
    20866: "koi8_r",
    1200: "utf-16-le",
}


def extract(path: Path, sink: Sink) -> None:
    """Reads a message. Raises `CorruptFile` if the container or its main properties are damaged."""
    try:
        with CompoundFile(path) as compound:
            sink.start_unit("file", 1)
            _read(_Message(compound, ""), sink)
    except RECORD_DAMAGE as error:
        raise CorruptFile("The Outlook message is damaged.") from error


def _read(message: _Message, sink: Sink) -> None:
    outline = Outline()
    body = MailBody(sink, outline)
    fields = message.fields()
    sink.metadata.update(fields)
    body.header(fields)
    html = message.html()
    if html:
        body.add_html(html)
    text = message.text(_BODY)
    if text:
        body.add_plain(text)
    elif not html:
        rtf = message.rtf()
        wrapped = wrapped_html(rtf)
        if wrapped is not None:
            body.add_html(wrapped)
        elif rtf:
            body.add_rtf(rtf)
    shown = [attachment for attachment in message.attachments() if body.mentions(attachment.text(_CONTENT_ID))]
    for attachment in shown:
        body.add_picture(attachment.data(_DATA) or b"", attachment.filename())
    body.write()
    for attachment in message.attachments():
        if not body.mentions(attachment.text(_CONTENT_ID)):
            _attach(attachment, body, sink)


def _attach(attachment: _Message, body: MailBody, sink: Sink) -> None:
    """Adds a file, or a message stored in Outlook's own form, as a child."""
    data = attachment.data(_DATA)
    if data is not None:
        body.attach(attachment.filename(), data)
    elif attachment.is_message():
        inner = attachment.inner()
        body.attach(f"{safe_name(inner.text(_SUBJECT))[:100] or 'message'}.eml", _as_eml(inner))
    else:
        sink.skip(f"The attachment {attachment.filename()} has no data.")


def _as_eml(message: _Message, depth: int = 0) -> bytes:
    """Converts a nested message to standard form, so that it can be a separate file."""
    out = EmailMessage()
    names = {"from": "From", "to": "To", "cc": "Cc", "date": "Date", "subject": "Subject", "message_id": "Message-ID"}
    for key, value in message.fields().items():
        # The standard library rejects some addresses written by Outlook; their text stays in the message's own fields.
        with suppress(ValueError, IndexError, AttributeError, MessageError):
            out[names.get(key, f"X-{key}")] = str(value)
    out.set_content(message.text(_BODY))
    html = message.html()
    if html:
        out.add_alternative(html, subtype="html")
    for attachment in message.attachments():
        data = attachment.data(_DATA)
        if data is None and attachment.is_message() and depth < _MAX_NESTING:
            out.add_attachment(
                _as_eml(attachment.inner(), depth + 1), "application", "octet-stream", filename="message.eml"
            )
        elif data is not None:
            out.add_attachment(data, "application", "octet-stream", filename=attachment.filename())
    return out.as_bytes()


class _Message:
    """The properties in one storage of the file: the message itself, an attachment, or a nested message."""

    def __init__(self, compound: CompoundFile, prefix: str) -> None:
        self._compound, self._prefix = compound, prefix
        self._fixed = self._fixed_properties()
        self._charset = _charset(self._number(_CODEPAGE)) or _charset(self._number(_HTML_CODEPAGE))

    def data(self, tag: str) -> bytes | None:
        """Returns the bytes of a binary property; None if it is missing."""
        return self._stream(tag, _BYTES)

    def text(self, tag: str) -> str:
        """Returns a text property; empty if it is missing."""
        wide = self._stream(tag, _UNICODE)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        narrow = self._stream(tag, _TEXT)
        return decode_bytes(narrow.rstrip(b"\x00"), self._charset).text if narrow else ""

    def html(self) -> str:
        """Returns the body as HTML; empty if the message has none."""
        data = self.data(_HTML)
        if data is None:
            return self.text(_HTML)
        return decode_bytes(data, declared_charset(data[:4096]) or _charset(self._number(_HTML_CODEPAGE))).text

    def rtf(self) -> bytes:
        """Returns the body as RTF; empty if the message has none."""
        data = self.data(_RTF)
        return decompressed(data) if data else b""

    def fields(self) -> dict[str, JsonValue]:
        """Returns from, to, cc, subject and date, as far as they are known."""
        headers = HeaderParser().parsestr(self.text(_HEADERS))
        name, address = self.text(_SENDER_NAME), self.text(_SENDER_SMTP) or self.text(_SENDER_ADDRESS)
        shown = f"{name} <{address}>" if name and "@" in address and address != name else name or address
        fields = {
            "from": _header(headers, "From") or shown,
            "to": _header(headers, "To") or self.text(_TO),
            "cc": _header(headers, "Cc") or self.text(_CC),
            "bcc": self.text(_BCC),
            "date": _header(headers, "Date") or self._time(_SENT) or self._time(_DELIVERED),
            "subject": self.text(_SUBJECT) or _header(headers, "Subject"),
            "message_id": _header(headers, "Message-ID"),
        }
        return {key: " ".join(value.split())[:4000] for key, value in fields.items() if value and value.strip()}

    def attachments(self) -> list[_Message]:
        """Returns the attachments of this message, in order."""
        start = f"{self._prefix}__ATTACH_VERSION1.0_".upper()
        depth = self._prefix.count("/")
        storages = {"/".join(name.split("/")[: depth + 1]) for name in self._compound.names() if name.startswith(start)}
        return [_Message(self._compound, f"{storage}/") for storage in sorted(storages)]

    def filename(self) -> str:
        """Returns the name of an attachment."""
        names = (safe_name(self.text(tag)) for tag in (_NAME_LONG, _NAME_SHORT, _NAME_SHOWN))
        return next((name for name in names if name), "attachment")

    def is_message(self) -> bool:
        """Whether an attachment is itself an Outlook message."""
        return f"{self._prefix}__SUBSTG1.0_{_DATA}000D".upper() in self._compound.names()

    def inner(self) -> _Message:
        """Returns the message inside an attachment."""
        return _Message(self._compound, f"{self._prefix}__substg1.0_{_DATA}000D/")

    def _stream(self, tag: str, kind: str) -> bytes | None:
        return self._compound.read(f"{self._prefix}__substg1.0_{tag}{kind}")

    def _fixed_properties(self) -> dict[int, bytes]:
        """Returns fixed-size properties by id, from the storage's property stream."""
        data = self._compound.read(f"{self._prefix}__properties_version1.0") or b""
        start = 8 if "__attach" in self._prefix.rstrip("/").rsplit("/", 1)[-1].lower() else 24 if self._prefix else 32
        out: dict[int, bytes] = {}
        for position in range(start, len(data) - 15, 16):
            (tag,) = struct.unpack_from("<I", data, position)
            out[tag >> 16] = data[position + 8 : position + 16]
        return out

    def _number(self, tag: int) -> int:
        return struct.unpack("<I", self._fixed[tag][:4])[0] if tag in self._fixed else 0

    def _time(self, tag: int) -> str:
        """Returns a FILETIME property (100 ns since 1601) as ISO 8601."""
        if tag not in self._fixed:
            return ""
        (ticks,) = struct.unpack("<Q", self._fixed[tag])
        try:
            return (datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)).isoformat(
                timespec="seconds"
            )
        except OverflowError:
            return ""


def _header(headers: Message, name: str) -> str:
    return decoded_header(headers.get(name))


def _charset(codepage: int) -> str | None:
    """Returns the Python encoding for a Windows code page number; None for an unknown one."""
    name = _CODEPAGES.get(codepage, f"cp{codepage}" if codepage else "")
    return name if name and is_usable(name) else None
