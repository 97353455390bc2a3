"""Detects a file's type from its content: signatures, container members, text structure, and a content-type model."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import CorruptFile, ExtractionError
from citewell.extract.catalogue import BY_EXTENSION, FORMATS, Format, extension_of
from citewell.extract.core.compound import SIGNATURE, ole_label
from citewell.extract.core.decode import detect_encoding, is_text
from citewell.extract.core.safezip import SafeZip
from citewell.types import Category, DetectedType, ExtractOptions

_HEAD = 64 * 1024
"""Bytes read from the start of a file to detect its type."""
_JSON_CHECK_MAX = 8 * 1024 * 1024
"""Largest file, in bytes, parsed to check for JSON; the model decides for larger ones."""
_MODEL_CERTAIN = 0.8
"""Score (0 to 1) from which the content-type model overrides the file name. Set by hand."""
_MIN_ROWS = 5
"""Fewest lines of consistently delimited text, besides the last, that count as a table. Set by hand."""
_MOSTLY = 0.8
"""Share of lines with as many columns that make text under a spreadsheet's name a table. Set by hand."""

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"\xff\xd8\xff", "jpeg"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
    (0, b"II*\x00", "tiff"),
    (0, b"MM\x00*", "tiff"),
    (0, b"II+\x00", "tiff"),
    (8, b"WEBP", "webp"),
    (0, b"\x00\x00\x00\x0cjP  \r\n\x87\n", "jp2"),
    (0, b"\xff\x4f\xff\x51", "jp2"),
    (0, b"PAR1", "parquet"),
    (0, b"SQLite format 3\x00", "sqlite"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"Rar!\x1a\x07", "rar"),
    (0, b"\x1f\x8b\x08", "gzip"),
    (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\x00", "xz"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (0, b"\x1f\x9d", "compress"),
    (0, b"MSCF\x00\x00\x00\x00", "cab"),
    (257, b"ustar", "tar"),
    (0, b"{\\rtf", "rtf"),
    (0, b"ITSF", "chm"),
    (0, b"MZ", "exe"),
    (0, b"ID3", "mp3"),
)
_HEIF_BRANDS = {
    b"heic": "heif",
    b"heix": "heif",
    b"heim": "heif",
    b"heis": "heif",
    b"hevc": "heif",
    b"mif1": "heif",
    b"msf1": "heif",
    b"avif": "avif",
    b"avis": "avif",
}
_AUDIO_BRANDS = frozenset({b"M4A ", b"M4B ", b"M4P "})
_ODF_TYPES = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
    "application/epub+zip": "epub",
}
_HEADER_FIELD = re.compile(r"[!-9;-~]{1,76}:(?: |\t|\r?$)")
_MAIL_FIELDS = frozenset(
    (
        "from", "to", "cc", "subject", "date", "received", "message-id", "mime-version", "return-path", "delivered-to", "reply-to", "sender", "content-type",
    )
)  # fmt: skip
_SPREADSHEET_NAMESPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_NAMESPACES = 2_000
"""Characters of a root element in which its namespaces are looked for."""
_SHEETS = frozenset(("xls", "xlsx", "xlsm", "xlsb", "ods"))
_HTML_START = re.compile(
    r"<!doctype\s+html|<(?:html|head|body|title|meta|table|div|p|h[1-6]|ul|script|style|link)\b", re.IGNORECASE
)
_MAGIKA_LABELS = {
    "jsonl": "ndjson",
    "sevenzip": "7z",
    "pebin": "exe",
    "bzip": "bzip2",
    "outlook": "msg",
    "zst": "zstd",
    "mht": "eml",
}


def detect(path: Path, filename: str) -> DetectedType:
    """Detects the type of the file at `path` from its content; `mismatch` notes a file name that disagrees.

    Never raises because of the file's content: a damaged container keeps the type that its first bytes indicate, and
    the reader reports the damage.
    """
    named = BY_EXTENSION.get(extension_of(filename))
    with path.open("rb") as file:
        head = file.read(_HEAD)
    label = _label(path, head, named)
    known = FORMATS.get(label)
    if known is None:
        return DetectedType(
            "application/octet-stream", label, _unread_category(label), None, _mismatch(named, None, label)
        )
    return DetectedType(known.mime_type, known.label, known.category, known.extractor, _mismatch(named, known, label))


def named_type(filename: str) -> DetectedType:
    """Returns the type that a file name suggests, for a file whose content is examined later."""
    named = BY_EXTENSION.get(extension_of(filename))
    if named is None:
        return DetectedType("application/octet-stream", "unknown", Category.UNKNOWN, None)
    return DetectedType(named.mime_type, named.label, named.category, named.extractor)


def _label(path: Path, head: bytes, named: Format | None) -> str:
    if not head:
        return "empty"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_label(path)
    if head.startswith(SIGNATURE):
        return _ole_label(path, named)
    signature = _signature(head)
    if signature:
        return signature
    if is_text(head):
        return _text_label(path, head, named)
    return _binary_label(_model_guess(path))


