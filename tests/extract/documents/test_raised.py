"""Raised marks stay apart from the figures that they are attached to, in every format."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import docx
import pytest
from pptx import Presentation
from pptx.oxml.ns import qn
from pptx.util import Inches
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from citewell.extract.core.raised import raised
from citewell.text.tokens import written_tokens
from tests.extract.documents.opendocument import document
from tests.extract.documents.reading import read_bytes

Piece = tuple[str, bool]
"""A text, and whether it is raised."""
PIECES: list[Piece] = [
    ("Herds grew to 7,310", False),
    ("4", True),
    (" head on 52 km", False),
    ("2", True),
    (", up 18", False),
    ("b", True),
    (" from the 1", False),
    ("st", True),
    (" count.", False),
]
SHOWN = "Herds grew to 7,310⁴ head on 52 km², up 18ᵇ from the 1st count."


def html(pieces: list[Piece]) -> bytes:
    body = "".join(f"<sup>{text}</sup>" if up else text for text, up in pieces)
    return f"<html><body><p>{body}</p></body></html>".encode()


def html_cell(pieces: list[Piece]) -> bytes:
    style = '<span style="vertical-align: super">'
    body = "".join(f"{style}{text}</span>" if up else text for text, up in pieces)
    return f"<table><tr><th>Year</th><th>Note</th></tr><tr><td>1999</td><td>{body}</td></tr></table>".encode()


def markdown(pieces: list[Piece]) -> bytes:
    return "".join(f"<sup>{text}</sup>" if up else text for text, up in pieces).encode()


def rtf(pieces: list[Piece]) -> bytes:
    body = "".join(f"{{\\super {text}}}" if up else text for text, up in pieces)
    return f"{{\\rtf1\\ansi {body}\\par}}".encode()


def odt(pieces: list[Piece]) -> bytes:
    style = '<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>'
    body = "".join(f'<text:span text:style-name="Up">{text}</text:span>' if up else escape(text) for text, up in pieces)
    whole = document(f"<text:p>{body}</text:p>")
    return _replaced(whole, b"</office:automatic-styles>", f"{style}</office:automatic-styles>".encode())


def _replaced(package: bytes, old: bytes, new: bytes) -> bytes:
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(old, new))
    return out.getvalue()


def word(pieces: list[Piece]) -> bytes:
    file, out = docx.Document(), io.BytesIO()
    paragraph = file.add_paragraph()
    for text, up in pieces:
        paragraph.add_run(text).font.superscript = up or None
    file.save(out)
    return out.getvalue()


def slides(pieces: list[Piece]) -> bytes:
    deck, out = Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(8), Inches(1)).text_frame.paragraphs[0]
    for text, up in pieces:
        run = box.add_run()
        run.text = text
        if up:
            run._r.get_or_add_rPr().set("baseline", "30000")  # pyright: ignore
            assert run._r.find(qn("a:rPr")) is not None  # pyright: ignore
    deck.save(out)
    return out.getvalue()


def pdf(pieces: list[Piece]) -> bytes:
    out = io.BytesIO()
    body = "".join(f"<super>{text}</super>" if up else text for text, up in pieces)
    SimpleDocTemplate(out, invariant=1).build([Paragraph(body, getSampleStyleSheet()["Normal"])])
    return out.getvalue()


FORMATS = [
    ("a.html", html),
    ("cell.html", html_cell),
    ("a.md", markdown),
    ("a.rtf", rtf),
    ("a.odt", odt),
    ("a.docx", word),
    ("a.pptx", slides),
    ("a.pdf", pdf),
]


@pytest.mark.parametrize(("name", "build"), FORMATS, ids=[name for name, _ in FORMATS])
def test_raised_marks_are_superscripts(tmp_path: Path, name: str, build: Callable[[list[Piece]], bytes]) -> None:
    assert SHOWN in read_bytes(tmp_path, name, build(PIECES)).text


def test_subscripts_stay_on_the_line(tmp_path: Path) -> None:
    assert "H2O" in read_bytes(tmp_path, "w.html", "<p>H<sub>2</sub>O is water.</p>").text


@pytest.mark.parametrize("text", ["er", "[4]", "TM", "", " ", "x y", "²"])
def test_other_raised_text_is_as_written(text: str) -> None:
    assert raised(text) == text


def test_a_marked_figure_is_found_by_its_digits() -> None:
    assert written_tokens("7,310⁴ head on 52 km²") == ["7,310", "4", "head", "on", "52", "km2"]
