"""What holds for every document, strategy and tokenizer: nothing lost, nothing too long, every place right."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, given, settings

from citewell.chunk import ChunkConfig, Strategy, chunk_elements
from citewell.ports import Tokenizer
from citewell.types import ChunkDraft, ChunkType, Element, ElementType, Locator
from citewell.types.chunking import measured_in_characters
from citewell.types.page_numbers import without_page_number
from tests.depth import examples

from .documents import PROSE, Greedy, Words, documents

FURNITURE = {ElementType.HEADER, ElementType.FOOTER}
TOKENIZERS = [Words(), Greedy()]


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Vectors that depend on the first letters alone."""
    vectors = np.array([[1.0 + (ord(text[0]) % 7), 1.0 + (len(text) % 5), 1.0] for text in texts], dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@st.composite
def configs(draw: st.DrawFn) -> ChunkConfig:
    strategy = draw(st.sampled_from(Strategy))
    size = draw(st.none() | st.integers(20, 300))
    overlap = draw(st.none() | st.integers(0, size // 2)) if size else None
    return ChunkConfig(strategy=strategy, size=size, overlap=overlap, max_tokens=draw(st.integers(20, 300)))


def chunked(elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer, title: str) -> list[ChunkDraft]:
    return list(chunk_elements(iter(elements), config, tokenizer, title, embed))


every_document = settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
titles = st.sampled_from(["", "Handbook", "A handbook of loans for those who lend money " * 3])


@every_document
@given(documents(), configs(), st.sampled_from(TOKENIZERS), titles)
def test_no_chunk_is_longer_than_the_embedder_reads(
    elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer, title: str
) -> None:
    for chunk in chunked(elements, config, tokenizer, title):
        assert chunk.token_count == tokenizer.count([chunk.embedded_text])[0] + config.special_tokens
        assert chunk.token_count <= config.max_tokens


@every_document
@given(documents(), configs(), st.sampled_from(TOKENIZERS))
def test_every_visible_character_is_in_a_chunk(
    elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer
) -> None:
    chunks = chunked(elements, config, tokenizer, "Handbook")
    held: dict[str, set[int]] = defaultdict(set)
    for chunk in chunks:
        for piece in chunk.pieces:
            held[piece.element_id].update(range(piece.start, piece.end))
    headings = {name for chunk in chunks for name in chunk.locator.headings}
    by_id = {element.id: element for element in elements}
    for element in elements:
        missing = {element.text[n] for n in range(len(element.text)) if n not in held[element.id]} - {" ", "\n"}
        if element.type in FURNITURE:
            # The same text is kept once; a lone page number is not.
            running = without_page_number(element.text)
            assert (
                not missing
                or not running
                or any(by_id[key].text == element.text for key, places in held.items() if places)
            )
        elif element.type is ElementType.TITLE:
            assert not missing or " ".join(element.text.split()) in headings
        elif element.type in (ElementType.TABLE, ElementType.ROW):
            assert missing <= set("|-:")
        else:
            assert not missing


@every_document
@given(documents(), configs(), st.sampled_from(TOKENIZERS))
def test_a_chunk_s_text_is_that_of_its_pieces(
    elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer
) -> None:
    texts = {element.id: element.text for element in elements}
    for chunk in chunked(elements, config, tokenizer, "Handbook"):
        assert chunk.text.strip() == chunk.text != ""
        assert all(0 <= piece.start < piece.end <= len(texts[piece.element_id]) for piece in chunk.pieces)
        pieces = "".join(texts[piece.element_id][piece.start : piece.end] for piece in chunk.pieces)
        assert re.sub(r"\s", "", pieces) == re.sub(r"\s", "", chunk.text)


@every_document
@given(documents(), configs(), st.sampled_from(TOKENIZERS))
def test_rectangles_and_pages_are_those_of_the_characters(
    elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer
) -> None:
    by_id = {element.id: element for element in elements}
    for chunk in chunked(elements, config, tokenizer, "Handbook"):
        boxes, pages = [], set[int]()
        for piece in chunk.pieces:
            element = by_id[piece.element_id]
            places = _place_of_each_character(element)
            touched = [n for n in range(piece.start, piece.end) if not element.text[n].isspace()]
            for index in dict.fromkeys(places[n] for n in touched):
                boxes += [element.locator.boxes[index]] if index is not None else []
            pages.update(
                element.locator.boxes[index].page if (index := places[n]) is not None else element.locator.page or 0
                for n in touched
            )
        assert list(chunk.locator.boxes) == boxes
        assert set(chunk.locator.pages) == pages - {0}
        assert chunk.locator.page == (min(pages - {0}) if pages - {0} else None)


def _place_of_each_character(element: Element) -> list[int | None]:
    """Index of the rectangle that holds each character: the oracle of the page map."""
    starts = element.span_starts
    return [
        max((index for index, start in enumerate(starts) if start <= n), default=None) for n in range(len(element.text))
    ]


@every_document
@given(documents(), st.integers(24, 300), st.sampled_from(TOKENIZERS))
def test_sections_repeat_nothing_and_divide_no_rectangle_that_fits(
    elements: list[Element], max_tokens: int, tokenizer: Tokenizer
) -> None:
    by_id = {element.id: element for element in elements}
    seen: dict[str, set[int]] = defaultdict(set)
    for chunk in chunked(elements, ChunkConfig(max_tokens=max_tokens), tokenizer, ""):
        if chunk.type is not ChunkType.TEXT:
            continue
        for piece in chunk.pieces:
            characters = set(range(piece.start, piece.end))
            assert not characters & seen[piece.element_id]
            seen[piece.element_id] |= characters
            element = by_id[piece.element_id]
            if element.span_starts and piece.start not in (0, *element.span_starts):
                start = max(s for s in element.span_starts if s < piece.start)
                stop = min((s for s in element.span_starts if s > piece.start), default=len(element.text))
                span = element.text[start:stop].strip()
                assert tokenizer.count([span])[0] > max_tokens // 2 - 4


@every_document
@given(documents(), configs(), st.sampled_from(TOKENIZERS))
def test_the_same_document_gives_the_same_chunks(
    elements: list[Element], config: ChunkConfig, tokenizer: Tokenizer
) -> None:
    assert chunked(elements, config, tokenizer, "T") == chunked(elements, config, tokenizer, "T")


@every_document
@given(documents(), configs())
def test_texts_are_in_reading_order(elements: list[Element], config: ChunkConfig) -> None:
    """What runs on all pages comes last."""
    order = {
        element.id: number + len(elements) * (element.type in FURNITURE) for number, element in enumerate(elements)
    }
    footnotes = {element.id for element in elements if element.type in (ElementType.FOOTNOTE, ElementType.CAPTION)}
    firsts = [
        order[chunk.pieces[0].element_id]
        for chunk in chunked(elements, replace(config, overlap=0), Words(), "")
        if chunk.type is ChunkType.TEXT and chunk.pieces[0].element_id not in footnotes
    ]
    assert firsts == sorted(firsts)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PROSE, st.integers(40, 120), st.data())
def test_windows_of_characters_overlap_exactly(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    config = ChunkConfig(strategy=Strategy.CHARACTERS, size=size, overlap=overlap, max_tokens=512)
    element = Element(id="e0", type=ElementType.PARAGRAPH, text=text, locator=Locator())
    spans = [(c.pieces[0].start, c.pieces[0].end) for c in chunk_elements([element], config, Words(), "")]
    for number, (start, end) in enumerate(spans):
        window = (number * (size - overlap), min(number * (size - overlap) + size, len(text)))
        assert text[start:end] == text[slice(*window)].strip()


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PROSE, st.sampled_from([Strategy.TOKENS, Strategy.SEMANTIC, Strategy.SECTIONS, Strategy.RECURSIVE]), st.data())
def test_what_is_repeated_is_at_most_the_overlap(text: str, strategy: Strategy, data: st.DataObject) -> None:
    size = data.draw(st.integers(60, 200))
    overlap = data.draw(st.integers(0, size // 3))
    config = ChunkConfig(strategy=strategy, size=size, overlap=overlap, max_tokens=2_000)
    element = Element(id="e0", type=ElementType.PARAGRAPH, text=text, locator=Locator())
    pieces = [chunk.pieces[0] for chunk in chunk_elements([element], config, Words(), "", embed)]
    for before, after in pairwise(pieces):
        repeated = text[after.start : before.end] if after.start < before.end else ""
        length = _length(repeated, strategy)
        assert length <= overlap
        if strategy is Strategy.TOKENS and overlap >= 12:
            assert length > 0
    assert all(_length(text[piece.start : piece.end], strategy) <= size for piece in pieces)


def _length(text: str, strategy: Strategy) -> int:
    """In the unit of the strategy's sizes."""
    return len(text) if measured_in_characters(strategy) else Words().count([text])[0]
