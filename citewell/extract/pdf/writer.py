"""Pages to elements: blocks in reading order with their rectangles, under the headings above them."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.extract.outline import Outline
from citewell.extract.pdf.columns import reading_order
from citewell.extract.pdf.content import PageContent, Passage
from citewell.extract.pdf.flow import Flow, flow
from citewell.extract.pdf.furniture import running
from citewell.extract.pdf.lines import Line, join_row, rows
from citewell.extract.pdf.paragraphs import paragraphs
from citewell.extract.pdf.structure import Block, Survey, classify
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
        for column in reading_order(body, passage.right_to_left):
            for block in classify(paragraphs(column), page.number, height, self._survey):
                self._block(page, block, passage.turn)
        self._furniture(page, [run for run in edges if run.y0 >= height / 2], ElementType.FOOTER, passage.turn)

    def _furniture(self, page: PageContent, runs: Sequence[Line], kind: ElementType, turn: Turn) -> None:
        for row in rows(runs):
            running_text = flow([join_row(row)])
            self._sink.emit(
                kind, running_text.text, _locator(page, running_text, turn), span_starts=running_text.starts
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
    rects = [turn.shown(rect) for rect in text.rects]
    boxes = tuple(Box(page.number, rect.x0, rect.y0, rect.x1, rect.y1) for rect in rects)
    return Locator(page=page.number, pages=(page.number,), page_label=page.label, boxes=boxes, headings=headings)
