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
Draw = Callable[[Canvas], object]
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


RATES = [
    ["Product", "Term", "Rate", "Fee"],
    ["Home loan", "30 years", "5.10", "1,200"],
    ["Car loan", "5 years", "7.25", "150"],
    ["Student loan", "10 years", "3.90", "0"],
    ["Personal loan", "3 years", "9.99", "75"],
    ["Bridge loan", "1 year", "11.50", "400"],
]
COLUMNS = (80, 220, 320, 400)


def ruled(
    canvas: Canvas, top: float, rows: Sequence[Sequence[str]], xs: Sequence[float] = (80, 210, 310, 390, 460)
) -> None:
    ys = [top + 20 * i for i in range(len(rows) + 1)]
    for y in ys:
        horizontal(canvas, y, xs[0], xs[-1])
    for x in xs:
        vertical(canvas, x, ys[0], ys[-1])
    put(canvas, xs, ys, rows)


def put(canvas: Canvas, xs: Sequence[float], ys: Sequence[float], rows: Sequence[Sequence[str]]) -> None:
    for y, row in zip(ys, rows, strict=False):
        for x, text in zip(xs, row, strict=False):
            lines(canvas, x + 4, y + 5, [text])


def horizontal(canvas: Canvas, y: float, x0: float, x1: float) -> None:
    canvas.line(x0, HEIGHT - y, x1, HEIGHT - y)


def vertical(canvas: Canvas, x: float, y0: float, y1: float) -> None:
    canvas.line(x, HEIGHT - y0, x, HEIGHT - y1)


def tabled() -> bytes:
    """A page of prose, a table, a form field and a link, and a page of prose."""

    def first(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(8))
        ruled(canvas, 200, RATES)
        canvas.acroForm.textfield(name="a", value="b", x=100, y=300)
        canvas.linkURL("https://example.org", (60, 700, 200, 720))

    def second(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(30))

    return pdf(first, second, pageCompression=0)
