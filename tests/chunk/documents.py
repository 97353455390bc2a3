"""Documents and tokenizers for the chunkers' tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import hypothesis.strategies as st

from citewell.types import Box, Element, ElementType, JsonObject, Locator

_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")


class Words:
    """Four letters or a mark to a token: additive at white space, as WordPiece is."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(_TOKEN.findall(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]


class Greedy(Words):
    """Counts white space too, so that a whole has more tokens than the sum of its words, as byte-pair encodings may."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self.offsets(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]|\s{1,2}", text)]


def paragraph(id: str, text: str, page: int | None = None, kind: ElementType = ElementType.PARAGRAPH) -> Element:
    return Element(id=id, type=kind, text=text, locator=_page(page))


def title(id: str, text: str, level: int = 1, page: int | None = None) -> Element:
    return Element(id=id, type=ElementType.TITLE, text=text, level=level, locator=_page(page))


def lines(id: str, spans: Sequence[str], page: int = 1, y: float = 0.0, pages: Sequence[int] = ()) -> Element:
    """A paragraph of a PDF with a rectangle for each span; `pages` gives each span its own."""
    numbers = list(pages) or [page] * len(spans)
    boxes = tuple(Box(number, 0, y + 10 * index, 100, y + 10 * index + 8) for index, number in enumerate(numbers))
    starts = tuple(sum(len(span) + 1 for span in spans[:index]) for index in range(len(spans)))
    locator = Locator(page=numbers[0], pages=tuple(sorted(set(numbers))), boxes=boxes)
    return Element(id=id, type=ElementType.PARAGRAPH, text=" ".join(spans), locator=locator, span_starts=starts)


def table(id: str, grid: Sequence[Sequence[str]], page: int | None = 1) -> Element:
    """A table whose first row is its header."""
    rule = ["---"] * len(grid[0])
    text = "\n".join("| " + " | ".join(row) + " |" for row in (grid[0], rule, *grid[1:]))
    return Element(
        id=id,
        type=ElementType.TABLE,
        text=text,
        locator=_page(page),
        grid=tuple(tuple(row) for row in grid),
        header_rows=1,
    )


def data_table(
    id: str, name: str, grid: Sequence[Sequence[str]], rows: Sequence[int], sheet: str = "Loans"
) -> list[Element]:
    """A table of a data file as it is read: as a whole, then every row; `rows` are the numbers of those after the header."""
    metadata: JsonObject = {"table": name, "table_name": sheet}
    place = Locator(sheet=sheet, row=rows[0] - 1, row_end=rows[-1])
    whole = replace(table(id, grid), locator=place, metadata={**metadata, "rows": list(rows)})
    singles = [
        row(f"{id}.{number}", number, dict(zip(grid[0], line, strict=True)), sheet)
        for number, line in zip(rows, grid[1:], strict=True)
    ]
    return [whole, *(replace(one, metadata=metadata) for one in singles)]


def row(id: str, number: int, values: dict[str, str], sheet: str = "Loans") -> Element:
    return Element(
        id=id,
        type=ElementType.ROW,
        text=" | ".join(f"{name}: {value}" for name, value in values.items()),
        values=values,
        locator=Locator(sheet=sheet, row=number),
    )


def _page(page: int | None) -> Locator:
    return Locator(page=page, pages=(page,) if page is not None else ())


_LETTERS = "abcdefghijklmnoprstuvwxyzäß"
_SIGNS = "漢字文書検索"


def _word(chance: Random) -> str:
    if chance.random() < 0.08:
        return "".join(chance.choices(_SIGNS, k=chance.randint(1, 30)))
    return "".join(chance.choices(_LETTERS, k=chance.randint(1, 9)))


def _sentence(chance: Random) -> str:
    if chance.random() < 0.1:
        return "".join(chance.choices("xyz0123", k=chance.randint(80, 400)))
    return " ".join(_word(chance) for _ in range(chance.randint(1, 25))).capitalize() + "."


_CHANCE = st.integers(0, 2**32).map(Random)
"""Texts come from a seed: drawing them letter by letter takes ten times as long."""
_SENTENCES = _CHANCE.map(_sentence)
_BODY = st.tuples(_CHANCE, st.integers(1, 6)).map(lambda drawn: [_sentence(drawn[0]) for _ in range(drawn[1])])
PROSE = st.tuples(_CHANCE, st.integers(20, 60)).map(
    lambda drawn: " ".join(
        " ".join(_word(drawn[0])[:9] for _ in range(drawn[0].randint(3, 30))) + "." for _ in range(drawn[1])
    )
)
_KINDS = st.sampled_from(
    [
        ElementType.PARAGRAPH,
        ElementType.LIST_ITEM,
        ElementType.FOOTNOTE,
        ElementType.CAPTION,
        ElementType.CODE,
        ElementType.NOTE,
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> list[Element]:
    """Titles, paragraphs with and without rectangles, tables, rows, images and page furniture, in reading order."""
    elements: list[Element] = []
    page = 1
    for number in range(draw(st.integers(0, 14))):
        name = f"e{number}"
        page += draw(st.integers(0, 1))
        match draw(st.integers(0, 9)):
            case 0 | 1:
                elements.append(title(name, draw(_SENTENCES), draw(st.integers(1, 3)), page))
            case 2 | 3 | 4:
                elements.append(lines(name, draw(_BODY), page))
            case 5:
                elements.append(table(name, draw(_grids()), page))
            case 6:
                cells = draw(st.lists(_SENTENCES, min_size=1, max_size=12))
                elements.append(row(name, number + 2, {f"C{n}": cell for n, cell in enumerate(cells)}))
            case 7:
                kind = draw(st.sampled_from([ElementType.HEADER, ElementType.FOOTER, ElementType.IMAGE]))
                elements.append(paragraph(name, draw(_SENTENCES), page, kind))
            case _:
                elements.append(paragraph(name, " ".join(draw(_BODY)), page, draw(_KINDS)))
    return elements


@st.composite
def _grids(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(1, 8))
    chance = draw(_CHANCE)
    return [
        [" ".join(_word(chance) for _ in range(chance.randint(1, 6))) for _ in range(width)]
        for _ in range(draw(st.integers(2, 10)))
    ]
