"""Pages to elements: blocks in reading order with their rectangles, under the headings above them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from citewell.extract.core.outline import Outline
from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.columns import reading_order
from citewell.extract.formats.pdf.document import AttachmentReader
from citewell.extract.formats.pdf.form_labels import LabelledField, labelled
from citewell.extract.formats.pdf.furniture import parted, running
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.images import THRESHOLDS as IMAGES
from citewell.extract.formats.pdf.images import PageImage
from citewell.extract.formats.pdf.ink import Placed, places
from citewell.extract.formats.pdf.lines import Line, make_line, placeholder, rows
from citewell.extract.formats.pdf.pages import PageContent, UprightText
from citewell.extract.formats.pdf.paragraphs import paragraphs, runs_on
from citewell.extract.formats.pdf.running_text import join_lines
from citewell.extract.formats.pdf.structure import Block, Survey, classify, survey
from citewell.extract.formats.pdf.tables.continued import title_lines, unit_of
from citewell.extract.formats.pdf.tables.model import FoundTable, RenderedTable, render
from citewell.types import PAGE_PICTURE, Box, ElementType, JsonObject, Locator

_LINKED = 0.3
"""Share of a link's area that must lie on an element's rectangles for the link to belong to it. Set by hand."""


class PageWriter:
    """Emits the elements of one document's pages, in order."""

    def __init__(self, sink: Sink, known: Survey, attachments: AttachmentReader) -> None:
        self._sink = sink
        self._survey = known
        self._attachments = attachments
        self._outline = Outline()

    def write(self, page: PageContent, neighbours: Sequence[PageContent]) -> None:
        """Emits one page; the pages around it reveal its running headers and footers."""
        self._sink.start_unit("page", page.number, page.label)
        for warning in page.warnings:
            self._sink.warn(warning)
        for skipped in page.skipped:
            self._sink.skip(skipped)
        if page.frame is None:
            return
        scanned = bool(page.passages) and page.passages[0].confidences is not None
        # OCR gives line heights instead of font sizes, which are not comparable with those of the document.
        body_size = math.inf if scanned else self._survey.body_size
        furniture = running(page.edges, [other.edges for other in neighbours], page.frame.height, body_size)
        backgrounds, figures = _split_images(page)
        for image in backgrounds:
            self._image(page, image)
        fields, apart = _fields(page, furniture)
        for i, passage in enumerate(page.passages):
            self._passage(page, passage, furniture, [] if i else figures, [] if i else fields)
        if not page.passages:
            for image in figures:
                self._image(page, image)
        for form_field in apart:
            self._field(page, form_field)
        self._notes(page)
        if page.picture is not None:
            whole = Rect(0, 0, page.frame.width, page.frame.height)
            self._sink.emit(
                ElementType.IMAGE, "", self._at(page, whole), blob=page.picture, metadata={PAGE_PICTURE: True}
            )

    def _passage(
        self,
        page: PageContent,
        passage: UprightText,
        furniture: set[int],
        images: Sequence[PageImage],
        fields: Sequence[LabelledField],
    ) -> None:
        height = page.frame.height if page.frame else 0.0
        edges = [run for run in passage.runs if id(run) in furniture]
        labels = {id(line) for form_field in fields for line in form_field.lines}
        body = [run for run in passage.runs if id(run) not in furniture and id(run) not in labels]
        self._furniture(page, [run for run in edges if run.y0 < height / 2], ElementType.HEADER, passage)
        # OCR gives line heights instead of font sizes: comparable within a page, not across pages.
        known = self._survey if passage.confidences is None else survey([body], self._survey.outline)
        tables, pictures = len(passage.tables), len(images)
        rects = [table.rect for table in passage.tables] + [passage.rotation.upright(image.rect) for image in images]
        rects += [form_field.rect for form_field in fields]
        places = [placeholder(rect, i, known.body_size) for i, rect in enumerate(rects)]
        for part in _parts(reading_order([*body, *places], passage.right_to_left), passage.right_to_left):
            if not isinstance(part, int):
                for block in classify(part, page.number, height, known):
                    self._block(page, passage, block)
            elif part < tables:
                self._table(page, passage, passage.tables[part])
            elif part < tables + pictures:
                self._image(page, images[part - tables])
            else:
                self._field(page, fields[part - tables - pictures])
        self._furniture(page, [run for run in edges if run.y0 >= height / 2], ElementType.FOOTER, passage)

    def _furniture(self, page: PageContent, runs: Sequence[Line], kind: ElementType, passage: UprightText) -> None:
        for line in (part for row in rows(runs) for run in row for part in parted(run)):
            running_text = join_lines([line])
            placed = places(running_text.spans, passage.rotation, passage.ink)
            self._sink.emit(
                kind,
                running_text.text,
                _locator(page, placed),
                span_starts=_starts(placed),
                confidence=passage.confidence(line.words),
            )

    def _notes(self, page: PageContent) -> None:
        """Emits comments and attached files of a page, after its text."""
        for comment in page.notes.comments:
            metadata = {"kind": comment.kind} | ({"author": comment.author} if comment.author else {})
            self._sink.emit(ElementType.COMMENT, comment.text, self._at(page, comment.rect), metadata=metadata)
        for pinned in page.notes.files:
            self._attachments.of_page(pinned.handle, self._at(page, pinned.rect))

    def _field(self, page: PageContent, found: LabelledField) -> None:
        form_field = found.field
        about: JsonObject = {"name": form_field.tooltip or form_field.name, "value": form_field.value}
        self._sink.emit(ElementType.FORM_FIELD, found.text, self._at(page, found.rect), metadata=about)

    def _at(self, page: PageContent, rect: Rect) -> Locator:
        return Locator(
            page=page.number,
            pages=(page.number,),
            page_label=page.label,
            boxes=(_box(page.number, rect),),
            headings=self._outline.path,
        )

    def _image(self, page: PageContent, image: PageImage) -> None:
        self._sink.emit(
            ElementType.IMAGE,
            image.text,
            self._at(page, image.rect),
            span_starts=(0,),
            blob=image.blob,
            confidence=image.confidence,
            metadata={"width": image.width, "height": image.height},
        )

    def _table(self, page: PageContent, passage: UprightText, found: FoundTable) -> None:
        rendered = render(found, page.number, passage.rotation, passage.ink, page.text)
        if rendered is None:
            return
        table, boxes = rendered.table, rendered.boxes
        pages = (page.number, *(part.page for part in found.more))
        self._sink.emit(
            ElementType.TABLE,
            table.markdown,
            Locator(page=page.number, pages=pages, page_label=page.label, boxes=boxes, headings=self._outline.path),
            span_starts=rendered.starts,
            html=table.html,
            grid=table.grid,
            header_rows=table.header_rows,
            cells=rendered.cells,
            confidence=passage.confidence(found.words),
            metadata=_about(rendered, title_lines(passage.runs, found)),
        )

    def _block(self, page: PageContent, passage: UprightText, block: Block) -> None:
        text = join_lines(block.lines, page.text, keep_breaks=block.type is ElementType.CODE)
        if block.type is ElementType.TITLE:
            headings = self._outline.enter(block.level or 1, text.text)
        else:
            headings = self._outline.path
        placed = places(text.spans, passage.rotation, passage.ink)
        locator = _locator(page, placed, headings)
        self._sink.emit(
            block.type,
            text.text,
            locator,
            span_starts=_starts(placed),
            level=block.level,
            confidence=passage.confidence([word for line in block.lines for word in line.words]),
            metadata=_links(page, locator),
        )


