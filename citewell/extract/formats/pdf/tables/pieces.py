"""Text of a table region as rows of pieces: words that stand closer together than columns do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from citewell.extract.formats.pdf.lines import Line, make_line, rows
from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.words import Word

GAP = 0.85
_CURRENCY = re.compile(r"^(?:[$€£¥]|US\$|Rs\.?|EUR|USD)$")
_TRAILING = re.compile(r"^(?:%|\(?[a-z0-9*†‡§]\)?)$")
_TRAILING_GAP = 1.6


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring words of one row."""

    words: Sequence[Word]
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def text(self) -> str:
        """The words, parted by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def middle(self) -> float:
        """Its horizontal middle."""
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, slots=True)
class TextRow:
    """The pieces on one baseline, from left to right."""

    pieces: Sequence[Piece]
    y0: float
    y1: float
    baseline: float
    size: float

    @property
    def words(self) -> list[Word]:
        """All words of the row."""
        return [word for piece in self.pieces for word in piece.words]


def make_piece(words: Sequence[Word]) -> Piece:
    """A piece of these words; at least one."""
    return Piece(
        words,
        min(w.x0 for w in words),
        max(w.x1 for w in words),
        min(w.y0 for w in words),
        max(w.y1 for w in words),
    )


def text_rows(words: Sequence[Word], gap: float = GAP) -> list[TextRow]:
    """Rows from top to bottom; a gap is given in font sizes."""
    return [_row(line, gap) for line in rows([make_line([word]) for word in words])]


def _row(line: Sequence[Line], gap: float) -> TextRow:
    words = [run.words[0] for run in line]
    size = median(word.style.size for word in words)
    pieces = [make_piece(group) for group in _split(words, gap)]
    return TextRow(
        pieces,
        min(p.y0 for p in pieces),
        max(p.y1 for p in pieces),
        median(word.y1 for word in words),
        size,
    )


def _split(words: Sequence[Word], gap: float) -> list[list[Word]]:
    groups: list[list[Word]] = []
    for word in words:
        if groups and _belongs(groups[-1], word, gap):
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _belongs(group: list[Word], word: Word, gap: float) -> bool:
    last = group[-1]
    size = max(last.style.size, word.style.size)
    distance = word.x0 - last.x1
    if distance <= gap * size:
        return True
    if len(group) == 1 and _CURRENCY.match(last.text) and is_numeric(word.text):
        return True
    return distance <= _TRAILING_GAP * size and word.text == "%" and is_numeric(last.text)
