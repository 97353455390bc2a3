"""Reads single pages before they become elements: text by direction, tables, images, notes, and OCR where the text
layer is missing or broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfDocument, PdfiumError, PdfPage, PdfTextPage

from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.annotations import Annotations, read_annotations
from citewell.extract.formats.pdf.document import open_form
from citewell.extract.formats.pdf.furniture import Edge, page_edges
from citewell.extract.formats.pdf.geometry import PageFrame, Rect, Rotation, page_frame
from citewell.extract.formats.pdf.images import ImageReader, PageImage
from citewell.extract.formats.pdf.ink import Ink
from citewell.extract.formats.pdf.ink_reading import read_ink
from citewell.extract.formats.pdf.lines import Line, build_runs, make_line
from citewell.extract.formats.pdf.native import handle
from citewell.extract.formats.pdf.objects import THRESHOLDS as DRAWING
from citewell.extract.formats.pdf.objects import Drawing, read_drawing
from citewell.extract.formats.pdf.page_pictures import PagePictures
from citewell.extract.formats.pdf.scans import THRESHOLDS as SCANS
from citewell.extract.formats.pdf.scans import OcrBudget, OcrText, is_garbage, is_whole_page, lacks_text, page_text
from citewell.extract.formats.pdf.shown import hidden_words
from citewell.extract.formats.pdf.tables.detect import find_tables, may_hold_tables
from citewell.extract.formats.pdf.tables.model import FoundTable
from citewell.extract.formats.pdf.words import Word, by_direction, is_right_to_left, read_text, read_words

Beat = Callable[[], None]


@dataclass(frozen=True, slots=True)
class UprightText:
    """The text of one direction, in its upright frame; `runs` are the text outside its tables.

    ink locates the words of the page's text layer; confidences is set instead for text read by OCR: one value per line,
    `Word.start` being the index of the word's line.
    """

    rotation: Rotation
    runs: Sequence[Line]
    right_to_left: bool
    tables: Sequence[FoundTable] = ()
    ink: Ink | None = None
    confidences: Sequence[float] | None = None

    def confidence(self, words: Sequence[Word]) -> float | None:
        """Returns these words' mean confidence, weighted by length; None for text not read by OCR."""
        if self.confidences is None:
            return None
        weights = [(self.confidences[word.start], len(word.text)) for word in words]
        return round(sum(c * n for c, n in weights) / max(1, sum(n for _, n in weights)), 4)


@dataclass(frozen=True, slots=True)
class PageContent:
    """One page. `text` is PDFium's own, for looking words up; `picture` is the blob of a picture of the whole page;
    `warnings` lists what could not be read, `skipped` what was left out.
    """

    number: int
    label: str | None
    _: KW_ONLY
    frame: PageFrame | None = None
    text: str = ""
    passages: Sequence[UprightText] = ()
    images: Sequence[PageImage] = ()
    notes: Annotations = Annotations()
    edges: Sequence[Edge] = ()
    picture: str | None = None
    skipped: Sequence[str] = field(default_factory=list[str])
    warnings: Sequence[str] = field(default_factory=list[str])


def text_passage(rotation: Rotation, words: list[Word], drawing: Drawing | None, ink: Ink | None = None) -> UprightText:
    """Builds the passage of upright words with its tables, which are detected only if the page's drawing is given."""
    right_to_left = is_right_to_left("".join([word.text for word in words]))
    runs = build_runs(words)
    if drawing is None or drawing.full:
        return UprightText(rotation, runs, right_to_left, ink=ink)
    lines = [rotation.upright(rect) for rect in drawing.rules]
    fills = [rotation.upright(rect) for rect in drawing.fills]
    tables = find_tables(words, lines, fills) if may_hold_tables(runs, lines, fills) else []
    if tables:
        taken = {id(word) for table in tables for word in table.words}
        runs = build_runs([word for word in words if id(word) not in taken])
    return UprightText(rotation, runs, right_to_left, tables, ink)


def ocr_passage(text: OcrText, with_tables: bool) -> UprightText:
    """Builds the passage of a scan."""
    words = [word for line in text.lines for word in line]
    runs = [make_line(line) for line in text.lines if line]
    tables = find_tables(words, [], []) if with_tables and may_hold_tables(runs, [], []) else []
    taken = {id(word) for table in tables for word in table.words}
    rest = [make_line(kept) for line in text.lines if (kept := [word for word in line if id(word) not in taken])]
    right_to_left = is_right_to_left("".join([word.text for word in words]))
    return UprightText(text.rotation, rest, right_to_left, tables, confidences=text.confidences)


_DASHES = re.compile(r"^[-=_─━═—–]+$")


