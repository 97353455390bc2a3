"""What is read of one page before it becomes elements: its runs of text by direction, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pypdfium2 import PdfDocument, PdfiumError, PdfPage

from citewell.extract.pdf.furniture import Edge, page_edges
from citewell.extract.pdf.geometry import PageFrame, page_frame
from citewell.extract.pdf.lines import Line, build_runs
from citewell.extract.pdf.objects import Drawing, read_drawing
from citewell.extract.pdf.tables.detect import find_tables, may_hold_tables
from citewell.extract.pdf.tables.model import FoundTable
from citewell.extract.pdf.turn import Turn, by_direction
from citewell.extract.pdf.words import Word, is_right_to_left, read_text, read_words


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one direction, in its upright frame; `runs` are what stands outside of its tables."""

    turn: Turn
    runs: Sequence[Line]
    right_to_left: bool
    tables: Sequence[FoundTable] = ()


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page. `text` is PDFium's own, for looking words up; `warnings` say what could not be read."""

    number: int
    label: str | None
    frame: PageFrame | None = None
    text: str = ""
    passages: Sequence[Passage] = ()
    edges: Sequence[Edge] = ()
    skipped: Sequence[str] = ()
    warnings: Sequence[str] = field(default_factory=list[str])


def read_page(document: PdfDocument, index: int, with_tables: bool = True) -> PageContent:
    """The content of a page; what fails is a warning in it."""
    number, label = index + 1, document.get_page_label(index) or None
    try:
        page = document[index]
    except PdfiumError:
        return PageContent(number, label, warnings=[f"Page {number} is damaged and could not be read."])
    try:
        return _content(page, number, label, with_tables)
    except PdfiumError:
        return PageContent(number, label, warnings=[f"The text of page {number} could not be read."])
    finally:
        page.close()


def _content(page: PdfPage, number: int, label: str | None, with_tables: bool) -> PageContent:
    frame = page_frame(page)
    textpage = page.get_textpage()
    try:
        text = read_text(textpage)
        words = read_words(textpage, text, frame)
    finally:
        textpage.close()
    width, height = frame.width, frame.height
    shown = [word for word in words if word.x1 > 0 and word.y1 > 0 and word.x0 < width and word.y0 < height]
    hidden = len(words) - len(shown)
    drawing = read_drawing(page, frame) if with_tables and shown else Drawing()
    passages = [
        _passage(turn, members, drawing if with_tables and not i else None)
        for i, (turn, members) in enumerate(by_direction(shown))
    ]
    edges = page_edges(passages[0].runs, frame.height) if passages and passages[0].turn.angle == 0 else []
    skipped = [f"{hidden} words outside the visible page"] if hidden else []
    return PageContent(number, label, frame, text, passages, edges, skipped)


def _passage(turn: Turn, words: list[Word], drawing: Drawing | None) -> Passage:
    """The passage with its tables, looked for when the page's drawing is given."""
    right_to_left = is_right_to_left("".join([word.text for word in words]))
    runs = build_runs(words)
    if drawing is None or drawing.full:
        return Passage(turn, runs, right_to_left)
    lines = [turn.upright(rect) for rect in drawing.rules]
    fills = [turn.upright(rect) for rect in drawing.fills]
    tables = find_tables(words, lines, fills) if may_hold_tables(runs, lines, fills) else []
    if tables:
        taken = {id(word) for table in tables for word in table.words}
        runs = build_runs([word for word in words if id(word) not in taken])
    return Passage(turn, runs, right_to_left, tables)