def _binary_label(guess: _Guess) -> str:
    """The label for bytes without a signature that do not look like text; a format that we read only if the model is certain."""
    known = FORMATS.get(guess.label)
    return "unknown" if known is not None and known.extractor is not None and not guess.certain else guess.label


def _signature(head: bytes) -> str | None:
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head[4:8] == b"ftyp":
        return _iso_media(head[8:12])
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in head[:64] else "mkv"
    if head.startswith(b"RIFF") and head[8:12] == b"AVI ":
        return "avi"
    if head.startswith(b"\x00\x00\x01\xba"):
        return "mpeg"
    if (
        head.startswith(b"BM")
        and head[6:10] == b"\0\0\0\0"
        and head[14:15] in (b"\x0c", b"\x28", b"\x38", b"\x40", b"\x6c", b"\x7c")
    ):
        return "bmp"
    if head.startswith(b"\x00\x00\x01\x00") and 0 < head[4] < 64 and head[5] == 0:
        return "ico"
    return next((label for at, magic, label in _SIGNATURES if head[at : at + len(magic)] == magic), None)


def _iso_media(brand: bytes) -> str | None:
    """Tells images, QuickTime and MP4 apart by brand; None for audio, which the content-type model labels."""
    if brand in _HEIF_BRANDS:
        return _HEIF_BRANDS[brand]
    if brand in _AUDIO_BRANDS:
        return None
    return "mov" if brand == b"qt  " else "mp4"


def _zip_label(path: Path) -> str:
    """Identifies a ZIP-based format by its members; for a damaged one the model decides, so its reader reports it."""
    try:
        with SafeZip(path, ExtractOptions()) as archive:
            return _member_label(archive)
    except CorruptFile:
        guess = _model_guess(path)
        return guess.label if guess.certain and guess.label in FORMATS else "zip"
    except ExtractionError:
        return "zip"


def _member_label(archive: SafeZip) -> str:
    names = archive.names()
    if "mimetype" in archive:
        declared = archive.read("mimetype", 1024).decode("ascii", "replace").strip()
        if declared in _ODF_TYPES:
            return _ODF_TYPES[declared]
    if "[Content_Types].xml" in archive:
        folders = {name.split("/", 1)[0] for name in names if "/" in name}
        if "word" in folders:
            return "docx"
        if "ppt" in folders:
            return "pptx"
        if "xl" in folders:
            return _workbook_label(names)
    if "META-INF/container.xml" in archive and any(name.endswith(".opf") for name in names):
        return "epub"
    return "zip"


def _workbook_label(names: list[str]) -> str:
    if any(name.startswith("xl/") and name.endswith("workbook.bin") for name in names):
        return "xlsb"
    return "xlsm" if "xl/vbaProject.bin" in names else "xlsx"


def _ole_label(path: Path, named: Format | None) -> str:
    """Identifies an OLE file; for encrypted OOXML the file name decides, because the content cannot tell."""
    label = ole_label(path)
    if label == "encrypted":
        return named.label if named and named.label in ("docx", "pptx", "xlsx", "xlsm", "xlsb") else "ole"
    if label == "ole":
        guess = _model_guess(path)
        return guess.label if guess.certain and guess.label in ("doc", "xls", "ppt", "msg") else "ole"
    return label


def _text_label(path: Path, head: bytes, named: Format | None) -> str:
    """Identifies text: by structure if it has any; among loose formats by the extension, then the model."""
    text = head.decode(detect_encoding(head), "replace").lstrip("\ufeff \t\r\n")
    shaped = _markup_label(text, named) or _mail_label(text, named) or _json_label(path, text, named)
    if shaped:
        return shaped
    if (
        named and named.label in _SHEETS and (delimiter := _delimiter(text, 2, share=_MOSTLY))
    ):  # exported as text under a sheet's name
        return "tsv" if delimiter == "\t" else "csv"
    told = named.label if named and (named.loose or named.label in ("html", "eml", "mbox")) else None
    is_delimited = _delimiter(text, _MIN_ROWS + 1) is not None
    if told and not is_delimited:  # Covers most notes, and saves the model's 9 ms.
        return told
    guess = _model_guess(path)
    if is_delimited and guess.label in ("csv", "tsv") and guess.certain:
        return "tsv" if "\t" in text.split("\n", 1)[0] else "csv"
    return told or _loose_label(guess)


def _loose_label(guess: _Guess) -> str:
    if not guess.certain:
        return "txt"
    if guess.label in ("markdown", "html", "xml"):
        return guess.label
    return "code" if guess.group == "code" and guess.label not in ("csv", "tsv", "json", "xml", "ndjson") else "txt"


