"""Queries made from a PDF's own text: spans of seven to twelve words, evenly spaced, each found in the file by letters."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2

_SENTENCE = re.compile(r"[A-Z][^.?!]{40,200}[.?!]")


def from_pdf(path: Path, count: int) -> tuple[list[str], int]:
    """About `count` queries, and the number of pages of the file."""
    with pypdfium2.PdfDocument(path) as document:
        pages = len(document)
        text = " ".join(page.get_textpage().get_text_bounded() for page in document)
    sentences = _SENTENCE.findall(re.sub(r"\s+", " ", text.replace("\ufffe", "")))
    spans = [" ".join(words[1 : 8 + i % 6]) for i, words in enumerate(map(str.split, sentences)) if len(words) > 8]
    if not spans:
        raise ValueError(f"{path} has no sentences to make queries from.")
    step = max(1, len(spans) // count)
    return spans[::step][:count], pages


def letters(text: str) -> str:
    """Letters and digits only, lower case: what survives every reader's idea of spaces and hyphens."""
    return "".join(character for character in text.lower() if character.isalnum())
