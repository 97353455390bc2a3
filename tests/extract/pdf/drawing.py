"""Small PDFs drawn for tests, and reading them."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from citewell.types import Element
from tests.extract.documents.reading import Reading, read_bytes

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas], None]
TEXT = (
    "the river carries silt and sand down to a broad delta where old villages stand on low mounds above the flood "
    "and people there have kept a record of each high water on the church wall since anyone can remember it"
)
WORDS = TEXT.split()


def pdf(*pages: Draw, **options: Any) -> bytes:
    """A PDF of A4 pages, each drawn by one function."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=True, **options)
    for draw in pages:
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def read_pdf(folder: Path, data: bytes, **options: Any) -> Reading:
    return read_bytes(folder, "file.pdf", data, **options)


def lines(
    canvas: Canvas,
    x: float,
    top: float,
    texts: Sequence[str],
    *,
    size: float = 10,
    font: str = "Helvetica",
    leading: float = 1.2,
) -> float:
    """Draws lines of text downwards from `top` (points from the page's top edge); returns where the next would stand."""
    canvas.setFont(font, size)
    for text in texts:
        canvas.drawString(x, HEIGHT - top - size, text)
        top += leading * size
    return top


def prose(count: int, start: int = 0, words: int = 9) -> list[str]:
    """`count` lines of running text."""
    return [" ".join(WORDS[(start + i * words + j) % len(WORDS)] for j in range(words)) for i in range(count)]


def justified(canvas: Canvas, x: float, top: float, width: float, count: int, start: int = 0) -> list[str]:
    """`count` lines of running text set to the same width, as books and papers are; returns them."""
    texts: list[str] = []
    place = start
    for i in range(count):
        taken: list[str] = []
        while canvas.stringWidth(" ".join([*taken, WORDS[place % len(WORDS)]]), "Helvetica", 10) <= width:
            taken.append(WORDS[place % len(WORDS)])
            place += 1
        texts.append(" ".join(taken))
        line = canvas.beginText(x, HEIGHT - top - 10 - 12 * i)
        line.setFont("Helvetica", 10)
        line.setWordSpace((width - canvas.stringWidth(texts[-1], "Helvetica", 10)) / (len(taken) - 1))
        line.textOut(texts[-1])
        canvas.drawText(line)
    return texts


def boxes_of(element: Element) -> list[tuple[float, float, float, float]]:
    return [(box.x0, box.y0, box.x1, box.y1) for box in element.locator.boxes]
