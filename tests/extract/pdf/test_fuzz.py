"""Whatever words and lines stand on a page, and however a file is damaged, reading ends with a result or a reason of ours."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.errors import ExtractionError
from citewell.extract.formats.pdf.columns import reading_order
from citewell.extract.formats.pdf.fonts import TextStyle
from citewell.extract.formats.pdf.geometry import Rect, rotation_of
from citewell.extract.formats.pdf.lines import build_runs
from citewell.extract.formats.pdf.paragraphs import paragraphs
from citewell.extract.formats.pdf.tables.detect import find_tables
from citewell.extract.formats.pdf.tables.model import render
from citewell.extract.formats.pdf.words import Word
from tests.extract.documents.seeds import damaged
from tests.extract.pdf.drawing import read_pdf, tabled

TEXTS = st.sampled_from(
    ["1,200", "30", "5.1%", "Total", "loan", "(2)", "•", "Table 3:", "of", "$", "2019", "....", "ab-"]
)
PLACES = st.tuples(TEXTS, st.integers(0, 40), st.integers(0, 40), st.sampled_from([6, 10, 10, 10, 18]))
EDGES = st.tuples(st.integers(0, 600), st.integers(0, 600), st.integers(0, 300), st.booleans())


@given(st.lists(PLACES, max_size=60))
@settings(max_examples=150, deadline=None)
def test_reading_order_keeps_every_word_once(places: list[tuple[str, int, int, int]]) -> None:
    words = words_of(places)
    columns = reading_order(build_runs(words))
    read = [word.start for column in columns for group in paragraphs(column) for line in group for word in line.words]
    assert sorted(read) == [word.start for word in words]


@given(st.lists(PLACES, max_size=60), st.lists(EDGES, max_size=25))
@settings(max_examples=150, deadline=None)
def test_tables_hold_no_word_twice_and_their_cells_do_not_overlap(
    places: list[tuple[str, int, int, int]], edges: list[tuple[int, int, int, bool]]
) -> None:
    rules = [Rect(x, y, x + (n if flat else 1), y + (1 if flat else n)) for x, y, n, flat in edges]
    tables = find_tables(words_of(places), rules, [])
    held = [word.start for table in tables for word in table.words]
    assert len(held) == len(set(held))
    for table in tables:
        squares = [
            (r, c)
            for cell in table.cells
            for r in range(cell.row, cell.row + cell.rowspan)
            for c in range(cell.column, cell.column + cell.colspan)
        ]
        assert len(squares) == len(set(squares))
        assert all(r < table.height and c < table.width for r, c in squares)
        rendered = render(table, 1, rotation_of(0), None)
        assert rendered is None or len({len(row) for row in rendered.table.grid}) == 1


@given(angle=st.integers(0, 359), x=st.floats(-500, 500), y=st.floats(-500, 500))
def test_turning_upright_and_back_is_where_it_was(angle: int, x: float, y: float) -> None:
    rotation = rotation_of(angle)
    assert rotation.shown_point(*rotation.point(x, y)) == pytest.approx((x, y), abs=1e-6)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_pdf_is_read_in_part_or_refused_with_a_reason(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with suppress(ExtractionError):
        read_pdf(tmp_path_factory.mktemp("fuzz"), damaged(WHOLE, random.Random(seed)))


def words_of(places: list[tuple[str, int, int, int]]) -> list[Word]:
    """Words on a loose grid, so that rows and columns come about by chance."""
    words: list[Word] = []
    for i, (text, column, row, size) in enumerate(places):
        x, y = 20 + column * 14.0, 20 + row * 13.0
        style = TextStyle("F", float(size), bold=size == 18)
        words.append(Word(text, x, y, x + size * 0.5 * len(text), y + size, i, i + 1, True, False, style))
    return words


WHOLE = tabled()
