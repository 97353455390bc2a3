"""What is read of one page before it becomes elements: its passages of text by direction, tables, images and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from citewell.extract.formats.pdf.annotations import Annotations
from citewell.extract.formats.pdf.furniture import Edge
from citewell.extract.formats.pdf.geometry import PageFrame
from citewell.extract.formats.pdf.images import PageImage
from citewell.extract.formats.pdf.ink import Ink
from citewell.extract.formats.pdf.lines import Line, build_runs, make_line
from citewell.extract.formats.pdf.objects import Drawing
from citewell.extract.formats.pdf.scans import OcrText
from citewell.extract.formats.pdf.tables.detect import find_tables, may_hold_tables
from citewell.extract.formats.pdf.tables.model import FoundTable
from citewell.extract.formats.pdf.turn import Turn
from citewell.extract.formats.pdf.words import Word, is_right_to_left

Beat = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one direction, in its upright frame; `runs` are what stands outside of its tables.

    ink knows where the words of the page's text layer stand; confidences is set instead for text that OCR read: one value per
    line, `Word.start` being the index of the word's line.
    """

    turn: Turn
    runs: Sequence[Line]
    right_to_left: bool
    tables: Sequence[FoundTable] = ()
    ink: Ink | None = None
    confidences: Sequence[float] | None = None

    def confidence(self, words: Sequence[Word]) -> float | None:
        """Mean confidence of these words by their length; None for text that was not read by OCR."""
        if self.confidences is None:
            return None
        weights = [(self.confidences[word.start], len(word.text)) for word in words]
        return round(sum(c * n for c, n in weights) / max(1, sum(n for _, n in weights)), 4)


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page. `text` is PDFium's own, for looking words up; `warnings` say what could not be read, `skipped` what was not."""

    number: int
    label: str | None
    frame: PageFrame | None = None
    text: str = ""
    passages: Sequence[Passage] = ()
    images: Sequence[PageImage] = ()
    notes: Annotations = Annotations()
    edges: Sequence[Edge] = ()
    skipped: Sequence[str] = field(default_factory=list[str])
    warnings: Sequence[str] = field(default_factory=list[str])


def text_passage(turn: Turn, words: list[Word], drawing: Drawing | None, ink: Ink | None = None) -> Passage:
    """The passage of upright words with its tables, looked for when the page's drawing is given."""
    right_to_left = is_right_to_left("".join([word.text for word in words]))
    runs = build_runs(words)
    if drawing is None or drawing.full:
        return Passage(turn, runs, right_to_left, ink=ink)
    lines = [turn.upright(rect) for rect in drawing.rules]
    fills = [turn.upright(rect) for rect in drawing.fills]
    tables = find_tables(words, lines, fills) if may_hold_tables(runs, lines, fills) else []
    if tables:
        taken = {id(word) for table in tables for word in table.words}
        runs = build_runs([word for word in words if id(word) not in taken])
    return Passage(turn, runs, right_to_left, tables, ink)


def ocr_passage(text: OcrText, with_tables: bool) -> Passage:
    """The passage of a scan."""
    words = [word for line in text.lines for word in line]
    runs = [make_line(line) for line in text.lines if line]
    tables = find_tables(words, [], []) if with_tables and may_hold_tables(runs, [], []) else []
    taken = {id(word) for table in tables for word in table.words}
    rest = [make_line(kept) for line in text.lines if (kept := [word for word in line if id(word) not in taken])]
    right_to_left = is_right_to_left("".join([word.text for word in words]))
    return Passage(text.turn, rest, right_to_left, tables, confidences=text.confidences)
