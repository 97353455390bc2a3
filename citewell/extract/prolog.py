"""XML without its document type declaration: what declares no entity can expand none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from citewell.errors import LimitExceeded
from citewell.extract.decode import detect_encoding, file_encoding, is_usable, stream_text

MAX_PROLOG = 1024 * 1024
_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_SPACE_OR_MISC = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|\ufeff", re.DOTALL)
_DOCTYPE = re.compile(r"<!DOCTYPE\b", re.IGNORECASE)
_IN_DOCTYPE = re.compile(r"""["'\[\]>]|<!--|<\?""")
_CLOSED_BY = {'"': '"', "'": "'", "<!--": "-->", "<?": "?>"}


def xml_encoding(path: Path) -> str:
    """The encoding of an XML file: its byte order mark, what it declares (when Python knows it), else by detection."""
    with path.open("rb") as file:
        head = file.read(4096)
    detected = detect_encoding(head)
    if detected not in ("utf-8", "cp1252") and head[:1] != b"<":
        return detected
    match = _ENCODING.match(head)
    declared = match.group(1).decode("ascii") if match else ""
    return declared if declared and is_usable(declared) else file_encoding(path)


def without_doctype(text: str) -> tuple[str, bool]:
    """The beginning of an XML text without its document type declaration, and whether that declared entities.

    Raises `LimitExceeded` when the declaration does not end within `text`.
    """
    position = 0
    while match := _SPACE_OR_MISC.match(text, position):
        position = match.end()
    begin = _DOCTYPE.match(text, position)
    if begin is None:
        return text, False
    end = _doctype_end(text, begin.end())
    return text[:position] + text[end:], "<!ENTITY" in text[position:end]


def _doctype_end(text: str, position: int) -> int:
    """Where a declaration ends: the first `>` outside quotes, comments, instructions and the internal subset."""
    depth = 0
    while match := _IN_DOCTYPE.search(text, position):
        mark, position = match.group(), match.end()
        if mark in _CLOSED_BY:
            closed = text.find(_CLOSED_BY[mark], position)
            if closed < 0:
                break
            position = closed + len(_CLOSED_BY[mark])
        elif mark == "[":
            depth += 1
        elif mark == "]":
            depth -= 1
        elif depth <= 0:
            return position
    raise LimitExceeded("The document type declaration of this file has no end, or is too long.")


def xml_pieces(path: Path, encoding: str) -> Iterator[tuple[bytes, bool]]:
    """The file as UTF-8 without its document type declaration, and (with the first piece) whether entities were declared."""
    lines = stream_text(path, encoding)
    head, next_look = "", 4096
    for line in lines:
        head += line
        if len(head) > MAX_PROLOG:
            break
        if len(head) > next_look:
            if _root_found(head):
                break
            next_look = 2 * len(head)
    text, declares = without_doctype(head)
    yield text.encode("utf-8", "replace"), declares
    for line in lines:
        yield line.encode("utf-8", "replace"), False


def _root_found(head: str) -> bool:
    """Whether the prolog is over: something follows that is neither misc nor a declaration still open."""
    try:
        text, _ = without_doctype(head)
    except LimitExceeded:
        return False
    position = 0
    while match := _SPACE_OR_MISC.match(text, position):
        position = match.end()
    return bool(re.match(r"<[^!?]", text[position : position + 2]))
