"""The chunker: cuts elements in reading order into chunks, streaming, by the configured strategy."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from citewell.chunk.assembling import Anchored, Assembler
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.chunk.fitting import BATCH, CandidateChunk, ContextLine, Fitter, WordCounter
from citewell.chunk.flow import FURNITURE, Cut, Flow, Part
from citewell.chunk.running import RunningLines
from citewell.chunk.strategies import (
    SentenceEmbedder,
    cut_characters,
    cut_recursively,
    cut_sections,
    cut_semantically,
    cut_tokens,
)
from citewell.chunk.tables import RowCutter, TableCutter, row_headings
from citewell.ports import Tokenizer
from citewell.types import ChunkDraft, ChunkType, Element, ElementType, JsonValue


def chunk_elements(
    elements: Iterable[Element],
    config: ChunkConfig,
    tokenizer: Tokenizer,
    title: str,
    embed: SentenceEmbedder | None = None,
) -> Iterator[ChunkDraft]:
    """Chunks of a document in reading order. Consumes elements lazily and holds a bounded number in memory.

    `title` precedes the heading path in every chunk's context. Only the `semantic` strategy needs `embed`; without it,
    that strategy raises ValueError.
    """
    if config.strategy is Strategy.SEMANTIC and embed is None:
        raise ValueError("The semantic strategy needs an embedder.")
    return _Chunker(config, tokenizer, title, embed).run(elements)


class _Chunker:
    """Chunks one document."""

    def __init__(self, config: ChunkConfig, tokenizer: Tokenizer, title: str, embed: SentenceEmbedder | None) -> None:
        self._config = config
        self._tokenizer = WordCounter(tokenizer)
        self._embed = embed
        self._context = ContextLine(title, self._tokenizer, config.token_budget)
        self._fitter = Fitter(tokenizer, self._context, config.token_budget, config.special_tokens)
        self._rows = RowCutter(config, self._tokenizer, self._context)
        self._tables = TableCutter(config, self._tokenizer, self._context, by_row=config.strategy is Strategy.ROWS)
        self._assembler = Assembler()
        self._running = RunningLines()

    def run(self, elements: Iterable[Element]) -> Iterator[ChunkDraft]:
        rows: list[tuple[Element, tuple[str, ...]]] = []
        for element in self._once(elements):
            if element.type is ElementType.ROW and not element.text.strip():
                continue
            if element.type in FURNITURE:
                self._running.add(element)
                continue
            if rows and (element.type is not ElementType.ROW or len(rows) == BATCH):
                yield from self._fitter.fit(self._rows.cut(rows))
                rows = []
            leaves = self._assembler.leaves_unit(element)
            if element.type is ElementType.ROW:
                headings = self._assembler.headings.enter(element)
                yield from self._gathered(() if leaves else (headings,))
                rows.append((element, row_headings(element, headings)))
                continue
            if leaves or self._assembler.has_full_window_of_anchored:
                yield from self._gathered()
            self._assembler.add(element)
            if self._assembler.is_full:
                yield from self._gathered_but_the_last()
        yield from self._fitter.fit(self._rows.cut(rows))
        yield from self._gathered()
        flow = self._running.flow()
        yield from self._fitter.fit(self._candidates(flow, self._cut(flow, ()), ()))

    def _once(self, elements: Iterable[Element]) -> Iterator[Element]:
        """The elements, with each data table only once: readers emit it whole and then row by row.

        If a table fits one chunk, its rows are dropped; otherwise the whole is dropped, provided its rows follow.
        """
        whole: set[JsonValue] = set()
        held: Element | None = None
        for element in elements:
            table = element.metadata.get("table")
            if held is not None:
                if element.type is not ElementType.ROW or table != held.metadata["table"]:
                    yield held
                held = None
            if table is None or element.type not in (ElementType.TABLE, ElementType.ROW):
                yield element
            elif element.type is ElementType.ROW:
                if table not in whole:
                    yield element
            elif self._tables.is_whole(Anchored(0, element, self._assembler.headings.enter(element))):
                whole.add(table)
                yield element
            else:
                held = element
        if held is not None:
            yield held

    def _gathered(self, below: Sequence[tuple[str, ...]] = ()) -> Iterator[ChunkDraft]:
        """Chunks of everything collected so far; `below` holds the heading paths of what follows."""
        if not self._assembler.is_empty:
            flow, anchored = self._assembler.take()
            yield from self._fitter.fit(self._candidates(flow, self._cut(flow, anchored, below), anchored))

    def _gathered_but_the_last(self) -> Iterator[ChunkDraft]:
        """Chunks of everything collected except the last cut, which later text may still extend."""
        flow, anchored = self._assembler.take()
        cuts = self._cut(flow, anchored)

        if len(cuts) > 1:
            position = cuts.pop().start
            before = [item for item in anchored if item.position < position]
            yield from self._fitter.fit(self._candidates(flow, cuts, before))
            anchored = [
                replace(item, position=item.position - position) for item in anchored if item.position >= position
            ]
            flow = flow.tail(position)
        self._assembler.put_back(flow, anchored)

    def _cut(self, flow: Flow, anchored: Sequence[Anchored], below: Sequence[tuple[str, ...]] = ()) -> list[Cut]:
        match self._config.strategy:
            case Strategy.SECTIONS | Strategy.ROWS:
                named = {*below, *(item.headings for item in anchored)}
                return cut_sections(flow, self._config, self._tokenizer, self._context, named)
            case Strategy.TOKENS:
                return cut_tokens(flow, self._config, self._tokenizer, self._context)
            case Strategy.CHARACTERS:
                return cut_characters(flow, self._config)
            case Strategy.RECURSIVE:
                return cut_recursively(flow, self._config)
            case Strategy.SEMANTIC:
                assert self._embed is not None
                return cut_semantically(flow, self._config, self._tokenizer, self._context, self._embed)

    def _candidates(self, flow: Flow, cuts: Sequence[Cut], anchored: Sequence[Anchored]) -> Iterator[CandidateChunk]:
        """Text candidates, with each table and image after the text that precedes it."""
        waiting = deque(anchored)
        for cut in cuts:
            while waiting and waiting[0].position <= cut.start:
                yield from self._tables_and_images(waiting.popleft())
            yield self._text(ChunkType.TEXT, flow, cut)
        while waiting:
            yield from self._tables_and_images(waiting.popleft())

    def _tables_and_images(self, item: Anchored) -> Iterator[CandidateChunk]:
        if item.element.type is ElementType.TABLE:
            yield from self._tables.cut(item)
            return
        flow = Flow(item.element.text, (Part(0, item.element, item.headings),))
        for cut in cut_sections(flow, self._config, self._tokenizer, self._context):
            yield self._text(ChunkType.IMAGE, flow, cut)

    def _text(self, kind: ChunkType, flow: Flow, cut: Cut) -> CandidateChunk:
        return CandidateChunk(
            type=kind,
            flow=flow,
            ranges=((cut.start, cut.end),),
            headings=cut.headings,
            context=self._context.of(cut.headings)[0],
        )
