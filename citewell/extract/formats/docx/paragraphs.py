"""Reads a Word paragraph: its text, links, notes, comments, drawings and page breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.core.pages import Pages
from citewell.extract.core.raised import raised
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.symbols import TICKED, UNTICKED, is_symbol_font, symbol_character
from citewell.extract.formats.docx.styles import Styles, raises
from citewell.extract.formats.ooxml.equations import equation_text
from citewell.extract.formats.ooxml.graphics import chosen
from citewell.extract.formats.ooxml.package import Relationship, attribute, child, is_on, value
from citewell.types import JsonValue

# Deleted and moved-away text, field codes, ruby readings and properties are not part of the accepted text.
_LEFT_OUT = frozenset(
    (
        "del", "moveFrom", "instrText", "delText", "delInstrText", "pPr", "rPr", "sectPr", "rt", "proofErr",
        "bookmarkStart", "bookmarkEnd", "sdtPr", "sdtEndPr",
    )
)  # fmt: skip
_DRAWINGS = frozenset(("drawing", "pict", "object"))
_CHARACTERS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_HYPERLINK = re.compile(r'HYPERLINK\s+"([^"]{1,2000})"')
_MAX_LINKS = 50


@dataclass(slots=True)
class Paragraph:
    """The content of one paragraph. `first_page` and `last_page` are where its text begins and ends."""

    parts: list[str] = field(default_factory=list[str])
    links: list[JsonValue] = field(default_factory=list[JsonValue])
    footnotes: list[str] = field(default_factory=list[str])
    endnotes: list[str] = field(default_factory=list[str])
    comments: list[str] = field(default_factory=list[str])
    drawings: list[XmlElement] = field(default_factory=list[XmlElement])
    hidden: int = 0
    first_page: int = 0
    last_page: int = 0

    @property
    def text(self) -> str:
        """The text without surrounding white space or white space at line ends."""
        return "\n".join(line.strip() for line in "".join(self.parts).split("\n")).strip()


class ParagraphReader:
    """Reads paragraphs of one part, whose relationships resolve its links."""

    def __init__(self, relationships: dict[str, Relationship], pages: Pages, styles: Styles) -> None:
        self._relationships = relationships
        self._pages = pages
        self._styles = styles
        self._raised = False

    def read(self, element: XmlElement) -> Paragraph:
        """Reads one `w:p`, with revisions accepted."""
        out = Paragraph()
        if is_on(element, "pPr", "pageBreakBefore"):
            self._pages.rendered_break()
        out.first_page = out.last_page = self._pages.number
        self._children(element, out)
        return out

    def _children(self, element: XmlElement, out: Paragraph) -> None:
        for inner in element:
            name = local_name(inner)
            if name in _LEFT_OUT or not name:
                if name == "instrText":
                    self._field(inner, out)
            elif name == "r":
                self._run(inner, out)
            elif name == "hyperlink":
                self._hyperlink(inner, out)
            elif name in ("oMath", "oMathPara"):
                self._add(equation_text(inner), out)
            elif name == "AlternateContent":
                self._children(chosen(inner), out)
            else:
                self._leaf(inner, name, out)

    def _run(self, element: XmlElement, out: Paragraph) -> None:
        if is_on(child(element, "rPr"), "vanish"):
            out.hidden += sum(len(inner.text or "") for inner in element if local_name(inner) == "t")
            return
        properties = child(element, "rPr")
        own = raises(properties)
        self._raised = self._styles.raises(value(properties, "rStyle")) if own is None else own
        fonts = child(element, "rPr", "rFonts")
        font = attribute(fonts, "ascii") or "" if fonts is not None else ""
        begin = len(out.parts)
        self._children(element, out)
        if is_symbol_font(font):
            out.parts[begin:] = ["".join(_symbol_text(part, font) for part in out.parts[begin:])]
        self._raised = False

    def _leaf(self, element: XmlElement, name: str, out: Paragraph) -> None:
        if name == "t":
            text = element.text or ""
            self._add(raised(text) if self._raised else text, out)
        elif name in _CHARACTERS:
            out.parts.append(_CHARACTERS[name])
        elif name == "br":
            self._break(element, out)
        elif name == "lastRenderedPageBreak":
            self._pages.rendered_break()
        elif name == "sym":
            self._add(_symbol(element), out)
        elif name == "fldChar":
            self._add(_state(element), out)
        elif name in _DRAWINGS:
            out.drawings.append(element)
            self._pages.text()
        elif name == "footnoteReference":
            out.footnotes.append(attribute(element, "id") or "")
        elif name == "endnoteReference":
            out.endnotes.append(attribute(element, "id") or "")
        elif name == "commentReference":
            out.comments.append(attribute(element, "id") or "")
        else:
            self._children(element, out)

    def _add(self, text: str, out: Paragraph) -> None:
        if not text:
            return
        if text.strip():
            if not any(part.strip() for part in out.parts):
                out.first_page = self._pages.number
            out.last_page = self._pages.number
            self._pages.text()
        out.parts.append(text)

    def _break(self, element: XmlElement, out: Paragraph) -> None:
        if attribute(element, "type") == "page":
            self._pages.explicit_break()
        out.parts.append("\n")

    def _hyperlink(self, element: XmlElement, out: Paragraph) -> None:
        begin = len(out.parts)
        self._children(element, out)
        target = self._relationships.get(attribute(element, "id") or "")
        if target is not None and target.external:
            _link(out, target.target, "".join(out.parts[begin:]))

    def _field(self, element: XmlElement, out: Paragraph) -> None:
        match = _HYPERLINK.search(element.text or "")
        if match:
            _link(out, match.group(1), "")


def _link(out: Paragraph, target: str, text: str) -> None:
    if len(out.links) < _MAX_LINKS and not target.lower().startswith(("javascript:", "data:", "file:")):
        out.links.append({"text": " ".join(text.split())[:200], "href": target[:2000]})


def _state(field: XmlElement) -> str:
    """Returns the state of a form's box or list (ECMA-376-1, 17.16.5): a ballot box, or the entry chosen."""
    box, entries = child(field, "ffData", "checkBox"), child(field, "ffData", "ddList")
    if box is not None:
        name = "checked" if child(box, "checked") is not None else "default"
        return TICKED if is_on(box, name) else UNTICKED
    if entries is None:
        return ""
    texts = [attribute(entry, "val") or "" for entry in entries if local_name(entry) == "listEntry"]
    chosen_entry = value(entries, "result") or value(entries, "default") or "0"
    return texts[int(chosen_entry)] if chosen_entry.isdigit() and int(chosen_entry) < len(texts) else ""


def _symbol_text(text: str, font: str) -> str:
    """Returns text set in a symbol font: its boxes and letters, and what other fonts must show as it is."""
    return "".join(symbol_character(ord(c), font) if " " < c <= "ÿ" or "\uf000" <= c <= "\uf0ff" else c for c in text)


def _symbol(element: XmlElement) -> str:
    """Returns a symbol-font character (Word adds F000 to its code); empty without a Unicode equivalent."""
    code = attribute(element, "char") or ""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    if 0xF000 <= number <= 0xF0FF:
        return symbol_character(number, attribute(element, "font") or "")
    return chr(number) if 0x20 <= number < 0xD800 or 0xE000 <= number <= 0x10FFFF else ""
