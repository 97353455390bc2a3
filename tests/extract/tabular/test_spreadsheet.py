from __future__ import annotations

import datetime
import io
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.formats.tabular.format_codes import read_code
from citewell.extract.formats.tabular.number_formats import NumberFormat, format_of_code
from citewell.types import ElementType
from tests.depth import examples
from tests.extract.documents.reading import Reading, read
from tests.extract.tabular.tables import column, copied, rows, tables
from tests.extract.tabular.workbooks import grid, ods, sheet_of, xlsb, xlsx

SALES = [["Region", "Units", "Price"], ["North", 10, 1.5], ["South", 20, 2.5]]


def texts(reading: Reading) -> list[str]:
    return [row.text for row in rows(reading)]


def places(reading: Reading) -> list[tuple[str | None, int | None]]:
    return [(row.locator.sheet, row.locator.row) for row in rows(reading)]


def notes(reading: Reading) -> list[tuple[str, int | None]]:
    return [(note.text, note.locator.row) for note in reading.of(ElementType.PARAGRAPH)]


def test_rows_have_the_number_that_the_program_shows(tmp_path: Path) -> None:
    reading = read(sheet_of(tmp_path / "a.xlsx", grid(SALES, top=7, left="D")))
    assert texts(reading) == ["Region: North | Units: 10 | Price: 1.5", "Region: South | Units: 20 | Price: 2.5"]
    assert places(reading) == [("Data", 8), ("Data", 9)]
    assert rows(reading)[0].values == {"Region": "North", "Units": 10, "Price": 1.5}
    facts = tables(reading)[0]
    assert (facts["sheet"], facts["header_row"], facts["first_row"], facts["last_row"]) == ("Data", 7, 8, 9)
    assert copied(reading) == [
        {"_row": 8, "Region": "North", "Units": 10, "Price": 1.5},
        {"_row": 9, "Region": "South", "Units": 20, "Price": 2.5},
    ]
    assert column(reading, "Units")["sum"] == 30


