"""Names that say nothing of a document or picture: of files inside it, of programs' defaults, of nothing."""

from __future__ import annotations

import re

_MAX_NAME = 255
_EXTENSION = r"\.(?:docx?|dotx?|xlsx?|pptx?|pdf|odt|ods|odp|rtf|txt|md|html?|indd|qxd|tex|dvi|ps|eps|ai|psd|pub|pages|key|numbers|csv|xml|vsdx?)"
_PICTURE_FILE = re.compile(
    r"\S.{0,200}\.(?:png|apng|jpe?g|jfif|gif|bmp|dib|tiff?|webp|svg|emf|wmf|heic|heif|avif|ico|jp2|eps|psd|pict?)(?:[?#]\S*)?",
    re.IGNORECASE,
)
_COUNTED_PICTURE = re.compile(
    r"(?:img|image|dsc[nf]?|pict?|picture|photo|foto|bild|grafik|figure|screenshot|scan)[-_ ]?\d+", re.I
)
# What programs write where the author gave no title, in their languages; a bracket around all of it says the same.
_UNTITLED = re.compile(
    r"[(\[<][^()\[\]<>]*[)\]>]|(?:untitled|unnamed|unbenannt|ohne titel|sans titre|sin t[ií]tulo|sem t[ií]tulo|senza titolo|naamloos|zonder titel"
    r"|utan titel|namnl[oö]s|bez (?:tytułu|n[áa]zvu)|без (?:имени|названия)|無題|无标题|未命名|제목 없음)(?:[\s\-_]*(?:document|dokument)?[\s\-_]*\d*)?"
    r"|(?:document|dokument|documento|doc|presentation|pr[äé]sentation|presentaci[oó]n|presentazione|book|mappe|classeur|libro|slide|folie"
    r"|diapositiva|sheet|tabelle|title|titel|titre|t[ií]tulo|titolo|new|temp|print|anonymous|none|null|n/a)[\s\-_]*\d*",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"microsoft (?:office )?(?:word|powerpoint|excel|publisher|visio|outlook)\s*[-–—].*"
    r"|(?=.*powerpoint)(?=.*(?:pr[eéä][sz]|през|プレゼン|演示|簡報|프레젠)).{0,50}",
    re.IGNORECASE,
)
_FILE = re.compile(rf"\S.*{_EXTENSION}|(?:[a-z]:\\|file:|https?:|about:|/)\S.*", re.IGNORECASE)


def safe_name(name: str) -> str:
    """Returns a file name without folders or control characters, at most 255 characters; may be empty."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable()).strip(" .")[-_MAX_NAME:]


def own_title(title: object) -> str | None:
    """Returns a document's title; None for what programs write without one: `untitled`, `PowerPoint Presentation`, a file's name."""
    text = " ".join(title.split()) if isinstance(title, str) else ""
    if not any(map(str.isalnum, text)) or any(named.fullmatch(text) for named in (_UNTITLED, _PROGRAM, _FILE)):
        return None
    return text


def own_description(text: str) -> str:
    """Returns a picture's alternative text; empty if it is the name of a file or a counter of pictures."""
    text = " ".join(text.split())
    return "" if _PICTURE_FILE.fullmatch(text) or _COUNTED_PICTURE.fullmatch(text) else text
