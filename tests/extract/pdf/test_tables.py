"""Tables of PDFs: ruled and borderless, spanning cells, page breaks, and what only looks like a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from citewell.types import Element, ElementType
from tests.extract.pdf.drawing import (
    COLUMNS,
    RATES,
    Draw,
    horizontal,
    justified,
    lines,
    pdf,
    prose,
    put,
    read_pdf,
    ruled,
    vertical,
)


def test_a_grid_of_lines_gives_its_cells(tmp_path: Path) -> None:
    table = only_table(tmp_path, lambda canvas: ruled(canvas, 100, RATES))
    assert table.grid == tuple(map(tuple, RATES))
    assert table.header_rows == 1
    assert table.text.splitlines()[0] == "| Product | Term | Rate | Fee |"


def test_cells_without_a_line_between_them_span(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        xs, ys = [80, 200, 300, 400], [100, 125, 150, 175]
        for y in (100, 150, 175):
            horizontal(canvas, y, 80, 400)
        horizontal(canvas, 125, 200, 400)
        for x, top in ((80, 100), (200, 100), (300, 125), (400, 100)):
            vertical(canvas, x, top, 175)
        put(canvas, xs, ys, [["City", "Rainfall", ""], ["", "1990", "2020"], ["Bergen", "2250", "2700"]])

    table = only_table(tmp_path, page)
    assert table.grid == (("City", "Rainfall", "Rainfall"), ("City", "1990", "2020"), ("Bergen", "2250", "2700"))
    assert table.html is not None
    assert '<th rowspan="2">City</th><th colspan="2">Rainfall</th>' in table.html


def test_wrapped_cells_of_a_ruled_table_are_whole(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for y in (100, 140, 180):
            horizontal(canvas, y, 80, 400)
        for x in (80, 200, 400):
            vertical(canvas, x, 100, 180)
        lines(canvas, 84, 104, ["Kind of"], size=10)
        lines(canvas, 84, 116, ["paper"], size=10)
        lines(canvas, 204, 104, ["What it is used for in"], size=10)
        lines(canvas, 204, 116, ["the printing house"], size=10)
        lines(canvas, 84, 144, ["Laid"], size=10)
        lines(canvas, 204, 144, ["Letters and other things that"], size=10)
        lines(canvas, 204, 156, ["people keep"], size=10)

    table = only_table(tmp_path, page)
    assert table.grid == (
        ("Kind of paper", "What it is used for in the printing house"),
        ("Laid", "Letters and other things that people keep"),
    )


def test_a_table_without_any_line_is_found_by_its_columns(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        top = lines(canvas, 80, 60, prose(4))
        plain(canvas, top + 20, RATES)
        lines(canvas, 80, 300, prose(4, 30))

    reading = read_pdf(tmp_path, pdf(page))
    (table,) = reading.of(ElementType.TABLE)
    assert table.grid == tuple(map(tuple, RATES))
    assert "Student" not in " ".join(reading.texts(ElementType.PARAGRAPH))
    kinds = [element.type for element in reading.elements]
    assert kinds == [ElementType.PARAGRAPH, ElementType.TABLE, ElementType.PARAGRAPH]


def test_titles_over_several_columns_are_found_by_the_line_under_them(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for y in (100, 140, 205):
            horizontal(canvas, y, 75, 460)
        horizontal(canvas, 118, 215, 300)
        horizontal(canvas, 118, 335, 450)
        lines(canvas, 235, 104, ["Enrolled"])
        lines(canvas, 370, 104, ["Graduated"])
        for x, text in ((80, "Region"), (220, "2010"), (270, "2020"), (340, "2010"), (400, "2020")):
            lines(canvas, x, 124, [text])
        for i, row in enumerate(
            (
                ("North", "120", "140", "80", "95"),
                ("South", "310", "290", "200", "180"),
                ("West", "75", "60", "40", "55"),
            )
        ):
            for x, text in zip((80, 220, 270, 340, 400), row, strict=True):
                lines(canvas, x, 146 + 18 * i, [text])

    table = only_table(tmp_path, page)
    assert table.grid is not None
    assert table.grid[0] == ("Region", "Enrolled", "Enrolled", "Graduated", "Graduated")
    assert table.grid[1] == ("Region", "2010", "2020", "2010", "2020")
    assert table.grid[3] == ("South", "310", "290", "200", "180")
    assert table.header_rows == 2


def test_a_table_that_goes_on_over_the_page_is_one_with_the_rows_of_both(tmp_path: Path) -> None:
    rows = [["Name", "Count"]] + [[f"Item number {i}", str(i * 7)] for i in range(60)]

    def first(canvas: Canvas) -> None:
        ruled(canvas, 60, rows[:36], xs=(80, 300, 400))

    def second(canvas: Canvas) -> None:
        ruled(canvas, 60, [rows[0], *rows[36:]], xs=(80, 300, 400))
        lines(canvas, 80, 640, prose(3))

    (table,) = read_pdf(tmp_path, pdf(first, second)).of(ElementType.TABLE)
    assert table.grid == tuple(map(tuple, rows))
    assert table.locator.pages == (1, 2)
    assert {box.page for box in table.locator.boxes} == {1, 2}
    # The header that the second page repeats is no row of the table: its first cell there is that of item 35.
    assert [cell.box.page for cell in table.cells if cell.column == 0] == [1] * 36 + [2] * 25


def test_tables_of_the_same_shape_with_other_headers_stay_apart(tmp_path: Path) -> None:
    def page_of(header: list[str]) -> Draw:
        return lambda canvas: ruled(canvas, 60, [header, *([str(i), str(i * i)] for i in range(34))], xs=(80, 300, 400))

    tables = read_pdf(tmp_path, pdf(page_of(["Number", "Square"]), page_of(["Length", "Area"]))).of(ElementType.TABLE)
    assert [table.locator.pages for table in tables] == [(1,), (2,)]


STATEMENT = [
    ["Operating activities", "", ""],
    ["Net income", "$ 4,756", "$ 4,822"],
    ["Depreciation", "856", "788"],
    ["Net cash provided", "5,612", "5,610"],
    ["Investing activities", "", ""],
    ["Purchases of equipment", "(442)", "(348)"],
    ["Sales of investments", "270", "—"],
]


def statement(canvas: Canvas, top: float, titles: Sequence[tuple[float, str]], rows: Sequence[Sequence[str]]) -> float:
    """Column titles in lines of their own, then rows between two rules, the last one below the second; returns its top."""
    for line, (x, title) in enumerate(titles):
        lines(canvas, x, top + 12 * (line // 2), [title])
    top += 12 * ((len(titles) + 1) // 2) + 6
    for y in (top - 1, top + 14 * (len(rows) - 1) - 1):
        horizontal(canvas, y, 80, 480)
    put(canvas, [80, 330, 410], [top + 14 * i for i in range(len(rows))], rows)
    return top + 14 * (len(rows) - 1)


YEARS = [(330, "January 28,"), (410, "January 29,"), (330, "2023"), (410, "2022")]


def test_titles_above_the_first_rule_and_rows_below_the_last_belong_to_a_table_of_figures(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 200, 60, ["Statements of Cash Flows"])
        statement(canvas, 110, YEARS, STATEMENT)

    table = only_table(tmp_path, page)
    assert table.grid == (("", "January 28, 2023", "January 29, 2022"), *map(tuple, STATEMENT))
    assert table.header_rows == 1


def test_a_note_and_a_page_number_below_a_table_are_no_cells(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        end = statement(canvas, 110, YEARS, STATEMENT)
        lines(canvas, 80, end + 40, ["See the notes to these statements."])
        lines(canvas, 300, end + 70, ["42"])
        horizontal(canvas, end + 90, 80, 480)

    table = only_table(tmp_path, page)
    assert table.grid is not None
    assert table.grid[-1] == ("Sales of investments", "270", "—")


def test_titles_that_come_again_begin_another_table(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for x in (80, 480):
            vertical(canvas, x, 90, 95)
        end = statement(canvas, 110, YEARS, STATEMENT)
        statement(canvas, end + 16, YEARS, STATEMENT)

    tables = read_pdf(tmp_path, pdf(page)).of(ElementType.TABLE)
    assert [table.grid for table in tables] == [
        (("", "January 28, 2023", "January 29, 2022"), *map(tuple, STATEMENT)),
    ] * 2


def test_the_sign_of_an_amount_is_not_taken_for_the_end_of_the_amount_before(tmp_path: Path) -> None:
    rows = [["Net income", "4,756 $", "4,822"], ["Depreciation", "856", "788"], ["Net cash", "5,612 $", "5,610"]]
    table = only_table(tmp_path, lambda canvas: statement(canvas, 110, YEARS[2:], rows))
    assert table.grid is not None
    assert [row[1:] for row in table.grid[1:]] == [("4,756", "$ 4,822"), ("856", "788"), ("5,612", "$ 5,610")]


def test_a_sign_between_two_amounts_begins_the_cell_of_the_second(tmp_path: Path) -> None:
    """Columns so narrow that a row is one run of text."""
    rows = [["Net sales", "3,226.8", "8,630.9"], ["Expenses", "1,762.7", "2,061.5"], ["Income", "1,464.1", "6,569.4"]]

    def page(canvas: Canvas) -> None:
        for x, year in ((330, "2023"), (382, "2022")):
            lines(canvas, x, 110, [year])
        put(canvas, [80, 330, 382], [128, 142, 156], rows)
        put(canvas, [320, 371], [128, 142, 156], [["$", "$"]] * 3)
        for y in (124, 170):
            horizontal(canvas, y, 80, 480)

    table = only_table(tmp_path, page)
    assert table.grid is not None
    assert [row[1:] for row in table.grid[1:]] == [tuple(f"$ {amount}" for amount in row[1:]) for row in rows]


def test_a_sentence_and_titles_between_rows_of_amounts_begin_another_table(tmp_path: Path) -> None:
    """Tables with other columns under the first line of one area and above its last."""

    def page(canvas: Canvas) -> None:
        end = statement(canvas, 110, YEARS[2:], STATEMENT[1:])
        lines(canvas, 80, end + 20, ["A summary of what is expected from these stores and their openings:"])
        lines(canvas, 80, end + 36, ["(in millions)"])
        for x, text in zip((330, 380, 430), ("Low", "Middle", "High"), strict=True):
            lines(canvas, x, end + 36, [text])
        tops = [end + 52, end + 66, end + 80]
        rows = [
            ["Net sales", "$ 100", "$ 110", "$ 120"],
            ["Costs", "40", "44", "48"],
            ["Income", "$ 60", "$ 66", "$ 72"],
        ]
        put(canvas, [80, 330, 380, 430], tops, rows)
        horizontal(canvas, end + 94, 80, 480)

    first, second = read_pdf(tmp_path, pdf(page)).of(ElementType.TABLE)
    assert first.grid is not None
    assert second.grid is not None
    assert first.grid[-1] == ("Sales of investments", "270", "—")
    assert second.grid[0] == ("(in millions)", "Low", "Middle", "High")
    assert second.grid[-1] == ("Income", "$ 60", "$ 66", "$ 72")
    assert second.header_rows == 1


def test_an_amount_of_nothing_with_its_sign_is_a_figure_of_a_last_row(tmp_path: Path) -> None:
    rows = [*STATEMENT[1:-1], ["Held for sale", "$ —", "$ 65"]]
    table = only_table(tmp_path, lambda canvas: statement(canvas, 110, YEARS, rows))
    assert table.grid is not None
    assert table.grid[-1] == ("Held for sale", "$ —", "$ 65")


def test_names_and_amounts_in_words_have_no_header(tmp_path: Path) -> None:
    rows = [["Net sales", "$10.9 billion to $11.1 billion"], ["New stores", "25-30"], ["Margin", "14.7% to 15.0%"]]

    def page(canvas: Canvas) -> None:
        for y in (98, 118, 138, 158):
            horizontal(canvas, y, 80, 480)
        put(canvas, [80, 330], [102, 122, 142], rows)

    table = only_table(tmp_path, page)
    assert table.grid == tuple(map(tuple, rows))
    assert table.header_rows == 0
    assert table.text.splitlines()[:3] == ["|  |  |", "| --- | --- |", "| Net sales | $10.9 billion to $11.1 billion |"]
    starts = [table.text[start:].splitlines()[0] for start in table.span_starts if table.text[start] == "|"]
    assert starts[0] == "| Net sales | $10.9 billion to $11.1 billion |"


def test_years_below_the_line_under_a_title_of_all_columns_are_header(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 80, 92, ["(In millions)"])
        lines(canvas, 371, 92, ["Full year"])
        for y in (88, 106, 168):
            horizontal(canvas, y, 80, 480)
        lines(canvas, 330, 110, ["2023"])
        lines(canvas, 410, 110, ["2022"])
        rows = [["U.S.", "$ 10,782", "$ 9,857"], ["Europe", "5,590", "5,341"], ["Worldwide", "$ 16,372", "$ 15,198"]]
        put(canvas, [80, 330, 410], [126, 140, 154], rows)

    table = only_table(tmp_path, page)
    assert table.grid is not None
    assert table.header_rows == 2
    assert table.grid[1][1:] == ("2023", "2022")


def test_a_title_that_no_figures_are_below_has_a_column_of_its_own(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for y in (98, 118, 152):
            horizontal(canvas, y, 80, 520)
        for x, text in zip((230, 310, 390, 470), ("Amount", "Level 1", "Level 2", "Level 3"), strict=True):
            lines(canvas, x, 104, [text])
        put(
            canvas, [80, 230, 390], [122, 138], [["Notes receivable", "$385", "$403"], ["Debt", "(56,794)", "(52,856)"]]
        )

    table = only_table(tmp_path, page)
    assert table.grid == (
        ("", "Amount", "Level 1", "Level 2", "Level 3"),
        ("Notes receivable", "$385", "", "$403", ""),
        ("Debt", "(56,794)", "", "(52,856)", ""),
    )


def test_a_table_knows_its_title_its_unit_and_the_groups_of_its_rows(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        lines(canvas, 80, 40, prose(1))
        lines(canvas, 200, 80, ["Statements of Cash Flows", "(In millions)"])
        statement(canvas, 110, YEARS, STATEMENT)

    table = only_table(tmp_path, page)
    assert table.metadata["title"] == "Statements of Cash Flows (In millions)"
    assert table.metadata["unit"] == "In millions"
    assert table.metadata["groups"] == [-1, -1, 1, 1, 1, -1, 5, 5]


def test_statements_with_the_same_columns_on_following_pages_stay_apart(tmp_path: Path) -> None:
    def page_of(title: str) -> Draw:
        def page(canvas: Canvas) -> None:
            lines(canvas, 200, 60, [title], font="Helvetica-Bold")
            statement(canvas, 80, YEARS, STATEMENT)

        return page

    tables = read_pdf(tmp_path, pdf(page_of("Statements of Income"), page_of("Statements of Cash Flows")))
    assert [table.locator.pages for table in tables.of(ElementType.TABLE)] == [(1,), (2,)]
    again = read_pdf(tmp_path, pdf(page_of("Statements of Income"), page_of("Statements of Income")))
    assert [table.locator.pages for table in again.of(ElementType.TABLE)] == [(1, 2)]


def test_each_row_of_a_table_has_its_place(tmp_path: Path) -> None:
    table = only_table(tmp_path, lambda canvas: ruled(canvas, 100, RATES))
    rows = [table.text[start:].splitlines()[0] for start in table.span_starts if table.text[start] == "|"]
    assert [rows[0], rows[2]] == ["| Product | Term | Rate | Fee |", "| Car loan | 5 years | 7.25 | 150 |"]
    assert len(rows) == len(RATES)
    assert [round(box.y0) for box in table.locator.boxes] == sorted(round(box.y0) for box in table.locator.boxes)


def test_each_cell_of_a_ruled_table_has_its_place_between_the_rules(tmp_path: Path) -> None:
    xs = (80, 210, 310, 390, 460)
    table = only_table(tmp_path, lambda canvas: ruled(canvas, 100, RATES, xs))
    assert {(cell.row, cell.column) for cell in table.cells} == {(r, c) for r in range(len(RATES)) for c in range(4)}
    for cell in table.cells:
        top = 100 + 20 * cell.row
        assert xs[cell.column] < cell.box.x0 < cell.box.x1 < xs[cell.column + 1]
        assert top < cell.box.y0 < cell.box.y1 < top + 20
    assert Element.from_json(table.to_json()).to_json() == table.to_json()


def test_each_cell_of_a_table_without_rules_has_its_place_in_its_row_and_column(tmp_path: Path) -> None:
    table = only_table(tmp_path, lambda canvas: statement(canvas, 110, YEARS, STATEMENT))
    grid = table.grid
    assert grid is not None
    filled = {(r, c) for r, row in enumerate(grid) for c, text in enumerate(row) if text}
    assert {(cell.row, cell.column) for cell in table.cells} == filled
    for column in range(1, len(grid[0])):
        left = [cell.box for cell in table.cells if cell.column == column - 1 and (cell.row, column) in filled]
        right = [cell.box for cell in table.cells if cell.column == column]
        assert right
        assert max(box.x1 for box in left) < min(box.x0 for box in right)
    tops = [cell.box.y0 for cell in table.cells if cell.column == 1]
    assert tops == sorted(tops)


def test_a_cell_of_several_lines_has_one_place_around_them(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for y in (100, 140, 180):
            horizontal(canvas, y, 80, 400)
        for x in (80, 200, 400):
            vertical(canvas, x, 100, 180)
        lines(canvas, 84, 104, ["Kind of", "paper"], size=10)
        lines(canvas, 204, 104, ["Weight"], size=10)
        lines(canvas, 84, 144, ["Laid"], size=10)
        lines(canvas, 204, 144, ["90"], size=10)

    table = only_table(tmp_path, page)
    (box,) = [cell.box for cell in table.cells if (cell.row, cell.column) == (0, 0)]
    assert (box.y0 < 116, box.y1 > 118) == (True, True)
    assert len(table.cells) == 4


def test_prose_in_columns_lists_and_boxes_are_not_tables(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        justified(canvas, 60, 60, 220, 15)
        justified(canvas, 310, 60, 220, 15, start=11)
        for i, text in enumerate(prose(5, 3)):
            lines(canvas, 60, 280 + 14 * i, ["•"])
            lines(canvas, 80, 280 + 14 * i, [text])
        horizontal(canvas, 400, 60, 530)
        horizontal(canvas, 470, 60, 530)
        vertical(canvas, 60, 400, 470)
        vertical(canvas, 530, 400, 470)
        lines(canvas, 70, 410, prose(4, 8))

    assert read_pdf(tmp_path, pdf(page)).of(ElementType.TABLE) == []


def test_tables_are_left_as_text_when_they_are_not_wanted(tmp_path: Path) -> None:
    reading = read_pdf(tmp_path, pdf(lambda canvas: ruled(canvas, 100, RATES)), extract_tables=False)
    assert reading.of(ElementType.TABLE) == []
    assert "Student loan" in reading.text


def only_table(folder: Path, draw: Draw) -> Element:
    (table,) = read_pdf(folder, pdf(draw)).of(ElementType.TABLE)
    return table


def plain(canvas: Canvas, top: float, rows: Sequence[Sequence[str]]) -> None:
    for i, row in enumerate(rows):
        for x, text in zip(COLUMNS, row, strict=True):
            lines(canvas, x, top + 14 * i, [text])