def _about(rendered: RenderedTable, title: Sequence[str]) -> JsonObject:
    """Returns a table's `title`, the `unit` of its figures, and the `groups` of its rows, as far as it has them."""
    grid = rendered.table.grid
    about: JsonObject = {}
    if title:
        about["title"] = " ".join(title)
    if unit := unit_of([*title, *(text for row in grid[: rendered.table.header_rows] for text in row[:1])]):
        about["unit"] = unit
    if any(head >= 0 for head in rendered.groups):
        about["groups"] = list(rendered.groups)
    return about


def _starts(placed: Placed) -> tuple[int, ...]:
    return tuple(start for start, _ in placed)


def _locator(page: PageContent, placed: Placed, headings: tuple[str, ...] = ()) -> Locator:
    boxes = tuple(_box(page.number, rect) for _, rect in placed)
    return Locator(page=page.number, pages=(page.number,), page_label=page.label, boxes=boxes, headings=headings)


def _box(page: int, rect: Rect) -> Box:
    return Box(page, rect.x0, rect.y0, rect.x1, rect.y1)


def _parts(columns: Sequence[Sequence[Line]], right_to_left: bool) -> list[list[list[Line]] | int]:
    """Returns, alternating, the paragraphs of each stretch of text, and the index of the table or image between
    stretches.

    A paragraph that breaks off at the bottom of a column continues at the top of the next.
    """
    found: list[list[list[Line]] | int] = []
    for column in columns:
        for stretch in _around_places(column):
            if isinstance(stretch, int):
                found.append(stretch)
                continue
            groups = paragraphs(stretch, right_to_left)
            last = found[-1] if found else None
            if isinstance(last, list) and runs_on(last[-1], groups[0]):
                last[-1] = [*last[-1], *groups.pop(0)]
            if groups:
                found.append(groups)
    return found


