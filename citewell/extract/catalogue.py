"""The catalogue of known formats: name, media type, category, reader and extensions. Data only; `detect.py` decides."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.types import Category


@dataclass(frozen=True, slots=True)
class Format:
    """One file format. `extractor` names its reader in `registry.py`; None stores the file unread.

    loose: any text could be in this format (plain text, Markdown, source code, delimited rows), so content alone cannot
    tell it from another loose format, and the extension may decide between them.
    """

    label: str
    name: str
    mime_type: str
    category: Category
    extractor: str | None
    extensions: tuple[str, ...]
    loose: bool = False


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"
_CODE_EXTENSIONS = (
    "asm bash bat c cc clj cmake cmd cpp cs css cxx dart diff dockerfile elm erl ex exs f90 fs go gradle graphql groovy h hcl hh hpp hs "
    "ini ipp java jl js jsx kt kts less lua m makefile mjs mm nim nix pas patch php pl pm proto ps1 py pyi pyx r rb rs sass scala "
    "scss sh sol sql swift tcl tf toml ts tsx v vb vbs vhd vue yaml yml zig zsh"
)

RAG, DATA, IMAGE, VIDEO, BINARY = Category.RAG, Category.DATA, Category.IMAGE, Category.VIDEO, Category.BINARY

_FORMATS = (
    Format("pdf", "PDF", "application/pdf", RAG, "pdf", ("pdf",)),
    Format("docx", "Word", f"{_OOXML}.wordprocessingml.document", RAG, "docx", ("docx", "docm", "dotx", "dotm")),
    Format(
        "pptx",
        "PowerPoint",
        f"{_OOXML}.presentationml.presentation",
        RAG,
        "pptx",
        ("pptx", "pptm", "ppsx", "ppsm", "potx"),
    ),
    Format("xlsx", "Excel", f"{_OOXML}.spreadsheetml.sheet", DATA, "spreadsheet", ("xlsx", "xltx")),
    Format(
        "xlsm",
        "Excel with macros",
        "application/vnd.ms-excel.sheet.macroenabled.12",
        DATA,
        "spreadsheet",
        ("xlsm", "xltm"),
    ),
    Format(
        "xlsb", "Excel binary", "application/vnd.ms-excel.sheet.binary.macroenabled.12", DATA, "spreadsheet", ("xlsb",)
    ),
    Format("xls", "Excel 97", "application/vnd.ms-excel", DATA, "spreadsheet", ("xls", "xlt")),
    Format("spreadsheetml", "Excel 2003 XML", "application/vnd.ms-excel", DATA, "spreadsheet_xml", ()),
    Format("doc", "Word 97", "application/msword", RAG, "word97", ("doc", "dot")),
    Format("ppt", "PowerPoint 97", "application/vnd.ms-powerpoint", RAG, "powerpoint97", ("ppt", "pps", "pot")),
    Format("odt", "OpenDocument text", f"{_ODF}.text", RAG, "opendocument", ("odt", "ott")),
    Format("odp", "OpenDocument slides", f"{_ODF}.presentation", RAG, "opendocument", ("odp", "otp")),
    Format("ods", "OpenDocument sheet", f"{_ODF}.spreadsheet", DATA, "spreadsheet", ("ods", "ots")),
    Format("epub", "EPUB", "application/epub+zip", RAG, "epub", ("epub",)),
    Format("rtf", "RTF", "application/rtf", RAG, "rtf", ("rtf",)),
    Format("msg", "Outlook message", "application/vnd.ms-outlook", RAG, "msg", ("msg",)),
    Format("eml", "email", "message/rfc822", RAG, "mail", ("eml", "mht", "mhtml")),
    Format("mbox", "mailbox", "application/mbox", RAG, "mail", ("mbox", "mbx")),
    Format("html", "HTML", "text/html", RAG, "html", ("html", "htm", "xhtml")),
    Format("svg", "SVG", "image/svg+xml", RAG, "svg", ("svg",)),
    Format(
        "xml",
        "XML",
        "application/xml",
        RAG,
        "xml",
        ("xml", "nxml", "xsd", "xsl", "xslt", "rss", "atom", "rdf", "plist"),
    ),
    Format("ipynb", "Jupyter notebook", "application/x-ipynb+json", RAG, "notebook", ("ipynb",)),
    Format("json", "JSON", "application/json", DATA, "json", ("json", "geojson", "jsonld")),
    Format("ndjson", "JSON lines", "application/x-ndjson", DATA, "json", ("ndjson", "jsonl")),
    Format("parquet", "Parquet", "application/vnd.apache.parquet", DATA, "parquet", ("parquet", "pq")),
    Format("csv", "CSV", "text/csv", DATA, "delimited", ("csv",), loose=True),
    Format("tsv", "TSV", "text/tab-separated-values", DATA, "delimited", ("tsv", "tab"), loose=True),
    Format("markdown", "Markdown", "text/markdown", RAG, "markdown", ("md", "markdown", "mdx"), loose=True),
    Format(
        "txt",
        "plain text",
        "text/plain",
        RAG,
        "plain",
        ("txt", "text", "log", "rst", "adoc", "asciidoc", "org", "tex", "conf", "cfg"),
        loose=True,
    ),
    Format("transcript", "transcript", "text/vtt", RAG, "transcript", ("vtt", "srt"), loose=True),
    Format("code", "source code", "text/x-source-code", RAG, "code", tuple(_CODE_EXTENSIONS.split()), loose=True),
    Format("png", "PNG", "image/png", IMAGE, "image", ("png", "apng")),
    Format("jpeg", "JPEG", "image/jpeg", IMAGE, "image", ("jpg", "jpeg", "jpe", "jfif")),
    Format("gif", "GIF", "image/gif", IMAGE, "image", ("gif",)),
    Format("bmp", "BMP", "image/bmp", IMAGE, "image", ("bmp", "dib")),
    Format("tiff", "TIFF", "image/tiff", IMAGE, "image", ("tif", "tiff")),
    Format("webp", "WebP", "image/webp", IMAGE, "image", ("webp",)),
    Format("heif", "HEIF", "image/heic", IMAGE, "image", ("heic", "heif", "hif")),
    Format("avif", "AVIF", "image/avif", IMAGE, "image", ("avif",)),
    Format("jp2", "JPEG 2000", "image/jp2", IMAGE, "image", ("jp2", "j2k", "jpx")),
    Format("ico", "icon", "image/x-icon", IMAGE, "image", ("ico",)),
    Format("mp4", "MP4 video", "video/mp4", VIDEO, "video", ("mp4", "m4v")),
    Format("mov", "QuickTime video", "video/quicktime", VIDEO, "video", ("mov", "qt")),
    Format("webm", "WebM video", "video/webm", VIDEO, "video", ("webm",)),
    Format("mkv", "Matroska video", "video/x-matroska", VIDEO, "video", ("mkv",)),
    Format("avi", "AVI video", "video/x-msvideo", VIDEO, "video", ("avi",)),
    Format("mpeg", "MPEG video", "video/mpeg", VIDEO, "video", ("mpg", "mpeg")),
    Format("zip", "ZIP", "application/zip", BINARY, "archive", ("zip", "zipx", "jar", "kmz")),
    Format("tar", "TAR", "application/x-tar", BINARY, "archive", ("tar",)),
    Format("gzip", "GZIP", "application/gzip", BINARY, "archive", ("gz", "tgz")),
    Format("bzip2", "BZIP2", "application/x-bzip2", BINARY, "archive", ("bz2", "tbz2")),
    Format("xz", "XZ", "application/x-xz", BINARY, "archive", ("xz", "txz")),
    Format("zstd", "Zstandard", "application/zstd", BINARY, None, ("zst",)),
    Format("7z", "7-Zip", "application/x-7z-compressed", BINARY, None, ("7z",)),
    Format("rar", "RAR", "application/vnd.rar", BINARY, None, ("rar",)),
    Format("cab", "Cabinet", "application/vnd.ms-cab-compressed", BINARY, None, ("cab",)),
    Format("sqlite", "SQLite", "application/vnd.sqlite3", BINARY, None, ("db", "sqlite", "sqlite3")),
    Format("compress", "compress", "application/x-compress", BINARY, None, ("z",)),
    Format("chm", "Compiled HTML help", "application/vnd.ms-htmlhelp", BINARY, None, ("chm",)),
    Format("ole", "OLE compound file", "application/x-ole-storage", BINARY, None, ()),
    Format("exe", "Windows program", "application/vnd.microsoft.portable-executable", BINARY, None, ("exe", "dll")),
    Format("mp3", "MP3", "audio/mpeg", BINARY, None, ("mp3",)),
    Format("empty", "empty file", "application/x-empty", Category.UNKNOWN, None, ()),
)

FORMATS: dict[str, Format] = {known.label: known for known in _FORMATS}
BY_EXTENSION: dict[str, Format] = {extension: known for known in _FORMATS for extension in known.extensions}


def extension_of(filename: str) -> str:
    """Returns the last extension, lowercase, without dot; a bare `Makefile` or `Dockerfile` is its own extension."""
    name = filename.replace("\\", "/").rsplit("/", 1)[-1].lower()
    stem, dot, extension = name.rpartition(".")
    if dot and stem:
        return extension
    return name if name in BY_EXTENSION else ""
