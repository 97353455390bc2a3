"""Markdown: headings, paragraphs, lists, code and tables, each with its span in the decoded text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from citewell.extract.core.cells import CellPlacer, build_table
from citewell.extract.core.decode import decode_file
from citewell.extract.core.emission import emit_table
from citewell.extract.core.names import own_description
from citewell.extract.core.outline import Outline
from citewell.extract.core.raised import raised
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.flow import BLOCKS, HtmlFlow
from citewell.extract.formats.html.reader import parse_html
from citewell.text.lines import leads_to_value
from citewell.types import ElementType, JsonValue, Locator

MAX_MARKDOWN_BYTES = 64 * 1024 * 1024
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z][\w-]{0,40}):[ \t]*(\S.*)$", re.MULTILINE)
_RUN_IN_LEVEL = 9  # below every heading that has markup
_MAX_RUN_IN = 120  # characters of the longest line in bold that is a heading
_BELOW = ("paragraph_open", "bullet_list_open", "ordered_list_open", "table_open", "fence")
_TAG_NAME = re.compile(r"</?([A-Za-z][\w-]*)")
_TAG = re.compile(r"<[^<>]*>")
_RAISED = re.compile(r"<(?P<end>/?)sup\b[^<>]*>", re.IGNORECASE)


def extract(path: Path, sink: Sink) -> None:
    """Reads a Markdown file in any encoding."""
    decoded = decode_file(path, MAX_MARKDOWN_BYTES)
    sink.metadata |= {"encoding": decoded.encoding, "line_count": len(decoded.text.splitlines())}
    sink.start_unit("file", 1)
    if decoded.replaced:
        sink.warn(f"{decoded.replaced} characters could not be decoded as {decoded.encoding}.")
    read_markdown(decoded.text, sink, Outline())


def read_markdown(text: str, sink: Sink, outline: Outline, *, spans: bool = True) -> None:
    """Emits the elements of a Markdown text; without `spans`, their locators have no character offsets."""
    start = 0
    front_matter = _FRONT_MATTER.match(text)
    if front_matter:
        start = front_matter.end()
        sink.metadata["front_matter"] = {
            key.lower(): value.strip("\"' ")[:1000] for key, value in _FIELD.findall(front_matter.group(1))
        }
        sink.emit(
            ElementType.CODE,
            front_matter.group(1),
            Locator(char_start=front_matter.start(1), char_end=front_matter.end(1)),
        )
    parser = MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"])
    tokens = parser.parse(text[start:])
    if any(part.type.startswith("html_") for token in tokens for part in (token, *(token.children or ()))):
        sink.require("html")  # which reads it with native code
    _MarkdownReader(text, start, sink, outline, spans).read(tokens)


class _MarkdownReader:
    """Walks the token stream of one text."""

    def __init__(self, text: str, start: int, sink: Sink, outline: Outline, spans: bool) -> None:
        self._spans = spans
        self._text = text
        # markdown-it counts lines by \n alone, after converting \r\n and \r to \n.
        lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text[start:])
        self._offsets = [start, *(start + end for end in accumulate(len(line) for line in lines))]
        self._sink = sink
        self._outline = outline
        self._numbers: list[int | None] = []
        self._marker = ""

    def read(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = _closing(tokens, position, "table_close")
                self._table(tokens[position : end + 1])
                position = end
            elif (named := _run_in_heading(tokens, position)) is not None:
                self._run_in(token, named)
            else:
                self._token(token, tokens[position - 1] if position else None)
            position += 1

    def _token(self, token: Token, before: Token | None) -> None:
        if token.type in ("bullet_list_open", "ordered_list_open"):
            self._numbers.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self._numbers.pop()
        elif token.type == "list_item_open":
            self._open_item()
        elif token.type == "inline":
            self._inline(token, before)
        elif token.type in ("fence", "code_block"):
            language = token.info.split()[0] if token.info.split() else ""
            self._sink.emit(
                ElementType.CODE,
                token.content.rstrip("\n"),
                self._place(token),
                metadata={"language": language} if language else None,
            )
        elif token.type == "html_block":
            self._html(token)

    def _open_item(self) -> None:
        number = self._numbers[-1] if self._numbers else None
        self._marker = ""
        if number is not None:
            self._marker = f"{number}. "
            self._numbers[-1] = number + 1

    def _inline(self, token: Token, before: Token | None) -> None:
        text, metadata = inline_text(token)
        if not text:
            return
        if before is not None and before.type == "heading_open":
            level, text = int(before.tag[1]), " ".join(text.split())
            place = self._place(token).with_headings(self._outline.enter(level, text))
            self._sink.emit(ElementType.TITLE, text, place, level=level, metadata=metadata)
            return
        kind, level = (ElementType.LIST_ITEM, len(self._numbers)) if self._numbers else (ElementType.PARAGRAPH, None)
        self._sink.emit(kind, self._marker + text, self._place(token), level=level, metadata=metadata)
        self._marker = ""

    def _run_in(self, token: Token, named: int) -> None:
        """Emits a bold line as a heading: the token's first `named` children; the rest become a paragraph under it."""
        children = _filled(token)
        title, place = plain_inline(children[:named])[0].rstrip(" :"), self._place(token)
        rest, metadata = plain_inline(children[named:])
        above = self._outline.enter(_RUN_IN_LEVEL, title)
        self._sink.emit(ElementType.TITLE, title, place.with_headings(above), level=_RUN_IN_LEVEL)
        if rest:
            self._sink.emit(ElementType.PARAGRAPH, rest, place.with_headings(self._outline.path), metadata=metadata)

    def _table(self, tokens: list[Token]) -> None:
        placer = CellPlacer()
        header = False
        for number, token in enumerate(tokens):
            if token.type == "tr_open":
                placer.next_row()
            elif token.type in ("thead_open", "thead_close"):
                header = token.type == "thead_open"
            elif token.type in ("td_open", "th_open"):
                placer.add(inline_text(tokens[number + 1])[0], header=header)
        table = build_table(placer.cells, header_rows=1)
        if table is not None:
            emit_table(self._sink, table, self._place(tokens[0]))

    def _html(self, token: Token) -> None:
        if _TAG.sub("", token.content).strip():
            HtmlFlow(self._sink, self._outline, self._place(token)).read(parse_html(token.content))

    def _place(self, token: Token) -> Locator:
        if token.map is None or not self._spans:
            return self._outline.locator()
        last = len(self._offsets) - 1
        begin, end = self._offsets[min(token.map[0], last)], self._offsets[min(token.map[1], last)]
        block = self._text[begin:end]
        end -= len(block) - len(block.rstrip())
        return self._outline.locator(char_start=begin + len(block) - len(block.lstrip()), char_end=max(begin, end))