def _around_places(column: Sequence[Line]) -> Iterator[list[Line] | int]:
    """Yields, alternating, the lines between tables and images, and the indices of these."""
    lines: list[Line] = []
    for line in column:
        index = line.float_index
        if index is None:
            lines.append(line)
            continue
        if lines:
            yield lines
            lines = []
        yield index
    if lines:
        yield lines


def _fields(page: PageContent, furniture: set[int]) -> tuple[list[LabelledField], list[LabelledField]]:
    """Returns the fields that take the place of their labels in the text, and the others.

    The label of several fields, or one in a table, stays where it is.
    """
    passage = page.passages[0] if page.passages and page.passages[0].rotation.angle == 0 else None
    runs = list(passage.runs) if passage else []
    cells = [make_line(cell.words) for table in passage.tables for cell in table.cells if cell.words] if passage else []
    found = labelled(page.notes.fields, [*runs, *cells])
    used = Counter(id(line) for one in found for line in one.lines)
    free = {id(run) for run in runs if used[id(run)] == 1} - furniture
    tables = [table.rect for table in passage.tables] if passage else []
    placed = [
        one
        for one in found
        if one.lines
        and all(id(line) in free for line in one.lines)
        and not any(rect.overlap(one.field.rect) for rect in tables)
    ]
    return placed, [one for one in found if one not in placed]


def _split_images(page: PageContent) -> tuple[list[PageImage], list[PageImage]]:
    """Splits images into those under text (backgrounds), and the rest, which get their own place in reading order."""
    backgrounds: list[PageImage] = []
    figures: list[PageImage] = []
    runs = [p.rotation.shown(run.rect) for p in page.passages for run in p.runs]
    for image in page.images:
        covered = sum(1 for run in runs if run.overlap(image.rect) > IMAGES.background_overlap * run.area)
        (backgrounds if covered >= IMAGES.background_runs else figures).append(image)
    return backgrounds, figures


def _links(page: PageContent, locator: Locator) -> JsonObject:
    """Returns the `links` on these boxes."""
    rects = [Rect(box.x0, box.y0, box.x1, box.y1) for box in locator.boxes]
    urls = [
        link.url
        for link in page.notes.links
        if sum(link.rect.overlap(rect) for rect in rects) > _LINKED * link.rect.area
    ]
    return {"links": list(dict.fromkeys(urls))} if urls else {}
