"""What chunks of particular documents look like: headings, pages, tables, rows, slides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from citewell.chunk import ChunkConfig, Strategy, chunk_elements
from citewell.extract.core.cells import to_markdown
from citewell.types import ChunkDraft, ChunkType, Element, ElementType, JsonObject, Locator

from .documents import Words, data_table, lines, paragraph, row, table, title

SENTENCE = "The quick brown fox jumps over the lazy dog near the old river bank."


def _one_hot(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.eye(len(texts), dtype=np.float32)


def chunked(elements: Sequence[Element], heading: str = "Handbook", **settings: object) -> list[ChunkDraft]:
    return list(chunk_elements(elements, ChunkConfig(**settings), Words(), heading))  # pyright: ignore[reportArgumentType]


def test_paragraphs_under_a_heading_share_a_chunk_with_the_path_before_it() -> None:
    (chunk,) = chunked(
        [title("e0", "Loans"), title("e1", "Limits", 2), paragraph("e2", SENTENCE, 3), paragraph("e3", SENTENCE, 3)]
    )
    assert chunk.context == "Handbook > Loans > Limits"
    assert chunk.text == f"{SENTENCE}\n\n{SENTENCE}"
    assert chunk.locator.headings == ("Loans", "Limits")
    assert chunk.locator.pages == (3,)
    assert [piece.element_id for piece in chunk.pieces] == ["e2", "e3"]


def test_a_chunk_does_not_reach_into_the_next_section() -> None:
    texts = [f"{name} {SENTENCE} {SENTENCE}" for name in "AB"]
    chunks = chunked([title("e0", "A"), paragraph("e1", texts[0]), title("e2", "B"), paragraph("e3", texts[1])])
    assert [(chunk.locator.headings, chunk.text) for chunk in chunks] == [(("A",), texts[0]), (("B",), texts[1])]


def test_the_path_that_a_reader_states_itself_counts_even_without_heading_elements() -> None:
    where = [Locator(headings=("A",)), Locator(headings=("A",)), Locator(headings=("B", "C"))]
    texts = [f"{n} {SENTENCE}" for n in range(3)]
    chunks = chunked(
        [
            Element(id=f"e{n}", type=ElementType.PARAGRAPH, text=text, locator=place)
            for n, (text, place) in enumerate(zip(texts, where, strict=True))
        ]
    )
    assert [(chunk.context, chunk.text) for chunk in chunks] == [
        ("Handbook > A", f"{texts[0]}\n\n{texts[1]}"),
        ("Handbook > B > C", texts[2]),
    ]


def test_a_heading_without_text_becomes_a_chunk_unless_a_chunk_below_it_names_it() -> None:
    chunks = chunked([title("e0", "Part"), title("e1", "Chapter", 2), paragraph("e2", SENTENCE), title("e3", "End")])
    assert [(chunk.context, chunk.text) for chunk in chunks] == [
        ("Handbook > Part > Chapter", SENTENCE),
        ("Handbook", "End"),
    ]


def test_tiny_sections_are_joined_with_their_headings_in_the_text() -> None:
    elements = [e for n in range(3) for e in (title(f"t{n}", f"Item {n}", 2), paragraph(f"p{n}", f"Value {n}."))]
    (chunk,) = chunked([title("e0", "Facts"), *elements])
    assert chunk.text == "Item 0\n\nValue 0.\n\nItem 1\n\nValue 1.\n\nItem 2\n\nValue 2."
    assert chunk.context == "Handbook > Facts"


def test_the_title_after_a_files_name_is_not_repeated_where_it_is_the_first_heading() -> None:
    elements = [title("e0", "HANDBOOK"), paragraph("e1", SENTENCE)]
    (chunk,) = chunk_elements(elements, ChunkConfig(), Words(), "rules 2024 > Handbook")
    assert chunk.context == "rules 2024 > HANDBOOK"


def test_the_title_is_not_repeated_where_it_is_the_first_heading() -> None:
    (chunk,) = chunked([title("e0", "HANDBOOK"), paragraph("e1", SENTENCE)])
    assert chunk.context == "HANDBOOK"


def test_a_long_heading_path_gives_way_to_the_text() -> None:
    deep = [title(f"t{n}", f"Heading {n} " + "with many words " * 6, n) for n in range(1, 6)]
    for chunk in chunked([*deep, paragraph("e9", " ".join([SENTENCE] * 6))], max_tokens=64):
        assert Words().count([chunk.context])[0] <= 15
        assert chunk.context.startswith("Handbook > Heading 5")
        assert len(chunk.locator.headings) == 5


def test_long_text_is_cut_at_sentences_into_chunks_of_even_length() -> None:
    chunks = chunked([paragraph("e0", " ".join([SENTENCE] * 13))], max_tokens=100)
    lengths = [chunk.token_count for chunk in chunks]
    assert all(chunk.text.endswith("bank.") and chunk.text.startswith("The quick") for chunk in chunks)
    assert max(lengths) <= 100
    assert min(lengths) > 50


def test_a_cut_falls_between_paragraphs_where_it_may() -> None:
    elements = [paragraph(f"e{n}", " ".join([SENTENCE] * 2)) for n in range(5)]
    chunks = chunked(elements, max_tokens=120)
    assert len(chunks) == 2
    assert [chunk.text.count("bank.") % 2 for chunk in chunks] == [0] * len(chunks)


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    items = [paragraph(f"i{n}", f"item {n} of the list", kind=ElementType.LIST_ITEM) for n in range(4)]
    body = [paragraph(f"e{n}", SENTENCE) for n in range(3)]
    chunks = chunked([*body, paragraph("e9", "The steps are these:"), *items], max_tokens=90)
    assert any("these:\n\nitem 0 of the list\nitem 1" in chunk.text for chunk in chunks)


def test_a_sentence_longer_than_the_limit_is_cut_between_rectangles() -> None:
    spans = [f"line {n} of a sentence that never ends and goes on" for n in range(20)]
    element = lines("e0", spans)
    chunks = chunked([element], max_tokens=80)
    assert len(chunks) > 1
    assert all(chunk.pieces[0].start in element.span_starts for chunk in chunks)
    assert sum(len(chunk.locator.boxes) for chunk in chunks) == 20


def test_a_sentence_that_ends_inside_a_rectangle_does_not_cut_it() -> None:
    spans = ["First part of it. And the", "second part begins here. And so on", "until it ends."] * 8
    element = lines("e0", spans)
    for chunk in chunked([element], max_tokens=64):
        assert chunk.pieces[0].start in element.span_starts


def test_a_paragraph_that_a_page_break_divides_is_one_text_on_both_pages() -> None:
    first, second = lines("e0", ["The committee decided that no loan"], 3), lines("e1", ["may exceed the limit."], 4)
    (chunk,) = chunked([first, second])
    assert chunk.text == "The committee decided that no loan may exceed the limit."
    assert chunk.locator.pages == (3, 4)
    assert [box.page for box in chunk.locator.boxes] == [3, 4]


def test_a_footnote_or_page_number_between_does_not_divide_the_paragraph() -> None:
    (chunk,) = chunked(
        [
            lines("e0", ["The committee decided that no loan"], 3),
            paragraph("e1", "1 See the annex.", 3, ElementType.FOOTNOTE),
            paragraph("e2", "Page 3", 3, ElementType.FOOTER),
            lines("e3", ["may exceed the limit."], 4),
        ]
    )
    assert chunk.text == "The committee decided that no loan may exceed the limit.\n\n1 See the annex."
    assert [piece.element_id for piece in chunk.pieces] == ["e0", "e3", "e1"]


def test_a_paragraph_goes_on_in_the_next_column() -> None:
    (chunk,) = chunked([lines("e0", ["Text that goes"], 1, y=700), lines("e1", ["on in the next column."], 1, y=50)])
    assert chunk.text == "Text that goes on in the next column."


@pytest.mark.parametrize(
    ("first", "second"),
    [("It ends here.", "and this begins"), ("No end", "Begins anew"), ("No end", "1 A footnote")],
)
def test_other_neighbours_stay_paragraphs(first: str, second: str) -> None:
    (chunk,) = chunked([lines("e0", [first], 3), lines("e1", [second], 4)])
    assert chunk.text == f"{first}\n\n{second}"


def test_running_headers_and_footers_are_one_chunk_that_names_their_pages() -> None:
    body, running = chunked(
        [
            element
            for page in (1, 2, 3)
            for element in (
                paragraph(f"h{page}", "Invoice RX-17", page, ElementType.HEADER),
                paragraph(f"e{page}", f"Text {page}.", page),
                paragraph(f"f{page}", f"IBAN XX12 - Page {page} of 3", page, ElementType.FOOTER),
                paragraph(f"n{page}", f"- {page} -", page, ElementType.FOOTER),
            )
        ]
    )
    assert body.text == "Text 1.\n\nText 2.\n\nText 3."
    assert running.text == "Invoice RX-17\nIBAN XX12 - Page 1 of 3"
    assert running.locator.pages == (1, 2, 3)


def test_running_headers_of_different_pages_are_all_kept() -> None:
    headers = [paragraph(f"h{page}", f"Invoice RX-{16 + page}", page, ElementType.HEADER) for page in (1, 2)]
    (chunk,) = chunked(headers)
    assert chunk.text == "Invoice RX-17\nInvoice RX-18"
    assert [piece.element_id for piece in chunk.pieces] == ["h1", "h2"]


def test_character_spans_point_into_the_file() -> None:
    text = f"{SENTENCE} {SENTENCE} {SENTENCE}"
    element = Element(
        id="e0", type=ElementType.PARAGRAPH, text=text, locator=Locator(char_start=100, char_end=100 + len(text))
    )
    file = " " * 100 + text
    for chunk in chunked([element], max_tokens=40):
        assert file[chunk.locator.char_start : chunk.locator.char_end] == chunk.text


GRID = [["Region", "Limit", "Years"], *[[f"Region {n}", f"{n}00 GHS", str(n)] for n in range(12)]]


def test_a_small_table_is_one_chunk() -> None:
    (chunk,) = chunked([title("e0", "Limits"), table("e1", GRID[:4], 7)])
    assert chunk.type is ChunkType.TABLE
    assert chunk.text == table("e1", GRID[:4]).text
    assert chunk.locator.page == 7
    assert chunk.context == "Handbook > Limits"


def test_a_heading_above_rows_alone_is_in_their_context_and_no_chunk_of_its_own() -> None:
    heading = Element(id="e0", type=ElementType.TITLE, text="Open loans", level=1, locator=Locator(sheet="Loans"))
    (chunk,) = chunked([heading, row("e1", 2, {"Name": "Ama"})])
    assert chunk.context == "Handbook > Loans > Open loans"


def test_a_document_of_tables_alone_is_chunked_as_it_is_read() -> None:
    read = itertools.count()
    tables = (table(f"e{number}", GRID) for number in read)
    assert len(list(itertools.islice(chunk_elements(tables, ChunkConfig(), Words(), ""), 50))) == 50
    assert next(read) < 500


def test_a_long_table_is_cut_between_rows_and_repeats_its_header() -> None:
    chunks = chunked([table("e0", GRID)], max_tokens=60)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("| Region | Limit | Years |\n| --- |") for chunk in chunks)
    body = [line for chunk in chunks for line in chunk.text.split("\n")[2:]]
    assert body == table("e0", GRID).text.split("\n")[2:]


STATEMENT = [
    ["Group", "2022", "2021"],
    ["", "audited", "audited"],
    ["Operating activities", "", ""],
    *[[f"Operating item {n}", f"$ {n},000", f"({n}00)"] for n in range(6)],
    ["Investing activities", "", ""],
    *[[f"Investing item {n}", f"{n},000", "—"] for n in range(6)],
]


def statement() -> Element:
    groups = [-1, -1, -1, *[2] * 6, -1, *[9] * 6]
    about: JsonObject = {"title": "Statements of Cash Flows (In millions)", "groups": [*groups]}
    return replace(table("e0", STATEMENT), header_rows=2, metadata=about)


def test_every_chunk_of_a_table_repeats_its_title_header_and_the_label_of_its_group() -> None:
    chunks = chunked([statement()], max_tokens=80)
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.context.endswith("Statements of Cash Flows (In millions)")
        lines = chunk.text.split("\n")
        assert lines[:3] == ["| Group | 2022 | 2021 |", "| --- | --- | --- |", "|  | audited | audited |"]
        assert lines[3] in ("| Operating activities |  |  |", "| Investing activities |  |  |")
        assert lines[4].split()[1] == lines[3].split()[1]


def test_a_table_without_a_header_repeats_the_label_of_its_group_and_no_row() -> None:
    grid = [["Term loan", "$ 1,000", "$ 900"], *STATEMENT[2:]]
    groups: JsonObject = {"groups": [-1, -1, *[1] * 6, -1, *[8] * 6]}
    made = replace(table("e0", grid), header_rows=0, text=to_markdown(tuple(map(tuple, grid)), 0), metadata=groups)
    chunks = chunked([made], max_tokens=80)
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        lines = chunk.text.split("\n")
        assert lines[:2] == ["|  |  |  |", "| --- | --- | --- |"]
        assert lines[2].split()[1] == lines[3].split()[1]
    assert all("Term loan" not in chunk.text for chunk in chunks[1:])


def test_a_heading_that_a_tables_title_repeats_is_in_the_context_once() -> None:
    chunks = chunked([title("t", "Statements of Cash Flows"), statement()], max_tokens=400)
    assert [chunk.context for chunk in chunks] == ["Handbook > Statements of Cash Flows (In millions)"]


def test_of_a_table_its_words_and_years_are_embedded_and_its_figures_are_not() -> None:
    chunk = chunked([statement()], max_tokens=400)[0]
    assert "Operating item 3 $ 3,000" not in chunk.embedded_text
    assert chunk.embedded_text.splitlines()[1:5] == [
        "Group 2022 2021",
        "audited audited",
        "Operating activities",
        "Operating item 0",
    ]
    assert "$ 3,000" in chunk.text


def test_figures_leave_room_for_the_words_of_a_table_until_a_chunk_is_twice_as_long_as_what_is_read() -> None:
    def longest(figure: str) -> int:
        rows = [[f"Item {n}", figure] for n in range(100)]
        return max(len(chunk.text.splitlines()) for chunk in chunked([table("e0", [["Name", "2022"], *rows])]))

    words = longest("")
    assert longest("7") == words
    assert words / 3 < longest("12,345,678,901,234,567") < words


def test_a_table_of_figures_alone_is_embedded_as_it_is() -> None:
    (chunk,) = chunked([table("e0", [["1", "2"], ["3.5", "(4)"]])])
    assert chunk.text in chunk.embedded_text


def test_a_row_too_wide_for_a_chunk_is_cut_between_columns_under_their_names() -> None:
    names = [f"name{n}" for n in range(12)]
    cells = [f"cell {n} with some words" if n != 5 else "" for n in range(12)]
    chunks = chunked([table("e0", [names, cells])], max_tokens=50)
    assert len(chunks) > 1
    for chunk in chunks:
        head, body = chunk.text.split("\n")
        columns = [name.removeprefix("name") for name in head.split(" | ")]
        assert [part.split()[1] for part in body.split(" | ") if part.strip()] == [c for c in columns if c != "5"]


def test_a_table_takes_the_caption_next_to_it_into_its_context() -> None:
    caption = paragraph("c", "Table 3: limits by region", 1, ElementType.CAPTION)
    for elements in ([caption, table("e0", GRID[:3])], [table("e0", GRID[:3]), caption]):
        (found,) = [chunk for chunk in chunked(elements) if chunk.type is ChunkType.TABLE]
        assert found.context == "Handbook > Table 3: limits by region"


def test_a_table_stands_between_the_texts_around_it() -> None:
    text = " ".join([SENTENCE] * 5)
    kinds = [
        chunk.type.value
        for chunk in chunked([paragraph("e0", text), table("e1", GRID[:3]), paragraph("e2", text)], max_tokens=130)
    ]
    assert kinds == ["text", "table", "text"]


def test_rows_strategy_gives_each_table_row_a_chunk() -> None:
    chunks = chunked([table("e0", GRID)], strategy=Strategy.ROWS)
    assert len(chunks) == 12
    assert chunks[3].text == "| Region | Limit | Years |\n| --- | --- | --- |\n| Region 3 | 300 GHS | 3 |"


@pytest.mark.parametrize("strategy", Strategy)
def test_a_small_table_of_data_is_one_chunk_and_its_rows_none(strategy: Strategy) -> None:
    name = replace(title("e0", "Loans"), locator=Locator(sheet="Loans"))
    elements = [name, *data_table("e1", "t0", GRID[:5], [2, 3, 5, 6])]
    chunks = chunk_elements(elements, ChunkConfig(strategy=strategy), Words(), "Book", _one_hot)
    (chunk,) = [chunk for chunk in chunks if chunk.text != "Loans"]
    assert chunk.type is ChunkType.TABLE
    assert chunk.text == elements[1].text
    assert (chunk.locator.sheet, chunk.locator.row, chunk.locator.row_end) == ("Loans", 1, 6)


def test_a_table_of_data_that_does_not_fit_a_chunk_is_cut_by_rows_alone() -> None:
    numbers = range(2, len(GRID) + 1)
    chunks = chunked(data_table("e1", "t0", GRID, numbers), max_tokens=60, strategy=Strategy.ROWS)
    assert [(chunk.type, chunk.locator.row) for chunk in chunks] == [(ChunkType.ROW, number) for number in numbers]


def test_each_table_of_a_sheet_is_judged_on_its_own() -> None:
    small, large = data_table("e1", "t0", GRID[:3], [2, 3]), data_table("e2", "t1", GRID, range(12, 12 + len(GRID) - 1))
    chunks = chunked([*small, *large, *small], max_tokens=60, strategy=Strategy.ROWS)
    kinds = [chunk.type for chunk in chunks]
    assert kinds == [ChunkType.TABLE, *[ChunkType.ROW] * (len(GRID) - 1), ChunkType.TABLE]


def test_a_large_table_of_data_whose_rows_are_not_listed_is_kept() -> None:
    whole, *_ = data_table("e1", "t0", GRID, range(2, len(GRID) + 1))
    chunks = chunked([whole, paragraph("e9", SENTENCE)], max_tokens=60, strategy=Strategy.ROWS)
    assert sum(chunk.type is ChunkType.TABLE for chunk in chunks) == len(GRID) - 1
    assert chunked([whole], max_tokens=60, strategy=Strategy.ROWS)


def test_a_row_without_any_value_is_no_chunk() -> None:
    (chunk,) = chunked([row("e0", 2, {"Name": "Ama"}), replace(row("e1", 3, {}), text="")], strategy=Strategy.ROWS)
    assert chunk.locator.row == 2


def test_a_whole_table_with_merged_cells_carries_its_html_for_a_model() -> None:
    merged = replace(table("e0", GRID[:3]), html='<table><tr><th colspan="2">Region</th></tr></table>')
    (whole,) = chunked([merged])
    assert whole.metadata == {"html": merged.html}
    parts = chunked([replace(table("e0", GRID), html=merged.html)], max_tokens=60)
    assert len(parts) > 1
    assert not any(part.metadata for part in parts)
    assert chunked([replace(merged, html="<table><tr><td>plain</td></tr></table>")])[0].metadata == {}


def test_a_row_is_a_chunk_with_its_sheet_and_number() -> None:
    chunks = chunked([row(f"e{n}", n + 2, {"Name": f"Ama {n}", "Amount": str(n)}) for n in range(600)])
    assert len(chunks) == 600
    assert chunks[499].text == "Name: Ama 499 | Amount: 499"
    assert chunks[499].context == "Handbook > Loans"
    assert chunks[499].locator == Locator(sheet="Loans", row=501, headings=("Loans",))


def test_a_long_row_is_cut_between_cells_and_repeats_its_first() -> None:
    cells = {"Id": "7"} | {f"Column {n}": "some words here" for n in range(20)}
    chunks = chunked([row("e0", 2, cells)], max_tokens=64)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("Id: 7") for chunk in chunks)
    assert all(chunk.locator.row == 2 for chunk in chunks)


def test_text_in_an_image_becomes_an_image_chunk() -> None:
    elements = [paragraph("e0", "Total 42", 2, ElementType.IMAGE), paragraph("e1", "", 3, ElementType.IMAGE)]
    (chunk,) = chunked(elements)
    assert (chunk.type, chunk.text, chunk.locator.page) == (ChunkType.IMAGE, "Total 42", 2)


def test_the_text_of_a_frame_keeps_its_second() -> None:
    frames = [
        Element(id=f"e{n}", type=ElementType.IMAGE, text=f"HARBOUR ROAD {n}", locator=Locator(second=6.0 * n))
        for n in (0, 1)
    ]
    chunks = chunked(frames)
    assert [(one.text, one.locator.second) for one in chunks] == [("HARBOUR ROAD 0", 0.0), ("HARBOUR ROAD 1", 6.0)]


def test_a_chunk_stays_on_its_slide_and_headings_do_not_leak() -> None:
    first = [Element(id="e0", type=ElementType.TITLE, text="Growth", level=1, locator=Locator(slide=1))]
    second = [Element(id="e1", type=ElementType.PARAGRAPH, text=SENTENCE, locator=Locator(slide=n)) for n in (1, 2)]
    chunks = chunked([*first, *second])
    assert [(chunk.locator.slide, chunk.locator.headings) for chunk in chunks] == [(1, ("Growth",)), (2, ())]


def test_an_unfinished_document_is_read_no_further_than_needed() -> None:
    read = itertools.count()

    def endless() -> Iterator[Element]:
        for number in read:
            yield paragraph(f"e{number}", f"{number} {SENTENCE}")

    for strategy in Strategy:
        config = ChunkConfig(strategy=strategy)
        before = next(read)
        chunks = list(itertools.islice(chunk_elements(endless(), config, Words(), "", _by_topic), 200))
        assert len(chunks) == 200
        assert next(read) - before < 4_000


def test_text_is_not_lost_where_one_window_ends_and_the_next_begins() -> None:
    elements = [paragraph(f"e{n}", f"Number {n}. {SENTENCE}") for n in range(4_000)]
    chunks = chunked(elements)
    assert [piece.element_id for chunk in chunks for piece in chunk.pieces] == [f"e{n}" for n in range(4_000)]
    assert min(chunk.token_count for chunk in chunks[:-1]) > 100


def _by_topic(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.array([[1, 0] if "fox" in text else [0, 1] for text in texts], dtype=np.float32)


def test_semantic_chunks_part_where_the_topic_changes() -> None:
    other = "Interest is charged on the unpaid balance of every loan each month of the year."
    text = " ".join([SENTENCE] * 4 + [other] * 4)
    config = ChunkConfig(strategy=Strategy.SEMANTIC, overlap=0)
    chunks = list(chunk_elements([paragraph("e0", text)], config, Words(), "", _by_topic))
    assert [chunk.text for chunk in chunks] == [" ".join([SENTENCE] * 4), " ".join([other] * 4)]


def test_recursive_chunks_end_at_the_largest_unit_that_fits() -> None:
    text = "\n".join([f"{SENTENCE} {SENTENCE}"] * 3)
    chunks = chunked([paragraph("e0", text)], strategy=Strategy.RECURSIVE, size=150, overlap=0)
    assert [chunk.text for chunk in chunks] == [f"{SENTENCE} {SENTENCE}"] * 3


@pytest.mark.parametrize(
    "settings",
    [{"size": 8}, {"max_tokens": 12}, {"size": 100, "overlap": 51}, {"size": 100, "overlap": -1}],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must"):
        ChunkConfig(**settings)  # pyright: ignore[reportArgumentType]


def test_semantic_needs_an_embedder() -> None:
    with pytest.raises(ValueError, match="embedder"):
        chunk_elements([], ChunkConfig(strategy=Strategy.SEMANTIC), Words(), "")


def test_a_fingerprint_tells_settings_that_cut_alike_from_those_that_do_not() -> None:
    assert ChunkConfig().fingerprint == ChunkConfig(size=400, overlap=0).fingerprint
    different = [
        ChunkConfig(),
        ChunkConfig(size=300),
        ChunkConfig(max_tokens=512),
        ChunkConfig(strategy=Strategy.TOKENS),
    ]
    assert len({config.fingerprint for config in different}) == 4
    assert len(ChunkConfig().fingerprint) == 12