def inline_text(token: Token) -> tuple[str, dict[str, JsonValue]]:
    """Returns the text of an inline token without its markup, and its links."""
    return plain_inline(token.children or [])


def plain_inline(children: Sequence[Token]) -> tuple[str, dict[str, JsonValue]]:
    """Like `inline_text`, for some of an inline token's children."""
    parts: list[str] = []
    begun = 0
    links: list[JsonValue] = []
    depth = 0
    for child in children:
        if child.type in ("text", "code_inline"):
            parts.append(raised(child.content) if depth else child.content)
        elif child.type == "html_inline" and (tag := _RAISED.fullmatch(child.content)):
            depth = max(0, depth + (-1 if tag["end"] else 1))
        elif child.type in ("softbreak", "hardbreak"):
            ends = child.type == "hardbreak" or leads_to_value("".join(parts[begun:]))
            parts.append("\n" if ends else " ")
            begun = len(parts)
        elif child.type == "image":
            parts.append(own_description(child.content))
        elif child.type == "html_inline":
            parts.append(_shown(child.content))
        elif child.type == "link_open":
            links.append({"href": str(child.attrs.get("href", ""))[:2000]})
    lines = (line.strip(" \t") for line in "".join(parts).strip().split("\n"))
    return "\n".join(lines), {"links": links[:50]} if links else {}


def _shown(tag: str) -> str:
    """Returns what a page shows for an HTML tag inside a line: a line's end, a picture's description, or nothing."""
    named = _TAG_NAME.match(tag)
    name = named[1].lower() if named else ""
    if name == "img":
        picture = parse_html(tag).find(".//img")
        return f" {own_description(picture.get('alt') or '')} " if picture is not None else ""
    return "\n" if name == "br" or name in BLOCKS else ""


def _filled(token: Token) -> list[Token]:
    """Returns an inline token's children without the empty texts that the parser leaves around markup."""
    return [child for child in token.children or [] if child.content or child.type != "text"]


def _run_in_heading(tokens: list[Token], position: int) -> int | None:
    """Returns how many children of the paragraph at `position` form a bold heading line; None if there is none.

    The heading is followed by the rest of the paragraph, or by another paragraph, list or table.
    """
    children = _filled(tokens[position])
    opened = tokens[position].type == "inline" and tokens[position - 1].type == "paragraph_open"
    if not opened or tokens[position].level != 1 or not children or children[0].type != "strong_open":
        return None
    closing = next((at for at, child in enumerate(children) if child.type == "strong_close"), 0)
    if closing + 1 < len(children):
        below = children[closing + 1].type in ("softbreak", "hardbreak")
    else:
        below = position + 2 < len(tokens) and tokens[position + 2].type in _BELOW
    title = plain_inline(children[:closing])[0]
    named = 0 < len(title) <= _MAX_RUN_IN and not title.endswith((".", ",", ";", "!"))
    return closing + 1 if below and named else None


def _closing(tokens: list[Token], position: int, kind: str) -> int:
    """Returns the index of the next token of this kind; the last token if there is none."""
    return next((at for at in range(position, len(tokens)) if tokens[at].type == kind), len(tokens) - 1)