def test_values_are_typed_and_dates_are_iso(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        day, moment, clock, span = (
            workbook.add_format({"num_format": f}) for f in ("d mmm yyyy", "yyyy-mm-dd hh:mm", "hh:mm", "[h]:mm:ss")
        )
        sheet.write_row("A1", ["day", "moment", "clock", "span", "yes", "sum", "bad"])
        for row in (1, 2):
            sheet.write_datetime(row, 0, datetime.datetime(2024, 2, 29), day)
            sheet.write_datetime(row, 1, datetime.datetime(2024, 2, 29, 13, 5), moment)
            sheet.write_datetime(row, 2, datetime.time(7, 30), clock)  # pyright: ignore[reportArgumentType]
            sheet.write_number(row, 3, 1.25, span)
            sheet.write_boolean(row, 4, True)
            sheet.write_formula(row, 5, "=1+2", None, 3)
            sheet.write_formula(row, 6, "=1/0", None, "#DIV/0!")  # pyright: ignore[reportArgumentType]

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert rows(reading)[0].values == {
        "day": "2024-02-29",
        "moment": "2024-02-29 13:05:00",
        "clock": "07:30:00",
        "span": "30:00:00",
        "yes": True,
        "sum": 3,
        "bad": "#DIV/0!",
    }
    assert copied(reading)[0]["day"] == datetime.date(2024, 2, 29)
    assert copied(reading)[0]["moment"] == datetime.datetime(2024, 2, 29, 13, 5)


def test_formulas_that_were_never_calculated_are_noted(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["a", "b"], [1, "=A2*2"], [2, "=A3*2"]):
        sheet.append(row)
    workbook.save(tmp_path / "a.xlsx")
    reading = read(tmp_path / "a.xlsx")
    assert "2 formulas were never calculated" in reading.notes()
    assert texts(reading) == ["a: 1", "a: 2"]
    sheet["B3"] = None
    workbook.save(tmp_path / "one.xlsx")
    assert "One formula was never calculated; its cell is empty" in read(tmp_path / "one.xlsx").notes()


def test_hidden_and_empty_sheets_are_reported(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        workbook.add_worksheet("Empty")
        hidden = workbook.add_worksheet("Secret")
        hidden.write_row("A1", ["k", "v"])
        hidden.write_row("A2", ["x", 1])
        hidden.hide()

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    empty, secret = reading.summary.coverage.units
    assert reading.summary.metadata["sheet_names"] == ["Empty", "Secret"]
    assert reading.summary.metadata["hidden_sheets"] == ["Secret"]
    assert empty.skipped == ("the sheet has no cells with content",)
    assert secret.warnings == ("this sheet is hidden in the program",)
    assert texts(reading) == ["k: x | v: 1"]


def test_titles_above_the_header_are_notes_and_name_the_table(tmp_path: Path) -> None:
    reading = read(sheet_of(tmp_path / "a.xlsx", {"A1": "Quarterly sales", "A2": "in thousands", **grid(SALES, top=3)}))
    assert notes(reading) == [("Quarterly sales", 1), ("in thousands", 2)]
    assert (tables(reading)[0]["name"], tables(reading)[0]["header_row"]) == ("in thousands", 3)


def test_a_lone_text_before_a_table_names_it(tmp_path: Path) -> None:
    reading = read(sheet_of(tmp_path / "a.xlsx", {"B1": "Ducks per year", **grid(SALES, top=3, left="B")}))
    assert tables(reading)[0]["name"] == "Ducks per year"


def test_tables_below_and_beside_each_other_are_told_apart(tmp_path: Path) -> None:
    other = [["Name", "Age"], ["Ama", 30], ["Kofi", 25]]
    cells = {**grid(SALES), **grid(other, left="F"), **grid(other, top=6)}
    reading = read(sheet_of(tmp_path / "a.xlsx", cells))
    assert [[c["name"] for c in table["columns"]] for table in tables(reading)] == [
        ["Region", "Units", "Price"],
        ["Name", "Age"],
        ["Name", "Age"],
    ]
    assert places(reading)[-2:] == [("Data", 7), ("Data", 8)]


def test_tables_that_touch_at_a_corner_are_told_apart(tmp_path: Path) -> None:
    other = [["Name", "Age"], ["Ama", 30], ["Kofi", 25]]
    reading = read(sheet_of(tmp_path / "a.xlsx", {**grid(SALES), **grid(other, top=4, left="D")}))
    assert [table["row_count"] for table in tables(reading)] == [2, 2]
    assert texts(reading)[2] == "Name: Ama | Age: 30"


def test_rows_below_a_blank_one_belong_to_the_table_above(tmp_path: Path) -> None:
    cells = {**grid(SALES), **grid([["East", 5, 9.5], ["West", 6, 8.5]], top=5)}
    reading = read(sheet_of(tmp_path / "a.xlsx", cells))
    assert len(tables(reading)) == 1
    assert texts(reading)[-1] == "Region: West | Units: 6 | Price: 8.5"
    assert places(reading)[-1] == ("Data", 6)
    assert column(reading, "Units")["sum"] == 41


def test_a_blank_spacer_column_does_not_split_a_table(tmp_path: Path) -> None:
    lines = [["Region", "Units", None, "Price"], ["North", 10, None, 1.5], ["South", 20, None, 2.5]]
    reading = read(sheet_of(tmp_path / "a.xlsx", grid(lines)))
    assert texts(reading)[0] == "Region: North | Units: 10 | Price: 1.5"
    assert tables(reading)[0]["column_count"] == 3


def test_a_header_apart_from_its_data_is_found(tmp_path: Path) -> None:
    lines = [
        ["In millions", None, None, "January-June"],
        [None, "Sales", None, "Profit"],
        None,
        ["North", 10, None, 1],
        ["South", 20, None, 2],
        ["Total", 30, None, 3],
    ]
    reading = read(sheet_of(tmp_path / "a.xlsx", grid([line or [] for line in lines])))
    assert texts(reading)[0] == "In millions: North | Sales: 10 | January-June / Profit: 1"
    assert tables(reading)[0]["header_row"] == 2


def test_header_rows_with_merged_labels_are_joined(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        sheet.merge_range("A1:A2", "Region")
        sheet.merge_range("B1:C1", "2023")
        sheet.merge_range("D1:E1", "2024")
        sheet.write_row("B2", ["Q1", "Q2", "Q1", "Q2"])
        sheet.write_row("A3", ["North", 1, 2, 3, 4])
        sheet.write_row("A4", ["South", 5, 6, 7, 8])

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert texts(reading)[1] == "Region: South | 2023 / Q1: 5 | 2023 / Q2: 6 | 2024 / Q1: 7 | 2024 / Q2: 8"
    assert tables(reading)[0]["header_row"] == 2


def test_years_can_head_columns(tmp_path: Path) -> None:
    lines = [[None, 2021, 2022, 2023], ["Revenue", 10.5, 11.5, 12.5], ["Cost", 8, 9, 10]]
    reading = read(sheet_of(tmp_path / "a.xlsx", grid(lines)))
    assert texts(reading)[0] == "Column A: Revenue | 2021: 10.5 | 2022: 11.5 | 2023: 12.5"


def test_a_table_of_words_has_its_header(tmp_path: Path) -> None:
    lines = [["Country", "Capital"], ["Ghana", "Accra"], ["Kenya", "Nairobi"]]
    assert texts(read(sheet_of(tmp_path / "a.xlsx", grid(lines))))[0] == "Country: Ghana | Capital: Accra"


def test_footnotes_at_the_end_are_notes(tmp_path: Path) -> None:
    cells = {**grid(SALES), "A4": "(a) Without the islands."}
    reading = read(sheet_of(tmp_path / "a.xlsx", cells))
    assert notes(reading) == [("(a) Without the islands.", 4)]
    assert tables(reading)[0]["row_count"] == 2


def test_named_tables_are_taken_as_their_author_made_them(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        sheet.write("A1", "not part of it")
        columns = [{"header": "1st"}, {"header": "2nd"}]
        sheet.add_table("A2:B4", {"name": "Crew", "columns": columns, "data": [["x", "y"], ["z", "w"]]})
        sheet.write("A5", "touches it")

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert tables(reading)[0]["name"] == "Crew"
    assert texts(reading) == ["1st: x | 2nd: y", "1st: z | 2nd: w"]
    assert notes(reading) == [("not part of it", 1), ("touches it", 5)]


def test_comments_pictures_and_text_boxes_keep_their_place(tmp_path: Path) -> None:
    picture = io.BytesIO()
    Image.effect_noise((256, 256), 80).save(picture, "PNG")

    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        sheet.write_row("A1", ["k", "v"])
        sheet.write_row("A2", ["x", 1])
        sheet.write_comment("B2", "checked twice")
        sheet.insert_image("D10", "noise.png", {"image_data": picture, "description": "Grey noise"})
        sheet.insert_textbox("D30", "Mind the gap")

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    (comment,) = reading.of(ElementType.COMMENT)
    assert "checked twice" in comment.text
    assert (comment.locator.sheet, comment.locator.row, comment.locator.cell) == ("Data", 2, "B2")
    (image,) = reading.of(ElementType.IMAGE)
    assert (image.text, image.locator.row) == ("Grey noise", 10)
    assert image.blob in {blob.name for blob in reading.summary.blobs if blob.kind == "image"}
    assert ("Mind the gap", 30) in notes(reading)


def test_printed_headers_and_footers_are_read_without_their_codes(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Boats")
        sheet.write_row("A1", ["boat", "length"])
        sheet.write_row("A2", ["Tern", 7])
        sheet.set_header('&L&"Arial,Bold"Order KV-2291 && more&R&12&KFF0000&A')
        sheet.set_footer("&CPage &P of &N&RApproved by Ida Kern &D")

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert reading.texts(ElementType.HEADER) == ["Order KV-2291 & more", "Boats"]
    assert reading.texts(ElementType.FOOTER) == ["Page 1 of 1", "Approved by Ida Kern"]


def test_a_data_model_that_is_not_read_is_reported(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", {"A1": "Report"})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("xl/model/item.data", b"\x00" * 64)
    assert "Power Pivot" in read(path).notes()


def test_charts_give_their_titles_and_values(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        sheet.write_column("A1", [1, 2, 3])
        chart: Any = workbook.add_chart({"type": "line"})
        chart.add_series({"values": "=Data!$A$1:$A$3", "name": "Growth"})
        chart.set_title({"name": "Growth by month"})
        workbook.add_chartsheet("Chart").set_chart(chart)

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert reading.texts(ElementType.CAPTION) == ["Growth by month"]
    assert "a chart, dialog or macro sheet" in reading.notes()


def test_ods_that_breaks_off_is_refused_rather_than_read_for_ever(tmp_path: Path) -> None:
    path = with_content(
        ods(tmp_path / "a.ods", [["Region", "Units"]]), lambda content: content[: content.index("Units")]
    )
    with pytest.raises(CorruptFile):
        read(path)


def test_ods_whose_repeats_span_too_many_cells_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    wide = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="9000"'
    )
    path = with_content(
        ods(tmp_path / "a.ods", [["Region", "Units"]]),
        lambda content: content.replace("<table:table-row><table:table-cell", wide, 1),
    )
    with pytest.raises(LimitExceeded):
        read(path)


def test_empty_rows_and_columns_to_the_end_of_an_ods_sheet_cost_nothing(tmp_path: Path) -> None:
    rest = (
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
    )
    path = with_content(
        ods(tmp_path / "a.ods", [["Region", "Units"], ["North", 10]]),
        lambda content: content.replace("</table:table-row></table:table>", rest),
    )
    assert [row.values for row in read(path).of(ElementType.ROW)] == [{"Region": "North", "Units": 10}]


def with_content(path: Path, change: Callable[[str], str]) -> Path:
    """An ODS file with its content changed."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["content.xml"] = change(parts["content.xml"].decode()).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def test_ods_is_read(tmp_path: Path) -> None:
    reading = read(ods(tmp_path / "a.ods", [["Region", "Units"], ["North", 10], ["South", 20]]))
    assert texts(reading) == ["Region: North | Units: 10", "Region: South | Units: 20"]
    assert places(reading) == [("Sheet1", 2), ("Sheet1", 3)]


@pytest.mark.parametrize("early", [False, True])
def test_xlsb_is_read_also_as_its_first_writers_wrote_it(tmp_path: Path, early: bool) -> None:
    reading = read(xlsb(tmp_path / "a.xlsb", [["Region", "Units"], ["North", 10], ["South", 20]], early))
    assert texts(reading) == ["Region: North | Units: 10", "Region: South | Units: 20"]
    assert not list(reading.folder.glob("repaired*"))


def test_a_damaged_workbook_is_a_typed_error(tmp_path: Path) -> None:
    whole = sheet_of(tmp_path / "a.xlsx", grid(SALES)).read_bytes()
    for size in (len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.xlsx").write_bytes(whole[:size])
        with pytest.raises(CorruptFile):
            read(tmp_path / "cut.xlsx")


def test_a_workbook_that_makes_the_reader_panic_is_a_typed_error(tmp_path: Path) -> None:
    path = xlsb(tmp_path / "a.xlsb", [["a", "b"], ["c", 1]])
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    parts["xl/_rels/workbook.bin.rels"] = parts["xl/_rels/workbook.bin.rels"].replace(b"rId1", b"rId9")
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    with pytest.raises(CorruptFile):
        read(path)


def test_a_workbook_bomb_is_refused(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "a.xlsx", grid(SALES))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/worksheets/sheet2.xml", b"\0" * (80 * 1024 * 1024))
    with pytest.raises(LimitExceeded):
        read(path)


def test_a_sheet_that_spans_everything_is_left_out_and_named(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        far = workbook.add_worksheet("Far")
        far.write("A1", "near")
        far.write("XFD1048576", "far")
        workbook.add_worksheet("Near").write_row("A1", ["a", "b"])
        workbook.sheetnames["Near"].write_row("A2", [1, 2])

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert "too large" in reading.notes()
    assert texts(reading) == ["a: 1 | b: 2"]


def test_scattered_cells_take_no_time(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        for row in range(0, 400, 2):
            for place in range(row % 7, 100, 5):
                sheet.write(row, place, row * place)

    begin = time.process_time()
    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert time.process_time() - begin < 20
    assert str(398 * 96) in reading.text


_value = st.one_of(
    st.none(),
    st.none(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda n: round(n, 4)),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=10),
    st.booleans(),
    st.dates(datetime.date(1950, 1, 1), datetime.date(2090, 1, 1)),
)


@pytest.mark.full
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 6).flatmap(lambda w: st.lists(st.lists(_value, min_size=w, max_size=w), min_size=1, max_size=14)),
    st.integers(1, 9),
    st.sampled_from("ABCF"),
)
def test_every_cell_is_found_again_at_its_row(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[object]], top: int, left: str
) -> None:
    folder = tmp_path_factory.mktemp("book")
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Data"
    for cell, value in grid(lines, top, left).items():
        sheet[cell].value = f"'{value}" if isinstance(value, str) and value.startswith("=") else value
    workbook.save(folder / "a.xlsx")
    reading = read(folder / "a.xlsx")
    again = openpyxl.load_workbook(folder / "a.xlsx", data_only=True)["Data"]
    for row in rows(reading):
        cells = [shown(cell.value) for cell in again[row.locator.row or 0]]
        assert all(value in cells for value in (row.values or {}).values())
    everything = " ".join(reading.text.split())
    for line in again.iter_rows():
        for cell in line:
            value = shown(cell.value)
            if value is not None and str(value).strip():
                text = str(value).lower() if isinstance(value, bool) else str(value)
                assert " ".join(text.split()) in everything


def shown(value: object) -> object:
    """A value read by openpyxl as our elements show it."""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shown_with(path: Path, codes: Mapping[str, str], columns: Mapping[str, Sequence[tuple[object, str]]]) -> Path:
    """A workbook with one sheet: by header, the values of a column with the name of each one's number format."""

    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Data")
        formats = {name: workbook.add_format({"num_format": code}) for name, code in codes.items()}
        for place, (header, cells) in enumerate(columns.items()):
            sheet.write(0, place, header)
            for row, (value, name) in enumerate(cells, start=1):
                sheet.write(row, place, value, formats.get(name))

    return xlsx(path, fill)


def test_percentages_and_amounts_are_read_with_their_signs(tmp_path: Path) -> None:
    codes = {"percent": "0%", "euro": "#,##0.00 [$€-407]", "cedi": '"GHS" #,##0;[Red]-"GHS" #,##0'}
    path = shown_with(
        tmp_path / "a.xlsx",
        codes,
        {
            "Quarter": [("Q1", ""), ("Q2", "")],
            "Margin": [(0.1 + 0.2, "percent"), (-0.0725, "percent")],
            "Revenue": [(1234.5, "euro"), (98000, "euro")],
            "Cost": [(-900, "cedi"), (1_200_000, "cedi")],
        },
    )
    reading = read(path)
    assert texts(reading) == [
        "Quarter: Q1 | Margin: 30% | Revenue: €1,234.50 | Cost: -GHS 900",
        "Quarter: Q2 | Margin: -7.25% | Revenue: €98,000.00 | Cost: GHS 1,200,000",
    ]
    assert copied(reading) == [
        {"_row": 2, "Quarter": "Q1", "Margin": 30.0, "Revenue": 1234.5, "Cost": -900.0},
        {"_row": 3, "Quarter": "Q2", "Margin": -7.25, "Revenue": 98000.0, "Cost": 1_200_000.0},
    ]
    assert [column(reading, name).get("unit") for name in ("Margin", "Revenue", "Cost")] == ["%", "€", "GHS"]


def test_a_computed_number_has_a_few_more_decimals_than_its_format(tmp_path: Path) -> None:
    codes = {"percent": "0.0%", "euro": "#,##0.00 [$€-407]"}
    columns = {"Owner": [("Ada", "")], "Share": [(1 / 3, "percent")], "Value": [(1000 / 3, "euro")]}
    reading = read(shown_with(tmp_path / "a.xlsx", codes, columns))
    assert texts(reading) == ["Owner: Ada | Share: 33.333% | Value: €333.333333"]


def test_numbers_of_a_column_of_several_units_each_have_their_own(tmp_path: Path) -> None:
    codes = {"percent": "0.0%", "euro": '#,##0 "€"', "dollar": '"$"#,##0', "quoted": '0.0"%"'}
    path = shown_with(
        tmp_path / "a.xlsx",
        codes,
        {
            "Item": [("Rent", ""), ("Area", ""), ("Share", "")],
            "Value": [(900, "euro"), (120, ""), (0.25, "percent")],
            "Price": [(10, "euro"), (12, "dollar"), (14, "dollar")],
            "Rate": [(0.5, "percent"), ("n/a", "percent"), (None, "percent")],
            "Written": [(0.5, "quoted"), (5, "quoted"), (50, "quoted")],
        },
    )
    reading = read(path)
    assert texts(reading) == [
        "Item: Rent | Value: €900 | Price: €10 | Rate: 50.0% | Written: 0.5%",
        "Item: Area | Value: 120 | Price: $12 | Rate: n/a | Written: 5.0%",
        "Item: Share | Value: 25.0% | Price: $14 | Written: 50.0%",
    ]
    assert [column(reading, name)["dtype"] for name in ("Value", "Price")] == ["text", "text"]
    assert column(reading, "Rate")["unit"] == "%"


@pytest.mark.parametrize(
    ("code", "unit", "times", "decimals"),
    [
        ("0%", "%", 100, 0),
        ("0.00%;[Red]-0.00%", "%", 100, 2),
        ('0.0"%"', "%", 1, 1),
        (r"0\%", "%", 1, 0),
        ('_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', "$", 1, 2),
        ("_-* #,##0.00\\ [$€-407]_-", "€", 1, 2),
        ("[$CHF-807] #,##0", "CHF", 1, 0),
        ("£#,##0", "£", 1, 0),
        ("#,##0.00", "", 1, 2),
    ],
)
def test_format_codes_name_a_unit_or_decimals(code: str, unit: str, times: int, decimals: int) -> None:
    assert format_of_code(code) == NumberFormat(unit, times, decimals)


@pytest.mark.parametrize(
    "code",
    [
        "General",
        "0.00E+00",
        "#,##0",
        "yyyy-mm-dd",
        "[h]:mm",
        '0 "pcs"',
        '"CADENCE" 0',
        '"%"',
        '"€" 0 "$"',
        "@",
        "",
        '"',
    ],
)
def test_other_format_codes_name_none(code: str) -> None:
    assert format_of_code(code) is None


SHOWN = [
    ("00000", 731, "00731"),
    ('"PO-"0000', 43, "PO-0043"),
    (r"\(000\)\ 000\-0000", 4155550123, "(415) 555-0123"),
    ("000-00-0000", 123456789, "123-45-6789"),
    ("0000 0000 0000", 411111111111, "4111 1111 1111"),
    ("#,##0,", 1234567, "1,235"),
    ('#,##0.0,,"M"', 12345678, "12.3M"),
    ('[<1000]0;[<1000000]0.0,"K";0.0,,"M"', 1234, "1.2K"),
    ('[<1000]0;[<1000000]0.0,"K";0.0,,"M"', 1234567, "1.2M"),
    ('0.00" kg"', 2.255, "2.26 kg"),
    ('"yes";;"no"', 0, "no"),
    ('"No. "0', 12, "No. 12"),
    ('General" pcs"', 12.5, "12.5 pcs"),
    ("[$-409]0000", 42, "0042"),
]


@pytest.mark.parametrize(("code", "number", "text"), SHOWN)
def test_a_number_is_read_as_the_sheet_shows_it(tmp_path: Path, code: str, number: float, text: str) -> None:
    path = shown_with(tmp_path / "a.xlsx", {"f": code}, {"Item": [("Bolt", "")], "Shown": [(number, "f")]})
    assert texts(read(path)) == [f"Item: Bolt | Shown: {text}"]


def test_numbers_that_name_something_are_texts_and_others_stay_numbers(tmp_path: Path) -> None:
    codes = {"zip": "00000", "kilos": '0.0" kg"', "thousands": "#,##0,"}
    columns = {
        "Town": [("Lee", ""), ("Ely", "")],
        "Zip": [(10045, "zip"), (90210, "zip")],
        "Mass": [(2.25, "kilos"), (13, "kilos")],
        "Sold": [(1234567, "thousands"), (5500, "thousands")],
    }
    reading = read(shown_with(tmp_path / "a.xlsx", codes, columns))
    assert [column(reading, name)["dtype"] for name in ("Zip", "Mass", "Sold")] == ["text", "number", "integer"]
    assert column(reading, "Mass")["unit"] == "kg"
    assert copied(reading)[1] == {"_row": 3, "Town": "Ely", "Zip": "90210", "Mass": 13.0, "Sold": 6}


@pytest.mark.parametrize(
    "code", ["0.00", "#,##0", "0%", "$#,##0.00", '#,##0 "kr"', "yyyy-mm-dd", "# ?/?", "@", "General", "0;(0)"]
)
def test_codes_of_plain_numbers_are_no_names(code: str) -> None:
    assert read_code(code) is None


@given(st.text("0#?,.%;\"'\\[]<>=-+ EMKk€", max_size=20), st.floats(allow_nan=False, allow_infinity=False))
def test_any_code_can_be_read_and_shows_any_number(code: str, number: float) -> None:
    found = read_code(code)
    if found is not None:
        assert isinstance(found.shown(number), str)
        float(found.value(number))


def test_number_styles_of_ods_are_shown(tmp_path: Path) -> None:
    number = 'xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    styles = (
        f"<office:automatic-styles {number}>"
        '<number:number-style style:name="N1"><number:number number:min-integer-digits="5"/></number:number-style>'
        '<number:number-style style:name="N2"><number:text>INV-</number:text><number:number number:min-integer-digits="4"/></number:number-style>'
        '<number:number-style style:name="N3"><number:number number:min-integer-digits="9"><number:embedded-text number:position="4">-</number:embedded-text>'
        '<number:embedded-text number:position="6">-</number:embedded-text></number:number></number:number-style>'
        + "".join(f'<style:style style:name="c{n}" style:data-style-name="N{n}"/>' for n in (1, 2, 3))
        + "</office:automatic-styles><office:body>"
    )

    def change(content: str) -> str:
        for n, value in ((1, 2134), (2, 43), (3, 123456789)):
            content = content.replace(
                f'office:value="{value}"', f'{number} table:style-name="c{n}" office:value="{value}"'
            )
        return content.replace("<office:body>", styles)

    path = with_content(ods(tmp_path / "a.ods", [["Zip", "Bill", "Tax"], [2134, 43, 123456789]]), change)
    assert texts(read(path)) == ["Zip: 02134 | Bill: INV-0043 | Tax: 123-45-6789"]


def test_a_label_merged_over_rows_is_that_of_each_of_them(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Stock")
        sheet.write_row("A1", ["Warehouse", "Item", "Qty", "Total"])
        sheet.merge_range("A2:A4", "Lyon")
        sheet.merge_range("A5:A6", "Ghent")
        sheet.merge_range("D2:D4", 162)
        for row, (item, quantity) in enumerate(
            (("Pump", 12), ("Valve", 150), ("Pipe", 0), ("Pump", 4), ("Valve", 60)), 1
        ):
            sheet.write_row(row, 1, [item, quantity])
        sheet.write_row("A7", ["Oslo", "Pump", 9, 9])

    reading = read(xlsx(tmp_path / "a.xlsx", fill))
    assert [row["Warehouse"] for row in copied(reading)] == ["Lyon", "Lyon", "Lyon", "Ghent", "Ghent", "Oslo"]
    assert [row["Total"] for row in copied(reading)] == [162, None, None, None, None, 9]
    assert texts(reading)[1] == "Warehouse: Lyon | Item: Valve | Qty: 150"


def test_a_blank_row_below_a_merged_label_stays_out(tmp_path: Path) -> None:
    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Stock")
        sheet.write_row("A1", ["Site", "Item", "Qty"])
        sheet.merge_range("A2:A4", "Lyon")
        sheet.write_row("B2", ["Pump", 12])
        sheet.write_row("B4", ["Pipe", 3])

    assert places(read(xlsx(tmp_path / "a.xlsx", fill))) == [("Stock", 2), ("Stock", 4)]
