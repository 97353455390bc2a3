"""Queries made from a PDF's own text: spans of seven to twelve words, evenly spaced, each found in the file by letters."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2

# A run of words in lower case does not cross a heading, a page's furniture or the end of a sentence.
_RUN = re.compile(r"(?:[a-z][a-z'’]* ){7,}[a-z]+")


def from_pdf(path: Path, count: int) -> tuple[list[str], int]:
    """At most `count` queries, and the number of pages of the file; `ValueError` when it has no running text."""
    with pypdfium2.PdfDocument(path) as document:
        pages = len(document)
        text = " ".join(page.get_textpage().get_text_bounded() for page in document)
    runs = [run.split() for run in _RUN.findall(re.sub(r"\s+", " ", text))]
    if not runs:
        raise ValueError(f"{path} has no running text to make queries from.")
    step = max(1, len(runs) // count)
    return [" ".join(run[: 7 + i % 6]) for i, run in enumerate(runs[::step])][:count], pages


def letters(text: str) -> str:
    """Letters and digits only, lower case: what survives every reader's idea of spaces and hyphens."""
    return "".join(character for character in text.lower() if character.isalnum())
