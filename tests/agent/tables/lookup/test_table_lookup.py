"""Lookups of lines of statements: which cell is meant, what is computed of several, and when nothing is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.agent.tables.lookup.answer import LookupAnswer
from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.types import Box, Element, Scope
from tests.agent.tables.lookup.statements import ANNUAL_REPORT, BALANCE, INCOME, RATES, Files, table


async def ask(question: str, tables: Sequence[Element] = ANNUAL_REPORT) -> LookupAnswer | None:
    files = Files(Acme_report=tables)
    return await TableLookup(files).answer("ada", question, files.scope, ())


async def text_of(question: str, tables: Sequence[Element] = ANNUAL_REPORT) -> str:
    found = await ask(question, tables)
    assert found is not None, question
    return found.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's net income in 2022?", "Net income came to $200 million in 2022 [1]."),
        ("What were net sales in FY2023, in billions of dollars?", "Net sales came to $1.5 billion in 2023 [1]."),
        ("diluted earnings per share 2021", "Diluted earnings per share came to $2.00 in 2021 [1]."),
        ("What is the FY2023 capital expenditure amount?", "came to $130 million in 2023"),
        ("What were total current liabilities at December 31, 2022?", "came to $250 million in 2022 [1]."),
        ("How many store openings were there in the three months ended December 31, 2023?", "came to 7 in 2023"),
        ("How many store openings were there in 2023?", "came to 24 in 2023"),
        ("How did net sales change from 2022 to 2023?", "an increase of $300 million (25.0%)."),
        ("total revenue 2022 vs 2021 change", "an increase of $200 million (20.0%)."),
        ("What was the year-over-year growth of operating income in 2023?", "an increase of $170 million (60.7%)."),
        ("What was the sum of net income from 2021 to 2023?", "Together that is $700 million."),
        ("What was the average net income from 2021 to 2023?", "Their average is $233.33 million."),
        ("In which year was net income highest?", "It was highest in 2023."),
        ("What were selling, general and administrative expenses as a percentage of net sales in 2023?", "came to 10.0% in 2023"),
        ("What percentage of net sales was operating income in 2022?", "Operating income as a percentage of net sales came to 23.3%"),
    ],
)  # fmt: skip
async def test_a_line_and_a_period_give_the_figure_with_its_unit(question: str, expected: str) -> None:
    assert expected in await text_of(question)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was the gross margin in 2023?", "Gross margin (gross profit / revenue) came to 40.0% in 2023: gross profit $600 million, net sales $1,500 million [1]."),
        ("Is the gross margin improving as of FY2023?", "That is an increase of 5.0 percentage points."),
        ("What is the working capital for 2022?", "came to $100 million in 2022"),
        ("What was the quick ratio in 2023?", "came to 1.5 in 2023: total current assets $400 million, inventories, net $100 million"),
        ("What was free cash flow in 2023?", "came to $250 million in 2023"),
        ("What was the effective tax rate in 2023?", "came to 25.0% in 2023"),
        ("What was the effective tax rate in 2021?", "came to -25.0% in 2021"),
        ("What was the return on assets in 2023?", "came to 15.8% in 2023"),
    ],
)  # fmt: skip
async def test_a_measure_of_the_glossary_shows_its_formula_and_inputs(question: str, expected: str) -> None:
    assert expected in (await text_of(question)).replace("1.50 in", "1.5 in")


@pytest.mark.parametrize(
    "question",
    [
        "What was net income in 2019?",
        "Why did net income rise in 2023?",
        "What drove net sales in 2023?",
        "What was the net income of the software segment in 2023?",
        "What was net interest income in 2023?",
        "What was the return on assets in 2022?",  # needs the assets of 2021
        "How many employees were there in 2023?",
        "What did the auditors say about inventories in 2023?",
        "What were net sales in 2023? And who audited them?",
        "",
        "2023",
    ],
)
async def test_nothing_is_said_where_a_word_or_a_figure_has_no_place(question: str) -> None:
    assert await ask(question) is None


async def test_an_instruction_besides_the_question_does_not_matter() -> None:
    question = "What was net income in 2022? If it does not apply to such a company, say so."
    assert "$200 million" in await text_of(question)


async def test_tables_that_disagree_give_no_answer_unless_others_confirm_one() -> None:
    changed = [[*row[:1], *("9,999" if cell == "420" else cell for cell in row[1:])] for row in INCOME]
    title = "Consolidated Statements of Income (in millions)"
    two = (table(1, INCOME, title), table(2, changed, title))
    assert await ask("What was gross profit in 2022?", two) is None
    assert "$420 million" in await text_of(
        "What was gross profit in 2022?", (*two, table(3, INCOME, "Overview (in millions)"))
    )
    assert "$600 million" in await text_of("What was gross profit in 2023?", two)


async def test_figures_of_tables_with_other_scales_are_compared_at_one() -> None:
    thousands = [["(In thousands)", "2023", "2022"], ["Net sales", "$ 1,500,000", "$ 1,200,000"]]
    millions = [["(In millions)", "2022", "2021"], ["Net sales", "$ 1,200.0", "$ 1,000.0"], ["Rent", "$ 2.5", "$ 2.0"]]
    tables = (table(1, thousands, "Statement of Income"), table(2, millions, "Overview"))
    said = await text_of("How did net sales change from 2021 to 2023?", tables)
    assert "$1,500 million in 2023" in said
    assert "$1,000 million in 2021" in said
    assert "an increase of $500 million (50.0%)." in said


async def test_figures_are_not_compared_with_one_whose_scale_is_unknown() -> None:
    stated = [["(In thousands)", "2023"], ["Net sales", "$ 1,500,000"], ["Rent", "$ 70,000"]]
    unstated = [["", "2021"], ["Net sales", "$ 1,000"], ["Rent", "$ 60"]]
    tables = (table(1, stated, "Statement of Income"), table(2, unstated, "Overview"))
    assert await ask("How did net sales change from 2021 to 2023?", tables) is None


async def test_whole_numbers_among_amounts_with_decimals_are_counts() -> None:
    grid = [
        ["(Dollars in millions)", "2023", "2022"],
        ["Net sales", "$ 3,226.8", "$ 2,729.4"],
        ["Rent", "12.0", "11.5"],
        ["New store openings, net", "47", "44"],
    ]
    tables = (table(1, grid, "Highlights"),)
    assert "came to 47 in 2023" in await text_of("How many new stores were opened in 2023?", tables)
    assert "came to $12.0 million in 2023" in await text_of("What was the rent in 2023?", tables)
    whole = [[cell.partition(".")[0] for cell in row] for row in grid]
    assert "came to $47 million" in await text_of(
        "How many new stores were opened in 2023?", (table(1, whole, "Highlights"),)
    )


async def test_a_company_may_be_named_by_the_beginning_of_its_file_s_name() -> None:
    files = Files(ZENITSTORES_2023=ANNUAL_REPORT)
    lookup = TableLookup(files)
    found = await lookup.answer("ada", "What was Zenit's net income in 2022?", files.scope, ())
    assert found is not None
    assert "$200 million" in found.text
    assert await lookup.answer("ada", "What was Apex's net income in 2022?", files.scope, ()) is None


async def test_the_consolidated_statement_comes_before_those_of_parts() -> None:
    part = [["Year ended December 31,", "2023"], ["Net sales", "77"]]
    tables = (table(1, part, "Statement of Income of the obligor group (in millions)"), *ANNUAL_REPORT)
    assert "$1,500 million" in await text_of("What were net sales in 2023?", tables)


CASINO = [
    ["", "Twelve months ended", "", "Three months ended", ""],
    ["", "December 31, 2023", "December 31, 2022", "December 31, 2023", "December 31, 2022"],
    ["Revenues", "", "", "", ""],
    ["Casino", "$ 900", "$ 800", "$ 250", "$ 220"],
    ["Rooms", "500", "300", "140", "90"],
    ["Expenses", "", "", "", ""],
    ["Casino", "400", "380", "110", "100"],
]
NORTH = [
    ["Three months ended December 31,", "2023", "2022"],
    ["Casino revenue (in millions)", "$ 95", "$ 70"],
    ["Hotels", "7", "6"],
]
SOUTH = [
    ["Three months ended December 31,", "2023", "2022"],
    ["", "(Dollars in millions)", ""],
    ["Hotels", "$ 8", "$ 5"],
]


async def test_a_row_of_a_group_in_a_consolidated_statement_comes_before_a_label_of_another_table() -> None:
    statement = table(
        1, CASINO, "Consolidated Statements of Operations (in millions)", header_rows=2, indents=[0, 0, 0, 9, 9, 0, 9]
    )
    tables = (table(2, NORTH, "Key figures of the north"), statement)
    assert await text_of("casino revenue 2023", tables) == (
        "Revenues: Casino came to $900 million in 2023 (twelve months ended December 31, 2023) [1]."
    )
    assert "an increase of $200 million (66.7%)" in await text_of("did revenue from rooms rise?", tables)


async def test_a_unit_stands_in_a_label_or_in_a_row_of_its_own() -> None:
    tables = (table(1, NORTH, "Key figures of the north"), ANNUAL_REPORT[1])
    assert "came to $95 million in 2023 (three months ended December 31, 2023)" in await text_of(
        "casino revenue", tables
    )
    tables = (table(1, SOUTH, "Key figures of the south"), ANNUAL_REPORT[1])
    assert "came to $8 million in 2023" in await text_of("What did hotels make in the quarter?", tables)


async def test_a_table_is_named_where_another_has_other_figures_for_the_line() -> None:
    north, south = table(1, NORTH, "Key figures of the north:"), table(2, SOUTH, "Other hotels")
    assert await ask("hotels in the quarter", (north, south)) is None
    partial = table(2, SOUTH, "Selected figures of segments")
    assert (await text_of("hotels in the quarter", (north, partial))).endswith(
        " That is by the table “Key figures of the north”; another table has other figures for this line."
    )
    statement = table(3, [["Years ended December 31,", "2023"], ["Hotels", "12"]], "Consolidated Statement of Income")
    assert "by the table" not in await text_of("hotels 2023", (north, partial, statement))


async def test_how_much_cash_there_is_is_that_of_the_balance_sheet() -> None:
    assert await text_of("How much cash does Acme have?") == (
        "Cash and cash equivalents came to $120 million in 2023 [1] and $100 million in 2022 [2]."
    )


async def test_a_table_that_states_no_scale_has_that_of_one_that_repeats_its_figures() -> None:
    stated = [["(In thousands)", "2023", "2022"], ["Net income", "$ 150,321", "$ 120,456"], ["Rent", "12", "11"]]
    bare = [["", "2023", "2022"], ["Net income", "150,321", "120,456"], ["Fees", "77", "66"]]
    tables = (table(1, stated, "Statement of Income"), table(2, bare, "Overview"))
    assert "Fees came to 77 thousand in 2023" in await text_of("fees 2023", tables)
    other = [["", "2023", "2022"], ["Members", "150,321", "9"], ["Fees", "77", "66"]]
    assert "does not say in what unit" in await text_of("fees 2023", (tables[0], table(2, other, "Overview")))


async def test_a_balance_is_not_taken_from_the_statement_of_cash_flows() -> None:
    assert "Inventories, net came to $80 million in 2022" in await text_of("What were inventories in 2022?")


async def test_a_table_without_a_scale_in_a_file_of_scales_says_so() -> None:
    found = await text_of("What were total assets in 2023?", (ANNUAL_REPORT[0], table(2, BALANCE, "Balance Sheets")))
    assert "Total assets came to 2,000 in 2023 [1]. The table does not say in what unit." in found


async def test_a_row_and_a_column_give_their_cell_where_columns_are_no_periods() -> None:
    tables = (table(1, RATES, "Limits"),)
    assert (
        await text_of("What is the longest term of a first loan?", tables)
        == "Longest term for first loan: 24 weeks [1]"
    )
    assert "4,000" in await text_of("How much is the most we lend for a group loan, per member?", tables)
    assert await ask("What is the longest term?", tables) is None
    assert await ask("What is the longest term of a second loan?", tables) is None


async def test_each_figure_has_a_passage_with_its_cells_marked_inside_their_rows() -> None:
    found = await ask("What was the gross margin in 2022?")
    assert found is not None
    (hit,) = found.hits
    place = hit.chunk.locator
    assert hit.chunk.text.splitlines()[:2] == ["Gross profit | 2022: 420", "Net sales | 2022: $ 1,200"]
    assert (hit.filename, place.page, place.column) == ("Acme_report.pdf", 1, "2022")
    assert place.cell_boxes == (Box(1, 200, 60, 240, 70), Box(1, 200, 20, 240, 30))
    assert place.boxes == (Box(1, 0, 60, 340, 70), Box(1, 0, 20, 340, 30))


async def test_markup_and_markers_of_a_table_stay_text() -> None:
    grid = [["", "2023"], ["Fees [2] <b>paid</b>", "12"]]
    found = await text_of("What were fees 2 b paid b in 2023?", (table(1, grid, "Fees"),))
    assert "<b>" not in found
    assert "[2]" not in found


async def test_tables_of_a_file_are_read_once_and_those_outside_the_scope_never() -> None:
    files = Files(Acme=ANNUAL_REPORT, Other=ANNUAL_REPORT)
    lookup = TableLookup(files)
    inside = Scope(resource_ids=("Acme",))
    for _ in range(3):
        found = await lookup.answer("ada", "What was net income in 2022?", inside, ("Other",))
        assert found is not None
        assert {hit.chunk.resource_id for hit in found.hits} == {"Acme"}
    assert files.reads == 1


async def test_without_a_scope_the_files_of_the_passages_found_are_read() -> None:
    files = Files(Acme=ANNUAL_REPORT)
    lookup = TableLookup(files)
    assert await lookup.answer("ada", "What was net income in 2022?", Scope(), ()) is None
    found = await lookup.answer("ada", "What was net income in 2022?", Scope(), ("Acme", "Acme"))
    assert found is not None
    assert "$200 million" in found.text


async def test_figures_of_two_files_are_not_mixed() -> None:
    other = [["Years ended December 31,", "2023"], ["Net sales", "5,000"]]
    files = Files(Acme=ANNUAL_REPORT, Zeta=(table(1, other, "Consolidated Statements of Income (in millions)"),))
    lookup = TableLookup(files)
    assert await lookup.answer("ada", "What were net sales in 2023?", files.scope, ()) is None
    found = await lookup.answer("ada", "What were the net sales of Zeta in 2023?", files.scope, ())
    assert found is not None
    assert "5,000 million" in found.text
