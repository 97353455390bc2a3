"""The chunker: elements in reading order to chunks, streaming, by the strategy that the settings name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from citewell.chunk.assembling import Assembler, Beside
from citewell.chunk.characters import cut_characters
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.chunk.context import ContextLine
from citewell.chunk.fitting import BATCH, Candidate, Fitter
from citewell.chunk.flow import Cut, Flow, Part
from citewell.chunk.recursive import cut_recursively
from citewell.chunk.rows import RowCutter, row_headings
from citewell.chunk.sections import cut_sections
from citewell.chunk.semantic import cut_semantically
from citewell.chunk.tables import TableCutter
from citewell.chunk.tokenizing import SentenceEmbedder, Tokenizer, WordCounter
from citewell.chunk.tokens import cut_tokens
from citewell.types import ChunkDraft, ChunkType, Element, ElementType, JsonValue

_FURNITURE = frozenset({ElementType.HEADER, ElementType.FOOTER})


def chunk_elements(
    elements: Iterable[Element],
    config: ChunkConfig,
    tokenizer: Tokenizer,
    title: str,
    embed: SentenceEmbedder | None = None,
) -> Iterator[ChunkDraft]:
    """Chunks of a document in reading order; the elements are read as they are needed, a bounded stretch at a time.

    title stands before the heading path in every chunk's context. `embed` is needed by the `semantic` strategy alone
    (ValueError without it).
    """
    if config.strategy is Strategy.SEMANTIC and embed is None:
        raise ValueError("The semantic strategy needs an embedder.")
    return _Chunker(config, tokenizer, title, embed).run(elements)


class _Chunker:
    """One document's run."""

    def __init__(self, config: ChunkConfig, tokenizer: Tokenizer, title: str, embed: SentenceEmbedder | None) -> None:
        self._config = config
        self._tokenizer = WordCounter(tokenizer)
        self._embed = embed
        self._context = ContextLine(title, self._tokenizer, config.token_budget)
        self._fitter = Fitter(tokenizer, self._context, config.token_budget, config.special_tokens)
        self._rows = RowCutter(config, self._tokenizer, self._context)
        self._tables = TableCutter(config, self._tokenizer, self._context, by_row=config.strategy is Strategy.ROWS)
        self._assembler = Assembler()

    def run(self, elements: Iterable[Element]) -> Iterator[ChunkDraft]:
        rows: list[tuple[Element, tuple[str, ...]]] = []
        for element in self._once(elements):
            if element.type in _FURNITURE:
                continue
            if rows and (element.type is not ElementType.ROW or len(rows) == BATCH):
                yield from self._fitter.fit(self._rows.cut(rows))
                rows = []
            leaves = self._assembler.leaves_unit(element)
            if element.type is ElementType.ROW:
                headings = self._assembler.outline.enter(element)
                yield from self._gathered(() if leaves else (headings,))
                rows.append((element, row_headings(element, headings)))
                continue
            if leaves or self._assembler.is_full_beside:
                yield from self._gathered()
            self._assembler.add(element)
            if self._assembler.is_full:
                yield from self._gathered_but_the_last()
        yield from self._fitter.fit(self._rows.cut(rows))
        yield from self._gathered()

    def _once(self, elements: Iterable[Element]) -> Iterator[Element]:
        """The elements without those that say a table of data again, which comes as a whole and then by its rows.

        Of a table that fits one chunk the rows are left out; of a larger one the whole is, when its rows do follow.
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
            elif self._tables.is_whole(Beside(0, element, self._assembler.outline.enter(element))):
                whole.add(table)
                yield element
            else:
                held = element
        if held is not None:
            yield held

    def _gathered(self, below: Sequence[tuple[str, ...]] = ()) -> Iterator[ChunkDraft]:
        """Chunks of everything gathered so far; `below` are heading paths of what follows."""
        if not self._assembler.is_empty:
            flow, beside = self._assembler.take()
            yield from self._fitter.fit(self._candidates(flow, self._cut(flow, beside, below), beside))

    def _gathered_but_the_last(self) -> Iterator[ChunkDraft]:
        """Chunks of all but the last cut of what was gathered; the text from there on is gathered further."""
        flow, beside = self._assembler.take()
        cuts = self._cut(flow, beside)
        if len(cuts) > 1:
            position = cuts.pop().start
            before = [item for item in beside if item.position < position]
            yield from self._fitter.fit(self._candidates(flow, cuts, before))
            beside = [replace(item, position=item.position - position) for item in beside if item.position >= position]
            flow = flow.tail(position)
        self._assembler.put_back(flow, beside)

    def _cut(self, flow: Flow, beside: Sequence[Beside], below: Sequence[tuple[str, ...]] = ()) -> list[Cut]:
        match self._config.strategy:
            case Strategy.SECTIONS | Strategy.ROWS:
                named = {*below, *(item.headings for item in beside)}
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

    def _candidates(self, flow: Flow, cuts: Sequence[Cut], beside: Sequence[Beside]) -> Iterator[Candidate]:
        """Texts, with each table and image behind the text that stands before it."""
        waiting = deque(beside)
        for cut in cuts:
            while waiting and waiting[0].position <= cut.start:
                yield from self._tables_and_images(waiting.popleft())
            yield self._text(ChunkType.TEXT, flow, cut)
        while waiting:
            yield from self._tables_and_images(waiting.popleft())

    def _tables_and_images(self, item: Beside) -> Iterator[Candidate]:
        if item.element.type is ElementType.TABLE:
            yield from self._tables.cut(item)
            return
        flow = Flow(item.element.text, (Part(0, item.element, item.headings),))
        for cut in cut_sections(flow, self._config, self._tokenizer, self._context):
            yield self._text(ChunkType.IMAGE, flow, cut)

    def _text(self, kind: ChunkType, flow: Flow, cut: Cut) -> Candidate:
        return Candidate(
            type=kind,
            flow=flow,
            ranges=((cut.start, cut.end),),
            headings=cut.headings,
            context=self._context.of(cut.headings)[0],
        )
