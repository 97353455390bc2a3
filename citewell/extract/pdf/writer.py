"""Pages to elements: blocks in reading order with their rectangles, under the headings above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citewell.extract.outline import Outline
from citewell.extract.pdf.columns import reading_order
from citewell.extract.pdf.content import PageContent, Passage
from citewell.extract.pdf.flow import Flow, flow
from citewell.extract.pdf.furniture import running
from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.lines import Line, join_row, placeholder, rows
from citewell.extract.pdf.paragraphs import paragraphs
from citewell.extract.pdf.structure import Block, Survey, classify
from citewell.extract.pdf.tables.model import FoundTable
from citewell.extract.pdf.tables.render import row_spans, to_table
from citewell.extract.pdf.turn import Turn
from citewell.extract.sink import Sink
from citewell.types import Box, ElementType, Locator


class PageWriter:
    """Emits the elements of one document's pages, in order."""

    def __init__(self, sink: Sink, survey: Survey) -> None:
        self._sink = sink
        self._survey = survey
        self._outline = Outline()

    def write(self, page: PageContent, neighbours: Sequence[PageContent]) -> None:
        """Emit one page; the pages around it tell its running headers and footers."""
        self._sink.start_unit("page", page.number, page.label)
        for warning in page.warnings:
            self._sink.warn(warning)
        for skipped in page.skipped:
            self._sink.skip(skipped)
        if page.frame is None:
            return
        furniture = running(page.edges, [other.edges for other in neighbours], page.frame.height)
        for passage in page.passages:
            self._passage(page, passage, furniture)

    def _passage(self, page: PageContent, passage: Passage, furniture: set[int]) -> None:
        height = page.frame.height if page.frame else 0.0
        edges = [run for run in passage.runs if id(run) in furniture]
        body = [run for run in passage.runs if id(run) not in furniture]
        self._furniture(page, [run for run in edges if run.y0 < height / 2], ElementType.HEADER, passage.turn)
        places = [placeholder(table.rect, i, self._survey.body_size) for i, table in enumerate(passage.tables)]
        for column in reading_order([*body, *places], passage.right_to_left):
            for part in _around_places(column):
                if isinstance(part, int):
                    self._table(page, passage.tables[part], passage.turn)
                    continue
                for block in classify(paragraphs(part), page.number, height, self._survey):
                    self._block(page, block, passage.turn)
        self._furniture(page, [run for run in edges if run.y0 >= height / 2], ElementType.FOOTER, passage.turn)

    def _furniture(self, page: PageContent, runs: Sequence[Line], kind: ElementType, turn: Turn) -> None:
        for row in rows(runs):
            running_text = flow([join_row(row)])
            self._sink.emit(
                kind, running_text.text, _locator(page, running_text, turn), span_starts=running_text.starts
            )

    def _table(self, page: PageContent, found: FoundTable, turn: Turn) -> None:
        table = to_table(found, page.text)
        if table is None:
            return
        starts, rects = row_spans(found, table)
        boxes = tuple(_box(page.number, turn.shown(rect)) for rect in rects)
        self._sink.emit(
            ElementType.TABLE,
            table.markdown,
            Locator(
                page=page.number, pages=(page.number,), page_label=page.label, boxes=boxes, headings=self._outline.path
            ),
            span_starts=starts,
            html=table.html,
            grid=table.grid,
            header_rows=table.header_rows,
        )

    def _block(self, page: PageContent, block: Block, turn: Turn) -> None:
        text = flow(block.lines, page.text, keep_breaks=block.type is ElementType.CODE)
        if block.type is ElementType.TITLE:
            headings = self._outline.enter(block.level or 1, text.text)
        else:
            headings = self._outline.path
        locator = _locator(page, text, turn, headings)
        self._sink.emit(block.type, text.text, locator, span_starts=text.starts, level=block.level)


def _locator(page: PageContent, text: Flow, turn: Turn, headings: tuple[str, ...] = ()) -> Locator:
    boxes = tuple(_box(page.number, turn.shown(rect)) for rect in text.rects)
    return Locator(page=page.number, pages=(page.number,), page_label=page.label, boxes=boxes, headings=headings)


def _box(page: int, rect: Rect) -> Box:
    return Box(page, rect.x0, rect.y0, rect.x1, rect.y1)


def _around_places(column: Sequence[Line]) -> Iterator[list[Line] | int]:
    """The lines between tables, and the tables' indices, in turn."""
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