class PageReader:
    """The pages of one open document."""

    def __init__(self, document: PdfDocument, sink: Sink) -> None:
        self._document = document
        self._sink = sink
        self._total = len(document)
        self._budget = OcrBudget(sink.options.ocr)
        self._images = ImageReader(sink, self._budget)
        self._pictures = PagePictures(sink)
        self._form = open_form(document)

    def sample(self, index: int) -> PageContent:
        """Reads only a page's text: no tables, images or OCR."""
        return self._guarded(index, full=False)

    def read(self, index: int) -> PageContent:
        """Reads everything on a page; failures become warnings in it."""
        return self._guarded(index, full=True)

    def _guarded(self, index: int, full: bool) -> PageContent:
        number, label = index + 1, self._document.get_page_label(index) or None
        try:
            page = self._document[index]
        except PdfiumError:
            return PageContent(number, label, warnings=[f"Page {number} is damaged and could not be read."])
        try:
            return self._content(page, number, label, full)
        except PdfiumError:
            return PageContent(number, label, warnings=[f"The text of page {number} could not be read."])
        finally:
            page.close()

    def _content(self, page: PdfPage, number: int, label: str | None, full: bool) -> PageContent:
        frame = page_frame(page)
        drawing = read_drawing(page, frame) if full else None
        text, words, broken, ink, hidden = _text_layer(page, frame, drawing)
        shown, skipped = _on_page(words, frame, hidden)
        if drawing is None:
            return PageContent(
                number,
                label,
                frame=frame,
                text=text,
                passages=[text_passage(t, w, None) for t, w in by_direction(shown)],
            )
        shown = _without_typed_rules(shown, drawing)
        warnings: list[str] = []
        passages: list[UprightText] = []
        seen: list[Word] | None = shown
        scan: OcrText | None = None
        if broken or lacks_text(shown, drawing, frame):
            seen, scan = None, self._scan(page, frame, number, [] if broken else shown, broken, warnings)
        with_tables = self._sink.options.extract_tables
        if scan is None or not broken:
            # Only the main direction gets the drawing: the others are axis labels and margin notes.
            for i, (rotation, members) in enumerate(by_direction(shown)):
                passages.append(text_passage(rotation, members, drawing if with_tables and not i else None, ink))
        passages += [ocr_passage(scan, with_tables)] if scan else []
        places = [] if scan and is_whole_page(scan, shown, drawing, frame) else drawing.images
        images, scans, unread = self._images.read(page, frame, places, seen, self._beat(number))
        passages += [ocr_passage(text, with_tables) for text in scans]
        edges = page_edges(passages[0].runs, frame.height) if passages and passages[0].rotation.angle == 0 else []
        notes = read_annotations(page, frame, self._document.raw, self._form)
        return PageContent(
            number,
            label,
            frame=frame,
            text=text,
            passages=passages,
            images=images,
            notes=notes,
            edges=edges,
            picture=self._pictures.keep(page, frame, scanned=any(one.confidences is not None for one in passages)),
            skipped=[*skipped, *unread],
            warnings=warnings,
        )

    def _scan(
        self, page: PdfPage, frame: PageFrame, number: int, words: Sequence[Word], broken: bool, warnings: list[str]
    ) -> OcrText | None:
        """Reads by OCR what the page shows besides `words`; None if that is nothing. Adds what is wrong to `warnings`."""
        problem = f"Page {number} has {'next to no' if words else 'no'} text"
        problem = f"The text layer of page {number} is unreadable" if broken else problem
        if self._budget.reason:
            warnings.append(f"{problem}, and it was not scanned: {self._budget.reason}.")
            return None
        read = page_text(page, frame, words, self._budget, self._beat(number), self._sink.options.max_pixels)
        if read is None:
            return None
        if read.unread > max(SCANS.few_unread, SCANS.unread_share * len(read.lines)):
            warnings.append(
                f"OCR could not read {read.unread} of {read.unread + len(read.lines)} lines of page {number}."
            )
        if read.characters < (SCANS.min_characters if words else 1):
            warnings += [] if words else [f"{problem}, and OCR found none."]
            return None
        warnings += [f"{problem}; it was read by OCR."] if broken else []
        return read

    def _beat(self, number: int) -> Beat:
        return lambda: self._sink.progress(number - 1, self._total)


def _text_layer(
    page: PdfPage, frame: PageFrame, drawing: Drawing | None
) -> tuple[str, list[Word], bool, Ink | None, set[int]]:
    """Returns the text, its words, whether it is garbage, the words' ink, and the `start`s of those that are hidden.

    Without a drawing, the ink is None and no word is hidden.
    """
    textpage = page.get_textpage()
    try:
        text = read_text(textpage)
        words = read_words(textpage, text, frame, drawing.rules if drawing and not drawing.full else ())
        broken = is_garbage(text, lambda: _share_unmapped(textpage, len(text)))
        if drawing is None:
            return text, words, broken, None, set()
        hidden = hidden_words(page, textpage, words, frame, drawing)
        return text, words, broken, read_ink(handle(textpage.raw), text, words, frame), hidden
    finally:
        textpage.close()


def _share_unmapped(textpage: PdfTextPage, count: int) -> float:
    """Returns the share of characters, in a sample, that their fonts do not map to Unicode."""
    places = range(0, count, max(1, count // SCANS.unmapped_sample))
    return sum(pdfium_c.FPDFText_HasUnicodeMapError(textpage.raw, place) == 1 for place in places) / max(1, len(places))


def _on_page(words: list[Word], frame: PageFrame, hidden: set[int]) -> tuple[list[Word], list[str]]:
    width, height = frame.width, frame.height
    inside = [word for word in words if word.x1 > 0 and word.y1 > 0 and word.x0 < width and word.y0 < height]
    shown = [word for word in inside if word.start not in hidden]
    outside, unseen = len(words) - len(inside), len(inside) - len(shown)
    skipped = [f"{_words(outside)} outside the visible page"] if outside else []
    skipped += (
        [f"{_words(unseen)} that the page does not show (invisible, or on a layer that is off)"] if unseen else []
    )
    return shown, skipped


def _words(count: int) -> str:
    return "1 word" if count == 1 else f"{count} words"


def _without_typed_rules(words: list[Word], drawing: Drawing) -> list[Word]:
    """Returns the words without lines typed as rows of dashes, which are drawing, not text."""
    typed = [word for word in words if len(word.text) >= DRAWING.typed_rule and _DASHES.match(word.text)]
    if not typed:
        return words
    for word in typed:
        middle = (word.y0 + word.y1) / 2
        drawing.rules.append(Rect(word.x0, middle, word.x1, middle + DRAWING.typed_thickness))
    places = {word.start for word in typed}
    return [word for word in words if word.start not in places]
