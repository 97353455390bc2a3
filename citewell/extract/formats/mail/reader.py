"""Email messages (EML, web archives) and mailboxes: header fields, body, and attachments as separate files."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.message import Message
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.outline import Outline
from citewell.extract.core.sink import Sink
from citewell.extract.formats.mail.parts import (
    MailBody,
    attachment_name,
    decoded_header,
    given_name,
    header_fields,
    part_text,
)

MAX_MESSAGE_BYTES = 128 * 1024 * 1024
_MAX_PARTS = 2_000
_SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
_SIGNATURES = frozenset(("application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"))


def extract(path: Path, sink: Sink) -> None:
    """Reads one message, or each message of a mailbox as a separate unit."""
    with path.open("rb") as file:
        is_mailbox = file.read(5) == b"From "
    if is_mailbox:
        _read_mailbox(path, sink)
        return
    if path.stat().st_size > MAX_MESSAGE_BYTES:
        raise CorruptFile(f"The message exceeds the limit of {MAX_MESSAGE_BYTES:,} bytes.")
    message = _parsed(path.read_bytes())
    sink.start_unit("file", 1)
    sink.metadata.update(header_fields(message))
    read_message(message, sink)


def _read_mailbox(path: Path, sink: Sink) -> None:
    count = 0
    for count, data in enumerate(split_mailbox(path), 1):
        message = _parsed(data)
        sink.start_unit("message", count, decoded_header(message.get("Subject"))[:200] or None)
        if len(data) >= MAX_MESSAGE_BYTES:
            sink.skip("The rest of a message larger than the limit.")
        read_message(message, sink)
        sink.progress(count)
    sink.metadata["messages"] = count


def split_mailbox(path: Path) -> Iterator[bytes]:
    """Yields the messages of a mailbox (RFC 4155), without their `From ` lines; `>From ` in a body is unquoted."""
    lines: list[bytes] = []
    size = 0
    after_blank = True
    with path.open("rb") as file:
        while line := file.readline(1 << 20):
            if after_blank and line.startswith(b"From ") and b":" in line:
                if lines:
                    yield b"".join(lines)
                lines, size = [], 0
            elif size < MAX_MESSAGE_BYTES:
                plain = line[1:] if line.startswith(b">From ") else line
                lines.append(plain)
                size += len(plain)
            after_blank = not line.strip()
    if lines:
        yield b"".join(lines)


def read_message(message: Message, sink: Sink) -> None:
    """Emits a message's subject, header fields and body, and adds its attachments as children."""
    outline = Outline()
    body = MailBody(sink, outline)
    body.header(header_fields(message))
    attachments: list[Message] = []
    for count, part in enumerate(_leaves(message)):
        if count >= _MAX_PARTS:
            sink.skip("Further parts of the message were skipped: there are too many.")
            break
        _read_part(part, body, attachments, sink)
    pictures = [part for part in attachments if part.get_content_maintype() == "image" and body.shows(part)]
    for part in pictures:
        body.add_picture(_payload(part), attachment_name(part))
    body.write()
    for part in attachments:
        if part not in pictures:
            body.attach(attachment_name(part), _payload(part))


def _parsed(data: bytes) -> Message:
    try:
        return message_from_bytes(data)
    except RecursionError as error:
        raise CorruptFile("The parts of the message are nested too deeply.") from error


def _read_part(part: Message, body: MailBody, attachments: list[Message], sink: Sink) -> None:
    kind = part.get_content_type()
    named = bool(given_name(part)) or part.get_content_disposition() == "attachment"
    if kind in _SMIME:
        sink.skip("The message is encrypted or sealed (S/MIME); its content cannot be read.")
    elif kind in _SIGNATURES:
        sink.skip("The message's signature.")
    elif kind == "message/rfc822":
        body.attach(attachment_name(part), _embedded(part))
    elif kind == "text/html" and not named:
        body.add_html(part_text(part))
    elif kind.startswith(("text/", "multipart/")) and not named:  # a multipart without parts is text
        body.add_plain(part_text(part))
    elif _payload(part):
        attachments.append(part)


def _leaves(message: Message) -> Iterator[Message]:
    """Yields parts with content, in order, all alternatives included (`MailBody` chooses); forwarded messages whole."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    for part in message.get_payload():
        if isinstance(part, Message):
            yield from _leaves(part)


def _payload(part: Message) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, MessageError):
        return b""
    return data if isinstance(data, bytes) else b""


def _embedded(part: Message) -> bytes:
    """Returns the bytes of a forwarded message."""
    inner = part.get_payload()
    try:
        return (
            inner[0].as_bytes()
            if isinstance(inner, list) and inner and isinstance(inner[0], Message)
            else _payload(part)
        )
    except (ValueError, LookupError, KeyError, AttributeError, UnicodeError, RecursionError):
        return _payload(part)
