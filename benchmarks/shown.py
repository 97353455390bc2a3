"""Which words that a page shows are in no passage? Each file is read and chunked here, and read again by something simpler.

    python benchmarks/shown.py FOLDER [--show 8] [--ocr]

shown:    letters and digits that a viewer shows: of PDFs the text of PDFium after it has drawn form fields into the page, of Office and
          OpenDocument files the text of their XML parts, of workbooks the texts of their cells, of web pages the text of the body
missing:  share of them in words that no passage has, neither in its text nor in the headings above it
notes:    what the coverage report says was skipped or went wrong, which should explain more than 1 % missing

Words are compared without white space, case and punctuation, so that a hyphen at a line's end makes no difference. Page numbers alone are
left out. What is only in pictures is not counted.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pypdfium2
import pypdfium2.raw as pdfium_c
from lxml import etree, html

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.errors import ExtractionError
from citewell.extract.core.sink import ELEMENTS_FILE, Sink
from citewell.extract.registry import extract_file
from citewell.system.console import coverage_notes
from citewell.types import Element, ExtractOptions
from citewell.types.page_numbers import without_page_number

_WORD = re.compile(r"\S+")
_LEFT_OUT = frozenset(
    ("del", "moveFrom", "instrText", "delText", "tracked-changes", "script", "style", "noscript", "template")
)
_TEXTS = {
    ".docx": (re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml"), "t"),
    ".pptx": (re.compile(r"ppt/slides/slide\d+\.xml"), "t"),
    ".odt": (re.compile(r"content\.xml"), "p"),
    ".odp": (re.compile(r"content\.xml"), "p"),
    ".ods": (re.compile(r"content\.xml"), "p"),
}


@dataclass(frozen=True)
class Compared:
    """Letters and digits shown, those of the words that no passage has, these words, and the coverage report's notes."""

    shown: int
    lost: int
    words: list[str]
    notes: list[str]

    @property
    def missing(self) -> float:
        """Share of the letters and digits that no passage has."""
        return self.lost / max(1, self.shown)


class _Words:
    """A tokenizer: words are tokens."""

    def count(self, texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(text)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", type=int, default=8, help="missing words printed per file")
    parser.add_argument("--ocr", action="store_true")
    options = parser.parse_args()
    print("| file | shown | missing | words | notes |\n|---|---|---|---|---|")
    for path in sorted(path for path in options.folder.rglob("*") if shown_by(path) is not None):
        try:
            found = compare(path, ocr=options.ocr)
        except ExtractionError as error:
            print(f"| {path.name} | | refused | | {error.message} |", flush=True)
            continue
        words = ", ".join(found.words[: options.show])
        print(
            f"| {path.name} | {found.shown} | {found.missing:.2%} | {words} | {'; '.join(found.notes[:3])} |",
            flush=True,
        )


def compare(path: Path, *, ocr: bool = False) -> Compared:
    """Reads a file both ways."""
    reader = shown_by(path)
    assert reader is not None
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as folder:
        with Sink(Path(folder), ExtractOptions(ocr=ocr)) as sink:
            notes = coverage_notes(extract_file(path, path.name, sink).coverage.to_json())
        lines = (Path(folder) / ELEMENTS_FILE).read_bytes().splitlines()
    elements = [Element.from_json(json.loads(line)) for line in lines]
    chunks = list(chunk_elements(elements, ChunkConfig(), _Words(), ""))
    held = _folded(" ".join(text for chunk in chunks for text in (chunk.text, chunk.context)))
    shown, lost = 0, list[str]()
    for line in reader(path):
        for word in without_page_number(line).split():
            folded = _folded(word)
            shown += len(folded)
            if folded not in held:
                lost.append(word)
    return Compared(shown, sum(len(_folded(word)) for word in lost), list(dict.fromkeys(lost)), notes)


def shown_by(path: Path) -> Callable[[Path], Iterator[str]] | None:
    """Returns what reads the lines that a viewer shows of a file; None for other formats."""
    suffix = path.suffix.lower()
    if suffix in _TEXTS:
        return _parts
    return {".pdf": _pdf, ".xlsx": _cells, ".html": _page, ".htm": _page}.get(suffix)


def _pdf(path: Path) -> Iterator[str]:
    try:
        document = pypdfium2.PdfDocument(path)
        document.init_forms()
    except pypdfium2.PdfiumError:
        return
    for index in range(len(document)):
        try:
            page = document[index]
            pdfium_c.FPDFPage_Flatten(page.raw, pdfium_c.FLAT_NORMALDISPLAY)
            page.close()
            yield from document[index].get_textpage().get_text_bounded().replace("\ufffe\r\n", "").splitlines()
        except pypdfium2.PdfiumError:
            continue


def _parts(path: Path) -> Iterator[str]:
    pattern, kind = _TEXTS[path.suffix.lower()]
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            if pattern.fullmatch(name):
                yield from _texts(etree.fromstring(file.read(name)), kind)


def _texts(root: etree._Element, kind: str) -> Iterator[str]:
    for element in root.iter():
        names = {etree.QName(one).localname for one in (element, *element.iterancestors()) if isinstance(one.tag, str)}
        if isinstance(element.tag, str) and etree.QName(element).localname == kind and not names & _LEFT_OUT:
            yield "".join(element.itertext()) if kind == "p" else element.text or ""


def _cells(path: Path) -> Iterator[str]:
    for sheet in openpyxl.load_workbook(path, read_only=True, data_only=True):
        for row in sheet.iter_rows(values_only=True) if hasattr(sheet, "iter_rows") else ():
            yield from (cell for cell in row if isinstance(cell, str))


def _page(path: Path) -> Iterator[str]:
    body = html.parse(str(path), html.HTMLParser(encoding="utf-8")).getroot().find("body")
    for element in body.iter() if body is not None else ():
        names = {one.tag for one in (element, *element.iterancestors())}
        if isinstance(element.tag, str) and not names & _LEFT_OUT:
            yield from filter(None, (element.text, *(child.tail for child in element)))


def _folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


if __name__ == "__main__":
    main()
