"""A table found on a page: cells that hold words, before it becomes an element."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.geometry import Rect, Rotation
from citewell.extract.formats.pdf.ink import Ink
from citewell.extract.formats.pdf.lines import join_row, make_line, rows
from citewell.extract.formats.pdf.running_text import RunningText, Span, join_lines
from citewell.extract.formats.pdf.words import Word

_LEADERS = re.compile(r"(?:\s*[.…·_]){3,}\s*$|\s+\.(?:\s+\.)+\s*$")
_NUMERIC = re.compile(
    r"^[\s(\[<>≤≥~±*†‡+$€£¥#-]*[–—−]?\s*[$€£¥]?\d[\d,.\s’'/:%–—−()\[\]-]*\s*(?:%|[*†‡§a-d]{0,3})[)\]]*$"
)
_NOTHING = re.compile(r"^(?:[$€£¥]\s?)?(?:[-–—−*.…]{1,6}|n/?a|na|\(?x\)?|nil|none|\.\.\.)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell by its first row and column (from 0), how many it spans, and the words in it."""

    row: int
    column: int
    words: Sequence[Word]
    rowspan: int = 1
    colspan: int = 1


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table in the upright frame of its text. `height` and `width` count rows and columns; `more` are its parts on later pages."""

    rect: Rect
    cells: Sequence[TableCell]
    height: int
    width: int
    header_rows: int
    columns: Sequence[tuple[float, float]] = ()
    more: Sequence[TablePart] = ()

    @property
    def words(self) -> list[Word]:
        """All words in it."""
        return [word for cell in self.cells for word in cell.words]


@dataclass(frozen=True, slots=True)
class TablePart:
    """The part of a table on a later page; its first `dropped` rows only repeat the header."""

    page: int
    rotation: Rotation
    table: FoundTable
    dropped: int = 0
    ink: Ink | None = None


def cell_text(words: Sequence[Word], page_text: str = "") -> str:
    """The words of a cell as text: line after line, hyphenation undone, dot leaders dropped."""
    return cell_content(words, page_text).text


def cell_content(words: Sequence[Word], page_text: str = "") -> RunningText:
    """The text of `cell_text` with its spans."""
    if not words:
        return RunningText("", [])
    lines = [join_row(row) for row in rows([make_line([word]) for word in words])]
    spaced = [line._replace(words=_ordered(line.words)) for line in lines]
    whole = join_lines(spaced, page_text)
    text = _LEADERS.sub("", whole.text).strip()
    return whole if text == whole.text else RunningText(text, _within(whole.spans, len(text)))


def _within(spans: Sequence[Span], length: int) -> list[Span]:
    """The spans as far as their words begin before `length`."""
    kept: list[Span] = []
    for span in spans:
        words: list[Word] = []
        offset = span.start
        for word in span.words:
            offset += bool(words) and word.space_before
            if offset >= length:
                break
            words.append(word)
            offset += len(word.text)
        if words:
            kept.append(Span(span.start, words))
    return kept


def _ordered(words: Sequence[Word]) -> list[Word]:
    """Words as the content stream has them where it wrote them without a space between."""
    return [word._replace(space_before=not (i and words[i - 1].end == word.start)) for i, word in enumerate(words)]


def is_numeric(text: str) -> bool:
    """Whether a cell's text is a figure, or a mark for a missing one."""
    stripped = text.strip()
    return bool(stripped) and (_NUMERIC.match(stripped) is not None or _NOTHING.match(stripped) is not None)