def _markup_label(text: str, named: Format | None) -> str | None:
    """Recognizes XML by its declaration or root element, SVG and XHTML by their root, and HTML by how it begins."""
    if not text.startswith("<"):
        return None
    body = re.sub(
        r"\A(?:\s|<\?[^>]*\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*",
        "",
        text,
        count=1,
        flags=re.DOTALL | re.IGNORECASE,
    )
    root = re.match(r"<(?:[\w.-]+:)?([\w.-]+)", body)
    name = root.group(1).lower() if root else ""
    if name == "svg":
        return "svg"
    if name == "workbook" and _SPREADSHEET_NAMESPACE in body[:_NAMESPACES]:
        return "spreadsheetml"
    if re.match(r"<!doctype\s+html", text, re.IGNORECASE) or name == "html" or _HTML_START.match(body):
        return "html"
    if text.startswith("<?xml") or re.match(r"<!DOCTYPE\s+\w", text) or (root and _is_whole_xml(text, named)):
        return "xml"
    return "html" if text.startswith("<!--") and _HTML_START.search(text) else None


def _is_whole_xml(text: str, named: Format | None) -> bool:
    """Whether text without an XML declaration is XML: by its extension, or an end tag at the end of the text read."""
    return (named is not None and named.label == "xml") or bool(re.search(r"</[\w.:-]+>\s*\Z", text))


def _mail_label(text: str, named: Format | None) -> str | None:
    """Recognizes a mailbox by its first `From ` line, and a message by several header fields specific to mail."""
    lines = text[:8192].split("\n")
    is_mailbox = lines[0].startswith("From ") and len(lines) > 1
    fields = {line.split(":", 1)[0].lower() for line in _header_lines(lines[1:] if is_mailbox else lines)}
    enough = 1 if is_mailbox or (named and named.label in ("eml", "mbox")) else 3
    if len(fields & _MAIL_FIELDS) < enough:
        return None
    return "mbox" if is_mailbox else "eml"


def _header_lines(lines: list[str]) -> list[str]:
    """Returns the header fields before the first empty line; none if a line is neither field nor continuation."""
    out: list[str] = []
    for line in lines:
        if not line.strip():
            break
        if line[0] in " \t":
            continue
        if not _HEADER_FIELD.match(line):
            return []
        out.append(line)
    return out


def _json_label(path: Path, text: str, named: Format | None) -> str | None:
    """Recognizes JSON by its first character and extension, or else by parsing it if it is small."""
    if not text.startswith(("{", "[")):
        return None
    if named and named.label in ("json", "ndjson", "ipynb"):
        return named.label
    first_lines = [line for line in text.splitlines()[:4] if line.strip()]
    if len(first_lines) > 1 and all(_parses(line) for line in first_lines[:2]):
        return "ndjson"
    if path.stat().st_size > _JSON_CHECK_MAX:
        guess = _model_guess(path)
        return guess.label if guess.certain and guess.label in ("json", "ndjson") else None
    data = path.read_bytes()
    return "json" if _parses(data.decode(detect_encoding(data), "replace").lstrip("\ufeff")) else None


def _parses(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def _delimiter(text: str, least: int, share: float = 1.0) -> str | None:
    """Returns what splits lines, at least this many, into equally many columns (this share of them), with some text in each."""
    lines = [line for line in text.split("\n")[:200] if line.strip()]
    lines = lines if text.endswith("\n") or len(text) < _HEAD // 4 else lines[:-1]  # the last may be cut off
    if len(lines) < least:
        return None
    for delimiter in ",\t;|":
        rows = list(csv.reader(lines, delimiter=delimiter))
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width > 1 and count >= share * len(rows) and all(any(row) for row in rows):
            return delimiter
    return None


def _unread_category(label: str) -> Category:
    return Category.UNKNOWN if label in ("unknown", "empty", "undefined") else Category.BINARY


def _mismatch(named: Format | None, found: Format | None, label: str) -> str | None:
    if named is None or (found is not None and (found.label == named.label or (found.loose and named.label == "txt"))):
        return None
    if found is not None and {found.label, named.label} in (
        {"eml", "mbox"},
        {"xlsx", "xlsm"},
        {"xml", "html"},
        {"xml", "spreadsheetml"},
    ):
        return None
    return f"The name says {named.name}, the content is {found.name if found else label}."


@dataclass(frozen=True, slots=True)
class _Guess:
    """The content-type model's guess: our label, its group (`code`, `text`, `image`, …) and probability."""

    label: str
    group: str
    score: float

    @property
    def certain(self) -> bool:
        return self.score >= _MODEL_CERTAIN


def _model_guess(path: Path) -> _Guess:
    from citewell.extract.content_model import content_model  # most files never need ONNX Runtime

    result = content_model().identify_path(path)
    label = str(result.output.label)
    return _Guess(_MAGIKA_LABELS.get(label, label), str(result.output.group), float(result.score))
