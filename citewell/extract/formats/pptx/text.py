"""DrawingML text: paragraphs with their level, bullet and links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.extract.core.numbering import formatted
from citewell.extract.core.raised import raised
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.equations import equation_text
from citewell.extract.formats.ooxml.graphics import chosen
from citewell.extract.formats.ooxml.package import Relationship, attribute, child
from citewell.types import JsonValue

_NUMBER_STYLES = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "arabic": "decimal",
}


@dataclass(frozen=True, slots=True)
class TextParagraph:
    """One paragraph. `bullet` is True or False if the paragraph specifies it, None if its placeholder does."""

    text: str
    level: int
    bullet: bool | None
    links: list[JsonValue]


def read_paragraphs(body: XmlElement, relationships: dict[str, Relationship]) -> Iterator[TextParagraph]:
    """Yields the paragraphs of a `txBody` that have text, with automatic numbers counted."""
    counts: dict[int, int] = {}
    for element in body:
        if local_name(element) != "p":
            continue
        properties = child(element, "pPr")
        depth = (attribute(properties, "lvl") or "0") if properties is not None else "0"
        level = int(depth) if depth.isdigit() and len(depth) < 3 else 0
        links: list[JsonValue] = []
        text = _text(element, relationships, links)
        if not text:
            continue
        numbering = child(properties, "buAutoNum")
        counts = {
            key: count for key, count in counts.items() if key < level or (key == level and numbering is not None)
        }
        if numbering is not None:
            start = attribute(numbering, "startAt") or ""
            counts[level] = counts.get(level, (int(start) if start.isdigit() else 1) - 1) + 1
            text = f"{_label(counts[level], attribute(numbering, 'type') or '')} {text}"
        yield TextParagraph(text, level, _bullet(properties), links)


def plain_text(body: XmlElement | None, relationships: dict[str, Relationship]) -> str:
    """Returns all paragraphs of a `txBody`, a line each."""
    return "\n".join(paragraph.text for paragraph in read_paragraphs(body, relationships)) if body is not None else ""


def _text(element: XmlElement, relationships: dict[str, Relationship], links: list[JsonValue]) -> str:
    parts: list[str] = []
    for inner in element:
        name = local_name(inner)
        if name in ("r", "fld"):
            run = "".join(piece.text or "" for piece in inner if local_name(piece) == "t")
            _collect_link(inner, run, relationships, links)
            shown = raised(run) if _is_raised(inner) else run
            parts.append(shown.replace("\x0b", "\n"))
        elif name == "br":
            parts.append("\n")
        elif name == "AlternateContent":
            parts.append(_text(chosen(inner), relationships, links))
        elif name == "m":
            parts += [equation_text(math) for math in inner if local_name(math) in ("oMath", "oMathPara")]
    return "\n".join(line.strip() for line in "".join(parts).split("\n")).strip()


def _is_raised(run: XmlElement) -> bool:
    """Whether a run is above the baseline, by a positive percentage of the font size (ECMA-376 part 1, 21.1.2.3.9)."""
    properties = child(run, "rPr")
    offset = (attribute(properties, "baseline") or "0") if properties is not None else "0"
    return not offset.startswith("-") and any(digit in "123456789" for digit in offset)


def _collect_link(run: XmlElement, text: str, relationships: dict[str, Relationship], links: list[JsonValue]) -> None:
    click = child(run, "rPr", "hlinkClick")
    target = relationships.get(attribute(click, "id") or "") if click is not None else None
    if (
        target is not None
        and target.external
        and not target.target.lower().startswith(("javascript:", "file:", "data:"))
    ):
        links.append({"text": text.strip()[:200], "href": target.target[:2000]})


def _bullet(properties: XmlElement | None) -> bool | None:
    for element in properties if properties is not None else ():
        name = local_name(element)
        if name == "buNone":
            return False
        if name in ("buChar", "buAutoNum", "buBlip"):
            return True
    return None


def _label(number: int, kind: str) -> str:
    """Formats an automatic number: `arabicPeriod` → `1.`, `alphaLcParenBoth` → `(a)`, `romanUcParenR` → `I)`."""
    style = next((word for prefix, word in _NUMBER_STYLES.items() if kind.startswith(prefix)), "decimal")
    text = formatted(number, style)
    if kind.endswith("ParenBoth"):
        return f"({text})"
    if kind.endswith("ParenR"):
        return f"{text})"
    return text if kind.endswith(("Plain", "Minus")) else f"{text}."
